"""The cells of a row, by name. What is wrong with one is a ValueError; whoever knows the file and the row adds them."""

from collections.abc import Mapping
from typing import Any

from costpass.errors import did_you_mean

#: One problem as a file or a dataset has it.
Row = Mapping[str, Any]

_MOST_NAMED = 20


def required(row: Row, *names: str) -> Any:
    """The value under the first of these names that is there; it must not be empty."""
    name = next((name for name in names if name in row), None)
    if name is None:
        raise ValueError(f"no column {names[0]!r} (there are: {listed(row)}){did_you_mean(names[0], row)}")
    if _is_empty(row[name]):
        raise ValueError(f"{name!r} is empty")
    return row[name]


def optional(row: Row, *names: str) -> Any:
    """The value under the first of these names that has one, or None."""
    return next((row[name] for name in names if name in row and not _is_empty(row[name])), None)


def text(value: Any) -> str:
    """A scalar as text, as JSON writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    raise ValueError(f"expected text, found {value!r:.60}")


def text_or_none(value: Any) -> str | None:
    return None if value is None else text(value)


def without(row: Row, *names: str) -> dict[str, Any]:
    """The rest of a row."""
    return {name: value for name, value in row.items() if name not in names and value is not None}


def _is_empty(value: Any) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def listed(row: Row) -> str:
    """The names of a row's columns, the first of them where there are many."""
    more = f" … and {len(row) - _MOST_NAMED} more" if len(row) > _MOST_NAMED else ""
    return ", ".join(list(row)[:_MOST_NAMED]) + more if row else "none"
