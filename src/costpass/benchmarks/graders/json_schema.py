"""`json-schema`: the answer is JSON that meets a schema."""

import importlib
import importlib.util
import json
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from costpass.benchmarks import answers
from costpass.benchmarks.graders.fences import blocks
from costpass.benchmarks.graders.options import NO_ANSWER, Options, bad_target, verdict
from costpass.benchmarks.graders.protocol import Grade, GraderError, Judge
from costpass.benchmarks.problem import Problem
from costpass.errors import BadInputError, MissingExtraError

_LONGEST_ANSWER = 1_000_000
_NOTHING = object()


class JsonSchemaOptions(Options):
    """Without either, the problem's target is the schema."""

    inline: dict[str, Any] | None = Field(default=None, alias="schema")
    #: Beside the experiment.
    schema_file: Path | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "JsonSchemaOptions":
        if self.inline is not None and self.schema_file is not None:
            raise ValueError("give either schema or schema_file")
        return self


class JsonSchemaGrader:
    """Takes the tagged answer, the whole reply or the last fenced block that is JSON."""

    name = "json-schema"
    judge_model: str | None = None

    def __init__(self, options: JsonSchemaOptions | None = None, folder: Path | None = None) -> None:
        if importlib.util.find_spec("jsonschema") is None:
            raise MissingExtraError("the grader 'json-schema'", "json")
        options = options or JsonSchemaOptions()
        self._schema: Any = options.inline
        if options.schema_file is not None:
            self._schema = _from_file((folder or Path()) / options.schema_file)
        if self._schema is not None and (fault := _fault(self._schema)):
            raise BadInputError(f"grader 'json-schema': not a JSON Schema: {fault}")

    def check(self, problem: Problem) -> None:
        self._schema_for(problem)

    async def grade(self, answer: str, problem: Problem, judge: Judge | None = None) -> Grade:  # noqa: ARG002
        schema = self._schema_for(problem)
        said = answers.read_as("text", answer)
        if said is None:
            return NO_ANSWER
        instance = _json_in(said)
        if instance is _NOTHING:
            return Grade(passed=False, failure="invalid_json", extracted=said)
        return verdict(_meets(instance, schema), json.dumps(instance, ensure_ascii=False))

    def _schema_for(self, problem: Problem) -> Any:
        if self._schema is not None:
            return self._schema
        if not isinstance(problem.target, dict):
            raise bad_target(problem, self.name, "a JSON Schema, which the options do not give,")
        if fault := _fault(problem.target):
            raise bad_target(problem, self.name, f"a JSON Schema ({fault})")
        return problem.target


def _from_file(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInputError(f"{path}: cannot be read as a JSON Schema: {error}") from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _NOTHING


def _json_in(text: str) -> Any:
    if len(text) > _LONGEST_ANSWER:
        return _NOTHING
    candidates = [text, *(content for _, content in reversed(blocks(text)))]
    return next((found for found in map(_loaded, candidates) if found is not _NOTHING), _NOTHING)


def _fault(schema: Any) -> str | None:
    jsonschema: Any = importlib.import_module("jsonschema")
    try:
        jsonschema.validators.validator_for(schema).check_schema(schema)
    except jsonschema.exceptions.SchemaError as error:
        return str(error.message)
    return None


def _meets(instance: Any, schema: Any) -> bool:
    jsonschema: Any = importlib.import_module("jsonschema")
    referencing: Any = importlib.import_module("referencing")
    # An empty registry: a reference to a web address is not fetched.
    validator = jsonschema.validators.validator_for(schema)(schema, registry=referencing.Registry())
    try:
        return bool(validator.is_valid(instance))
    except RecursionError:
        return False
    except referencing.exceptions.Unresolvable as error:
        raise GraderError(f"the JSON Schema refers to {error}, which is not in it") from error
