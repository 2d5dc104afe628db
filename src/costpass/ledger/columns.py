"""The record's fields as typed columns."""

import types
import typing
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from functools import cache

from costpass.attempt import Attempt
from costpass.errors import CostpassError, did_you_mean

_SQL_TYPES: dict[object, str] = {
    str: "VARCHAR",
    bool: "BOOLEAN",
    int: "BIGINT",
    float: "DOUBLE",
    # Sums of decimals do not depend on the order of the rows, so a report is the same bytes on any number of threads.
    Decimal: "DECIMAL(18, 12)",
    date: "DATE",
    datetime: "TIMESTAMP",
}


@cache
def sql_types() -> dict[str, str]:
    """Every field of the record with its column type, in the record's order."""
    hints = typing.get_type_hints(Attempt)
    return {name: _sql_type(hints[name]) for name in Attempt.model_fields}


def _sql_type(hint: object) -> str:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return _sql_type(next(argument for argument in arguments if argument is not type(None)))
    if origin is typing.Literal:
        return _SQL_TYPES[type(arguments[0])]
    if origin is dict:
        return f"MAP(VARCHAR, {_sql_type(arguments[1])})"
    if origin is list:
        return f"{_sql_type(arguments[0])}[]"
    return _SQL_TYPES[hint]


def require_fields(names: Iterable[str], *, scalar: bool = True) -> list[str]:
    """The names, each checked to be a field that rows can be grouped by."""
    checked: list[str] = []
    for name in names:
        if name in checked:
            continue
        if name not in sql_types():
            raise CostpassError(f"an attempt has no field {name!r}{did_you_mean(name, sql_types())}")
        if scalar and sql_types()[name].endswith((")", "[]")) and "DECIMAL" not in sql_types()[name]:
            raise CostpassError(f"{name!r} holds several values and cannot be grouped or filtered by")
        checked.append(name)
    return checked


def quoted(name: str) -> str:
    """A field as an SQL identifier; `group` is a word of SQL."""
    return f'"{name}"'


def literal(text: str) -> str:
    """A string as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
