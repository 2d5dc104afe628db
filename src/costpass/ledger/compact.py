"""The columnar copy of a journal: the same attempts as zstd Parquet, for ledgers that are read often.

The journal stays what it was. `ledger.json` says which file is the copy and how many bytes of the journal it holds,
so attempts that are added later are read from the journal's tail until the next `compact`. The copy's name carries
that number, so a crash before ledger.json is replaced leaves the old copy in force.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from costpass.errors import BadInputError
from costpass.ledger.columns import literal, quoted, sql_types
from costpass.ledger.journal import held
from costpass.ledger.scan import Scan, Table
from costpass.ledger.store import Ledger


@dataclass(frozen=True)
class Compacted:
    """What came of it."""

    attempts: int
    journal_bytes: int
    parquet_bytes: int


def compact(ledger: Ledger) -> Compacted:
    """Writes the columnar copy of the whole journal; it counts only once it is complete on disk."""
    partial = ledger.path / f".columnar.{os.getpid()}"
    try:
        with Scan([Table(ledger.journal_path, "jsonl")]) as scan:
            journal_bytes, count = scan.journal_bytes, _copy(scan, partial)
        parquet_bytes = partial.stat().st_size
        # Nobody reads while the copies change places, and of two compactions at once the later one sees the other's.
        with held(ledger.journal_path):
            _put_in_force(ledger, partial, journal_bytes, count)
    finally:
        partial.unlink(missing_ok=True)
    return Compacted(count, journal_bytes, parquet_bytes)


def _put_in_force(ledger: Ledger, partial: Path, journal_bytes: int, count: int) -> None:
    before = Ledger(ledger.path).columnar_path
    target = ledger.path / f"attempts-{journal_bytes}.parquet"
    partial.replace(target)
    ledger.update_manifest(columnar={"file": target.name, "journal_bytes": journal_bytes, "attempts": count})
    if before is not None and before != target:
        before.unlink(missing_ok=True)


def export(scan: Scan, target: Path) -> int:
    """Writes the attempts of a scan as one Parquet file, complete or not at all; returns how many."""
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        count = _copy(scan, partial)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return count


def _copy(scan: Scan, target: Path) -> int:
    columns = list(sql_types())
    # In a query, braces mark the place of the attempts; a folder's name may hold some of its own.
    place = literal(str(target)).replace("{", "{{").replace("}", "}}")
    copied = scan.query(
        columns,
        f"COPY (SELECT {', '.join(map(quoted, columns))} FROM {{attempts}}) TO {place} "
        "(FORMAT parquet, COMPRESSION zstd)",
    )
    with target.open("rb") as written:
        os.fsync(written.fileno())
    return int(copied[0][0])


def tables(ledger: Ledger) -> list[Table]:
    """Where a ledger's attempts are: the columnar copy and what the journal holds beyond it."""
    columnar = ledger.columnar_path
    if columnar is None:
        return [Table(ledger.journal_path, "jsonl")]
    if not ledger.journal_path.is_file():
        return [Table(columnar, "parquet")]
    done, size = ledger.compacted_bytes, ledger.journal_path.stat().st_size
    if size < done:
        raise BadInputError(
            f"{ledger.journal_path}: {size} bytes long, but {done} bytes of it were compacted: lines have gone missing"
        )
    return [Table(columnar, "parquet"), Table(ledger.journal_path, "jsonl", done)]
