"""costpass schema: the formats as JSON Schema."""

from enum import StrEnum
from typing import Annotated, Any

import typer

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Name(StrEnum):
    attempt = "attempt"
    experiment = "experiment"
    models = "models"
    context = "context"
    report = "report"
    compare = "compare"
    frontier = "frontier"
    risk = "risk"
    pareto = "pareto"


def command(
    name: Annotated[
        Name,
        typer.Argument(
            help="attempt: the record; experiment, models, context: files you write; the others: what commands print "
            "as JSON."
        ),
    ],
) -> None:
    """Print a format's JSON Schema."""
    import json

    written = {Name.attempt: _attempt, Name.experiment: _experiment, Name.models: _models, Name.context: _context}
    schema = written[name]() if name in written else _result(name.value)
    typer.echo(json.dumps(schema, indent=2, ensure_ascii=False))


def _attempt() -> dict[str, Any]:
    from costpass.attempt import SCHEMA_ID, Attempt

    return {"$schema": _DIALECT, "$id": SCHEMA_ID, **Attempt.model_json_schema(mode="serialization")}


def _experiment() -> dict[str, Any]:
    from costpass.runs.experiment import experiment_schema

    return {"$schema": _DIALECT, "$id": "costpass.experiment/1", **experiment_schema()}


def _models() -> dict[str, Any]:
    from costpass.pricing.models_file import ModelEntry

    entry = ModelEntry.model_json_schema(ref_template="#/$defs/{model}")
    definitions = entry.pop("$defs", {})
    one_or_many = {"anyOf": [entry, {"type": "array", "items": entry}]}
    return {
        "$schema": _DIALECT,
        "$id": "costpass.models/1",
        "type": "object",
        "properties": {"models": {"type": "object", "additionalProperties": one_or_many}},
        "required": ["models"],
        "$defs": definitions,
    }


def _context() -> dict[str, Any]:
    from costpass.analysis.context import Context

    return {"$schema": _DIALECT, "$id": "costpass.context/1", **Context.model_json_schema()}


def _result(name: str) -> dict[str, Any]:
    from costpass.analysis.schema import result_schema

    return result_schema(name)
