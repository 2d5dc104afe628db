"""The most that a request can cost, and how many tokens it may therefore write."""

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

from costpass.pricing import Quote, Rate

#: What a chat template may add to the text of a conversation: roles, markers, a system prompt of its own.
_TEMPLATE_TOKENS = 256
_NOTHING = Decimal(0)


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
    excess: Decimal = Decimal(1),
) -> Bound | None:
    """The bound on a request with so much left to spend, or None where not even one token can be paid.

    `excess` is by how much the endpoint is known to go beyond what was bounded; it is reckoned with from then on.
    """
    input_tokens = prompt_bytes + _TEMPLATE_TOKENS
    input_usd = prices.input_usd(input_tokens) * excess
    each = prices.output_usd_each(input_tokens) * excess
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


def _dearest(rates: list[Rate], request_input_tokens: int) -> Decimal:
    return max((max(rate.base, rate.at(request_input_tokens)) for rate in rates), default=_NOTHING)
