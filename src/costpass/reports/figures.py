"""How figures are written."""

from decimal import Decimal

from costpass.analysis.summary import Estimate


def dollars(amount: float | Decimal | None) -> str:
    """Money with four significant digits below a dollar, and cents or finer above.

    >>> dollars(0.0105912), dollars(1.12321), dollars(Decimal("1234.5")), dollars(0), dollars(None)
    ('$0.01059', '$1.1232', '$1,234.50', '$0', 'unknown')
    """
    if amount is None:
        return "unknown"
    value = float(amount)
    if value == 0:
        return "$0"
    if value >= 10:
        return f"${value:,.2f}"
    if value >= 1:
        return f"${value:.4f}"
    leading = -Decimal(repr(value)).adjusted()
    return f"${value:.{leading + 3}f}"


def percent(share: float | None) -> str:
    """A share in percent, one decimal."""
    return "unknown" if share is None else f"{100 * share:.1f} %"


def cost_of_pass(estimate: Estimate) -> str:
    return "∞ (none passed)" if estimate.infinite else dollars(estimate.value)
