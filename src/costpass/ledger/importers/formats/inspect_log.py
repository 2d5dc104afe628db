"""Inspect's logs (`.eval` and `.json`): one attempt per sample and epoch, and the spend that only the header knows.

- The usage of a superseded try stands in no sample, only in the header's totals: the difference becomes a fault.
- A sample's usage includes its judge's, which is taken out of it.
- inspect_ai checks header and samples, but its `read_eval_log_samples` does not fetch them: that reads the archive's
  directory again for every sample, which takes minutes in a log of some thousand.
"""

import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from zipfile import ZipFile

from costpass.attempt import Attempt, strategy_name
from costpass.errors import BadInputError, MissingExtraError
from costpass.ledger.importers import archive
from costpass.ledger.importers.inspect_outcome import outcome_of
from costpass.ledger.importers.inspect_spend import (
    SampleSpend,
    Spends,
    bill,
    header_spends,
    plus,
    sample_spend,
    unbooked,
)
from costpass.ledger.importers.protocol import Row, Settings, Skip
from costpass.ledger.importers.source import Source
from costpass.ledger.importers.values import moment

_ZIP_MAGIC = b"PK\x03\x04"
_JSON_HEAD = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"(?:started|success|cancelled|error)"')
_SMALL_DOCUMENT_BYTES = 4 * 1000**2
#: What a sample holds most of and inspect_ai need not check.
_HEAVY = {"messages", "store", "attachments", "metadata", "events", "events_data", "timelines", "transcript"}
_QUIET = logging.NullHandler()


class InspectLog:
    name = "inspect"
    about = "Inspect logs (.eval, .json)"

    def recognises(self, source: Source) -> bool:
        if source.head.startswith(_ZIP_MAGIC):
            return source.suffix == ".eval" or b"_journal/start.json" in source.head
        if b'"eval"' not in source.head:
            return False
        if _JSON_HEAD.match(source.head):
            return True
        # Keys in another order: somebody wrote the document anew.
        small = source.path.stat().st_size < _SMALL_DOCUMENT_BYTES
        document = source.document_or_none if small else None
        return isinstance(document, dict) and document.keys() >= {"eval", "status", "version"}

    def rows(self, source: Source) -> Iterable[Row]:
        models = _inspect_ai()
        if source.suffix == ".eval" or source.head.startswith(_ZIP_MAGIC):
            with archive.opened(source) as opened:
                yield from _tries(source, models, _archive_header(source, opened), _archive_samples(source, opened))
            return
        document = source.document
        if not isinstance(document, dict):
            raise BadInputError(f"{source.path}: not an Inspect log, which is a JSON object")
        places = enumerate(document.get("samples") or [])
        samples = (Row(f"{source.name}:samples[{place}]", sample) for place, sample in places)
        yield from _tries(source, models, {**document, "samples": None}, samples)

    def attempts(self, row: Row, settings: Settings) -> Iterable[Attempt]:
        if row.content is None:
            raise Skip("an Inspect log without samples")
        yield row.content.attempt(settings)


def _inspect_ai() -> Any:
    try:
        import inspect_ai.log
    except ImportError:
        raise MissingExtraError("Reading Inspect logs", "inspect") from None
    # Else its remarks on old logs reach the terminal.
    logging.getLogger("inspect_ai").addHandler(_QUIET)
    return inspect_ai.log


def _archive_header(source: Source, opened: ZipFile) -> Any:
    """A log whose run still goes on, or died, has a journal and no header."""
    names = set(opened.namelist())
    name = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
    if name is None:
        raise BadInputError(f"{source.path}: an archive without header.json or _journal/start.json is no Inspect log")
    try:
        return archive.json_member(opened, name)
    except ValueError as error:
        raise BadInputError(f"{source.path}: {name} {error}") from None


def _archive_samples(source: Source, opened: ZipFile) -> Iterator[Row]:
    # A sample that was run anew is appended under the same name; reading by name gives the last.
    for name in dict.fromkeys(opened.namelist()):
        if not (name.startswith("samples/") and name.endswith(".json")):
            continue
        source.bytes_read += opened.getinfo(name).compress_size
        try:
            yield Row(f"{source.name}:{name}", archive.json_member(opened, name))
        except ValueError as error:
            yield Row(f"{source.name}:{name}", name, error=str(error))


def _tries(source: Source, models: Any, header: Any, samples: Iterable[Row]) -> Iterator[Row]:
    """A row per sample, and one for what the header has beyond them."""
    try:
        log = models.EvalLog.model_validate(header)
        spent = header_spends(log)
    except (ValueError, TypeError, AttributeError) as error:
        raise BadInputError(f"{source.path}: not an Inspect log that inspect_ai can read: {_first(error)}") from None
    booked = _Booked()
    for row in samples:
        read = _checked(models, log, row)
        booked.add(read)
        yield read
    rest = unbooked(spent, plus(booked.own, booked.grading))
    if not booked.rows:
        yield Row(source.name, None)
    elif rest:
        yield Row(f"{source.name}:stats", _Rest(log, rest, booked), as_logged="what the header has beyond the samples")


def _checked(models: Any, log: Any, row: Row) -> Row:
    if row.error is not None:
        return row
    try:
        spend = sample_spend(log, row.content)
        retries = len(row.content.get("error_retries") or [])
        # The events of superseded tries are heavy too, and only the last few before each error.
        kept = {name: value for name, value in row.content.items() if name not in _HEAVY | {"error_retries"}}
        sample = models.EvalSample.model_validate(kept)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return Row(row.where, None, error=f"not a sample that inspect_ai can read: {_first(error)}")
    return Row(row.where, _Try(log, spend, sample, retries), as_logged={"id": sample.id, "epoch": sample.epoch})


def _first(error: Exception) -> str:
    """The first of the many things that pydantic says of a bad document."""
    errors: list[Any] = getattr(error, "errors", list)()
    return f"{'.'.join(map(str, errors[0]['loc']))}: {errors[0]['msg']}" if errors else str(error)


@dataclass(frozen=True)
class _Try:
    """A sample at one epoch: its last try, if it was retried."""

    log: Any
    spend: SampleSpend
    sample: Any
    retries: int

    def attempt(self, settings: Settings) -> Attempt:
        sample, spec = self.sample, self.log.eval
        started = moment(sample.started_at or spec.created)
        spent, remarks = bill(self.log, self.spend.own, self.spend.grading, settings, started)
        outcome, limits = outcome_of(self.log, sample, settings)
        return Attempt(
            **_identity(self.log),
            problem=str(sample.id),
            repetition=sample.epoch - 1,
            retry=self.retries,
            seed=spec.model_generate_config.seed,
            **outcome,
            flags=limits + remarks,
            requests=self.spend.requests,
            turns=getattr(sample, "turn_count", None),
            **spent,
            budget_usd=getattr(spec.config, "cost_limit", None),
            cost_killed_at_usd=spent.get("cost_usd") if outcome["status"] == "cost_killed" else None,
            started_at=started,
            duration_ms=None if sample.total_time is None else sample.total_time * 1000,
            model_reported=sample.output.model or None,
        )


@dataclass
class _Booked:
    """What the samples read so far account for."""

    own: Spends = field(default_factory=dict)
    grading: Spends = field(default_factory=dict)
    retried: list[_Try] = field(default_factory=list)
    rows: int = 0
    unreadable: int = 0

    def add(self, row: Row) -> None:
        self.rows += 1
        if not isinstance(row.content, _Try):
            self.unreadable += 1
            return
        spend = row.content.spend
        self.own, self.grading = plus(self.own, spend.own), plus(self.grading, spend.grading)
        if row.content.retries:
            self.retried.append(row.content)


@dataclass(frozen=True)
class _Rest:
    """What the header has beyond the samples: tries that were superseded, or never came to an end."""

    log: Any
    spends: Spends
    booked: _Booked

    def attempt(self, settings: Settings) -> Attempt:
        started = moment(self.log.eval.created)
        judges = self.booked.grading.keys() - self.booked.own.keys()
        own = {model: spend for model, spend in self.spends.items() if model not in judges}
        grading = {model: spend for model, spend in self.spends.items() if model in judges}
        spent, remarks = bill(self.log, own, grading, settings, started)
        return Attempt(**_identity(self.log), **self._whose(), **spent, flags=remarks, started_at=started)

    def _whose(self) -> dict[str, Any]:
        retried = self.booked.retried
        if self.log.status != "success":
            return {"problem": "(unfinished samples)", "status": "interrupted", "failure": "interrupted"}
        if self.booked.unreadable or not retried:
            return {"problem": "(outside the samples)", "status": "fault", "failure": "unattributed"}
        if [superseded.retries for superseded in retried] != [1]:
            return {"problem": "(retried samples)", "status": "fault", "failure": "retried"}
        sample = retried[0].sample
        return {"problem": str(sample.id), "repetition": sample.epoch - 1, "status": "fault", "failure": "retried"}


def _identity(log: Any) -> dict[str, Any]:
    spec = log.eval
    return {
        # One eval() may start a task twice within a second, with other arguments: the id tells the runs apart.
        "experiment": f"{spec.task}@{spec.created}#{spec.task_id}".removesuffix("#"),
        "benchmark": spec.task,
        "strategy": strategy_name(spec.solver, spec.model),
        "runner": "inspect",
        "runner_version": spec.packages.get("inspect_ai"),
    }


IMPORTER = InspectLog()
