"""How figures stand in sentences."""

#: Beyond so many times as much, a factor reads better than a percentage, and a bound says nothing.
_FAR = 1000
_MANY = 10


def signed_percent(change: float) -> str:
    """A change with its sign; a factor once it is over tenfold.

    >>> signed_percent(-0.3126), signed_percent(0.5), signed_percent(24.0)
    ('−31.3 %', '+50.0 %', '×25')
    """
    if change > _MANY:
        return f"×{1 + change:,.3g}"
    return f"{100 * change:+.1f} %".replace("-", "−")


def bound(change: float | None) -> str:
    """The upper bound of a change."""
    return "no limit" if change is None or change > _FAR else signed_percent(change)


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "problem"), counted(3, "problem")
    ('1 problem', '3 problems')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def label(value: object) -> str:
    """A name for people; what has none is said so."""
    return "(not known)" if value is None else str(value)
