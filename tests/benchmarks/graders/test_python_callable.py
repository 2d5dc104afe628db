"""Functions of one's own: how they are found, and how they grade."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from costpass.benchmarks.graders.callables import load_callable
from costpass.benchmarks.graders.protocol import Grade, GraderError
from costpass.benchmarks.graders.registry import build_grader
from costpass.benchmarks.problem import Problem
from costpass.errors import BadInputError

SOURCE = """
from costpass.benchmarks.graders.protocol import Grade
from sibling import TEN
LIMIT = 5
def is_target(answer, problem): return answer == problem.target
async def is_target_async(answer, problem): return answer == problem.target
def length(answer, problem): return len(answer) / TEN
def own(answer, problem): return Grade(passed=False, failure="too_blue")
def silent(answer, problem): return None
def broken(answer, problem): raise ZeroDivisionError("oh")
class Kept:
    @staticmethod
    def yes(answer, problem): return True
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(SOURCE)
    (tmp_path / "sibling.py").write_text("TEN = 10\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "needs.py").write_text("import no_such_package_at_all\n")
    return tmp_path


def verdict(folder: Path, answer: str, options: Any) -> Grade:
    grader = build_grader({"python": options}, folder=folder)
    return asyncio.run(grader.grade(answer, Problem("p1", "?", "yes")))


@pytest.mark.parametrize("function", ["is_target", "is_target_async"])
def test_a_function_says_yes_or_no(folder: Path, function: str) -> None:
    assert verdict(folder, "yes", f"mine.py:{function}") == Grade(passed=True)
    assert verdict(folder, "no", f"mine.py:{function}") == Grade(passed=False, failure="wrong_answer")
    assert verdict(folder, " ", f"mine.py:{function}").failure == "no_answer"


def test_a_score_passes_from_the_threshold(folder: Path) -> None:
    assert verdict(folder, "1234567890", "mine.py:length") == Grade(passed=True, score=1.0)
    assert verdict(folder, "12345", "mine.py:length").passed is False
    assert verdict(folder, "12345", {"function": "mine.py:length", "threshold": 0.5}) == Grade(passed=True, score=0.5)


def test_a_grade_is_taken_as_it_is(folder: Path) -> None:
    assert verdict(folder, "x", "mine.py:own") == Grade(passed=False, failure="too_blue")


@pytest.mark.parametrize(("function", "said"), [("broken", "raised ZeroDivisionError .* oh"), ("silent", "said None")])
def test_a_function_that_fails_leaves_the_answer_ungraded(folder: Path, function: str, said: str) -> None:
    with pytest.raises(GraderError, match=said):
        verdict(folder, "x", f"mine.py:{function}")


def test_a_module_on_the_path_or_in_the_folder_will_do(folder: Path) -> None:
    assert load_callable("json:dumps", None)([1]) == "[1]"
    assert load_callable("sibling:TEN.bit_length", folder)() == 4
    assert load_callable("mine.py:Kept.yes", folder)("", None) is True


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("mine.py", "names no function"),
        ("none.py:f", "there is no file none.py"),
        ("no_such_module_here:f", "there is no module 'no_such_module_here'"),
        ("mine.py:lenght", "has no function 'lenght'; did you mean 'length'?"),
        ("mine.py:LIMIT", "not a function but a int"),
        ("broken.py:f", "cannot be imported: ZeroDivisionError: division by zero"),
        ("leaves.py:f", "cannot be imported: SystemExit: 3"),
        ("needs.py:f", "cannot be imported: ModuleNotFoundError"),
        ("needs:f", "cannot be imported: ModuleNotFoundError"),
    ],
)
def test_what_is_wrong_with_a_reference_is_said_in_one_sentence(folder: Path, reference: str, said: str) -> None:
    with pytest.raises(BadInputError) as caught:
        load_callable(reference, folder)
    assert said in str(caught.value)
