"""Datasets of the Hugging Face hub, without a network: a folder stands in for the hub, or nothing answers."""

import sys
import time
from pathlib import Path

import duckdb
import pytest

from costpass.benchmarks import hub
from costpass.benchmarks.hub import HubRef, read_hub
from costpass.benchmarks.loading import load_benchmark
from costpass.benchmarks.spec import BenchmarkSpec
from costpass.errors import BadInputError, MissingExtraError

pytest.importorskip("datasets")


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the library reads as a dataset of two splits."""
    import datasets.config  # type: ignore[import-untyped, unused-ignore]

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "dataset"
    folder.mkdir()
    for split, first in (("train", 0), ("test", 10)):
        rows = f"SELECT 'Question ' || i AS question, i::DECIMAL(6,2) AS answer FROM range({first}, {first + 3}) t(i)"
        duckdb.execute(f"COPY ({rows}) TO '{folder / split}.parquet' (FORMAT parquet)")
    return folder


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")


def test_rows_of_a_split_are_plain_values(dataset: Path) -> None:
    found = read_hub(HubRef(str(dataset), split="test"), "")
    assert list(found.rows) == [{"question": f"Question {i}", "answer": i} for i in (10, 11, 12)]
    assert found.source.startswith(f"hf:{dataset}/test sha256:")


def test_all_splits_are_read_together_if_asked(dataset: Path) -> None:
    assert len(read_hub(HubRef(str(dataset), split="all"), "").rows) == 6


def test_a_dataset_of_several_splits_needs_one_named(dataset: Path) -> None:
    with pytest.raises(BadInputError, match=r"say which split: hf:.*/train, hf:.*/test"):
        read_hub(HubRef(str(dataset)), "")


def test_a_split_that_is_not_there_is_named(dataset: Path) -> None:
    with pytest.raises(BadInputError, match=r"cannot be fetched .*dev"):
        read_hub(HubRef(str(dataset), split="dev"), "way out")


@pytest.mark.usefixtures("no_hub")
def test_a_hub_that_does_not_answer_is_said_soon_with_the_way_out(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(
        BadInputError, match=r"hf:openai/gsm8k/main/test: .*cannot be fetched .*`file:` .*question, answer"
    ):
        load_benchmark(BenchmarkSpec(name="gsm8k"), folder=tmp_path, data=tmp_path)
    assert time.monotonic() - started < 15


@pytest.mark.usefixtures("no_hub")
def test_an_own_dataset_that_cannot_be_fetched_has_a_way_out_too(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"hf:nobody/nothing/test: .*a local file with the same columns"):
        load_benchmark(BenchmarkSpec(name="hf:nobody/nothing/test"), folder=tmp_path)


@pytest.mark.usefixtures("no_hub")
def test_the_library_is_left_as_it_was(tmp_path: Path) -> None:
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    with pytest.raises(BadInputError):
        load_benchmark(BenchmarkSpec(name="gsm8k"), folder=tmp_path)
    assert before == constants.HF_HUB_OFFLINE


def test_without_the_library_both_ways_out_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"`file:` takes a local file .*pip install 'costpass\[hf\]'"):
        load_benchmark(BenchmarkSpec(name="math-500"), folder=tmp_path)


@pytest.mark.parametrize(
    ("name", "ref"),
    [
        ("openai/gsm8k", HubRef("openai/gsm8k")),
        ("Elfsong/BBQ/all", HubRef("Elfsong/BBQ", split="all")),
        ("openai/gsm8k/main/test", HubRef("openai/gsm8k", "main", "test")),
    ],
)
def test_a_name_says_dataset_config_and_split(name: str, ref: HubRef) -> None:
    assert HubRef.parse(name) == ref
    assert str(ref) == hub.PREFIX + name


@pytest.mark.parametrize("name", ["", "squad", "a//b", "a/b/c/d/e", "/a/b"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(BadInputError, match="expected hf:"):
        HubRef.parse(name)
