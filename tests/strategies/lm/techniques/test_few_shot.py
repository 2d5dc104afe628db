"""few-shot: where examples come from and how they are sent."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.strategies.lm.techniques.scripted_ask import ADDITION, ScriptedAsk, answer

from costpass.errors import BadInputError
from costpass.strategies.lm.techniques.registry import build_technique

SPEC = {"few-shot": {"examples": [{"question": "1 + 1?", "answer": 2}, {"question": "2 + {2}?", "answer": "4"}]}}
SHOWN = "User: 1 + 1?\nAssistant: 2\n\nUser: 2 + {2}?\nAssistant: 4\n\n"


def sent(spec: Any, folder: Path | None = None, prompt: str | None = None, question: str = "q?") -> str:
    ask = ScriptedAsk("42")
    technique = build_technique(spec, folder=folder, prompt=prompt)
    assert answer(technique, ask, replace(ADDITION, question=question)) == "42"
    (call,) = ask.calls
    return call.text


def test_examples_come_first_in_turns() -> None:
    assert sent(SPEC) == SHOWN + "User: q?\nAssistant:"


def test_examples_come_before_an_own_prompt() -> None:
    assert sent(SPEC, prompt="Solve {question}") == SHOWN + "Solve q?"


def test_an_example_that_is_the_problem_itself_is_left_out() -> None:
    assert sent(SPEC, question="1 + 1?") == "User: 2 + {2}?\nAssistant: 4\n\nUser: 1 + 1?\nAssistant:"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("shots.yaml", "- {question: '1 + 1?', answer: 2}\n- {question: '2 + {2}?', answer: '4'}\n"),
        ("shots.json", '[{"question": "1 + 1?", "answer": 2}, {"question": "2 + {2}?", "answer": "4"}]'),
        ("shots.jsonl", '{"question": "1 + 1?", "answer": 2}\n\n{"question": "2 + {2}?", "answer": "4"}\n'),
    ],
)
def test_examples_in_a_file_are_those_written_inline(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    spec = {"few-shot": {"file": name}}
    assert sent(spec, folder=tmp_path) == sent(SPEC)
    assert build_technique(spec, folder=tmp_path).describe() == build_technique(SPEC).describe()


def test_a_decimal_answer_keeps_its_digits(tmp_path: Path) -> None:
    (tmp_path / "shots.yaml").write_text("- question: Price?\n  answer: 4.50\n")
    assert "Assistant: 4.50\n" in sent({"few-shot": {"file": "shots.yaml"}}, folder=tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give either examples or a file"),
        ({"examples": [], "file": "x.yaml"}, "give either examples or a file"),
        ({"examples": []}, "there are no examples"),
        ({"examples": [{"question": "q", "anser": "a"}]}, "did you mean 'answer'"),
        ({"examples": [{"question": "q", "answer": True}]}, "put it in quotes"),
        ({"file": "absent.jsonl"}, "absent.jsonl: No such file"),
        ({"file": "bad.jsonl"}, "bad.jsonl: line 2: not JSON"),
        ({"file": "mapping.yaml"}, "mapping.yaml: not a list"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, options: dict[str, object], message: str) -> None:
    (tmp_path / "bad.jsonl").write_text('{"question": "q", "answer": "a"}\n{oops\n')
    (tmp_path / "mapping.yaml").write_text("question: q\n")
    with pytest.raises(BadInputError, match=message):
        build_technique({"few-shot": options}, folder=tmp_path)


def test_the_name_says_how_many() -> None:
    assert build_technique(SPEC).name == "few-shot-2"
