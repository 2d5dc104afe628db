"""A scan: attempts of one or many files as one DuckDB table, read in place and out of core."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import duckdb

from costpass.errors import BadInputError, CostpassError
from costpass.ledger import journal
from costpass.ledger.columns import literal, quoted, sql_types

MEMORY_LIMIT = "400MB"


@dataclass(frozen=True)
class Table:
    """One file of attempts."""

    path: Path
    kind: Literal["jsonl", "parquet"]
    #: Where the columnar copy already holds the start of a journal: the bytes to pass over.
    skip_bytes: int = 0


class GoneError(BadInputError):
    """A columnar copy that is not there, or no longer: another process may have compacted the ledger just now."""


class Scan:
    """Reads tables through DuckDB. Journals are held still, by a shared lock, for as long as the scan is open."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self.notes: list[str] = []
        self._open = ExitStack()
        try:
            self._scratch = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="costpass-")))
            self._parquet = [table.path for table in tables if table.kind == "parquet"]
            self._jsonl = [path for table in tables if table.kind == "jsonl" for path in self._whole_lines(table)]
            for path in self._parquet:
                if not path.is_file():
                    raise GoneError(f"{path}: the columnar copy is not there; `costpass compact` makes it anew")
            self.connection = self._open.enter_context(_connect(self._scratch))
        except BaseException:
            self._open.close()
            raise

    def query(self, columns: Sequence[str], sql: str) -> list[tuple[Any, ...]]:
        """Runs `sql`, in which {attempts} stands for the attempts with the given columns."""
        try:
            return self.connection.execute(sql.format(attempts=self.relation(columns))).fetchall()
        except duckdb.Error as error:
            raise _readable(error) from error

    def batches(self, columns: Sequence[str], sql: str, size: int = 2000) -> Iterator[list[tuple[Any, ...]]]:
        """The same, a few rows at a time."""
        try:
            cursor = self.connection.cursor().execute(sql.format(attempts=self.relation(columns)))
            while rows := cursor.fetchmany(size):
                yield rows
        except duckdb.Error as error:
            raise _readable(error) from error

    def relation(self, columns: Sequence[str]) -> str:
        """The attempts, with the given columns, as an SQL table expression."""
        types = sql_types()
        wanted = ", ".join(quoted(column) for column in columns)
        parts = []
        if self._parquet:
            parts.append(f"SELECT {wanted} FROM read_parquet({_paths(self._parquet)})")
        if self._jsonl:
            spec = ", ".join(f"{quoted(column)}: {literal(types[column])}" for column in columns)
            parts.append(
                f"SELECT {wanted} FROM read_json({_paths(self._jsonl)}, format='newline_delimited', "
                f"compression='none', columns={{{spec}}})"
            )
        if not parts:
            nothing = ", ".join(f"NULL::{types[column]} AS {quoted(column)}" for column in columns)
            parts.append(f"SELECT {nothing} WHERE false")
        return "(" + " UNION ALL ".join(parts) + ")"

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _whole_lines(self, table: Table) -> list[Path]:
        """The file itself, or a copy of the part that counts: past what is columnar, and without a torn end."""
        whole = self._open.enter_context(journal.reading(table.path))
        torn = table.path.stat().st_size - whole
        if torn:
            self.notes.append(
                f"{table.path}: a torn last line of {torn} bytes is left out; `costpass ledger check --repair` mends it"
            )
        if whole <= table.skip_bytes:
            return []
        if not torn and not table.skip_bytes:
            return [table.path]
        part = self._scratch / f"part-{len(list(self._scratch.iterdir()))}.jsonl"
        with table.path.open("rb") as source, part.open("wb") as copy:
            source.seek(table.skip_bytes)
            _copy(source, copy, whole - table.skip_bytes)
        return [part]


def _copy(source: Any, target: Any, length: int) -> None:
    while length > 0:
        chunk = source.read(min(length, 1 << 20))
        if not chunk:
            return
        target.write(chunk)
        length -= len(chunk)


def _connect(scratch: Path) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(
        config={
            "memory_limit": MEMORY_LIMIT,
            "temp_directory": str(scratch / "spill"),
            # Nothing is ever fetched: what is read is read with what the wheel holds.
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
    )


def _paths(paths: Sequence[Path]) -> str:
    # DuckDB expands globs in names; a name with such a character is meant as it stands.
    return "[" + ", ".join(literal(_escaped(str(path))) for path in paths) + "]"


def _escaped(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def _readable(error: duckdb.Error) -> CostpassError:
    first = str(error).splitlines()[0]
    if isinstance(error, duckdb.OutOfMemoryException):
        return CostpassError(f"the ledger did not fit into {MEMORY_LIMIT} of memory, nor beside it on disk: {first}")
    return BadInputError(f"the ledger cannot be read: {first}; `costpass ledger check` says which lines are bad")


def parquet_columns(path: Path) -> set[str]:
    """The names of a Parquet file's columns."""
    try:
        with duckdb.connect() as connection:
            rows = connection.execute("SELECT name FROM parquet_schema(?)", [str(path)]).fetchall()
    except duckdb.Error as error:
        raise BadInputError(f"{path}: not a readable Parquet file ({str(error).splitlines()[0]})") from error
    return {str(name) for (name,) in rows}
