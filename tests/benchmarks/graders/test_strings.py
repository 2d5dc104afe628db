"""The strings grader: copeca's rules, with whole words and regular expressions."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.benchmarks.graders.grading import grade

from costpass.benchmarks.graders import strings
from costpass.errors import BadInputError


@pytest.fixture(scope="module", autouse=True)
def _workers() -> Iterator[None]:
    yield
    strings.WORKERS.close()


@pytest.mark.parametrize(
    ("options", "target", "reply", "passed"),
    [
        ({}, "lib.rs", "It is in src/LIB.RS.", True),
        ({}, ["one", "two"], "one and two", True),
        ({}, ["one", "two"], "one", False),
        ({}, {"required": ["one"], "all_of": ["two", "three"]}, "one two three", True),
        ({}, {"required": ["one"], "all_of": ["two", "three"]}, "one two", False),
        ({}, {"required": ["one"], "forbidden": ["two"]}, "one", True),
        ({}, {"required": ["one"], "forbidden": ["two"]}, "one two", False),
        ({"required": ["always"]}, ["one"], "one", False),
        ({"required": ["always"]}, None, "as always", True),
        ({"forbidden": ["sorry"]}, None, "Here you are", True),
        ({"ignore_case": False}, "Paris", "paris", False),
        ({"whole_words": True}, "cat", "concatenate", False),
        ({"whole_words": True}, "cat", "The cat.", True),
        ({"regex": True}, r"\b\d{3}\b", "about 123", True),
        ({"regex": True}, r"\b\d{3}\b", "about 1234", False),
        ({"regex": True, "whole_words": True}, "a|b", "ab", False),
        ({}, r"\d", "5", False),
    ],
)
def test_strings_are_looked_for_in_the_whole_reply(
    options: dict[str, Any], target: Any, reply: str, passed: bool
) -> None:
    verdict = grade({"strings": options}, reply, target)
    assert (verdict.passed, verdict.failure) == (passed, None if passed else "wrong_answer")


def test_each_kind_is_scored_apart() -> None:
    target = {"required": ["one"], "all_of": ["two", "three"], "forbidden": ["four"]}
    assert grade("strings", "one two four", target).scores == {"required": 1, "all_of": 0.5, "forbidden": 0}


def test_an_empty_reply_is_no_answer_even_where_nothing_is_required() -> None:
    assert grade({"strings": {"forbidden": ["x"]}}, " ", None).failure == "no_answer"


def test_a_pattern_that_takes_for_ever_is_stopped() -> None:
    verdict = grade({"strings": {"regex": True, "timeout_s": 0.5}}, "a" * 60 + "!", "(a+)+$")
    assert (verdict.passed, verdict.failure) == (False, "grader_timeout")
    assert grade({"strings": {"regex": True}}, "aaa", "(a+)+$").passed


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (None, "at least one string"),
        ([], "at least one string"),
        ({"required": []}, "at least one string"),
        ({"require": ["x"]}, "required, all_of, forbidden"),
        (["x", ""], "an empty string"),
    ],
)
def test_a_target_that_every_reply_would_meet_is_refused(target: Any, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        grade("strings", "x", target)
