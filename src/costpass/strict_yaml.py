"""YAML as people write it by hand: exact decimals, no duplicate keys, unknown keys named with the nearest known one."""

from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from costpass.errors import BadInputError, did_you_mean

_LARGEST_FILE_BYTES = 2 * 1024 * 1024


class _Loader(yaml.SafeLoader):
    """SafeLoader, with decimals kept exact and duplicate keys refused."""


def _decimal(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Decimal | float:
    text = loader.construct_scalar(node).replace("_", "")
    try:
        return Decimal(text)
    except ArithmeticError:
        return float(loader.construct_yaml_float(node))


def _mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: dict[Any, int] = {}
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        line = key_node.start_mark.line + 1
        if isinstance(key, str) and key in seen and key != "<<":
            raise BadInputError(f"line {line}: key {key!r} stands twice (first on line {seen[key]}); keep one of them")
        seen[key if isinstance(key, str) else repr(key)] = line
    loader.flatten_mapping(node)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor("tag:yaml.org,2002:float", _decimal)
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


def load(path: Path) -> Any:
    """The document in `path`, with decimals exact."""
    try:
        if path.stat().st_size > _LARGEST_FILE_BYTES:
            raise BadInputError(f"{path}: over 2 MiB, too large for a file written by hand")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    try:
        return yaml.load(text, Loader=_Loader)
    except BadInputError as error:
        raise BadInputError(f"{path}: {error}") from None
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise BadInputError(f"{path}: {line}{error.problem or 'not YAML'}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise BadInputError(f"{path}: not YAML") from error


def complaint(error: ValidationError, model: type[BaseModel]) -> str:
    """The first thing pydantic found wrong, as one clause: where, what, and the nearest known key."""
    # A required key that is misspelt is both missing and unknown; the unknown one is what the user wrote.
    first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
    where = ".".join(str(step) for step in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"unknown key {where!r}{did_you_mean(str(first['loc'][-1]), _known_keys(model))}"
    message = first["msg"].removeprefix("Value error, ")
    if message[:1].isupper() and not message[:2].isupper():
        message = message[0].lower() + message[1:]
    given = "" if first["type"] in ("value_error", "missing") else f" (given: {first['input']!r:.80})"
    return f"{where}: {message}{given}" if where else message


def _known_keys(model: type[BaseModel]) -> Iterable[str]:
    for name, field in model.model_fields.items():
        yield name
        annotation = field.annotation
        for inner in (annotation, *getattr(annotation, "__args__", ())):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from _known_keys(inner)
