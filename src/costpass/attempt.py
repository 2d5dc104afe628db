"""The one record: an attempt is one try of one strategy at one problem.

Null means not known and zero means zero. `Attempt` is flat; the classes it is made of are its parts, so that an
attempt can be handed to whatever needs only its usage or only its outcome.
"""

import hashlib
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)

SCHEMA_VERSION: Final = 1
SCHEMA_ID = f"costpass.attempt/{SCHEMA_VERSION}"

Status = Literal["completed", "cost_killed", "timeout", "fault", "invalid", "interrupted"]
CostSource = Literal["billed", "metered", "priced", "imported"]

#: Attempts that the infrastructure broke: they cost money, and say nothing about the strategy.
FAULT_STATUSES: tuple[Status, ...] = ("fault", "interrupted")

KEY_FIELDS = ("experiment", "benchmark", "problem", "strategy", "repetition", "retry")
KEY_SEPARATOR = "\x1f"
ID_LENGTH = 12

_USD_STEP = Decimal("1e-12")
_USD_LIMIT = Decimal(1_000_000)
_COUNT_LIMIT = 2**53


def usd(amount: object) -> Decimal:
    """Money as the record keeps it: a finite, non-negative Decimal in steps of 1e-12 dollars.

    >>> usd(0.0017557500000000001)
    Decimal('0.001755750000')
    """
    if isinstance(amount, bool) or not isinstance(amount, Decimal | int | float | str):
        raise ValueError(f"must be a number of dollars, not {amount!r}")
    try:
        exact = Decimal(repr(amount)) if isinstance(amount, float) else Decimal(amount)
    except ArithmeticError:
        raise ValueError(f"must be a number of dollars, not {amount!r}") from None
    if not exact.is_finite():
        raise ValueError(f"must be finite, not {amount}")
    if exact < 0:
        raise ValueError(f"must not be negative, not {amount}")
    if exact >= _USD_LIMIT:
        raise ValueError(f"is {amount}, over a million dollars for one attempt: is the unit right?")
    return exact.quantize(_USD_STEP)


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError("must be finite")
    return number


def _to_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("must say its time zone")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is out of range") from None


Usd = Annotated[
    Decimal,
    BeforeValidator(usd),
    # A JSON number: fifteen significant digits hold any amount below $1,000 exactly, and jq and pandas read it.
    PlainSerializer(float, return_type=float, when_used="json"),
    WithJsonSchema({"type": "number", "minimum": 0, "exclusiveMaximum": int(_USD_LIMIT)}),
]
Count = Annotated[int, Field(ge=0, le=_COUNT_LIMIT)]
Milliseconds = Annotated[float, Field(ge=0), AfterValidator(_finite)]
Amount = Annotated[float, Field(ge=0), AfterValidator(_finite)]
Number = Annotated[float, AfterValidator(_finite)]
Name = Annotated[str, Field(min_length=1, max_length=1000)]
Category = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=100)]
Moment = Annotated[datetime, AfterValidator(_to_utc)]


class Part(BaseModel):
    """What all parts of the record share: immutable, strict about types, closed to unknown fields."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class Identity(Part):
    """Which try of which strategy at which problem."""

    experiment: Name | None = Field(None, description="the run or log that the attempt belongs to")
    benchmark: Name | None = Field(None, description="the named set of problems")
    problem: Name = Field(description="the item to solve")
    group: Name | None = Field(None, description="the cluster a problem belongs to, such as its repository")
    capability: Name | None = Field(None, description="what the problem asks for: locate, trace, fix …")
    control: bool | None = Field(None, description="a problem on which the tool under test should change nothing")
    strategy: Name = Field(description="one way to attempt a problem; the unit that reports compare")
    model: Name | None = None
    provider: Name | None = None
    runner: Name | None = Field(None, description="the agent CLI or harness that drove the model")
    mode: Name | None = Field(None, description="the one variable of an A/B; baseline is a mode")
    technique: Name | None = Field(None, description="direct, chain-of-thought, majority-vote …")
    family: Name | None = None
    released: date | None = Field(None, description="when the model was released")
    repetition: Count | None = Field(None, description="which try at the same cell, from 0")
    retry: Count = Field(0, description="0, or which new try after a fault in the same repetition")
    seed: Annotated[int, Field(ge=-(2**63), le=2**63 - 1)] | None = None


class Outcome(Part):
    """What came of it."""

    passed: bool | None = Field(None, description="null where no grade is known, and for every fault")
    score: Number | None = None
    scores: dict[Name, Number] = Field(default_factory=dict)
    status: Status = "completed"
    failure: Category | None = Field(None, description="a category for people: wrong_answer, rate_limit, budget …")
    flags: list[Category] = Field(default_factory=list)

    @model_validator(mode="after")
    def _a_fault_has_no_grade(self) -> Self:
        if self.status in FAULT_STATUSES and self.passed is not None:
            raise ValueError(f"an attempt of status {self.status!r} has no grade: passed must be null")
        return self


class Usage(Part):
    """What was consumed. The token classes are disjoint, save that reasoning is counted within output."""

    input_tokens: Count | None = Field(None, description="uncached input only")
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = Field(None, description="written for five minutes (the default)")
    cache_write_1h_tokens: Count | None = Field(None, description="written for an hour")
    output_tokens: Count | None = Field(None, description="reasoning included")
    reasoning_tokens: Count | None = Field(None, description="how many of the output tokens were reasoning")
    requests: Count | None = None
    turns: Count | None = None
    tool_calls: Count | None = None
    quantities: dict[Category, Amount] = Field(
        default_factory=dict, description="any other priced unit: web_searches, gpu_seconds, joules …"
    )
    usage_complete: bool | None = Field(None, description="false where the source is known to have left something out")

    @model_validator(mode="after")
    def _reasoning_is_output(self) -> Self:
        if self.reasoning_tokens is not None and self.reasoning_tokens > (self.output_tokens or 0):
            raise ValueError(
                f"reasoning_tokens ({self.reasoning_tokens}) cannot exceed output_tokens ({self.output_tokens}): "
                "reasoning is counted within output"
            )
        return self


class Money(Part):
    """What it cost. `cost_usd` is the figure that reports use; the others are every figure known."""

    cost_usd: Usd | None = None
    cost_source: CostSource | None = Field(None, description="where cost_usd comes from")
    billed_usd: Usd | None = Field(None, description="as the vendor or its CLI said")
    metered_usd: Usd | None = Field(None, description="as counted at the wire")
    priced_usd: Usd | None = Field(None, description="usage times the price book")
    imported_usd: Usd | None = Field(None, description="as the imported log said")
    repriced_from_usd: Usd | None = Field(None, description="cost_usd before it was priced anew")
    grading_usd: Usd | None = Field(None, description="a judge's bill, not part of cost_usd")
    budget_usd: Usd | None = None
    cost_killed_at_usd: Usd | None = None
    price_book: Name | None = Field(None, description="digest of the price book behind priced_usd")
    priced_at: Moment | None = Field(None, description="the moment whose prices were used")

    @model_validator(mode="after")
    def _a_cost_has_a_source(self) -> Self:
        if (self.cost_usd is None) != (self.cost_source is None):
            raise ValueError("cost_usd and cost_source go together: both known or both null")
        return self


class Timing(Part):
    """When and how long. Null where it was not measured."""

    started_at: Moment | None = None
    duration_ms: Milliseconds | None = None
    first_token_ms: Milliseconds | None = None
    first_attempt_ms: Milliseconds | None = None
    success_at_ms: Milliseconds | None = None
    generation_ms: Milliseconds | None = None
    tokens_per_sec: Amount | None = None


class Provenance(Part):
    """Where the record comes from."""

    source_format: Name | None = Field(None, description="the importer that read it")
    source_ref: Name | None = Field(None, description="file and place in it")
    costpass_version: Name | None = None
    runner_version: Name | None = None
    model_reported: Name | None = Field(None, description="the model as the provider named it in its reply")
    commit: Name | None = None
    config_digest: Name | None = None
    schema_version: Literal[1] = 1


class Attempt(Provenance, Timing, Money, Usage, Outcome, Identity):
    """One try of one strategy at one problem.

    >>> Attempt(problem="p1", strategy="small").passed is None
    True
    """

    @property
    def key(self) -> tuple[str | int | None, ...]:
        """What makes an attempt this one and no other."""
        return tuple(getattr(self, name) for name in KEY_FIELDS)

    @property
    def id(self) -> str:
        """A short name for the key."""
        parts = ("" if part is None else str(part) for part in self.key)
        return hashlib.sha256(KEY_SEPARATOR.join(parts).encode()).hexdigest()[:ID_LENGTH]

    def to_line(self) -> bytes:
        """The attempt as one line of a ledger's journal, every field spelled out."""
        return self.model_dump_json().encode() + b"\n"

    def revised(self, **changes: Any) -> "Attempt":
        """A copy with some fields changed, validated again."""
        return Attempt(**{**dict(self), **changes})


def strategy_name(*parts: str | None) -> str:
    """A strategy's name from whatever is known of it: runner, model, mode, technique.

    >>> strategy_name(None, "claude-sonnet-4-5", "baseline")
    'claude-sonnet-4-5+baseline'
    """
    return "+".join(part for part in parts if part) or "unnamed"
