"""Usage times rates, exactly, over every class."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from costpass.attempt import Usage
from costpass.pricing.rates import MissingRateError, PriceError, Rates


@dataclass(frozen=True)
class BillLine:
    """One class of a bill."""

    what: str
    count: Decimal
    usd_each: Decimal

    @property
    def usd(self) -> Decimal:
        return self.count * self.usd_each


@dataclass(frozen=True)
class Bill:
    """What usage costs, line by line."""

    lines: tuple[BillLine, ...]
    #: True where a rate depends on the size of each request and only their sum was known.
    tier_assumed: bool = False

    @property
    def usd(self) -> Decimal:
        return sum((line.usd for line in self.lines), Decimal(0))


def bill(usage: Usage, rates: Rates, *, context_window: int | None = None) -> Bill:
    """The bill for `usage`; a class that was used and has no rate is a `PriceError`, never free."""
    if usage.input_tokens is None or usage.output_tokens is None:
        raise PriceError("input and output tokens are not both known, so the usage cannot be priced")
    request_input, assumed = _request_input(usage, rates.first_tier, context_window)
    lines = [
        BillLine(what, Decimal(count), rates.tokens[what].at(request_input)) for what, count in _priced(usage, rates)
    ]
    if rates.per_request:
        lines.append(BillLine("requests", Decimal(usage.requests or 1), rates.per_request))
    for name, amount in sorted(usage.quantities.items()):
        if amount:
            lines.append(BillLine(name, Decimal(repr(amount)), _quantity_rate(name, rates)))
    return Bill(tuple(lines), assumed)


def _priced(usage: Usage, rates: Rates) -> Iterator[tuple[str, int]]:
    reasoning_apart = (usage.reasoning_tokens or 0) if "reasoning" in rates.tokens else 0
    counts = {
        "input": usage.input_tokens,
        "cache_read": usage.cache_read_tokens,
        "cache_write": usage.cache_write_tokens,
        "cache_write_1h": usage.cache_write_1h_tokens,
        "output": (usage.output_tokens or 0) - reasoning_apart,
        "reasoning": reasoning_apart,
    }
    for what, count in counts.items():
        if count and what not in rates.tokens:
            raise MissingRateError(what)
        if count:
            yield what, count


def _quantity_rate(name: str, rates: Rates) -> Decimal:
    if name not in rates.quantities:
        raise MissingRateError(name, is_quantity=True)
    return rates.quantities[name]


def _request_input(usage: Usage, first_tier: int | None, context_window: int | None) -> tuple[int, bool]:
    """Input tokens per request, and whether that had to be assumed.

    Tiers are decided request by request, while an attempt holds the sum of its requests. The mean request stands
    in for them; a sum that no single request of this model could hold is many requests even if nobody counted them.
    """
    parts = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.cache_write_1h_tokens)
    total = sum(part or 0 for part in parts)
    requests = usage.requests or usage.turns
    if first_tier is None or total <= first_tier or requests == 1:
        return total, False
    if requests is None:
        many = context_window is not None and total > context_window
        return (0, True) if many else (total, False)
    return total // requests, True
