"""Where the rows of a bundled benchmark come from, and what an experiment may change about it."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from costpass.benchmarks.loading import benchmark_id, load_benchmark
from costpass.benchmarks.problem import Benchmark
from costpass.benchmarks.spec import BenchmarkSpec, Sample
from costpass.errors import BadInputError


def load(name: str, folder: Path, **fields: Any) -> Benchmark:
    return load_benchmark(BenchmarkSpec(name=name, **fields), folder=folder)


def test_a_file_beside_the_experiment_stands_in_for_the_download(tmp_path: Path, data: Path) -> None:
    shutil.copy(data / "benchmarks" / "gsm8k.jsonl", tmp_path / "mine.jsonl")
    benchmark = load("GSM8K", tmp_path, file="mine.jsonl")
    assert benchmark.name == "gsm8k"
    assert benchmark.problems[0].target == "24"
    assert benchmark.source is not None
    assert benchmark.source.startswith("mine.jsonl sha256:")


def test_a_file_without_the_benchmarks_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("Question,Answer\na,b\n", encoding="utf-8")
    with pytest.raises(BadInputError, match=r"mine\.csv: row 1: no column 'answer' \(there are: Question, Answer\)"):
        load("gsm8k", tmp_path, file="mine.csv")


def test_an_experiment_changes_what_it_wants(tmp_path: Path) -> None:
    benchmark = load(
        "capitals", tmp_path, id="cities", grader={"strings": {}}, reading="math", expert={"usd": 2}, sample=Sample(n=5)
    )
    assert (benchmark.name, benchmark.grader, benchmark.expert_usd) == ("cities", {"strings": {}}, 2)
    assert [problem.reading for problem in benchmark.problems] == ["math"] * 5


def test_a_range_of_experts_prices_is_taken_at_its_upper_end(tmp_path: Path) -> None:
    expert = {"hourly_usd": [45, 100], "minutes": 12}
    assert load("capitals", tmp_path, expert=expert).expert_usd == 20


def test_a_sample_does_not_move_the_right_answers(tmp_path: Path, data: Path) -> None:
    file = data / "benchmarks" / "gpqa-diamond.csv"
    whole = load("gpqa-diamond", tmp_path, file=file, sample=Sample(n=2, seed=5)).problems
    (part,) = load("gpqa-diamond", tmp_path, file=file, sample=Sample(n=1, seed=5)).problems
    assert part in whole


def test_the_same_spec_loads_the_same_benchmark(tmp_path: Path) -> None:
    spec = BenchmarkSpec(name="two-digit-addition", sample=Sample(n=64, seed=3))
    assert load_benchmark(spec, folder=tmp_path) == load_benchmark(spec, folder=tmp_path)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"name": "gsmk8"}, "did you mean 'gsm8k'"),
        ({"name": "gsmk8", "file": "x.jsonl"}, "did you mean 'gsm8k'"),
        ({"name": "capitals", "columns": {"question": "q"}}, "`columns` is for files of your own"),
        ({"name": "mine.jsonl", "file": "x.jsonl"}, "`file` is for bundled benchmarks"),
        ({"name": "hf:squad"}, "expected hf:owner/dataset/split"),
        ({"name": "capitals", "sample": {"n": 1000}}, "there are 64 problems"),
    ],
)
def test_what_cannot_be_meant_is_refused(fields: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=complaint):
        load_benchmark(BenchmarkSpec.model_validate(fields), folder=tmp_path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("TwoDigitAddition", "two-digit-addition"),
        ("data/my.quiz.csv.gz", "my.quiz"),
        ("hf:openai/gsm8k/main/test", "openai/gsm8k"),
    ],
)
def test_records_carry_a_name_that_needs_no_data(name: str, expected: str, tmp_path: Path) -> None:
    assert benchmark_id(BenchmarkSpec(name=name), folder=tmp_path) == expected
    assert benchmark_id(BenchmarkSpec(name=name, id="mine"), folder=tmp_path) == "mine"
