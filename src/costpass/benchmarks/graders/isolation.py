"""How a child is cut off from the network and the rest of the machine, as far as the machine allows."""

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Literal

Isolation = Literal["bwrap", "unshare", "none"]


def prefix(kind: Isolation, folder: Path) -> list[str]:
    """What to put before a command that works in `folder`."""
    if kind == "bwrap":
        mounts = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
        own = ["--bind", str(folder), str(folder), "--chdir", str(folder)]
        return [
            shutil.which("bwrap") or "bwrap",
            *mounts,
            *own,
            "--unshare-all",
            "--die-with-parent",
            "--new-session",
            "--",
        ]
    if kind == "unshare":
        namespaces = ["--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child"]
        return [shutil.which("unshare") or "unshare", *namespaces, "--"]
    return []


@cache
def best_isolation() -> Isolation:
    """bubblewrap where it works (no network, a read-only file system), else unshare (no network), else nothing."""
    kinds: tuple[Isolation, ...] = ("bwrap", "unshare")
    return next((kind for kind in kinds if shutil.which(kind) and _works(kind)), "none")


def _works(kind: Isolation) -> bool:
    command = [*prefix(kind, Path(sys.prefix)), sys.executable, "-I", "-c", "pass"]
    try:
        return subprocess.run(command, capture_output=True, timeout=20, check=False, env={}).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
