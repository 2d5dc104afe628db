"""What a request can cost at most, and how much it may therefore write."""

from datetime import UTC, datetime
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from costpass.attempt import Usage
from costpass.pricing import Quote, Rate, Rates
from costpass.strategies.lm.bound import Excess, Prices, bound


def quote(**usd_per_million: str) -> Quote:
    tokens = {name: Rate.per_million(Decimal(price)) for name, price in usd_per_million.items()}
    return Quote("m", "m", None, datetime.now(UTC), Rates(tokens), "test", None)


def test_the_cap_buys_output_after_the_input_is_paid() -> None:
    prices = Prices(quote(input="1", output="10"))
    limit = bound(prices, 744, left_usd=Decimal("0.01"), asked_tokens=None, output_limit=None)
    assert limit is not None
    # 744 bytes and 256 tokens of template are at most 1,000 tokens: $0.001, which leaves $0.009 for output.
    assert (limit.max_tokens, limit.worst_usd, limit.by_cap) == (900, Decimal("0.01"), True)


def test_a_strategy_s_own_limit_binds_where_it_is_lower() -> None:
    limit = bound(
        Prices(quote(input="1", output="10")), 744, left_usd=Decimal("0.01"), asked_tokens=48, output_limit=None
    )
    assert limit is not None
    assert (limit.max_tokens, limit.worst_usd, limit.by_cap) == (48, Decimal("0.00148"), False)


def test_a_cap_that_does_not_pay_the_input_buys_nothing() -> None:
    prices = Prices(quote(input="1", output="10"))
    assert bound(prices, 10_000, left_usd=Decimal("0.01"), asked_tokens=None, output_limit=None) is None


def test_a_free_model_needs_no_limit() -> None:
    limit = bound(Prices(quote(input="0", output="0")), 10, left_usd=Decimal(0), asked_tokens=None, output_limit=None)
    assert limit is not None
    assert limit.max_tokens is None
    assert limit.worst_usd == 0


def test_an_endpoint_known_to_go_beyond_its_bound_is_bounded_lower() -> None:
    prices = Prices(quote(input="1", output="10"))
    usual = bound(prices, 744, left_usd=Decimal("0.01"), asked_tokens=None, output_limit=None)
    wary = bound(
        prices, 744, left_usd=Decimal("0.01"), asked_tokens=None, output_limit=None, excess=Excess(output=Decimal(2))
    )
    assert usual is not None
    assert wary is not None
    assert (wary.max_tokens or 0) < (usual.max_tokens or 0)


@given(
    st.integers(0, 5000),
    st.integers(0, 4000),
    st.decimals("0.0001", "0.1", places=6),
    st.none() | st.integers(1, 2000),
    st.integers(0, 100),
)
def test_no_reply_within_the_bound_costs_more_than_its_worst(
    prompt_bytes: int, tokens: int, left: Decimal, asked: int | None, template: int
) -> None:
    priced = quote(input="3", output="15", cache_read="0.3", cache_write="3.75")
    limit = bound(Prices(priced), prompt_bytes, left_usd=left, asked_tokens=asked, output_limit=None)
    if limit is None:
        return
    written = min(tokens, limit.max_tokens if limit.max_tokens is not None else tokens)
    usage = Usage(input_tokens=0, cache_write_tokens=prompt_bytes + template, output_tokens=written)
    assert priced.bill(usage).usd <= limit.worst_usd <= left
