"""The experiment file: benchmarks × strategies × repetitions, under budgets."""

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from costpass import strict_yaml
from costpass.benchmarks.spec import BenchmarkSpec
from costpass.errors import BadInputError, did_you_mean
from costpass.runs.matrix import expand

BUNDLED = ("cost-of-pass", "demo", "demo-quick")

_SECRET = re.compile(r"^\$\{[A-Za-z_][A-Za-z0-9_]*\}$")
_NAME = r"^[^/\\\x00-\x1f.][^/\\\x00-\x1f]{0,199}$"

Usd = Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=100_000)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StrategySpec(_Section):
    """One way to attempt a problem."""

    id: str = Field(pattern=_NAME, description="the name that records and reports use")
    model: str = Field(min_length=1, description="provider:name, local:name, or any name at a base_url")
    base_url: str | None = Field(None, description="an OpenAI-compatible server; ${NAME} is read from the environment")
    api_key: str | None = Field(None, description="${NAME}: the environment variable that holds the key")
    provider: str | None = Field(None, description="what the record calls the provider, where not the model's prefix")
    technique: str | dict[str, Any] | None = Field(
        None, description="direct, chain-of-thought, {majority-vote: {k: 3}} …"
    )
    prompt: str | None = Field(None, description="a template of its own, in which {question} stands for the question")
    system: str | None = Field(None, description="a system prompt")
    settings: dict[str, Any] = Field(default_factory=dict, description="temperature, top_p, max_tokens, thinking …")
    family: str | None = None
    released: date | None = None
    repetitions: Count | None = Field(None, description="attempts at each problem, where unlike the experiment's")

    @field_validator("api_key")
    @classmethod
    def _by_name_only(cls, key: str | None) -> str | None:
        if key is not None and not _SECRET.match(key):
            raise ValueError("write the name of the environment variable that holds the key, as in ${OPENAI_API_KEY}")
        return key


class Budgets(_Section):
    """What may be spent. Caps are kept before the money is gone."""

    attempt_usd: Literal["auto"] | Usd = Field(
        "auto",
        description="auto: what the model's own budget says, else what 64k input and 32k output tokens cost, at "
        "most $0.50; 0: no cap",
    )
    strategy_usd: Usd | None = None
    total_usd: Usd | None = None
    wall_clock_s: Annotated[float, Field(gt=0)] = Field(600, description="the longest that one attempt may take")

    @field_validator("attempt_usd", mode="before")
    @classmethod
    def _auto_or_dollars(cls, cap: Any) -> Any:
        if cap != "auto" and (isinstance(cap, bool) or not isinstance(cap, int | float | Decimal) or cap < 0):
            raise ValueError("must be auto, or dollars from 0")
        return cap


class Local(_Section):
    """How models are run on this machine."""

    core_hour_usd: Usd = Field(Decimal("0.04"), description="what an hour of one CPU core costs")
    servers: Count | None = Field(None, description="model servers side by side; one for each core, at most two")
    threads: Count = Field(1, description="threads of each server; two collapse on a busy machine")
    context_tokens: Count = Field(4096, description="tokens of prompt and reply together")


class Experiment(_Section):
    """Benchmarks × strategies × repetitions, under budgets."""

    experiment: str = Field(pattern=_NAME, description="the experiment's name, and its ledger's folder")
    benchmarks: tuple[BenchmarkSpec, ...] = Field(min_length=1)
    strategies: tuple[StrategySpec, ...] = Field(min_length=1)
    repetitions: Count = Field(1, description="attempts of each strategy at each problem")
    budgets: Budgets = Budgets()
    concurrency: Count = Field(8, description="the most attempts under way at once")
    retries: Annotated[int, Field(ge=0)] = Field(4, description="how often a request that was broken is sent again")
    seed: int = Field(0, ge=0, description="of the order of attempts and of each attempt's own seed")
    prices: Path | dict[str, Any] | None = Field(None, description="a models.yml, or its content")
    local: Local = Local()

    @model_validator(mode="before")
    @classmethod
    def _spread_out(cls, document: Any) -> Any:
        if isinstance(document, Mapping) and "strategies" in document:
            return {**document, "strategies": expand(document["strategies"])}
        return document

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        ids = [strategy.id for strategy in self.strategies]
        double = next((name for name in ids if ids.count(name) > 1), None)
        if double is not None:
            raise ValueError(f"the strategy id {double!r} stands twice; each needs one of its own")
        return self


def load_experiment(name: str | Path) -> tuple[Experiment, Path]:
    """An experiment and the folder that its paths are relative to, by its file or by the name of a bundled one."""
    place = Path(name)
    if not place.exists() and str(name) in BUNDLED:
        place = Path(str(files("costpass.presets").joinpath("experiments", f"{name}.yaml")))
    elif not place.exists():
        raise BadInputError(f"{name}: no such file, nor a bundled experiment{did_you_mean(str(name), BUNDLED)}")
    document = strict_yaml.load(place)
    if not isinstance(document, dict):
        raise BadInputError(f"{place}: expected an experiment: a mapping with experiment, benchmarks and strategies")
    try:
        return Experiment.model_validate(document), place.parent
    except ValidationError as error:
        raise BadInputError(f"{place}: {strict_yaml.complaint(error, Experiment)}") from error


def experiment_schema() -> dict[str, Any]:
    """The JSON Schema of the file, for editors."""
    schema = Experiment.model_json_schema()
    one = schema["properties"]["strategies"]["items"]
    definitions = schema["$defs"]
    generated = {key: value for key, value in definitions["StrategySpec"]["properties"].items() if key != "id"}
    definitions["Matrix"] = {
        "type": "object",
        "description": "a strategy for each combination; the other keys are common to all",
        "properties": {
            "matrix": {
                "type": "object",
                "description": "lists of values by key, also of a setting as in settings.temperature",
                "additionalProperties": {"type": "array", "minItems": 1},
            },
            **generated,
        },
        "required": ["matrix"],
        "additionalProperties": False,
    }
    # Where no id is written, one is made of what sets the strategy apart.
    definitions["StrategySpec"]["required"] = ["model"]
    either = {"anyOf": [one, {"$ref": "#/$defs/Matrix"}]}
    schema["properties"]["strategies"] = {
        "anyOf": [{"type": "array", "items": either, "minItems": 1}, {"$ref": "#/$defs/Matrix"}]
    }
    return schema
