"""context-bench's results."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from costpass.attempt import Attempt
from costpass.errors import BadInputError
from costpass.ledger.importers.formats.context_bench import IMPORTER
from costpass.ledger.importers.importing import Import
from costpass.ledger.importers.protocol import Settings
from costpass.ledger.importers.source import Source

ROW: dict[str, Any] = {
    "system": "compressor",
    "example_id": 3,
    "dataset": "hotpotqa",
    "scores": {"score": 0.9},
    "input_tokens": 100,
    "output_tokens": 50,
    "latency": 1.25,
    "metadata": {},
}


def result(folder: Path, *rows: dict[str, Any]) -> Path:
    """As `EvalResult.to_json` writes it, with the Infinity of a system that never passed."""
    path = folder / "result.json"
    summary = {"compressor": {"cost_of_pass": math.inf, "num_passing": 0.0}}
    document = {"rows": rows, "summary": summary, "timing": {"compressor": 3.5}, "config": {"num_examples": len(rows)}}
    path.write_text(json.dumps(document, indent=2))
    return path


def imported(path: Path, settings: Settings | None = None) -> list[Attempt]:
    return list(Import([path], settings or Settings(), importer=IMPORTER).attempts())


def one(folder: Path, settings: Settings | None = None, **changes: Any) -> Attempt:
    (attempt,) = imported(result(folder, {**ROW, **changes}), settings)
    return attempt


def test_a_row_becomes_an_attempt(tmp_path: Path) -> None:
    attempt = one(tmp_path)
    assert (attempt.strategy, attempt.problem, attempt.benchmark) == ("compressor", "3", "hotpotqa")
    assert (attempt.passed, attempt.score, attempt.scores) == (True, 0.9, {"score": 0.9})
    assert attempt.duration_ms == 1250
    assert (attempt.cost_usd, attempt.model) == (None, None)


def test_the_published_example_has_the_pass_rate_its_own_tests_expect(tmp_path: Path) -> None:
    rows = [{**ROW, "example_id": index, "scores": {"score": score}} for index, score in enumerate((0.9, 0.3, 0.8))]
    assert [attempt.passed for attempt in imported(result(tmp_path, *rows))] == [True, False, True]


@pytest.mark.parametrize(
    ("score", "threshold", "passed"), [(0.7, None, True), (0.69, None, False), (0.69, 0.5, True), (0.0, 0.0, True)]
)
def test_a_score_passes_from_the_threshold_on(
    tmp_path: Path, score: float, threshold: float | None, passed: bool
) -> None:
    attempt = one(tmp_path, Settings(threshold=threshold), scores={"score": score})
    assert attempt.passed is passed
    assert attempt.failure == (None if passed else "wrong_answer")


@pytest.mark.parametrize(
    ("scores", "main"),
    [
        ({"f1": 0.1, "exact_match": 0.0, "score": 0.8}, "score"),
        ({"rouge_l_f1": 0.8}, "rouge_l_f1"),
        ({"f1": 0.1, "recall": 1.0, "mc_accuracy": 1.0}, "mc_accuracy"),
        ({"exact_match": 0.0, "f1": 0.75, "contains": 0.0}, "f1"),
        ({"f1": 0.1, "math_equiv": 1.0}, "math_equiv"),
    ],
)
def test_the_score_made_for_the_dataset_is_the_main_one(tmp_path: Path, scores: dict[str, float], main: str) -> None:
    settings = Settings()
    attempt = one(tmp_path, settings, scores=scores)
    assert (attempt.score, attempt.passed, attempt.scores) == (scores[main], True, scores)
    assert settings.notes == [f"context-bench gives scores and no verdict: passed means {main} ≥ 0.7"]


def test_without_a_score_that_is_known_there_is_no_grade(tmp_path: Path) -> None:
    assert one(tmp_path, scores={"recall": 1.0, "contains": 1.0}).passed is None
    assert one(tmp_path, scores={}).passed is None


def test_a_score_that_is_not_a_number_does_not_pass(tmp_path: Path) -> None:
    attempt = one(tmp_path, scores={"score": math.nan, "f1": 0.5})
    assert (attempt.passed, attempt.score, attempt.scores) == (False, None, {"f1": 0.5})


@pytest.mark.parametrize("nested", [True, False])
def test_the_models_own_usage_is_taken_where_it_is_reported(tmp_path: Path, nested: bool) -> None:
    usage = {"prompt_tokens": 120, "completion_tokens": 20, "total_tokens": 140}
    attempt = one(tmp_path, metadata={"usage": usage} if nested else usage)
    assert (attempt.input_tokens, attempt.output_tokens, attempt.quantities) == (120, 20, {})


@pytest.mark.parametrize("metadata", [{}, {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}])
def test_counts_of_text_fields_are_kept_apart_from_a_models_tokens(tmp_path: Path, metadata: dict[str, int]) -> None:
    attempt = one(tmp_path, metadata=metadata)
    assert (attempt.input_tokens, attempt.output_tokens) == (None, None)
    assert attempt.quantities == {"context_bench_input_tokens": 100, "context_bench_output_tokens": 50}


def test_a_latency_of_zero_was_not_measured_and_a_dataset_without_name_is_none(tmp_path: Path) -> None:
    attempt = one(tmp_path, latency=0.0, dataset="")
    assert (attempt.duration_ms, attempt.benchmark) == (None, None)


def test_a_result_without_rows_is_skipped_with_a_reason(tmp_path: Path) -> None:
    path = result(tmp_path)
    assert IMPORTER.recognises(Source(path))
    reader = Import([path], Settings(), importer=IMPORTER)
    with pytest.raises(BadInputError):
        list(reader.attempts())
    assert reader.tally.skipped == {"a context-bench result without rows": 1}


def test_recognises_its_documents_and_no_others(tmp_path: Path) -> None:
    assert IMPORTER.recognises(Source(result(tmp_path, ROW)))
    other = tmp_path / "other.json"
    for content in ('{"rows": [1], "columns": ["summary"]}', '{"rows": [], "summary": ', "[]"):
        other.write_text(content)
        assert not IMPORTER.recognises(Source(other))
    other.write_text('{"rows": {}}')
    with pytest.raises(BadInputError, match="not a context-bench result"):
        imported(other)
