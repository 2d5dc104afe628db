"""500 competition problems of MATH (Hendrycks et al. 2021; the choice of Lightman et al. 2023)."""

from decimal import Decimal

from costpass.benchmarks.cells import Row, optional, required, text, text_or_none, without
from costpass.benchmarks.expert import ExpertPrice
from costpass.benchmarks.loader import Loader, Typical
from costpass.benchmarks.problem import Problem


def problem(row: Row, number: int, seed: int) -> Problem:  # noqa: ARG001 - every loader is asked in the same way
    return Problem(
        id=text(optional(row, "unique_id") or number),
        question=text(required(row, "problem")),
        target=text(required(row, "answer")),
        reading="math",
        capability=text_or_none(optional(row, "subject")),
        extra=without(row, "unique_id", "problem", "answer", "subject"),
    )


LOADER = Loader(
    name="math-500",
    about="competition mathematics with an expression for an answer",
    grader="math",
    reading="math",
    expert=ExpertPrice(usd=Decimal(12)),
    typical=Typical(problems=500, input_tokens=130, output_tokens=700),
    columns=("problem", "answer"),
    problem=problem,
    hub="HuggingFaceH4/MATH-500/test",
)
