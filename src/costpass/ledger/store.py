"""A ledger on disk: `attempts.jsonl`, its columnar copy, and `ledger.json`, which says what it is."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from costpass.attempt import SCHEMA_VERSION
from costpass.errors import BadInputError, CostpassError
from costpass.ledger.journal import Journal
from costpass.version import __version__

FORMAT = "costpass.ledger/1"
JOURNAL = "attempts.jsonl"
MANIFEST = "ledger.json"
REJECTED = "rejected.jsonl"


class Ledger:
    """An append-only store of attempts in a directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = _read_manifest(path)

    @classmethod
    def create(cls, path: Path, *, name: str, price_book: str | None = None, **about: Any) -> "Ledger":
        """Makes an empty ledger in a directory that does not exist yet or is empty."""
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise CostpassError(f"{path} is already there and is not empty; choose another place for the ledger")
        path.mkdir(parents=True, exist_ok=True)
        write_manifest(
            path,
            {
                "format": FORMAT,
                "name": name,
                "attempt_schema": SCHEMA_VERSION,
                "costpass_version": __version__,
                "price_book": price_book,
                **about,
            },
        )
        (path / JOURNAL).touch()
        return cls(path)

    @staticmethod
    def is_ledger(path: Path) -> bool:
        return (path / MANIFEST).is_file()

    @property
    def name(self) -> str:
        return str(self.manifest.get("name", self.path.name))

    @property
    def journal_path(self) -> Path:
        return self.path / JOURNAL

    @property
    def columnar_path(self) -> Path | None:
        """The columnar copy, where there is one."""
        columnar = self.manifest.get("columnar")
        return self.path / str(columnar["file"]) if columnar else None

    @property
    def compacted_bytes(self) -> int:
        """How many bytes of the journal the columnar copy holds."""
        columnar = self.manifest.get("columnar")
        return int(columnar["journal_bytes"]) if columnar else 0

    def journal(self) -> Journal:
        """Opens the journal to append to."""
        return Journal(self.journal_path)

    def update_manifest(self, **changes: Any) -> None:
        """Changes what ledger.json says, in one step."""
        self.manifest = {**self.manifest, **changes}
        write_manifest(self.path, self.manifest)


def write_manifest(directory: Path, manifest: Mapping[str, Any]) -> None:
    """Replaces ledger.json whole or not at all."""
    partial = directory / f".{MANIFEST}.{os.getpid()}"
    with partial.open("w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=2, ensure_ascii=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    partial.replace(directory / MANIFEST)


def _read_manifest(path: Path) -> dict[str, Any]:
    place = path / MANIFEST
    try:
        manifest = json.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInputError(f"{path} is not a ledger: it has no {MANIFEST}") from None
    except OSError as error:
        raise BadInputError(f"{place}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"{place}: not JSON ({error})") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        raise BadInputError(f"{place}: this costpass reads {FORMAT}, the file says {found!r}")
    if manifest.get("attempt_schema", SCHEMA_VERSION) != SCHEMA_VERSION:
        raise BadInputError(
            f"{place}: this costpass reads attempts of schema {SCHEMA_VERSION}, the file says "
            f"{manifest['attempt_schema']!r}"
        )
    if manifest.get("columnar") is not None and not _names_a_copy(manifest["columnar"]):
        raise BadInputError(
            f"{place}: `columnar` does not name a Parquet file here and how much of the journal it holds; take the "
            "key out, and `costpass compact` writes it anew"
        )
    return manifest


def _names_a_copy(columnar: Any) -> bool:
    if not isinstance(columnar, dict):
        return False
    file, held = columnar.get("file"), columnar.get("journal_bytes")
    return isinstance(file, str) and Path(file).name == file and isinstance(held, int) and held >= 0
