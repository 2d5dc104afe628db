"""The JSON Schema grader, with the real jsonschema."""

import json
from pathlib import Path

import pytest
from tests.benchmarks.graders.grading import grade

from costpass.benchmarks.graders.protocol import GraderError
from costpass.benchmarks.graders.registry import build_grader
from costpass.errors import BadInputError

SCHEMA = {"type": "object", "properties": {"age": {"type": "integer", "minimum": 0}}, "required": ["age"]}


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        ('{"age": 3}', None),
        ('Here:\n```json\n{"age": 3}\n```\nDone.', None),
        ('```\n{"age": "x"}\n```\nbetter:\n```json\n{"age": 4}\n```', None),
        ('<answer>{"age": 3}</answer>', None),
        ('{"age": -1}', "wrong_answer"),
        ('{"age": "3"}', "wrong_answer"),
        ("[]", "wrong_answer"),
        ("It is three.", "invalid_json"),
        ('{"age": NaN}', "invalid_json"),
        ("[" * 100_000, "invalid_json"),
        ("", "no_answer"),
    ],
)
def test_the_answer_is_json_that_meets_the_schema(reply: str, failure: str | None) -> None:
    verdict = grade({"json-schema": {"schema": SCHEMA}}, reply, None)
    assert (verdict.passed, verdict.failure) == (failure is None, failure)


def test_the_target_is_the_schema_where_the_options_give_none() -> None:
    assert grade("json-schema", '{"age": 3}', SCHEMA).passed
    with pytest.raises(BadInputError, match="problem 'p1'"):
        grade("json-schema", "{}", "x")
    with pytest.raises(BadInputError, match="JSON Schema"):
        grade("json-schema", "{}", {"type": 5})


def test_a_schema_can_stand_in_a_file_beside_the_experiment(tmp_path: Path) -> None:
    (tmp_path / "person.json").write_text(json.dumps(SCHEMA))
    assert build_grader({"json-schema": {"schema_file": "person.json"}}, folder=tmp_path).name == "json-schema"


def test_a_reference_to_the_web_is_not_fetched() -> None:
    with pytest.raises(GraderError, match="which is not in it"):
        grade("json-schema", "{}", {"$ref": "http://127.0.0.1:9/schema.json"})
