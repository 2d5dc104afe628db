"""What the addition benchmarks share: every pair of numbers, each once."""

from collections.abc import Iterator

from costpass.benchmarks.cells import Row, required
from costpass.benchmarks.problem import Problem
from costpass.benchmarks.sampling import rank


def pairs(numbers: range, seed: int) -> Iterator[Row]:
    """All pairs in an order that the seed decides, so a run that stops early has seen no particular kind of them."""
    every = ((f"{left}+{right}", left, right) for left in numbers for right in numbers)
    for _, left, right in sorted(every, key=lambda pair: rank(seed, pair[0])):
        yield {"left": left, "right": right}


def problem(row: Row, number: int, seed: int) -> Problem:  # noqa: ARG001 - every loader is asked in the same way
    left, right = int(required(row, "left")), int(required(row, "right"))
    return Problem(
        id=f"{left}+{right}", question=f"What is {left} + {right}?", target=str(left + right), reading="number"
    )
