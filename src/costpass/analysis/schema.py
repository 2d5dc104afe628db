"""JSON Schemas of the answers, made from the very classes that the answers are."""

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from costpass.analysis.compare import Comparison
from costpass.analysis.estimate import Result
from costpass.analysis.frontier import Frontier
from costpass.analysis.pareto import Pareto
from costpass.analysis.risk import RiskReport
from costpass.analysis.summary import Summary

RESULTS: dict[str, type[Result]] = {
    "report": Summary,
    "compare": Comparison,
    "frontier": Frontier,
    "risk": RiskReport,
    "pareto": Pareto,
}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    # A number that is not finite is written as null.
    float: {"type": ["number", "null"]},
    Decimal: {"type": "number"},
    date: {"type": "string", "format": "date"},
    type(None): {"type": "null"},
    Any: {},
}


def result_schema(name: str) -> dict[str, Any]:
    """The schema of what a command prints with --format json."""
    kind = RESULTS[name]
    body = _schema(kind)
    body["properties"] = {"schema": {"const": kind.schema}, **body["properties"]}
    return {"$schema": _DIALECT, "$id": kind.schema, **body, "required": ["schema", *body["required"]]}


def _schema(hint: Any) -> dict[str, Any]:
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if is_dataclass(hint):
        return _of_class(hint)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return {"anyOf": [_schema(argument) for argument in arguments]}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "prefixItems": [_schema(argument) for argument in arguments]}
    if origin in (Sequence, list):
        return {"type": "array", "items": _schema(arguments[0])}
    if origin in (Mapping, dict):
        return {"type": "object", "additionalProperties": _schema(arguments[1])}
    raise TypeError(f"no schema for {hint!r}")


def _of_class(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    # `by` is spread out: each row carries the fields it was grouped by, under their own names.
    spread = "by" in names
    properties = {name: _schema(hints[name]) for name in names if name != "by"}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": spread,
    }
