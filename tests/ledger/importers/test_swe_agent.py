"""SWE-agent's trajectories."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from costpass.attempt import Attempt
from costpass.errors import BadInputError
from costpass.ledger.importers.formats.swe_agent import IMPORTER
from costpass.ledger.importers.importing import Import
from costpass.ledger.importers.protocol import Settings
from costpass.ledger.importers.source import Source

DATA = Path(__file__).parents[2] / "data" / "swe-agent"
PYDICOM = DATA / "pydicom__pydicom-1458.traj"
REPLAY = DATA / "marshmallow-1867_function_calling_replace.traj"


def imported(path: Path, settings: Settings | None = None) -> Attempt:
    (attempt,) = Import([path], settings or Settings(), importer=IMPORTER).attempts()
    return attempt


def saved(path: Path, *, replay_config: Any = None, last_step: dict[str, Any] | None = None, **info: Any) -> Path:
    """pydicom's trajectory with some of its info changed."""
    document = json.loads(PYDICOM.read_text())
    document["info"].update(info)
    if replay_config is not None:
        document["replay_config"] = replay_config
    if last_step is not None:
        document["trajectory"].append(last_step)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


def test_cost_tokens_and_calls_are_the_instances() -> None:
    attempt = imported(PYDICOM)
    assert (attempt.cost_usd, attempt.cost_source) == (Decimal("1.26719"), "imported")
    assert (attempt.input_tokens, attempt.output_tokens) == (122612, 1369)
    assert (attempt.requests, attempt.turns) == (12, 12)
    assert (attempt.problem, attempt.group, attempt.runner) == (
        "pydicom__pydicom-1458",
        "pydicom/pydicom",
        "swe-agent",
    )
    assert (attempt.status, attempt.passed) == ("completed", None)


def test_tokens_are_said_to_be_incomplete_as_the_cached_ones_are_not_told_apart() -> None:
    assert imported(PYDICOM).usage_complete is False


def test_the_total_cost_of_a_batch_is_not_the_attempts(tmp_path: Path) -> None:
    stats = {
        "total_cost": 90.0,
        "instance_cost": 0.5,
        "tokens_sent": 10,
        "tokens_received": 2,
        "api_calls": 1,
    }
    assert imported(saved(tmp_path / "a__b-1.traj", model_stats=stats)).cost_usd == Decimal("0.5")


def test_a_replay_costs_nothing_known() -> None:
    attempt = imported(REPLAY)
    assert (attempt.cost_usd, attempt.input_tokens, attempt.output_tokens) == (None, None, None)
    assert (attempt.requests, attempt.flags) == (13, ["replay"])
    assert (attempt.model, attempt.strategy) == (None, "swe-agent+replay")


def test_the_problem_is_the_one_the_configuration_names() -> None:
    assert imported(REPLAY).problem == "marshmallow-code__marshmallow-1867"


def test_the_verdict_comes_from_beside_the_log() -> None:
    assert imported(PYDICOM, Settings(outcomes={"pydicom__pydicom-1458": True})).passed is True
    failed = imported(PYDICOM, Settings(outcomes={"pydicom__pydicom-1458": False}))
    assert (failed.passed, failed.failure) == (False, "wrong_answer")


@pytest.mark.parametrize(
    ("exit_status", "status", "failure"),
    [
        ("exit_cost", "cost_killed", "budget"),
        ("submitted (exit_cost)", "cost_killed", "budget"),
        ("submitted (exit_context)", "completed", "context_window"),
        ("exit_format", "completed", "agent_error"),
        ("exit_forfeit", "completed", "gave_up"),
        ("submitted (exit_total_execution_time)", "timeout", "wall_clock"),
        ("exit_command_timeout", "completed", "command_timeout"),
        ("exit_api", "fault", "provider_error"),
        ("exit_environment_error", "fault", "harness_error"),
        ("exit_error", "completed", "agent_error"),
        (None, "interrupted", "interrupted"),
    ],
)
def test_how_a_run_ended(tmp_path: Path, exit_status: str | None, status: str, failure: str) -> None:
    attempt = imported(saved(tmp_path / "a__b-1.traj", exit_status=exit_status))
    assert (attempt.status, attempt.failure) == (status, failure)
    assert attempt.cost_usd == Decimal("1.26719")


def test_an_unknown_error_is_a_fault_where_its_message_tells_of_one(tmp_path: Path) -> None:
    message = "Exit due to unknown error: litellm.AuthenticationError: invalid api key"
    path = saved(tmp_path / "a__b-1.traj", exit_status="exit_error", last_step={"response": message})
    attempt = imported(path, Settings(outcomes={"a__b-1": False}))
    assert (attempt.status, attempt.failure, attempt.passed) == ("fault", "auth", None)


def test_a_patch_submitted_at_the_cost_limit_can_still_pass(tmp_path: Path) -> None:
    path = saved(tmp_path / "a__b-1.traj", exit_status="submitted (exit_cost)")
    attempt = imported(path, Settings(outcomes={"a__b-1": True}))
    assert (attempt.passed, attempt.status, attempt.failure) == (True, "cost_killed", None)
    assert attempt.cost_killed_at_usd == Decimal("1.26719")


@pytest.mark.parametrize("stored", [dict, json.dumps])
def test_model_and_budget_come_from_the_configuration(tmp_path: Path, stored: Any) -> None:
    config = {"agent": {"model": {"name": "anthropic/claude-sonnet-4-20250514", "per_instance_cost_limit": 2.0}}}
    attempt = imported(saved(tmp_path / "a__b-1.traj", replay_config=stored(config)))
    assert (attempt.provider, attempt.model) == ("anthropic", "claude-sonnet-4-20250514")
    assert (attempt.strategy, attempt.budget_usd) == ("swe-agent+claude-sonnet-4-20250514", Decimal(2))


def test_batches_without_a_models_name_are_strategies_of_their_own(tmp_path: Path) -> None:
    for model in ("gpt4", "claude2"):
        saved(tmp_path / f"{model}__SWE-bench__default__t-0.00__p-0.95__c-3.00" / "a__b-1.traj")
    attempts = list(Import([tmp_path], Settings(), importer=IMPORTER).attempts())
    assert sorted(attempt.strategy for attempt in attempts) == [
        "swe-agent+claude2__SWE-bench__default__t-0.00__p-0.95__c-3.00",
        "swe-agent+gpt4__SWE-bench__default__t-0.00__p-0.95__c-3.00",
    ]


def test_a_history_alone_is_skipped_with_a_reason() -> None:
    reader = Import([DATA / "function_calling_simple.traj"], Settings(), importer=IMPORTER)
    with pytest.raises(BadInputError):
        list(reader.attempts())
    assert reader.tally.skipped == {"a SWE-agent history without costs or usage": 1}


def test_recognises_trajectories_by_name_and_content(tmp_path: Path) -> None:
    assert all(IMPORTER.recognises(Source(path)) for path in DATA.glob("*.traj"))
    other = tmp_path / "other.traj"
    other.write_bytes(b"\x00\x01 not JSON")
    assert not IMPORTER.recognises(Source(other))
    assert not IMPORTER.recognises(Source(DATA.parent / "mini-swe-agent" / "default_agent.traj.json"))
