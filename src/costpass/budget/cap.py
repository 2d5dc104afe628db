"""The default cap on one attempt's cost."""

from decimal import Decimal

from costpass.pricing import Quote

CEILING_USD = Decimal("0.50")
_INPUT_TOKENS = 64_000
_OUTPUT_TOKENS = 32_000


def default_cap_usd(input_usd_per_token: Decimal, output_usd_per_token: Decimal) -> Decimal:
    """What 64,000 input and 32,000 output tokens cost, at most fifty cents; zero for a free model: no enforcement.

    >>> default_cap_usd(Decimal("0.3") / 10**6, Decimal("1.2") / 10**6)
    Decimal('0.0576')
    """
    return min(CEILING_USD, (input_usd_per_token * _INPUT_TOKENS + output_usd_per_token * _OUTPUT_TOKENS).normalize())


def cap_usd(quote: Quote) -> Decimal:
    """The cap of a model: its own `budgets.max_cost_usd` where given, else the default."""
    if quote.budgets.max_cost_usd is not None:
        return quote.budgets.max_cost_usd
    rates = quote.rates.tokens
    return default_cap_usd(
        rates["input"].base if "input" in rates else Decimal(0),
        rates["output"].base if "output" in rates else Decimal(0),
    )
