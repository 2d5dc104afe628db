from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from costpass.benchmarks.expert import ExpertPrice

cents = st.decimals(0, 1000, places=2)


@given(rate=cents, minutes=cents)
def test_a_rate_and_a_time_make_a_price(rate: Decimal, minutes: Decimal) -> None:
    assert ExpertPrice(hourly_usd=rate, minutes=minutes).range_usd == (float(rate * minutes / 60),) * 2


def test_a_range_keeps_both_ends() -> None:
    price = ExpertPrice(hourly_usd=(Decimal(45), Decimal(100)), minutes=Decimal(12))
    assert price.range_usd == (9, 20)


@pytest.mark.parametrize("written", [{}, {"minutes": 3}, {"usd": 1, "hourly_usd": 2, "minutes": 3}, {"usd": -1}])
def test_a_price_is_said_in_one_way(written: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        ExpertPrice.model_validate(written)
