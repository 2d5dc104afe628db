"""A scan: attempts of one or many files as one DuckDB table, read in place and out of core."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
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
    """Reads tables through DuckDB, as they were when the scan was opened.

    A journal may grow meanwhile: its writers are held off only while a query runs, and once it has grown, the part
    that counts is read from a copy. So an open scan, or a reader that is slow to take its rows, never stops a run.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        self.notes: list[str] = []
        self._loaded: frozenset[str] = frozenset()
        self._open = ExitStack()
        try:
            self._scratch = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="costpass-")))
            self._journals = [self._held(table) for table in tables if table.kind == "jsonl"]
            self._parquet = [self._kept(table.path) for table in tables if table.kind == "parquet"]
            self.connection = self._open.enter_context(_connect(self._scratch))
        except BaseException:
            self._open.close()
            raise

    @property
    def journal_bytes(self) -> int:
        """How many bytes of the journals are in the scan."""
        return sum(journal.end for journal in self._journals)

    def query(self, columns: Sequence[str], sql: str) -> list[tuple[Any, ...]]:
        """Runs `sql`, in which {attempts} stands for the attempts with the given columns."""
        with ExitStack() as still:
            loaded = self._has_loaded(columns)
            lines = [] if loaded else [path for journal in self._journals for path in journal.still(still)]
            try:
                return self.connection.execute(sql.format(attempts=self._relation(columns, lines))).fetchall()
            except duckdb.Error as error:
                raise _readable(error) from error

    def batches(self, columns: Sequence[str], sql: str, size: int = 2000) -> Iterator[list[tuple[Any, ...]]]:
        """The same, a few rows at a time."""
        lines = [path for journal in self._journals for path in journal.copied()]
        try:
            cursor = self.connection.cursor().execute(sql.format(attempts=self._relation(columns, lines)))
            while rows := cursor.fetchmany(size):
                yield rows
        except duckdb.Error as error:
            raise _readable(error) from error

    def load(self, columns: Iterable[str]) -> None:
        """Parses these columns of the JSON lines once, for the queries to come; what does not fit goes to disk."""
        wanted = list(dict.fromkeys(columns))
        if self._loaded or not any(journal.end for journal in self._journals):
            return
        names = ", ".join(quoted(column) for column in wanted)
        self.query(wanted, f"CREATE TEMP TABLE loaded AS SELECT {names} FROM {{attempts}}")
        self._loaded = frozenset(wanted)

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _relation(self, columns: Sequence[str], lines: Sequence[Path]) -> str:
        """The attempts, with the given columns, as an SQL table expression."""
        types = sql_types()
        wanted = ", ".join(quoted(column) for column in columns)
        if self._has_loaded(columns):
            return f"(SELECT {wanted} FROM loaded)"
        parts = []
        if self._parquet:
            parts.append(f"SELECT {wanted} FROM read_parquet({_paths(self._parquet)})")
        if lines:
            spec = ", ".join(f"{quoted(column)}: {literal(types[column])}" for column in columns)
            parts.append(
                f"SELECT {wanted} FROM read_json({_paths(lines)}, format='newline_delimited', "
                f"compression='none', columns={{{spec}}})"
            )
        if not parts:
            nothing = ", ".join(f"NULL::{types[column]} AS {quoted(column)}" for column in columns)
            parts.append(f"SELECT {nothing} WHERE false")
        return "(" + " UNION ALL ".join(parts) + ")"

    def _has_loaded(self, columns: Sequence[str]) -> bool:
        return bool(self._loaded) and self._loaded.issuperset(columns)

    def _held(self, table: Table) -> "_Lines":
        with journal.reading(table.path) as whole:
            torn = table.path.stat().st_size - whole
        if torn:
            self.notes.append(
                f"{table.path}: a torn last line of {torn} bytes is left out; `costpass ledger check --repair` mends it"
            )
        return _Lines(table.path, table.skip_bytes, whole, self._scratch)

    def _kept(self, path: Path) -> Path:
        """The file, even if a later compaction takes its name away while the scan is open."""
        try:
            file = self._open.enter_context(path.open("rb"))
        except FileNotFoundError:
            raise GoneError(f"{path}: the columnar copy is not there; `costpass compact` makes it anew") from None
        by_descriptor = Path(f"/proc/self/fd/{file.fileno()}")
        return by_descriptor if by_descriptor.exists() else path


class _Lines:
    """The part of a journal that a scan reads: past what is columnar, up to where it ended when the scan was opened."""

    def __init__(self, path: Path, start: int, end: int, scratch: Path) -> None:
        self.end = end
        self._path = path
        self._start = start
        self._scratch = scratch
        self._copy: Path | None = None

    def still(self, stack: ExitStack) -> list[Path]:
        """The file itself, held still until the stack closes, if it is just the part; otherwise a copy of the part."""
        if self.end <= self._start:
            return []
        if self._start == 0 and self._copy is None:
            stack.enter_context(journal.reading(self._path))
            if self._path.stat().st_size == self.end:
                return [self._path]
        return self.copied()

    def copied(self) -> list[Path]:
        """A copy of the part, which nobody writes to."""
        if self.end <= self._start:
            return []
        if self._copy is None:
            part = self._scratch / f"part-{len(list(self._scratch.iterdir()))}.jsonl"
            with self._path.open("rb") as source, part.open("wb") as copy:
                source.seek(self._start)
                _copy(source, copy, self.end - self._start)
            self._copy = part
        return [self._copy]


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
