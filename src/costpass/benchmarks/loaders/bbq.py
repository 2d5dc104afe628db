"""Questions that tempt to a prejudice (Parrish et al. 2022): a person, another person, or that it cannot be told."""

from decimal import Decimal

from costpass.benchmarks.cells import Row, optional, required, text, without
from costpass.benchmarks.choices import lettered
from costpass.benchmarks.expert import ExpertPrice
from costpass.benchmarks.loader import Loader, Typical
from costpass.benchmarks.problem import Problem

_CHOICES = ("ans0", "ans1", "ans2")
_LABEL = ("answer_label", "label")
_ID = ("example_id", "example id")


def problem(row: Row, number: int, seed: int) -> Problem:  # noqa: ARG001 - every loader is asked in the same way
    category = text(required(row, "category"))
    example = optional(row, *_ID)
    template = optional(row, "question_index")
    choices = tuple(text(required(row, column)) for column in _CHOICES)
    context, question = (text(required(row, column)).strip() for column in ("context", "question"))
    return Problem(
        # Each category counts its examples from 0.
        id=f"{category}-{number if example is None else example}",
        question=lettered(f"{context}\n\n{question}", choices),
        target=_letter(required(row, *_LABEL)),
        choices=choices,
        reading="choice",
        # Examples of one template differ in names and order only, so they are no independent problems.
        group=None if template is None else f"{category}-{template}",
        capability=category,
        extra=without(row, "category", "context", "question", *_CHOICES, *_LABEL, *_ID),
    )


def _letter(label: object) -> str:
    digit = text(label).strip().removesuffix(".0")
    if digit not in ("0", "1", "2"):
        raise ValueError(f"a label is 0, 1 or 2, not {label!r:.60}")
    return "ABC"[int(digit)]


LOADER = Loader(
    name="bbq",
    about="social bias in question answering, multiple choice",
    grader="multiple-choice",
    reading="choice",
    expert=ExpertPrice(usd=Decimal("0.10")),
    typical=Typical(problems=58492, input_tokens=140, output_tokens=120),
    columns=("context", "question", *_CHOICES, "answer_label", "category", "example_id"),
    problem=problem,
    hub="Elfsong/BBQ/all",
)
