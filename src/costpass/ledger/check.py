"""Whether a ledger is what it should be: whole lines, valid attempts, no attempt twice, a columnar copy that agrees."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from pydantic import ValidationError

from costpass.attempt import Attempt
from costpass.errors import BadInputError
from costpass.ledger import journal, queries
from costpass.ledger.compact import tables
from costpass.ledger.importers.source import Source
from costpass.ledger.scan import Scan, Table
from costpass.ledger.store import Ledger
from costpass.strict_yaml import complaint

_MOST_PROBLEMS = 20


@dataclass
class Check:
    """What was found."""

    attempts: int = 0
    problems: list[str] = field(default_factory=list)
    repaired: journal.Repair | None = None

    @property
    def intact(self) -> bool:
        return not self.problems


def check(ledger: Ledger, *, repair: bool = False) -> Check:
    """Reads every line of a ledger; `repair` first mends a torn last line."""
    result = Check()
    if repair and ledger.journal_path.is_file():
        result.repaired = journal.repair(ledger.journal_path)
    if ledger.journal_path.is_file():
        for problem in _line_problems(ledger.journal_path, result):
            result.problems.append(problem)
            if len(result.problems) >= _MOST_PROBLEMS:
                result.problems.append("… and maybe more: the check stopped here")
                return result
    if not result.problems:
        result.problems.extend(_whole_problems(ledger, result))
    return result


def _line_problems(path: Path, result: Check) -> Iterator[str]:
    _, torn = journal.whole_bytes(path)
    if torn:
        yield f"{path.name}: a torn last line of {torn} bytes (`costpass ledger check --repair` mends it)"
    for number, line in Source(path).lines():
        if torn and not line.endswith(b"\n"):
            return
        try:
            Attempt.model_validate_json(line)
        except ValidationError as error:
            yield f"{path.name}:{number}: {complaint(error, Attempt)}"
        else:
            result.attempts += 1


def _whole_problems(ledger: Ledger, result: Check) -> Iterator[str]:
    try:
        found = tables(ledger)
        with Scan(found) as scan:
            for doubled in queries.duplicate_keys(scan):
                yield f"the same attempt stands more than once: {doubled}"
            if not ledger.journal_path.is_file():
                result.attempts = queries.count(scan)
                return
            read = _totals(scan)
        with Scan([Table(ledger.journal_path, "jsonl")]) as scan:
            if ledger.columnar_path is not None and _totals(scan) != read:
                name = ledger.columnar_path.name
                yield f"{name} does not hold what the journal holds; `costpass compact` makes it anew"
    except BadInputError as error:
        yield str(error)


def _totals(scan: Scan) -> tuple[int, Decimal]:
    totals = queries.sums(scan, ["schema_version"])
    return sum(cell.attempts + cell.faults for cell in totals), sum((cell.spend_usd for cell in totals), Decimal(0))
