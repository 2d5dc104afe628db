"""From what a user names (ledgers, files of attempts, logs of other tools, globs) to one scan."""

import glob
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from costpass.errors import BadInputError, CostpassError
from costpass.ledger.columns import sql_types
from costpass.ledger.compact import tables
from costpass.ledger.importers.importing import Import, Progress, Tally, unseen
from costpass.ledger.importers.into import import_to_scratch
from costpass.ledger.importers.protocol import Importer, Settings
from costpass.ledger.importers.source import require_file
from costpass.ledger.queries import duplicate_keys
from costpass.ledger.scan import GoneError, Scan, Table, parquet_columns
from costpass.ledger.store import JOURNAL, Ledger

_PARQUET_MAGIC = b"PAR1"


@dataclass
class Opened:
    """An open scan, and what was imported on the fly to make it."""

    scan: Scan
    imported: Tally | None = None
    notes: list[str] = field(default_factory=list)
    #: What the ledgers themselves say beside their attempts, such as experts' prices: one entry for each that does.
    contexts: list[Mapping[str, Any]] = field(default_factory=list)


def expand(names: Iterable[str]) -> list[Path]:
    """Paths of names and globs, each once; a glob that matches nothing is an error."""
    paths: list[Path] = []
    for name in names:
        if Path(name).exists():
            paths.append(Path(name))
            continue
        matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - the pattern may be absolute
        if not matches:
            raise CostpassError(f"{name}: no such file or directory")
        paths.extend(map(Path, matches))
    for path in paths:
        require_file(path)
    return list({path.resolve(): path for path in reversed(paths)}.values())[::-1]


def open_sources(
    names: Sequence[str],
    stack: ExitStack,
    *,
    settings: Settings | None = None,
    importer: Importer | None = None,
    progress: Progress = unseen,
) -> Opened:
    """One scan over everything named. Logs of other tools are imported on the fly, into a place that is removed."""
    paths = expand(names)
    foreign = [path for path in paths if not _own_tables(path)]
    settings = settings or Settings()
    imported = None
    fresh: list[Table] = []
    if foreign:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="costpass-")))
        reader = Import(foreign, settings, importer=importer, progress=progress)
        fresh.append(Table(import_to_scratch(scratch / "import", reader), "jsonl"))
        imported = reader.tally
    own = [path for path in paths if path not in foreign]
    scan = stack.enter_context(_scan(own, fresh))
    doubled = duplicate_keys(scan, most=1) if len(own) + len(fresh) > 1 else []
    notes = [f"the sources share attempts, which are counted each time: {double}" for double in doubled]
    return Opened(scan, imported, [*settings.notes, *scan.notes, *notes], _contexts(own))


def _contexts(own: Sequence[Path]) -> list[Mapping[str, Any]]:
    manifests = [Ledger(path).manifest for path in own if Ledger.is_ledger(path)]
    return [manifest["context"] for manifest in manifests if isinstance(manifest.get("context"), dict)]


def _scan(own: Sequence[Path], fresh: Sequence[Table]) -> Scan:
    tables = [table for path in own for table in _own_tables(path)]
    try:
        return Scan([*tables, *fresh])
    except GoneError:
        # Compacted between the reading of ledger.json and now; it names the new copy.
        return Scan([*(table for path in own for table in _own_tables(path)), *fresh])


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
