"""Writes a new ledger in one step: complete, or not at all."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from costpass.attempt import Attempt
from costpass.errors import CostpassError
from costpass.ledger.store import JOURNAL, Ledger

_PREFIX = ".costpass-"


def write_ledger(
    destination: Path,
    attempts: Iterable[Attempt],
    *,
    price_book: str | None,
    before_it_counts: Callable[[], object] = lambda: None,
    **about: Any,
) -> Ledger:
    """A new ledger of the given attempts. `before_it_counts` may still refuse once all are written."""
    if destination.exists():
        raise CostpassError(f"{destination} is already there; choose another name")
    with gathering(destination) as gathered:
        Ledger.create(gathered / "ledger", name=destination.name, price_book=price_book, **about)
        write_lines(gathered / "ledger" / JOURNAL, attempts)
        before_it_counts()
        settle(gathered / "ledger", destination)
    return Ledger(destination)


def write_lines(path: Path, attempts: Iterable[Attempt]) -> None:
    """The attempts as JSON lines, on disk when this returns."""
    try:
        with path.open("wb") as lines:
            for attempt in attempts:
                lines.write(attempt.to_line())
            lines.flush()
            os.fsync(lines.fileno())
    except OSError as error:
        raise CostpassError(f"given up, and nothing was written: {error.strerror or error}") from error


def settle(gathered: Path, destination: Path) -> None:
    """Puts what was gathered in its place, at once."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    gathered.rename(destination)


@contextmanager
def gathering(destination: Path) -> Iterator[Path]:
    """A scratch directory on the destination's own file system, so that the last step is one rename."""
    parent = next(folder for folder in destination.absolute().parents if folder.is_dir())
    try:
        _clear_abandoned(parent)
        directory = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))
    except OSError as error:
        raise CostpassError(f"{destination} cannot be made: {error.strerror}") from error
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _clear_abandoned(parent: Path) -> None:
    """Removes what writers left that were killed in the middle."""
    for left in parent.glob(f"{_PREFIX}*-*"):
        process = left.name.removeprefix(_PREFIX).split("-")[0]
        if process.isdigit() and not _alive(int(process)):
            shutil.rmtree(left, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
