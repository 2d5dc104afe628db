"""The graders that compare: exact, numeric, word, multiple-choice."""

from typing import Any

import pytest
from tests.benchmarks.graders.grading import grade

from costpass.benchmarks.problem import GraderSpec
from costpass.errors import BadInputError


@pytest.mark.parametrize("spec", ["exact", "numeric", "word", "multiple-choice", "math"])
@pytest.mark.parametrize("reply", ["", " \n ", "<answer></answer>"])
def test_no_answer_does_not_pass_and_says_why(spec: str, reply: str) -> None:
    verdict = grade(spec, reply, "A" if spec == "multiple-choice" else "5")
    assert (verdict.passed, verdict.failure) == (False, "no_answer")


@pytest.mark.parametrize(
    ("options", "answer", "target", "passed"),
    [
        ({}, "Paris", "Paris", True),
        ({}, "<answer> Paris </answer>, I think", "Paris", True),
        ({}, "paris", "Paris", False),
        ({}, "Paris.", "Paris", False),
        ({"ignore_case": True}, "PARIS", "Paris", True),
        ({"ignore_whitespace": True}, "New \n York", "New York", True),
        ({"ignore_punctuation": True}, '**"Paris".**', "Paris", True),
        ({}, "Lyon", ["Paris", "Lyon"], True),
        ({}, "5", 5, True),
    ],
)
def test_exact_compares_as_its_options_say(options: dict[str, bool], answer: str, target: Any, passed: bool) -> None:
    assert grade({"exact": options}, answer, target).passed is passed


@pytest.mark.parametrize(("answer", "target"), [("-5", "5"), ("3.14", "314"), ("5%", "5"), ("1,5", "15")])
def test_exact_never_loses_a_sign_or_a_point(answer: str, target: str) -> None:
    every = {"ignore_case": True, "ignore_whitespace": True, "ignore_punctuation": True}
    assert grade({"exact": every}, answer, target).failure == "wrong_answer"


@pytest.mark.parametrize(
    ("options", "answer", "target", "passed"),
    [
        ({}, "The answer is 42.", "42", True),
        ({}, "34 + 25 = 59", 59, True),
        ({}, "-5", "5", False),
        ({}, "314", "3.14", False),
        ({}, "$1,000.00", 1000, True),
        ({}, "1/3", "2/6", True),
        ({}, "0.333", "1/3", False),
        ({}, "50%", "50", True),
        ({}, "50%", "0.5", True),
        ({}, "50", "0.5", False),
        ({}, "7", [6, 7], True),
        ({}, "1e999999999", "1e999999998", False),
        ({}, "0.30000000000000001", "0.3", False),
        ({"tolerance": {"absolute": 0.01}}, "3.15", "3.14", True),
        ({"tolerance": {"absolute": 0.01}}, "3.151", "3.14", False),
        ({"tolerance": {"relative": 0.01}}, "101", "100", True),
        ({"tolerance": {"relative": 0.01}}, "102", "100", False),
        ({"strict": True}, "42", "42", True),
        ({"strict": True}, "so <answer>$42</answer>", "42", True),
        ({"strict": True}, "The answer is 42.", "42", False),
    ],
)
def test_numeric_compares_values(options: dict[str, Any], answer: str, target: Any, passed: bool) -> None:
    assert grade({"numeric": options}, answer, target).passed is passed


def test_numeric_says_what_it_read() -> None:
    assert grade("numeric", "3 + 4 = 8", "7").extracted == "8"


@pytest.mark.parametrize(
    ("options", "answer", "target", "passed"),
    [
        ({}, "The capital of France is Paris.", "Paris", True),
        ({}, "PARIS", "paris", True),
        ({}, "Parisian", "Paris", False),
        ({}, "It is Sao Tome", "São Tomé", True),
        ({}, "København", "Kobenhavn", True),
        ({}, "Port au Prince", "Port-au-Prince", True),
        ({}, "Bombay", ["Mumbai", "Bombay"], True),
        ({"strict": True}, "**Paris.**", "Paris", True),
        ({"strict": True}, "It is Paris", "Paris", False),
    ],
)
def test_word_looks_for_whole_words(options: dict[str, bool], answer: str, target: Any, passed: bool) -> None:
    assert grade({"word": options}, answer, target).passed is passed


@pytest.mark.parametrize(
    ("answer", "target", "passed"),
    [
        ("I think it is B", "B", True),
        ("I think it is B", "Paris", True),
        ("Paris", "B", True),
        ("The correct option is B because (A) is wrong", "B", True),
        ("The correct option is B because (A) is wrong", "A", False),
        ("C", "(C)", True),
    ],
)
def test_multiple_choice_compares_letters(answer: str, target: str, passed: bool) -> None:
    assert grade("multiple-choice", answer, target, choices=("Rome", "Paris", "Oslo")).passed is passed


@pytest.mark.parametrize(
    ("answer", "target"), [("I don't know", "D"), ("None of the above", "E"), ("cannot decide", "C")]
)
def test_no_letter_is_no_answer(answer: str, target: str) -> None:
    assert grade("multiple-choice", answer, target).failure == "no_answer"


@pytest.mark.parametrize(
    ("spec", "target", "said"),
    [
        ("exact", True, "a text in quotes"),
        ("exact", [], "at least one answer"),
        ("exact", {"a": 1}, "a text, a number or a list"),
        ("word", " ", "not empty"),
        ("numeric", "many", "a number"),
        ("multiple-choice", "Berlin", "the letters A–B"),
        ("multiple-choice", "C", "the letters A–B"),
    ],
)
def test_a_target_that_cannot_be_used_is_named(spec: GraderSpec, target: Any, said: str) -> None:
    with pytest.raises(BadInputError, match=rf"problem 'p1': .*{said}"):
        grade(spec, "A", target, choices=("Rome", "Paris"))
