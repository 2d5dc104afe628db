"""The thirty problems of the American Invitational Mathematics Examination of 2024."""

from decimal import Decimal

from costpass.benchmarks.cells import Row, optional, required, text, without
from costpass.benchmarks.expert import ExpertPrice
from costpass.benchmarks.loader import Loader, Typical
from costpass.benchmarks.problem import Problem

_ID, _PROBLEM, _ANSWER = ("id", "ID"), ("problem", "Problem"), ("answer", "Answer")


def problem(row: Row, number: int, seed: int) -> Problem:  # noqa: ARG001 - every loader is asked in the same way
    name = optional(row, *_ID)
    return Problem(
        id=text(number if name is None else name),
        question=text(required(row, *_PROBLEM)),
        target=_whole(required(row, *_ANSWER)),
        reading="number",
        extra=without(row, *_ID, *_PROBLEM, *_ANSWER),
    )


def _whole(answer: object) -> str:
    """Answers are whole numbers up to 999, printed with three digits: 025."""
    try:
        value = int(text(answer).strip().removesuffix(".0"))
    except ValueError:
        value = -1
    if not 0 <= value <= 999:
        raise ValueError(f"an answer is a whole number from 0 to 999, not {answer!r:.60}")
    return str(value)


LOADER = Loader(
    name="aime-2024",
    about="hard competition mathematics with a whole number for an answer",
    grader="numeric",
    reading="number",
    expert=ExpertPrice(usd=Decimal(20)),
    typical=Typical(problems=30, input_tokens=170, output_tokens=3000),
    columns=("problem", "answer"),
    problem=problem,
    hub="HuggingFaceH4/aime_2024/train",
)
