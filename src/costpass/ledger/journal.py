"""The journal: JSON lines that are whole or absent, whatever dies while they are written."""

import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from costpass.attempt import Attempt
from costpass.errors import BadInputError, CostpassError

_NEWLINE = b"\n"
_CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class Repair:
    """What was done to a journal whose last line had no end."""

    kept: bool
    bytes_removed: int

    def __str__(self) -> str:
        if self.kept:
            return "the last line lacked its line end; the line was whole and is kept"
        return f"removed a torn last line of {self.bytes_removed} bytes; every whole line is kept"


class Journal:
    """Appends attempts to one file, safely beside other processes that do the same.

    Each line is one `write()` on an `O_APPEND` descriptor under an exclusive lock, and is on disk when `append`
    returns. A writer that finds a line without an end knows that its author is dead, and mends it first.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.repaired: Repair | None = None
        self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def append(self, attempt: Attempt) -> None:
        """Adds one attempt; returns once it is on disk."""
        self.write([attempt])
        self.sync()

    def write(self, attempts: Iterable[Attempt], *, wait: bool = True) -> bool:
        """Adds attempts, all of them or none; they outlive this process at once, and a power cut once synced.

        Without `wait` it returns False, and writes nothing, where a reader holds the journal just now.
        """
        lines = b"".join(attempt.to_line() for attempt in attempts)
        try:
            with _locked(self._descriptor, wait=wait):
                self.repaired = _mend_tail(self._descriptor) or self.repaired
                self._write_whole(lines)
        except BlockingIOError:
            return False
        return True

    def sync(self) -> None:
        """Returns once all that was written is on disk."""
        os.fsync(self._descriptor)

    def _write_whole(self, lines: bytes) -> None:
        start = os.fstat(self._descriptor).st_size
        try:
            full, reason = os.write(self._descriptor, lines) == len(lines), "the disk took only part of the line"
        except OSError as error:
            full, reason = False, str(error.strerror)
        if not full:
            os.ftruncate(self._descriptor, start)
            raise CostpassError(f"{self.path}: the attempt was not written: {reason}")

    def close(self) -> None:
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def extend(path: Path, lines: Path) -> None:
    """Appends a whole file of lines, or nothing of it."""
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        with _locked(descriptor), lines.open("rb") as source:
            _mend_tail(descriptor)
            start = os.fstat(descriptor).st_size
            try:
                while chunk := source.read(_CHUNK_BYTES):
                    _write_all(descriptor, chunk)
                os.fsync(descriptor)
            except OSError as error:
                os.ftruncate(descriptor, start)
                raise CostpassError(f"{path}: nothing was appended: {error.strerror}") from error
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def repair(path: Path) -> Repair | None:
    """Mends a torn last line; None where there is none."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        with _locked(descriptor):
            mended = _mend_tail(descriptor)
        os.fsync(descriptor)
        return mended
    finally:
        os.close(descriptor)


@contextmanager
def reading(path: Path) -> Iterator[int]:
    """Holds writers off and yields how many bytes of the journal are whole lines."""
    # Without O_NONBLOCK, opening a pipe in the journal's place would wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise BadInputError(f"{path}: not a file")
        with _locked(descriptor, shared=True):
            size = os.fstat(descriptor).st_size
            yield size - len(_torn_tail(descriptor, size))
    finally:
        os.close(descriptor)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Holds readers and writers off."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with _locked(descriptor):
            yield
    finally:
        os.close(descriptor)


def whole_bytes(path: Path) -> tuple[int, int]:
    """How many bytes of the journal are whole lines, and how many a torn last line has."""
    with reading(path) as whole:
        return whole, path.stat().st_size - whole


@contextmanager
def _locked(descriptor: int, *, shared: bool = False, wait: bool = True) -> Iterator[None]:
    fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _mend_tail(descriptor: int) -> Repair | None:
    size = os.fstat(descriptor).st_size
    torn = _torn_tail(descriptor, size)
    if not torn:
        return None
    if _is_attempt(torn):
        os.pwrite(descriptor, _NEWLINE, size)
        return Repair(kept=True, bytes_removed=0)
    os.ftruncate(descriptor, size - len(torn))
    return Repair(kept=False, bytes_removed=len(torn))


def _torn_tail(descriptor: int, size: int) -> bytes:
    """The bytes after the last line end."""
    if size == 0 or os.pread(descriptor, 1, size - 1) == _NEWLINE:
        return b""
    chunks: list[bytes] = []
    start = size
    while start > 0:
        step = min(_CHUNK_BYTES, start)
        start -= step
        chunk = os.pread(descriptor, step, start)
        cut = chunk.rfind(_NEWLINE)
        chunks.append(chunk[cut + 1 :])
        if cut >= 0:
            break
        if size - start > 64 * 1024 * 1024:
            raise BadInputError("the last line is over 64 MiB and has no end: this is not a journal of attempts")
    return b"".join(reversed(chunks))


def _is_attempt(line: bytes) -> bool:
    try:
        Attempt.model_validate_json(line)
    except ValidationError:
        return False
    return True
