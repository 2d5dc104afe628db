"""Worked examples for `few-shot`: a question and its answer, written inline or in a file."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from costpass import strict_yaml
from costpass.errors import BadInputError
from costpass.strategies.lm.techniques.built import Options


def _as_written(value: Any) -> Any:
    """YAML reads `answer: 42` as a number; what is sent is the text. `yes` became true and cannot be told back."""
    if isinstance(value, bool):
        raise ValueError("is read as true or false; put it in quotes")
    return str(value) if isinstance(value, int | float | Decimal) else value


Text = Annotated[str, BeforeValidator(_as_written)]


class Example(Options):
    """One question with the answer that the model should have given."""

    question: Text
    answer: Text


def as_examples(found: Any, where: str) -> tuple[Example, ...]:
    """What was written as examples, checked one by one."""
    if not isinstance(found, list):
        raise BadInputError(f"{where}: not a list; write a list of {{question: …, answer: …}}")
    try:
        return TypeAdapter(tuple[Example, ...]).validate_python(found)
    except ValidationError as error:
        raise BadInputError(f"{where}: {strict_yaml.complaint(error, Example)}") from error


def read_examples(path: Path) -> tuple[Example, ...]:
    """The examples in a file: a list of them in YAML or JSON, or JSONL with one to a line."""
    if path.suffix == ".jsonl":
        lines = _text(path).split("\n")
        found = [_json(line, f"{path}: line {number}") for number, line in enumerate(lines, 1) if line.strip()]
        return as_examples(found, str(path))
    return as_examples(_json(_text(path), str(path)) if path.suffix == ".json" else strict_yaml.load(path), str(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"{path}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from error


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text, parse_float=Decimal)
    except ValueError as error:
        raise BadInputError(f"{where}: not JSON") from error
