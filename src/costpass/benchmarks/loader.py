"""What a bundled benchmark is: where its rows are from, and what a row means."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from costpass.benchmarks.cells import Row
from costpass.benchmarks.expert import ExpertPrice
from costpass.benchmarks.problem import GraderSpec, Problem, Reading


@dataclass(frozen=True)
class Typical:
    """Round figures of a benchmark, for estimates where its data cannot be had: tokens of one plain attempt."""

    problems: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Loader:
    """A bundled benchmark."""

    name: str
    #: One line for a list of them.
    about: str
    grader: GraderSpec
    reading: Reading
    expert: ExpertPrice
    typical: Typical
    #: The columns that a row must have.
    columns: tuple[str, ...]
    #: A row, its number counted from 1, and a seed for what is left to chance.
    problem: Callable[[Row, int, int], Problem]
    #: Where the hub has it: `owner/dataset/config/split`.
    hub: str | None = None
    #: The rows, where no data is needed, from a seed.
    generate: Callable[[int], Iterable[Row]] | None = None
    #: The rows, where they come with costpass.
    rows: tuple[Row, ...] = ()
