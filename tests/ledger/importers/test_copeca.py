"""copeca's records, its crash records included."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import write_lines

from costpass.attempt import Attempt
from costpass.ledger.importers.formats.copeca import IMPORTER
from costpass.ledger.importers.importing import Import
from costpass.ledger.importers.protocol import Settings

CRASH = {
    "task": "rg_locate",
    "repo": "ripgrep",
    "mode": "baseline",
    "model": "claude-sonnet-4-6",
    "runner": "unknown",
    "repetition": 3,
    "timestamp": "2026-06-20T10:00:00+00:00",
    "correct": False,
    "error": "clone failed",
}


def read(path: Path) -> list[Attempt]:
    return list(Import([path], Settings(), importer=IMPORTER).attempts())


def test_a_record_keeps_its_classes_of_tokens_and_its_figures(data: Path) -> None:
    first = read(data / "copeca" / "sample_report_records.jsonl")[0]
    assert (first.problem, first.mode, first.model, first.capability) == (
        "rg_locate_matcher",
        "baseline",
        "claude-sonnet-4-6",
        "locate",
    )
    assert (first.input_tokens, first.cache_read_tokens, first.cache_write_tokens, first.output_tokens) == (
        5200,
        2800,
        3100,
        180,
    )
    assert (first.cost_usd, first.cost_source) == (Decimal("0.0421"), "imported")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (None, "fault", "harness_error")),
        ({"error": "Command timed out after 300 s"}, (False, "timeout", "wall_clock")),
        ({"error": "not logged in: run claude login"}, (None, "fault", "auth")),
        ({"error": "HTTP 429 from provider"}, (None, "fault", "rate_limit")),
        ({"error": "error_max_budget_usd", "total_cost_usd": 1.0}, (False, "cost_killed", "budget")),
        ({"error": "agent gave up", "total_cost_usd": 0.2}, (False, "completed", "agent_error")),
        ({"error": "run interrupted — work item skipped before start"}, (None, "interrupted", "interrupted")),
    ],
)
def test_an_error_is_a_fault_or_a_loss_by_what_it_says(
    tmp_path: Path, changes: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    [attempt] = read(write_lines(tmp_path / "x.jsonl", [{**CRASH, **changes}]))
    assert (attempt.passed, attempt.status, attempt.failure) == expected


def test_a_crash_record_knows_no_cost(tmp_path: Path) -> None:
    [attempt] = read(write_lines(tmp_path / "x.jsonl", [CRASH]))
    assert (attempt.cost_usd, attempt.input_tokens, attempt.duration_ms, attempt.runner) == (None, None, None, None)
    assert (attempt.repetition, attempt.group) == (3, "ripgrep")


def test_what_an_errored_run_cost_is_kept(tmp_path: Path) -> None:
    [attempt] = read(write_lines(tmp_path / "x.jsonl", [{**CRASH, "error": "budget", "total_cost_usd": 1.0}]))
    assert attempt.cost_usd == 1
