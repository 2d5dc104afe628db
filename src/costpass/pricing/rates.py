"""What one unit of each class costs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from costpass.errors import CostpassError

#: Token classes that can be priced, in the order they are printed. Each is disjoint from the others once
#: reasoning, where it has a rate of its own, is taken out of output.
TOKEN_CLASSES = ("input", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning")

PER_MILLION = Decimal(1_000_000)


class PriceError(CostpassError):
    """A model or a token class without a known price. Never answered with zero."""


class MissingRateError(PriceError):
    """A class that was used and has no rate."""

    def __init__(self, what: str, *, is_quantity: bool = False) -> None:
        super().__init__(f"{what} {'were' if is_quantity else 'tokens were'} used and no price for them is known")
        self.what = what
        self.is_quantity = is_quantity


@dataclass(frozen=True)
class Rate:
    """Dollars per unit. A tier replaces the base for the whole request once its input passes a threshold."""

    base: Decimal
    tiers: tuple[tuple[int, Decimal], ...] = ()

    def at(self, request_input_tokens: int) -> Decimal:
        """The rate that holds for a request with so many input tokens, cached ones included."""
        applicable = self.base
        for above, price in self.tiers:
            if request_input_tokens > above:
                applicable = price
        return applicable

    @classmethod
    def per_million(cls, base: Decimal, tiers: tuple[tuple[int, Decimal], ...] = ()) -> "Rate":
        """A rate quoted in dollars per million."""
        return cls(base / PER_MILLION, tuple((above, price / PER_MILLION) for above, price in tiers))


@dataclass(frozen=True)
class Rates:
    """All rates of one model at one moment: per token by class, per request, and per unit of any other quantity."""

    tokens: Mapping[str, Rate]
    per_request: Decimal = Decimal(0)
    quantities: Mapping[str, Decimal] = field(default_factory=dict)

    @property
    def first_tier(self) -> int | None:
        """The input size above which some rate changes."""
        return min((above for rate in self.tokens.values() for above, _ in rate.tiers), default=None)
