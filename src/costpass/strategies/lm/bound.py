"""The most that a request can cost, and how many tokens it may therefore write."""

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

from costpass.pricing import Quote, Rate

#: What a chat template may add to the text of a conversation: roles, markers, a system prompt of its own.
_TEMPLATE_TOKENS = 256
_NOTHING = Decimal(0)


@dataclass
class Excess:
    """By how much an endpoint has gone beyond what it was bounded to; 1 for one that keeps to its limits."""

    input: Decimal = Decimal(1)
    output: Decimal = Decimal(1)


@dataclass(frozen=True)
class Bound:
    """A request that cannot cost more than `worst_usd`."""

    worst_usd: Decimal
    #: To be sent with the request; None where nothing but the provider's own limit binds.
    max_tokens: int | None
    #: The cap binds, and not the strategy's own setting: a reply that reaches it was stopped for its cost.
    by_cap: bool


class Prices:
    """What a request's input and output cost at most under a quote."""

    def __init__(self, quote: Quote) -> None:
        rates = quote.rates
        self.context_window = quote.context_window
        self._per_request = rates.per_request
        self._input = [
            rates.tokens[name] for name in ("input", "cache_write", "cache_write_1h") if name in rates.tokens
        ]
        self._output = [rates.tokens[name] for name in ("output", "reasoning") if name in rates.tokens]

    def input_usd(self, tokens: int) -> Decimal:
        return self._per_request + tokens * _dearest(self._input, tokens)

    def output_usd_each(self, input_tokens: int) -> Decimal:
        return _dearest(self._output, input_tokens)


def bound(
    prices: Prices,
    prompt_bytes: int,
    *,
    left_usd: Decimal | None,
    asked_tokens: int | None,
    output_limit: int | None,
    excess: Excess | None = None,
) -> Bound | None:
    """The bound on a request with so much left to spend, or None where not even one token can be paid.

    `excess` is by how much the endpoint is known to go beyond its bounds; it is reckoned with from then on.
    """
    beyond = excess or Excess()
    input_tokens = int(most_input(prompt_bytes) * beyond.input)
    input_usd = prices.input_usd(input_tokens)
    each = prices.output_usd_each(input_tokens) * beyond.output
    ceilings = [tokens for tokens in (asked_tokens, output_limit) if tokens is not None]
    most = min(ceilings, default=None)
    if left_usd is None:
        return Bound(input_usd + each * (most or prices.context_window or 0), most, by_cap=False)
    if input_usd + each > left_usd and (each or input_usd):
        return None
    affordable = int(((left_usd - input_usd) / each).to_integral_value(ROUND_FLOOR)) if each else None
    if affordable is None or (most is not None and most <= affordable):
        return Bound(input_usd + each * (most or 0), most, by_cap=False)
    return Bound(input_usd + each * affordable, affordable, by_cap=True)


def most_input(prompt_bytes: int) -> int:
    """The most tokens that a prompt can have: a token is at least a byte, and the template adds some."""
    return prompt_bytes + _TEMPLATE_TOKENS


def _dearest(rates: list[Rate], request_input_tokens: int) -> Decimal:
    return max((max(rate.base, rate.at(request_input_tokens)) for rate in rates), default=_NOTHING)
