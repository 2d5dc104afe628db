"""The kept answers of a ledger, graded anew into another one."""

import asyncio
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from costpass.attempt import FAULT_STATUSES, Attempt
from costpass.benchmarks.graders.protocol import Grade, Grader, GraderError
from costpass.benchmarks.graders.registry import build_grader, check_problem
from costpass.benchmarks.plain import plain
from costpass.benchmarks.problem import GraderSpec, Problem
from costpass.errors import BadInputError, CostpassError
from costpass.ledger.store import JOURNAL, Ledger
from costpass.ledger.writing import gathering, settle, write_lines
from costpass.runs.recording import PROBLEMS, TRACES, read_problems

_AT_ONCE = 64
#: What ledger.json says of the ledger itself, and not of what is in it.
_ABOUT_THE_LEDGER = ("format", "name", "attempt_schema", "costpass_version", "price_book", "columnar")
#: Outcomes that no grader decided.
_NOT_GRADED = ("technique_error",)


@dataclass
class Regrading:
    """Grades attempts anew, and counts what became of them."""

    #: In place of the graders that the problems name.
    grader: GraderSpec | None = None
    #: Where files that a grader names are looked for.
    folder: Path = field(default_factory=Path)
    graded: int = 0
    to_pass: int = 0
    to_fail: int = 0
    #: Verdicts that a grader could not reach.
    undecided: int = 0
    #: Attempts that stay as they are, since their answer or their problem was not kept.
    without_trace: int = 0
    _graders: dict[str, Grader] = field(default_factory=dict)

    def write(self, source: Ledger, destination: Path, attempts: Iterable[Attempt]) -> Ledger:
        """A new ledger with the same attempts, problems and traces, complete or not at all."""
        if destination.exists():
            raise CostpassError(f"{destination} is already there; choose another name")
        problems = self._problems(source.path / PROBLEMS)
        about = {key: value for key, value in source.manifest.items() if key not in _ABOUT_THE_LEDGER}
        with gathering(destination) as gathered, Traces(source.path / TRACES) as traces:
            place = gathered / "ledger"
            Ledger.create(
                place,
                name=destination.name,
                price_book=source.manifest.get("price_book"),
                **{**about, "regraded_from": source.name},
            )
            write_lines(place / JOURNAL, self._attempts(attempts, problems, traces))
            _copy(source.path / TRACES, place / TRACES)
            _write_problems(place / PROBLEMS, problems.values())
            settle(place, destination)
        return Ledger(destination)

    def _problems(self, path: Path) -> dict[tuple[str, str], dict[str, Any]]:
        kept = read_problems(path)
        if not kept:
            raise BadInputError(f"{path.parent}: no problems are kept there, so there is nothing to grade against")
        if self.grader is not None:
            for line in kept.values():
                line["grader"] = self.grader
        for line in kept.values():
            check_problem(self._grader(line["grader"]), _problem(line))
        return kept

    def _attempts(
        self, attempts: Iterable[Attempt], problems: Mapping[tuple[str, str], dict[str, Any]], traces: "Traces"
    ) -> Iterator[Attempt]:
        with asyncio.Runner() as runner:
            for some in _batches(attempts):
                yield from runner.run(self._some(some, problems, traces))

    async def _some(
        self, attempts: tuple[Attempt, ...], problems: Mapping[tuple[str, str], dict[str, Any]], traces: "Traces"
    ) -> list[Attempt]:
        return await asyncio.gather(*(self._one(attempt, problems, traces) for attempt in attempts))

    async def _one(
        self, attempt: Attempt, problems: Mapping[tuple[str, str], dict[str, Any]], traces: "Traces"
    ) -> Attempt:
        if attempt.status in FAULT_STATUSES or attempt.failure in _NOT_GRADED:
            return attempt
        line = problems.get((attempt.benchmark or "", attempt.problem))
        trace = traces.of(attempt.id)
        if line is None or trace is None:
            self.without_trace += 1
            return attempt
        try:
            grade = await self._grader(line["grader"]).grade(trace.get("answer") or "", _problem(line))
        except GraderError:
            self.undecided += 1
            return _revised(attempt, None)
        self.graded += 1
        self.to_pass += grade.passed and attempt.passed is not True
        self.to_fail += not grade.passed and attempt.passed is not False
        return _revised(attempt, grade)

    def _grader(self, spec: GraderSpec) -> Grader:
        key = json.dumps(spec, sort_keys=True)
        if key not in self._graders:
            grader = build_grader(spec, folder=self.folder)
            if grader.judge_model is not None:
                raise CostpassError(
                    f"the judge grader asks a model ({grader.judge_model}), which costs money; regrading only takes "
                    "graders that cost nothing. Name another one with --grader, or run the experiment with this judge"
                )
            self._graders[key] = grader
        return self._graders[key]


def read_grader(text: str) -> GraderSpec:
    """A grader from the command line: a name, or YAML or JSON with its options."""
    try:
        spec = plain(yaml.safe_load(text))
    except yaml.YAMLError:
        spec = None
    if not isinstance(spec, str | dict):
        raise BadInputError(
            f"--grader {text}: expected a grader's name, or a mapping such as {{numeric: {{strict: true}}}}"
        )
    return spec


class Traces:
    """The traces of a ledger by attempt; only where each one starts is held in memory."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise BadInputError(f"{path.parent}: no {path.name} is there, so no answers were kept to be graded")
        self._file = path.open("rb")
        self._starts: dict[str, int] = {}
        start = 0
        for number, raw in enumerate(self._file, 1):
            # A last line without an end was cut off in the middle; its attempt was never recorded.
            if raw.endswith(b"\n"):
                # The last trace of an attempt counts.
                self._starts[_attempt_of(raw, path, number)] = start
            start += len(raw)

    def of(self, attempt: str) -> dict[str, Any] | None:
        """The trace of an attempt, where there is one."""
        if attempt not in self._starts:
            return None
        self._file.seek(self._starts[attempt])
        trace: dict[str, Any] = json.loads(self._file.readline())
        return trace

    def __enter__(self) -> "Traces":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _attempt_of(raw: bytes, path: Path, number: int) -> str:
    try:
        return str(json.loads(raw)["attempt"])
    except (ValueError, KeyError, TypeError):
        raise BadInputError(f"{path}: line {number} is no trace; the file is damaged") from None


def _problem(line: Mapping[str, Any]) -> Problem:
    known = {name: line[name] for name in Problem.__dataclass_fields__ if name in line}
    return Problem(**{**known, "choices": tuple(line.get("choices") or ())})


def _revised(attempt: Attempt, grade: Grade | None) -> Attempt:
    """The attempt with another verdict; what ended it, such as its cap, stays the reason that it gives."""
    ended_by_itself = attempt.status == "completed"
    verdict = "ungraded" if grade is None else grade.failure
    return attempt.revised(
        passed=grade.passed if grade else None,
        score=grade.score if grade else None,
        scores=dict(grade.scores) if grade else {},
        failure=verdict if ended_by_itself else attempt.failure,
    )


def _copy(source: Path, destination: Path) -> None:
    try:
        shutil.copyfile(source, destination)
    except OSError as error:
        raise CostpassError(f"given up, and nothing was written: {error.strerror or error}") from error


def _write_problems(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _batches(attempts: Iterable[Attempt]) -> Iterator[tuple[Attempt, ...]]:
    remaining = iter(attempts)
    while some := tuple(islice(remaining, _AT_ONCE)):
        yield some
