"""Problems of a user's own file or dataset: columns with the names of a problem's fields, or mapped to them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from costpass.benchmarks.cells import Row, listed, optional, required, text, text_or_none, without
from costpass.benchmarks.choices import letter_of, lettered
from costpass.benchmarks.problem import GraderSpec, Problem, Reading
from costpass.benchmarks.spec import FIELDS, BenchmarkSpec
from costpass.errors import did_you_mean

#: The grader that goes with each way of reading an answer.
GRADERS: dict[Reading, str] = {"number": "numeric", "choice": "multiple-choice", "math": "math", "text": "exact"}
#: Graders that compare with a target; any other may find all it needs in its settings.
_COMPARING = {*GRADERS.values(), "word"}
#: Names that a field goes by where nothing is mapped to it.
_SYNONYMS = {"target": ("answer",)}


@dataclass(frozen=True)
class OwnRows:
    """How the rows of one file are read."""

    spec: BenchmarkSpec

    def problem(self, row: Row, number: int) -> Problem:
        choices = _choices(self._optional(row, "choices"))
        grader = _grader(self._optional(row, "grader"))
        grader_name = _name(grader if grader is not None else self.spec.grader)
        reading = self._reading(grader_name, has_choices=bool(choices))
        question = text(self._required(row, "question"))
        return Problem(
            id=self._id(row, number),
            question=lettered(question, choices) if choices else question,
            target=self._target(row, grader_name, choices if reading == "choice" else ()),
            choices=choices,
            reading=reading,
            grader=grader,
            group=text_or_none(self._optional(row, "group")),
            capability=text_or_none(self._optional(row, "capability")),
            extra=without(row, *(self._column(row, field) for field in FIELDS)),
        )

    def graded(self, problems: Sequence[Problem]) -> tuple[GraderSpec, list[Problem]]:
        """The benchmark's grader, and the problems, of which those that are read in another way have their own."""
        if self.spec.grader is not None:
            return self.spec.grader, list(problems)
        common = GRADERS[problems[0].reading]
        return common, [
            replace(problem, grader=GRADERS[problem.reading])
            if problem.grader is None and GRADERS[problem.reading] != common
            else problem
            for problem in problems
        ]

    def _id(self, row: Row, number: int) -> str:
        wanted = "id" in self.spec.columns or "id" in row
        return text(self._required(row, "id")) if wanted else str(number)

    def _target(self, row: Row, grader_name: str | None, choices: Sequence[str]) -> Any:
        """Text, a list of texts, or a mapping, as graders expect it; of a choice, its letter."""
        compared = grader_name is None or grader_name in _COMPARING
        value = self._required(row, "target") if compared else self._optional(row, "target")
        if value is None or isinstance(value, dict):
            return value
        read = partial(letter_of, choices=choices) if choices and compared else text
        return [read(item) for item in value] if isinstance(value, list) else read(value)

    def _reading(self, grader_name: str | None, *, has_choices: bool) -> Reading:
        if self.spec.reading is not None:
            return self.spec.reading
        fits_grader = next((reading for reading, usual in GRADERS.items() if usual == grader_name), None)
        return fits_grader or ("choice" if has_choices else "text")

    def _column(self, row: Row, field: str) -> str:
        """The column that a field stands in, or would."""
        if field in self.spec.columns:
            return self.spec.columns[field]
        taken = self.spec.columns.values()
        names = (name for name in (field, *_SYNONYMS.get(field, ())) if name in row and name not in taken)
        return next(names, field)

    def _required(self, row: Row, field: str) -> Any:
        column = self._column(row, field)
        if field not in self.spec.columns and column not in row:
            near = did_you_mean(field, row) or f"; `columns: {{{field}: …}}` says which one it is"
            raise ValueError(f"no column {field!r} (there are: {listed(row)}){near}")
        return required(row, column)

    def _optional(self, row: Row, field: str) -> Any:
        column = self._column(row, field)
        if field in self.spec.columns and column not in row:
            # A column that the user named is meant to be there.
            return required(row, column)
        return optional(row, column)


def _grader(value: Any) -> GraderSpec | None:
    if value is None or isinstance(value, str | dict):
        return value
    raise ValueError(f"expected a grader's name or an object, found {value!r:.60}")


def _name(grader: GraderSpec | None) -> str | None:
    return grader if grader is None or isinstance(grader, str) else next(iter(grader), None)


def _choices(value: Any) -> tuple[str, ...]:
    """A list, or its JSON in a cell of a table."""
    if value is None:
        return ()
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        found = None
    if not isinstance(found, list):
        raise ValueError(f'choices: expected a list such as ["yes", "no"], found {value!r:.60}')
    return tuple(text(choice) for choice in found)
