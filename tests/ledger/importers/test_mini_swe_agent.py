"""mini-swe-agent's trajectories."""

import copy
import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from costpass.attempt import Attempt
from costpass.errors import BadInputError
from costpass.ledger.importers.formats.mini_swe_agent import IMPORTER
from costpass.ledger.importers.importing import Import
from costpass.ledger.importers.protocol import Settings
from costpass.ledger.importers.source import Source

DATA = Path(__file__).parents[2] / "data" / "mini-swe-agent"
VERSION_1 = DATA / "hello_v1.json"
VERSION_2 = DATA / "default_agent.traj.json"


def imported(path: Path, settings: Settings | None = None) -> Attempt:
    (attempt,) = Import([path], settings or Settings(), importer=IMPORTER).attempts()
    return attempt


def saved(folder: Path, base: Path = VERSION_1, name: str = "acme__tool-7.traj.json", **info: Any) -> Path:
    """The trajectory `base` with some of its info changed."""
    document = json.loads(base.read_text())
    document["info"].update(info)
    path = folder / name
    path.write_text(json.dumps(document))
    return path


def with_replies(folder: Path, *messages: dict[str, Any]) -> Path:
    document = json.loads(VERSION_1.read_text())
    document["messages"] = list(messages)
    document["info"]["model_stats"]["api_calls"] = len(messages)
    path = folder / "replies.traj.json"
    path.write_text(json.dumps(document))
    return path


def reply(**usage: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "extra": {"response": {"model": "m", "usage": usage}}}


def test_version_1_gives_cost_calls_and_the_tokens_of_every_reply() -> None:
    attempt = imported(VERSION_1)
    assert (attempt.cost_usd, attempt.cost_source) == (Decimal("0.010521"), "imported")
    assert (attempt.requests, attempt.turns) == (3, 3)
    assert (attempt.input_tokens, attempt.output_tokens, attempt.cache_read_tokens) == (752 + 841 + 919, 199, 0)
    assert attempt.usage_complete is True
    assert (attempt.provider, attempt.model) == ("anthropic", "claude-3-5-sonnet-20241022")
    assert attempt.strategy == "mini-swe-agent+claude-3-5-sonnet-20241022"
    assert (attempt.runner, attempt.runner_version) == ("mini-swe-agent", "1.13.4")
    assert attempt.started_at == datetime(2025, 10, 10, 6, 35, 27, tzinfo=UTC)


def test_version_2_gives_cost_and_tool_calls_where_the_model_reports_no_usage() -> None:
    attempt = imported(VERSION_2)
    assert attempt.cost_usd == Decimal("0.02")
    assert (attempt.requests, attempt.tool_calls) == (2, 2)
    assert (attempt.input_tokens, attempt.usage_complete) == (None, None)
    assert attempt.budget_usd == 1


def test_the_verdict_is_unknown_until_it_is_given_beside_the_log(tmp_path: Path) -> None:
    path = saved(tmp_path)
    assert imported(path).passed is None
    solved = imported(path, Settings(outcomes={"acme__tool-7": True}))
    assert (solved.passed, solved.failure) == (True, None)
    failed = imported(path, Settings(outcomes={"acme__tool-7": False}))
    assert (failed.passed, failed.failure) == (False, "wrong_answer")


def test_the_problem_is_the_instance_and_its_group_the_repository(tmp_path: Path) -> None:
    attempt = imported(saved(tmp_path, name="acme__tool.x-7.traj.json"))
    assert (attempt.problem, attempt.group) == ("acme__tool.x-7", "acme/tool.x")
    document = json.loads(VERSION_1.read_text()) | {"instance_id": "other__repo-9"}
    path = tmp_path / "renamed.traj.json"
    path.write_text(json.dumps(document))
    assert imported(path).problem == "other__repo-9"


def test_no_cost_in_spite_of_calls_is_unknown_and_is_priced_from_the_usage(tmp_path: Path) -> None:
    path = saved(tmp_path, model_stats={"instance_cost": 0.0, "api_calls": 3})
    assert imported(path, Settings(price=False)).cost_usd is None
    priced = imported(path)
    assert (priced.cost_usd, priced.cost_source) == (Decimal("0.010521"), "priced")


def test_no_cost_without_a_call_is_zero(tmp_path: Path) -> None:
    assert imported(saved(tmp_path, model_stats={"instance_cost": 0.0, "api_calls": 0})).cost_usd == 0


@pytest.mark.parametrize(
    ("info", "status", "failure"),
    [
        ({"exit_status": "submitted"}, "completed", None),
        ({"exit_status": "LimitsExceeded"}, "cost_killed", "budget"),
        ({"exit_status": "TimeExceeded"}, "timeout", "wall_clock"),
        ({"exit_status": "RepeatedFormatError"}, "completed", "agent_error"),
        ({"exit_status": "RateLimitError"}, "fault", "rate_limit"),
        ({"exit_status": "InternalServerError"}, "fault", "provider_error"),
        ({"exit_status": "APIConnectionError"}, "fault", "provider_error"),
        ({"exit_status": "RuntimeError", "exception_str": "HTTP 401 from the API"}, "fault", "auth"),
        ({"exit_status": ""}, "interrupted", "interrupted"),
        ({"exit_status": None}, "interrupted", "interrupted"),
    ],
)
def test_how_a_run_ended(tmp_path: Path, info: dict[str, Any], status: str, failure: str | None) -> None:
    attempt = imported(saved(tmp_path, **info))
    assert (attempt.status, attempt.failure) == (status, failure)
    assert attempt.cost_usd == Decimal("0.010521")


def test_a_fault_has_no_grade_even_where_a_verdict_is_given(tmp_path: Path) -> None:
    settings = Settings(outcomes={"acme__tool-7": False})
    assert imported(saved(tmp_path, exit_status="AuthenticationError"), settings).passed is None


def test_line_numbers_of_a_traceback_are_not_taken_for_http_codes(tmp_path: Path) -> None:
    traceback = 'Traceback:\n  File "agent.py", line 429, in run\n  File "agent.py", line 502, in step\nValueError: bad'
    attempt = imported(saved(tmp_path, exit_status="ValueError", traceback=traceback))
    assert (attempt.status, attempt.failure) == ("completed", "agent_error")


def test_a_killed_run_keeps_its_budget_and_what_it_had_spent(tmp_path: Path) -> None:
    attempt = imported(saved(tmp_path, exit_status="LimitsExceeded"))
    assert (attempt.budget_usd, attempt.cost_killed_at_usd) == (Decimal(3), Decimal("0.010521"))


def test_the_step_limit_is_no_cost_kill(tmp_path: Path) -> None:
    config = copy.deepcopy(json.loads(VERSION_1.read_text())["info"]["config"])
    config["agent"]["step_limit"] = 3
    attempt = imported(saved(tmp_path, exit_status="LimitsExceeded", config=config))
    assert (attempt.status, attempt.failure) == ("completed", "turn_limit")


def test_cached_and_reasoning_tokens_are_told_apart_whoever_counted_them(tmp_path: Path) -> None:
    litellm = reply(
        prompt_tokens=1000,
        completion_tokens=50,
        total_tokens=1050,
        prompt_tokens_details={"cached_tokens": 600},
        cache_creation_input_tokens=300,
        cache_read_input_tokens=600,
    )
    anthropic = reply(
        input_tokens=5000,
        output_tokens=5,
        cache_read_input_tokens=2000,
        cache_creation_input_tokens=400,
        cache_creation={"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 300},
    )
    # Through the Responses API the message is the reply.
    responses = {
        "object": "response",
        "usage": {
            "input_tokens": 500,
            "input_tokens_details": {"cached_tokens": 400},
            "output_tokens": 70,
            "output_tokens_details": {"reasoning_tokens": 40},
        },
        "extra": {"actions": []},
    }
    xai = reply(
        prompt_tokens=20,
        completion_tokens=3,
        total_tokens=123,
        completion_tokens_details={"reasoning_tokens": 100},
    )
    attempt = imported(with_replies(tmp_path, litellm, anthropic, responses, xai))
    assert attempt.input_tokens == 100 + 5000 + 100 + 20
    assert attempt.cache_read_tokens == 600 + 2000 + 400
    assert (attempt.cache_write_tokens, attempt.cache_write_1h_tokens) == (300 + 100, 300)
    assert (attempt.output_tokens, attempt.reasoning_tokens) == (50 + 5 + 70 + 103, 40 + 100)


def test_usage_is_incomplete_where_a_reply_was_thrown_away(tmp_path: Path) -> None:
    path = saved(tmp_path, model_stats={"instance_cost": 0.02, "api_calls": 4})
    assert imported(path).usage_complete is False


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("github_issue.traj.json", "a mini-swe-agent message list without costs or usage"),
        ("preds.json", "SWE-bench predictions: patches, not attempts"),
    ],
)
def test_what_is_no_attempt_is_skipped_with_a_reason(name: str, reason: str) -> None:
    reader = Import([DATA / name], Settings(), importer=IMPORTER)
    with pytest.raises(BadInputError, match=reason):
        list(reader.attempts())
    assert reader.tally.skipped == {reason: 1}


def test_half_a_file_costs_one_row_and_not_the_import(tmp_path: Path) -> None:
    saved(tmp_path)
    (tmp_path / "cut.traj.json").write_text(VERSION_1.read_text()[:500])
    reader = Import([tmp_path], Settings(), importer=IMPORTER)
    assert [attempt.problem for attempt in reader.attempts()] == ["acme__tool-7"]
    assert reader.tally.rejected == 1
    assert "cut.traj.json" in reader.tally.first_rejections[0]


def test_recognises_its_files_by_name_or_content_and_no_others(tmp_path: Path) -> None:
    ours = ["hello_v1.json", "default_agent.traj.json", "github_issue.traj.json", "preds.json"]
    assert all(IMPORTER.recognises(Source(DATA / name)) for name in ours)
    swe_agent = tmp_path / "run.json"
    swe_agent.write_text((DATA.parent / "swe-agent" / "pydicom__pydicom-1458.traj").read_text())
    assert not IMPORTER.recognises(Source(swe_agent))
    strange = tmp_path / "strange.json"
    strange.write_bytes(b'{"model_stats": \xff\x00')
    assert not IMPORTER.recognises(Source(strange))
