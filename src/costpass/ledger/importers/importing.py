"""From log files to attempts: every row becomes an attempt, a counted skip, or a line of rejected.jsonl."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from costpass.attempt import Attempt, usd
from costpass.errors import BadInputError, CostpassError, MissingExtraError
from costpass.ledger.importers import registry
from costpass.ledger.importers.protocol import Importer, Row, Settings, Skip
from costpass.ledger.importers.source import Source
from costpass.ledger.scan import parquet_columns
from costpass.pricing import PriceError
from costpass.strict_yaml import complaint
from costpass.version import __version__

_REJECTED_ROW_CHARACTERS = 10_000
_REASON_CHARACTERS = 300

#: Called now and then with the bytes of input done so far and the attempts found.
Progress = Callable[[int, int], None]


def unseen(done_bytes: int, attempts: int) -> None:
    """Progress that nobody watches."""


@dataclass
class Tally:
    """What an import read, and what it could not."""

    attempts: int = 0
    cost_known: int = 0
    outcome_known: int = 0
    rejected: int = 0
    first_rejections: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    unpriced: Counter[str] = field(default_factory=Counter)
    undated: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    unrecognised: list[str] = field(default_factory=list)


class Import:
    """Reads logs one after the other; `attempts` yields what they hold and `tally` says what came of it."""

    def __init__(
        self,
        paths: Iterable[Path],
        settings: Settings,
        *,
        importer: Importer | None = None,
        progress: Progress = unseen,
    ) -> None:
        self.tally = Tally()
        self._files = list(_files(paths))
        self._settings = settings
        self._importer = importer
        self._rejected: IO[str] | None = None
        self._progress = progress
        self._seen: dict[tuple[Any, ...], str] = {}
        self._repetitions: Counter[tuple[Any, ...]] = Counter()
        self._done_bytes = 0

    def attempts(self, rejected: IO[str] | None = None) -> Iterator[Attempt]:
        """Every attempt of every file; rows that cannot be read go to `rejected` as JSON lines."""
        self._rejected = rejected
        for path, named in self._files:
            source = Source(path)
            importer = self._importer or registry.recognise(source)
            if importer is None and named:
                raise BadInputError(_unknown(source))
            if importer is None:
                self.tally.unrecognised.append(path.name)
            else:
                yield from self._readable(importer, source, named)
            self._done_bytes += path.stat().st_size
            self._progress(self._done_bytes, self.tally.attempts)
        if not self.tally.attempts:
            raise BadInputError(self._nothing())

    def _readable(self, importer: Importer, source: Source, named: bool) -> Iterator[Attempt]:
        """A file in a folder that needs a part which is not installed does not stop the others."""
        try:
            yield from self._file(importer, source)
        except MissingExtraError as error:
            if named:
                raise BadInputError(f"{source.path}: {error}") from None
            self.tally.skipped[str(error)] += 1

    def _file(self, importer: Importer, source: Source) -> Iterator[Attempt]:
        for number, row in enumerate(importer.rows(source)):
            for attempt in self._row(importer, row):
                self.tally.attempts += 1
                self.tally.formats[importer.name] += 1
                self.tally.cost_known += attempt.cost_usd is not None
                self.tally.outcome_known += attempt.passed is not None
                yield attempt
            if number % 200 == 0:
                # A gzipped file is read faster than it is long; the bar only has to move.
                self._progress(
                    self._done_bytes + min(source.bytes_read, source.path.stat().st_size), self.tally.attempts
                )

    def _row(self, importer: Importer, row: Row) -> Iterator[Attempt]:
        if row.error is not None:
            self._reject(row, row.error)
            return
        try:
            finished = [self._finish(attempt, importer, row) for attempt in importer.attempts(row, self._settings)]
        except Skip as reason:
            self.tally.skipped[str(reason)] += 1
        except ValidationError as error:
            self._reject(row, complaint(error, Attempt))
        except KeyError as error:
            self._reject(row, f"no {error.args[0]}")
        except (ValueError, TypeError, AttributeError, ArithmeticError, IndexError) as error:
            self._reject(row, str(error) or type(error).__name__)
        else:
            yield from finished

    def _finish(self, attempt: Attempt, importer: Importer, row: Row) -> Attempt:
        changes: dict[str, Any] = {"source_format": importer.name, "source_ref": row.where}
        if importer.name != "costpass":
            changes["costpass_version"] = __version__
        if attempt.repetition is None:
            cell = (attempt.experiment, attempt.benchmark, attempt.problem, attempt.strategy)
            changes["repetition"] = self._repetitions[cell]
            self._repetitions[cell] += 1
        if attempt.cost_usd is None and self._settings.price:
            changes.update(self._priced(attempt))
        # All of these are ours and right by construction; validating 60 fields again would double the import's time.
        finished = attempt.model_copy(update=changes)
        if finished.key in self._seen:
            raise ValueError(
                f"the same attempt as at {self._seen[finished.key]}: experiment {finished.experiment!r}, "
                f"problem {finished.problem!r}, strategy {finished.strategy!r}, repetition {finished.repetition}"
            )
        self._seen[finished.key] = row.where
        return finished

    def _priced(self, attempt: Attempt) -> dict[str, Any]:
        if attempt.model is None or attempt.input_tokens is None or attempt.output_tokens is None:
            return {}
        at = attempt.started_at or datetime.now(UTC)
        try:
            bill = self._settings.book.price(attempt, attempt.model, provider=attempt.provider, at=at)
        except PriceError as error:
            self.tally.unpriced[str(error)] += 1
            return {}
        cost = usd(bill.usd)
        self.tally.undated += attempt.started_at is None
        flags = [*attempt.flags, "price_tier_assumed"] if bill.tier_assumed else attempt.flags
        return {
            "cost_usd": cost,
            "priced_usd": cost,
            "cost_source": "priced",
            "price_book": self._settings.book.digest,
            "priced_at": at,
            "flags": flags,
        }

    def _reject(self, row: Row, reason: str) -> None:
        self.tally.rejected += 1
        reason = reason if len(reason) <= _REASON_CHARACTERS else f"{reason[:_REASON_CHARACTERS]}…"
        if len(self.tally.first_rejections) < 3:
            self.tally.first_rejections.append(f"{row.where}: {reason}")
        if self._rejected is not None:
            logged = row.content if row.as_logged is None else row.as_logged
            content = json.dumps(logged, default=str)
            kept = logged if len(content) <= _REJECTED_ROW_CHARACTERS else content[:_REJECTED_ROW_CHARACTERS]
            line = {"where": row.where, "reason": reason, "row": kept}
            self._rejected.write(json.dumps(line, default=str, ensure_ascii=False) + "\n")

    def _nothing(self) -> str:
        if self.tally.rejected:
            return (
                f"no attempt could be read; {self.tally.rejected} rows were rejected: {self.tally.first_rejections[0]}"
            )
        if self.tally.skipped:
            return f"no attempt found: {next(iter(self.tally.skipped))}"
        names = ", ".join(self.tally.unrecognised[:3])
        if names:
            return (
                f"none of the {len(self.tally.unrecognised)} files is a log that costpass knows ({names} …); "
                "`costpass import --list` shows the formats"
            )
        return "no attempt found: there is nothing in it"


def _files(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """Every file to read, once, and whether the user named it (rather than the folder it is in)."""
    seen: set[Path] = set()
    for path, named in _found(paths):
        if path.resolve() not in seen:
            seen.add(path.resolve())
            yield path, named


def _found(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    for path in paths:
        if not path.exists():
            raise CostpassError(f"{path}: no such file or directory")
        if not path.is_dir():
            yield path, True
            continue
        inside = sorted(file for file in path.rglob("*") if file.is_file() and not _hidden(file, path))
        if not inside:
            raise BadInputError(f"{path}: an empty directory")
        yield from ((file, False) for file in inside)


def _hidden(file: Path, below: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(below).parts)


def _unknown(source: Source) -> str:
    head = source.head.lstrip()
    if not head:
        return f"{source.path}: the file is empty"
    if head.startswith(b"PAR1"):
        parquet_columns(source.path)  # says what is wrong with it, if anything is
    if head[:1] in (b"{", b"[") and not source.first:
        _ = source.document  # likewise
    return (
        f"{source.path}: not a log that costpass knows; `costpass import --list` shows the formats, --format forces "
        "one, and --map reads any table"
    )
