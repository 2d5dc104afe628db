"""Grade-school word problems (Cobbe et al. 2021)."""

import re
from decimal import Decimal

from costpass.benchmarks.cells import Row, required, text
from costpass.benchmarks.expert import ExpertPrice
from costpass.benchmarks.loader import Loader, Typical
from costpass.benchmarks.problem import Problem

_FINAL = re.compile(r"####\s*\$?\s*(-?[\d,]*\.?\d+)\s*$")


def problem(row: Row, number: int, seed: int) -> Problem:  # noqa: ARG001 - every loader is asked in the same way
    solution = text(required(row, "answer"))
    final = _FINAL.search(solution.strip())
    if final is None:
        raise ValueError("'answer' does not end in `#### ` and a number")
    return Problem(
        id=str(number),
        question=text(required(row, "question")),
        target=final[1].replace(",", ""),
        reading="number",
        extra={"solution": solution},
    )


LOADER = Loader(
    name="gsm8k",
    about="grade-school word problems with a number for an answer",
    grader="numeric",
    reading="number",
    expert=ExpertPrice(usd=Decimal("3.50")),
    typical=Typical(problems=1319, input_tokens=110, output_tokens=250),
    columns=("question", "answer"),
    problem=problem,
    hub="openai/gsm8k/main/test",
)
