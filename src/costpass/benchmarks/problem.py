"""A problem: one item to solve. A benchmark: a named set of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

#: How an answer is read out of a reply: the last number, the letter of a choice, a mathematical expression, or text.
Reading = Literal["number", "choice", "math", "text"]

#: A grader as an experiment names it: `numeric`, or `{strings: {required: [Paris]}}`.
GraderSpec = str | Mapping[str, Any]


@dataclass(frozen=True)
class Problem:
    """One item to solve, as every technique and grader sees it."""

    id: str
    #: The whole question, with its choices where it has any.
    question: str
    #: The right answer, in the form that the grader expects: text, a list of texts, or a mapping. JSON values only.
    target: Any
    #: The choices of a multiple-choice question, in the order of their letters.
    choices: tuple[str, ...] = ()
    reading: Reading = "text"
    #: Where this problem is graded unlike the rest of its benchmark.
    grader: GraderSpec | None = None
    group: str | None = None
    capability: str | None = None
    control: bool | None = None
    #: Whatever else the source says of it. JSON values only.
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Benchmark:
    """A named set of problems."""

    name: str
    problems: Sequence[Problem]
    grader: GraderSpec
    #: What an expert asks for one solution, where it is known.
    expert_usd: float | None = None
    #: Where the problems come from: a dataset and its revision, a file and its digest, a generator and its seed.
    source: str | None = None
