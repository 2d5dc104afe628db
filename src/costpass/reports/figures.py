"""How figures are written."""

from decimal import Decimal

from costpass.analysis.estimate import Estimate
from costpass.analysis.wording import bound, signed_percent

#: An upper bound beyond so many times the figure says that there is none worth printing.
_FAR = 1000


def dollars(amount: float | Decimal | None) -> str:
    """Money with four significant digits below a dollar, and cents or finer above.

    >>> dollars(0.0105912), dollars(1.12321), dollars(Decimal("1234.5")), dollars(0), dollars(None)
    ('$0.01059', '$1.1232', '$1,234.50', '$0', 'unknown')
    """
    return "unknown" if amount is None else ("$0" if amount == 0 else f"${_number(float(amount))}")


def amount(value: float | None, unit: str = "usd") -> str:
    """A cost in its unit."""
    if unit == "usd":
        return dollars(value)
    return "unknown" if value is None else f"{_number(value) if value else '0'} {unit}"


def _number(value: float) -> str:
    if value >= 10:
        return f"{value:,.2f}"
    if value >= 1:
        return f"{value:.4f}"
    leading = -Decimal(repr(value)).adjusted()
    return f"{value:.{leading + 3}f}"


def percent(share: float | None) -> str:
    """A share in percent, one decimal."""
    return "unknown" if share is None else f"{100 * share:.1f} %"


def change(share: float | None) -> str:
    """A change, with its sign."""
    return "unknown" if share is None else signed_percent(share)


def cost(estimate: Estimate, unit: str = "usd", *, infinite: str = "∞") -> str:
    """A cost, infinite ones said so."""
    return infinite if estimate.infinite else amount(estimate.value, unit)


def bounds(estimate: Estimate, unit: str = "usd") -> str:
    """The interval of a cost: `[$0.01, $0.02]`, open above where there is no limit, empty where it cannot be said."""
    if estimate.low is None:
        return ""
    far = estimate.high is None or (estimate.value is not None and estimate.high > _FAR * estimate.value)
    return f"[{amount(estimate.low, unit)}, {'∞' if far else amount(estimate.high, unit)}]"


def percent_bounds(estimate: Estimate) -> str:
    """The interval of a share."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]"


def change_bounds(estimate: Estimate) -> str:
    """The interval of a change."""
    if estimate.low is None:
        return "cannot be said"
    return f"[{signed_percent(estimate.low)}, {bound(estimate.high)}]"
