"""costpass schema: the formats as JSON Schema."""

from enum import StrEnum
from typing import Annotated

import typer


class Name(StrEnum):
    attempt = "attempt"
    models = "models"


def command(name: Annotated[Name, typer.Argument(help="attempt: the record; models: an entry of models.yml.")]) -> None:
    """Print a format's JSON Schema."""
    import json

    from costpass.attempt import SCHEMA_ID, Attempt
    from costpass.pricing.models_file import ModelEntry

    if name is Name.attempt:
        schema = {"$schema": _DIALECT, "$id": SCHEMA_ID, **Attempt.model_json_schema(mode="serialization")}
    else:
        entry = ModelEntry.model_json_schema(ref_template="#/$defs/{model}")
        definitions = entry.pop("$defs", {})
        one_or_many = {"anyOf": [entry, {"type": "array", "items": entry}]}
        schema = {
            "$schema": _DIALECT,
            "$id": "costpass.models/1",
            "type": "object",
            "properties": {"models": {"type": "object", "additionalProperties": one_or_many}},
            "required": ["models"],
            "$defs": definitions,
        }
    typer.echo(json.dumps(schema, indent=2, ensure_ascii=False))


_DIALECT = "https://json-schema.org/draft/2020-12/schema"
