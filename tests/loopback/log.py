"""The provider's own account of what it served and billed: one JSON line per request, on disk within 50 ms."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

FLUSH_WITHIN_S = 0.05

_encode = json.JSONEncoder(separators=(",", ":")).encode


class Log:
    """Rows that are collected in memory, and written to a file in whole lines where there is one."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._pending: list[str] = []
        self._written: list[str] = []
        self._file = None if path is None else os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._timer: asyncio.TimerHandle | None = None

    def write(self, row: dict[str, Any]) -> None:
        """Add a row, and have it flushed soon."""
        self._pending.append(_encode(row) + "\n")
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_WITHIN_S, self.flush)

    def flush(self) -> None:
        """Put every row so far on disk."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._file is None:
            self._written += self._pending
        else:
            left = memoryview("".join(self._pending).encode())
            while left:
                left = left[os.write(self._file, left) :]
        self._pending.clear()

    def rows(self) -> list[dict[str, Any]]:
        """Every row so far, in the order of the requests."""
        self.flush()
        return read_rows("".join(self._written)) if self._path is None else read_rows(self._path.read_text())

    def close(self) -> None:
        """Flush, and let go of the file."""
        self.flush()
        if self._file is not None:
            os.close(self._file)
            self._file = None


def read_rows(lines: str) -> list[dict[str, Any]]:
    """The rows of a log, in the order of the requests."""
    return sorted((json.loads(line) for line in lines.splitlines()), key=lambda row: int(row["n"]))
