"""What graders share: how options are checked, how a target is read, and the verdict on no answer."""

from collections.abc import Sequence
from decimal import Decimal

from pydantic import BaseModel, ConfigDict

from costpass.benchmarks.graders.protocol import Grade
from costpass.benchmarks.problem import Problem
from costpass.errors import BadInputError

NO_ANSWER = Grade(passed=False, failure="no_answer")


class Options(BaseModel):
    """A grader's options as an experiment writes them. Unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NoOptions(Options):
    """A grader without options."""


def bad_target(problem: Problem, grader: str, wanted: str) -> BadInputError:
    """The complaint about a target that the grader cannot use."""
    return BadInputError(
        f"problem {problem.id!r}: the grader {grader!r} needs {wanted} as its target (given: {problem.target!r:.80})"
    )


def targets(problem: Problem, grader: str) -> tuple[str, ...]:
    """The right answers as texts: one, or several of which any will do."""
    given = problem.target
    values = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    if not values:
        raise bad_target(problem, grader, "at least one answer")
    for value in values:
        if isinstance(value, bool):
            # YAML reads an unquoted yes or no as a truth value.
            raise bad_target(problem, grader, "a text in quotes")
        if not isinstance(value, str | int | float | Decimal):
            raise bad_target(problem, grader, "a text, a number or a list of them")
    texts = tuple(str(value).strip() for value in values)
    if not all(texts):
        raise bad_target(problem, grader, "an answer that is not empty")
    return texts


def verdict(passed: bool, extracted: str) -> Grade:
    """Passed, or a wrong answer."""
    return Grade(passed=passed, failure=None if passed else "wrong_answer", extracted=extracted)
