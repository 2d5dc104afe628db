"""Rows of a local file: JSON lines, a JSON list, CSV, TSV or Parquet; gzipped where it is text."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from costpass.benchmarks.cells import Row
from costpass.benchmarks.plain import plain
from costpass.errors import BadInputError
from costpass.ledger.importers.formats.table import Table
from costpass.ledger.importers.protocol import Row as Item
from costpass.ledger.importers.source import Source

ENDINGS = (".jsonl", ".json", ".csv", ".tsv", ".parquet")


@dataclass(frozen=True)
class Rows:
    """The rows of a benchmark and where they are from."""

    rows: Sequence[Row]
    #: For messages: the file as the user would open it, or the dataset as the experiment names it.
    where: str
    #: For records: the name with a digest of the content.
    source: str


def read_file(path: Path) -> Rows:
    """All rows of a file, as JSON values."""
    source = Source(path)
    if not path.exists():
        raise BadInputError(f"{path}: no such file")
    if source.suffix not in ENDINGS:
        raise BadInputError(f"{path}: cannot tell what this is by its name; it must end in {', '.join(ENDINGS)}")
    rows = [_row(item, path) for item in _items(source)]
    return Rows(rows, str(path), f"{path.name} sha256:{_digest(path)}")


def find_file(folder: Path, stem: str) -> Path | None:
    """The file of that name in a folder, whichever of the endings it has."""
    candidates = (folder / f"{stem}{ending}{gz}" for ending in ENDINGS for gz in ("", ".gz"))
    return next((path for path in candidates if path.is_file()), None)


def looks_like_a_file(name: str) -> bool:
    """Whether a name is meant as a path."""
    return "/" in name or Source(Path(name)).suffix in ENDINGS


def short_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def _items(source: Source) -> Iterator[Item]:
    if source.suffix == ".json":
        yield from _listed(source)
    elif source.suffix == ".jsonl":
        yield from source.json_rows()
    else:
        # An item's content is what the table makes of it for attempts; here the row itself is wanted.
        for item in Table().rows(source):
            yield Item(item.where, item.as_logged, item.error)


def _listed(source: Source) -> Iterator[Item]:
    document = source.document
    if not isinstance(document, list):
        raise BadInputError(f"{source.path}: expected a JSON list of objects; one object per line is a .jsonl file")
    for number, content in enumerate(document, start=1):
        yield Item(f"{source.name}:{number}", content)


def _row(item: Item, path: Path) -> dict[str, Any]:
    place = item.where.rpartition(":")[2]
    if item.error is not None:
        raise BadInputError(f"{path}: line {place}: {item.error}")
    if not isinstance(item.content, dict):
        raise BadInputError(f"{path}: row {place}: expected an object with named values, found {item.content!r:.60}")
    return {name: plain(value) for name, value in item.content.items()}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]
