"""One request to a model, as it ended."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from costpass.attempt import Usage
from costpass.strategies.lm.faults import Broken


@dataclass
class Call:
    """What one request sent, got and cost."""

    sent: list[dict[str, Any]]
    prompt_digest: bytes
    prompt_bytes: int
    started: float
    text: str = ""
    thinking: str = ""
    finish_reason: str | None = None
    model_reported: str | None = None
    #: The provider had begun to answer, so the input is paid for.
    opened: bool = False
    #: Pieces of text that arrived; about one for each token.
    pieces: int = 0
    first_token_s: float | None = None
    ended_s: float | None = None
    usage: Usage = field(default_factory=Usage)
    #: Some of the usage is a guess: the reply broke off, or the provider did not say.
    estimated: bool = False
    usd: Decimal = Decimal(0)
    priced_usd: Decimal = Decimal(0)
    billed_usd: Decimal | None = None
    metered_usd: Decimal | None = None
    tool_calls: int = 0
    #: The reply was cut off where the attempt's cap ended.
    stopped_by_cap: bool = False
    broken: Broken | None = None

    @property
    def first_token_ms(self) -> float | None:
        return None if self.first_token_s is None else (self.first_token_s - self.started) * 1000

    @property
    def generation_ms(self) -> float | None:
        if self.first_token_s is None or self.ended_s is None:
            return None
        return (self.ended_s - self.first_token_s) * 1000

    def trace(self) -> dict[str, Any]:
        """The call as a trace keeps it."""
        kept: dict[str, Any] = {"sent": self.sent, "reply": self.text}
        if self.thinking:
            kept["thinking"] = self.thinking
        if self.finish_reason:
            kept["finish_reason"] = self.finish_reason
        if self.broken:
            kept["broken"] = self.broken.failure
        return kept
