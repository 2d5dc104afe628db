"""What tests share: the installed command, the data folder, and small logs."""

import json
import subprocess
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from costpass.attempt import Attempt

DATA = Path(__file__).parent / "data"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def data() -> Path:
    """The folder of bundled logs."""
    return DATA


@pytest.fixture
def costpass(tmp_path: Path) -> Run:
    """The installed command, run as a user runs it, in a folder of its own."""
    command = Path(sysconfig.get_path("scripts")) / "costpass"

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [command, *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=120,
            check=False,
            **options,
        )

    return run


def write_lines(path: Path, rows: Iterable[Any]) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_attempts(path: Path, attempts: Iterable[Attempt]) -> Path:
    """A file of attempts."""
    path.write_bytes(b"".join(attempt.to_line() for attempt in attempts))
    return path
