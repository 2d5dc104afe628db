"""Records of the Cost-of-Pass paper's code."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from costpass.attempt import Attempt
from costpass.errors import BadInputError
from costpass.ledger.importers.formats.cost_of_pass import IMPORTER
from costpass.ledger.importers.importing import Import
from costpass.ledger.importers.protocol import Settings
from costpass.ledger.importers.source import Source

BASE: dict[str, Any] = {
    "model_name": "together_ai/meta-llama/Llama-3.1-8B",
    "task_name": "AIME_2024",
    "tt_method_name": "VanillaPromptMethod",
    "input_idx": 7,
    "answer": "42",
    "num_input_tokens": 90,
    "num_prompt_tokens": 100,
    "num_completion_tokens": 300,
    "num_answer_tokens": 1,
    "cost_per_prompt_token": 2e-7,
    "cost_per_completion_token": 6e-7,
    "completed": True,
    "timestamp": 1745000000.0,
    "uid": "u-1",
}
METRIC = {**BASE, "metric_name": "ExactStringMatch", "metric_score": 1.0}
FULL = {**BASE, "input": "What is …", "target": "42", "prompts": ["What is …"], "responses": ["42"]}


def imported(path: Path, settings: Settings | None = None) -> list[Attempt]:
    return list(Import([path], settings or Settings(), importer=IMPORTER).attempts())


def lines(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def parquet(path: Path, *records: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    source = path.with_suffix(".jsonl")
    source.write_text("".join(json.dumps(record) + "\n" for record in records))
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT * FROM read_json('{source}')) TO '{path}' (FORMAT parquet)")
    source.unlink()
    return path


def test_a_metric_record_becomes_an_attempt(tmp_path: Path) -> None:
    (attempt,) = imported(lines(tmp_path, METRIC))
    assert (attempt.benchmark, attempt.problem) == ("AIME_2024", "7")
    assert (attempt.provider, attempt.model) == ("together_ai", "meta-llama/Llama-3.1-8B")
    assert (attempt.technique, attempt.strategy) == (
        "VanillaPromptMethod",
        "meta-llama/Llama-3.1-8B+VanillaPromptMethod",
    )
    assert (attempt.passed, attempt.score, attempt.scores) == (True, 1.0, {"ExactStringMatch": 1.0})
    assert (attempt.input_tokens, attempt.output_tokens) == (100, 300)
    assert attempt.started_at == datetime.fromtimestamp(1745000000, UTC)


def test_the_cost_is_exactly_tokens_times_the_prices_in_the_record(tmp_path: Path) -> None:
    (attempt,) = imported(lines(tmp_path, METRIC))
    assert (attempt.cost_usd, attempt.cost_source) == (Decimal("0.0002"), "imported")
    assert attempt.imported_usd == attempt.cost_usd


def test_runs_of_a_problem_are_its_repetitions(tmp_path: Path) -> None:
    attempts = imported(lines(tmp_path, METRIC, {**METRIC, "uid": "u-2"}, {**METRIC, "input_idx": 8}))
    assert [(attempt.problem, attempt.repetition) for attempt in attempts] == [("7", 0), ("7", 1), ("8", 0)]


def test_a_price_of_minus_one_is_no_price(tmp_path: Path) -> None:
    record = {**METRIC, "cost_per_prompt_token": -1, "cost_per_completion_token": -1}
    (attempt,) = imported(lines(tmp_path, record), Settings(price=False))
    assert (attempt.cost_usd, attempt.flags) == (None, ["no_price_in_log"])
    assert attempt.passed is True


def test_a_price_of_zero_is_a_price(tmp_path: Path) -> None:
    record = {**METRIC, "cost_per_prompt_token": 0.0, "cost_per_completion_token": 0.0}
    (attempt,) = imported(lines(tmp_path, record))
    assert (attempt.cost_usd, attempt.flags) == (Decimal(0), [])


@pytest.mark.parametrize(
    ("score", "threshold", "passed"), [(1.0, None, True), (0.99, None, False), (0.5, 0.5, True), (0.4, 0.5, False)]
)
def test_a_score_passes_at_one_or_at_the_users_threshold(
    tmp_path: Path, score: float, threshold: float | None, passed: bool
) -> None:
    (attempt,) = imported(lines(tmp_path, {**METRIC, "metric_score": score}), Settings(threshold=threshold))
    assert attempt.passed is passed
    assert attempt.failure == (None if passed else "wrong_answer")


def test_an_incomplete_record_is_a_fault_that_keeps_its_spend(tmp_path: Path) -> None:
    (attempt,) = imported(lines(tmp_path, {**METRIC, "completed": False, "metric_score": 0.0}))
    assert (attempt.passed, attempt.status, attempt.failure) == (None, "fault", "harness_error")
    assert attempt.cost_usd == Decimal("0.0002")


def test_a_full_record_has_a_cost_and_no_grade(tmp_path: Path) -> None:
    (attempt,) = imported(lines(tmp_path, FULL))
    assert (attempt.passed, attempt.status, attempt.cost_usd) == (None, "completed", Decimal("0.0002"))


def test_parquet_json_lines_and_a_json_list_read_alike(tmp_path: Path) -> None:
    records = [METRIC, {**METRIC, "metric_score": 0.0, "uid": "u-2"}]
    listed = tmp_path / "records.json"
    listed.write_text(json.dumps(records))
    paths = [lines(tmp_path, *records), listed, parquet(tmp_path / "dataset.parquet", *records)]
    assert all(IMPORTER.recognises(Source(path)) for path in paths)
    by_lines, by_list, by_parquet = (
        [attempt.model_copy(update={"source_ref": None}) for attempt in imported(path)] for path in paths
    )
    assert by_lines == by_list == by_parquet
    assert len(by_lines) == 2


def test_many_rows_of_parquet_come_in_batches_and_in_order(tmp_path: Path) -> None:
    path = parquet(tmp_path / "dataset.parquet", *({**METRIC, "input_idx": index} for index in range(4500)))
    assert [attempt.problem for attempt in imported(path)] == [str(index) for index in range(4500)]


def test_full_records_beside_a_metrics_are_not_counted_again(tmp_path: Path) -> None:
    run = tmp_path / "AIME_2024" / "llama" / "VanillaPromptMethod"
    parquet(run / "full_records" / "dataset.parquet", FULL)
    parquet(run / "ExactStringMatch_records" / "dataset.parquet", METRIC)
    reader = Import([tmp_path], Settings(), importer=IMPORTER)
    assert [attempt.passed for attempt in reader.attempts()] == [True]
    (reason,) = reader.tally.skipped
    assert reason == "full_records/dataset.parquet holds the runs of ExactStringMatch_records/dataset.parquet once more"


def test_the_same_runs_scored_by_a_second_metric_are_not_counted_again(tmp_path: Path) -> None:
    parquet(tmp_path / "ExactStringMatch_records" / "dataset.parquet", METRIC)
    parquet(tmp_path / "SoftStringMatch_records" / "dataset.parquet", {**METRIC, "metric_name": "SoftStringMatch"})
    attempts = list(Import([tmp_path], Settings(), importer=IMPORTER).attempts())
    assert [attempt.scores for attempt in attempts] == [{"ExactStringMatch": 1.0}]


def test_full_records_that_stand_alone_are_read(tmp_path: Path) -> None:
    path = parquet(tmp_path / "full_records" / "dataset.parquet", FULL)
    assert [attempt.output_tokens for attempt in imported(path)] == [300]


def test_a_record_without_a_field_is_rejected_with_its_name(tmp_path: Path) -> None:
    broken = {key: value for key, value in METRIC.items() if key != "num_prompt_tokens"}
    reader = Import([lines(tmp_path, METRIC, broken)], Settings(), importer=IMPORTER)
    assert len(list(reader.attempts())) == 1
    assert reader.tally.first_rejections == ["records.jsonl:2: no num_prompt_tokens"]


def test_other_tables_are_not_recognised(tmp_path: Path) -> None:
    other = parquet(tmp_path / "other.parquet", {"model_name": "m", "passed": True})
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and nothing after it")
    assert not IMPORTER.recognises(Source(other))
    assert not IMPORTER.recognises(Source(broken))
    with pytest.raises(BadInputError, match="not Cost-of-Pass records: no cost_per_completion_token"):
        imported(other)
