"""From what a user names (ledgers, files of attempts, logs of other tools, globs) to one scan."""

import glob
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from costpass.errors import BadInputError, CostpassError
from costpass.ledger.columns import sql_types
from costpass.ledger.compact import tables
from costpass.ledger.importers.importing import Import, Progress, Tally, unseen
from costpass.ledger.importers.into import import_to_scratch
from costpass.ledger.importers.protocol import Importer, Settings
from costpass.ledger.scan import Scan, Table, parquet_columns
from costpass.ledger.store import JOURNAL, Ledger

_PARQUET_MAGIC = b"PAR1"


@dataclass
class Opened:
    """An open scan, and what was imported on the fly to make it."""

    scan: Scan
    imported: Tally | None = None
    notes: list[str] = field(default_factory=list)


def expand(names: Iterable[str]) -> list[Path]:
    """Paths of names and globs; a glob that matches nothing is an error."""
    paths: list[Path] = []
    for name in names:
        if Path(name).exists():
            paths.append(Path(name))
            continue
        matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - the pattern may be absolute
        if not matches:
            raise CostpassError(f"{name}: no such file or directory")
        paths.extend(map(Path, matches))
    return paths


def open_sources(
    names: Sequence[str],
    stack: ExitStack,
    *,
    settings: Settings | None = None,
    importer: Importer | None = None,
    progress: Progress = unseen,
) -> Opened:
    """One scan over everything named. Logs of other tools are imported on the fly, into a place that is removed."""
    own: list[Table] = []
    foreign: list[Path] = []
    for path in expand(names):
        found = _own_tables(path)
        own.extend(found)
        if not found:
            foreign.append(path)
    settings = settings or Settings()
    imported = None
    if foreign:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="costpass-")))
        reader = Import(foreign, settings, importer=importer, progress=progress)
        own.append(Table(import_to_scratch(scratch / "import", reader), "jsonl"))
        imported = reader.tally
    scan = stack.enter_context(Scan(own))
    return Opened(scan, imported, [*settings.notes, *scan.notes])


def open_ledger(path: Path) -> Ledger:
    """The ledger at `path`."""
    if not path.exists():
        raise CostpassError(f"{path}: no such file or directory")
    return Ledger(path)


def _own_tables(path: Path) -> list[Table]:
    """The tables of a ledger, or of a file that a ledger was made of; none for the log of another tool."""
    if path.is_dir():
        return tables(Ledger(path)) if Ledger.is_ledger(path) else []
    try:
        with path.open("rb") as file:
            is_parquet = file.read(len(_PARQUET_MAGIC)) == _PARQUET_MAGIC
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}") from error
    if is_parquet:
        return [Table(path, "parquet")] if parquet_columns(path) >= set(sql_types()) else []
    if path.name == JOURNAL and Ledger.is_ledger(path.parent):
        return [Table(path, "jsonl")]
    return []
