"""Graduate-level science questions that a search engine does not answer (Rein et al. 2023), the hardest part."""

import hashlib
from decimal import Decimal

from costpass.benchmarks.cells import Row, optional, required, text, text_or_none
from costpass.benchmarks.choices import lettered
from costpass.benchmarks.expert import ExpertPrice
from costpass.benchmarks.loader import Loader, Typical
from costpass.benchmarks.problem import Problem
from costpass.benchmarks.sampling import rank

_RIGHT = "Correct Answer"
_CHOICES = (_RIGHT, "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")


def problem(row: Row, number: int, seed: int) -> Problem:  # noqa: ARG001 - every loader is asked in the same way
    question = text(required(row, "Question")).strip()
    name = text(optional(row, "Record ID") or hashlib.sha256(question.encode()).hexdigest()[:12])
    # By the problem's own name, so that neither its row nor the sample it is in moves the right answer.
    columns = sorted(_CHOICES, key=lambda column: rank(seed, name, column))
    choices = tuple(text(required(row, column)).strip() for column in columns)
    return Problem(
        id=name,
        question=lettered(question, choices),
        target="ABCD"[columns.index(_RIGHT)],
        choices=choices,
        reading="choice",
        capability=text_or_none(optional(row, "High-level domain")),
    )


LOADER = Loader(
    name="gpqa-diamond",
    about="graduate-level science, multiple choice; the hub asks for consent to its terms first",
    grader="multiple-choice",
    reading="choice",
    expert=ExpertPrice(usd=Decimal(58)),
    typical=Typical(problems=198, input_tokens=300, output_tokens=900),
    columns=("Question", *_CHOICES),
    problem=problem,
    hub="Idavidrein/gpqa/gpqa_diamond/train",
)
