"""What a grader is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from costpass.benchmarks.problem import Problem
from costpass.errors import CostpassError


class GraderError(CostpassError):
    """A grader that could not reach a verdict. The answer is ungraded, which is not the same as wrong."""


@dataclass(frozen=True)
class Grade:
    """A verdict on one answer."""

    passed: bool
    score: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    #: Why it did not pass, as a category of the record: wrong_answer, no_answer, runtime_error, timeout …
    failure: str | None = None
    #: What was read out of the reply and compared.
    extracted: str | None = None


class Said(Protocol):
    """What a model replied."""

    @property
    def text(self) -> str: ...


class Judge(Protocol):
    """A metered model call, for graders that ask a model."""

    async def __call__(self, prompt: str, /) -> Said: ...


class Grader(Protocol):
    """Anything with a name that can grade an answer. `judge` is given to graders that declare `judge_model`."""

    name: str
    #: The model that the grader asks, as an experiment writes it (`provider:name`), or None.
    judge_model: str | None

    async def grade(self, answer: str, problem: Problem, judge: Judge | None = None) -> Grade: ...
