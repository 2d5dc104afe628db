"""An experiment's line becomes a grader, or a sentence that says what is wrong with it."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from costpass.benchmarks.graders.registry import GraderOptions, build_grader, check_problem
from costpass.benchmarks.problem import Problem
from costpass.errors import BadInputError, MissingExtraError

NEEDED: dict[str, Any] = {"judge": {"model": "anthropic:m"}, "python": {"function": "grade.py:f"}}


@pytest.mark.parametrize("name", GraderOptions)
def test_every_grader_is_built_by_its_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "grade.py").write_text("def f(answer, problem): return True\n")
    grader = build_grader({name: NEEDED.get(name)}, folder=tmp_path)
    assert grader.name == name
    assert grader.judge_model == ("anthropic:m" if name == "judge" else None)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("numeric_", "no grader 'numeric_'; did you mean 'numeric'?"),
        ({"numeric": {"tolerence": 1}}, "unknown key 'tolerence'; did you mean 'tolerance'?"),
        ({"numeric": {"tolerance": {"absolut": 1}}}, "did you mean 'absolute'?"),
        ({"numeric": {"tolerance": {"absolute": -1}}}, "greater than or equal to 0"),
        ({"exact": {}, "word": {}}, "one name with its options"),
        ({"exact": "yes"}, "its options are a mapping"),
        ({"multiple-choice": {"letters": 4}}, "unknown key 'letters'"),
        ({"judge": {}}, "model: field required"),
        ({"strings": {"required": ["("], "regex": True}}, "not a regular expression"),
        ({"strings": {"required": [""]}}, "an empty string"),
        ({"json-schema": {"schema": {"type": "objekt"}}}, "not a JSON Schema"),
        ({"json-schema": {"schema_file": "none.json"}}, "none.json"),
    ],
)
def test_a_wrong_line_is_answered_in_one_sentence(spec: Any, said: str) -> None:
    with pytest.raises(BadInputError) as caught:
        build_grader(spec)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_bad_target_is_found_before_anything_is_asked() -> None:
    with pytest.raises(BadInputError, match="needs a number"):
        check_problem(build_grader("numeric"), Problem("p", "?", "many"))


@pytest.mark.parametrize(("name", "extra"), [("math", "math"), ("json-schema", "json")])
def test_a_grader_whose_part_is_missing_names_the_install(
    name: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'costpass\[{extra}\]'"):
        build_grader(name)
