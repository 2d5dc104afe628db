"""How figures are written."""

from decimal import Decimal

import pytest

from costpass.reports.figures import dollars


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "$0"),
        (None, "unknown"),
        (0.0000424512, "$0.00004245"),
        (0.082533, "$0.08253"),
        (0.99999, "$1.0000"),
        (1.12321, "$1.1232"),
        (Decimal("12345.678"), "$12,345.68"),
    ],
)
def test_money_keeps_the_digits_that_matter(amount: float | Decimal | None, text: str) -> None:
    assert dollars(amount) == text
