"""Imports logs into a ledger: complete, or not at all."""

from pathlib import Path

from costpass.errors import CostpassError
from costpass.ledger import journal, queries
from costpass.ledger.compact import tables
from costpass.ledger.importers.importing import Import
from costpass.ledger.importers.protocol import Settings
from costpass.ledger.scan import Scan, Table
from costpass.ledger.store import JOURNAL, REJECTED, Ledger
from costpass.ledger.writing import gathering, settle, write_lines


def import_into(destination: Path, reader: Import, settings: Settings, *, append: bool = False) -> Ledger:
    """Writes everything `reader` finds as a new ledger, or appends it to one that is there.

    The attempts are gathered beside the destination first, so that an import that fails leaves nothing behind.
    """
    if append and not Ledger.is_ledger(destination):
        raise CostpassError(f"{destination} is not a ledger, so nothing can be appended to it")
    if not append and destination.exists():
        raise CostpassError(f"{destination} is already there; --append adds to a ledger, or choose another name")
    with gathering(destination) as gathered:
        _gather(gathered, reader)
        if append:
            _extend(Ledger(destination), gathered)
            return Ledger(destination)
        Ledger.create(
            gathered / "ledger",
            name=destination.name,
            price_book=settings.book.digest if settings.price else None,
            imported={"formats": dict(sorted(reader.tally.formats.items())), "rejected": reader.tally.rejected},
        )
        for name in (JOURNAL, REJECTED):
            if (gathered / name).exists():
                (gathered / name).replace(gathered / "ledger" / name)
        settle(gathered / "ledger", destination)
    return Ledger(destination)


def import_to_scratch(scratch: Path, reader: Import) -> Path:
    """Imports on the fly: the attempts as one file of JSON lines."""
    scratch.mkdir(parents=True)
    _gather(scratch, reader)
    return scratch / JOURNAL


def _gather(directory: Path, reader: Import) -> None:
    # Half of a surrogate pair is no UTF-8; its escape is the same character in JSON.
    with (directory / REJECTED).open("w", encoding="utf-8", errors="backslashreplace") as rejected:
        write_lines(directory / JOURNAL, reader.attempts(rejected))
    if not reader.tally.rejected:
        (directory / REJECTED).unlink()


def _extend(ledger: Ledger, gathered: Path) -> None:
    with Scan([*tables(ledger), Table(gathered / JOURNAL, "jsonl")]) as scan:
        doubled = queries.duplicate_keys(scan)
    if doubled:
        raise CostpassError(f"{ledger.path}: nothing was appended, as it would hold the attempt at {doubled[0]}")
    journal.extend(ledger.journal_path, gathered / JOURNAL)
    if (gathered / REJECTED).exists():
        journal.extend(ledger.path / REJECTED, gathered / REJECTED)
