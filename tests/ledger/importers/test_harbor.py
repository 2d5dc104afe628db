"""Harbor trials and ATIF trajectories: pairing, token classes, verdicts, exceptions."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from costpass.attempt import Attempt
from costpass.errors import BadInputError
from costpass.ledger.importers.formats.harbor import IMPORTER
from costpass.ledger.importers.importing import Import
from costpass.ledger.importers.protocol import Settings
from costpass.ledger.importers.source import Source

DATA = Path(__file__).parents[2] / "data" / "harbor"
JOB = DATA / "2026-04-13__04-01-12"
TRIAL = JOB / "pdfminer__pdfminer.six.1a8bd2f7.__icWVexc"
FLAT = DATA / "flat" / "trial_pyutils__line_profiler.a646bf0f.__UPWAM6C_result.json"
WITHOUT_TRAJECTORY = DATA / "flat" / "trial_mozilla__bleach.73871d76.func_ba__2HEi2yq_result.json"
ALONE = DATA / "alone"

Write = Callable[..., Path]


def read(path: Path, **settings: Any) -> list[Attempt]:
    return list(Import([path], Settings(**settings), importer=IMPORTER).attempts())


@pytest.fixture
def trial(tmp_path: Path) -> Write:
    """Writes the trial without a trajectory, with some of its keys changed."""

    def write(**changes: Any) -> Path:
        document = json.loads(WITHOUT_TRAJECTORY.read_text())
        path = tmp_path / "some-trial" / "result.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(document | changes))
        return path

    return write


def raised(kind: str, message: str = "") -> dict[str, str]:
    return {"exception_type": kind, "exception_message": message, "occurred_at": "2026-04-13T06:20:41"}


# Which files


@pytest.mark.parametrize(
    ("path", "known"),
    [
        (JOB / "result.json", True),
        (TRIAL / "result.json", True),
        (TRIAL / "agent" / "trajectory.json", True),
        (ALONE / "hello-world-timeout.trajectory_atif.json", True),
        (DATA / "gemini-cli-session.json", False),
    ],
    ids=["job", "trial", "trajectory", "golden trajectory", "a gemini-cli session is no ATIF"],
)
def test_results_and_trajectories_are_recognised(path: Path, known: bool) -> None:
    assert IMPORTER.recognises(Source(path)) is known


@pytest.mark.parametrize("content", [b"", b'{"trial_name": ', b'["trial_name"]', b'{"n_total_trials": 3}', b"\xff\x00"])
def test_other_files_are_not_recognised(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(content)
    assert not IMPORTER.recognises(Source(path))


def test_a_job_folder_gives_one_attempt_per_trial() -> None:
    running = Import([JOB], Settings(), importer=IMPORTER)
    (attempt,) = running.attempts()
    assert attempt.problem == "pdfminer__pdfminer.six.1a8bd2f7.func_basic__2p4c9qvt"
    assert running.tally.skipped == {
        "a Harbor job summary: its trials hold the attempts": 1,
        "an ATIF trajectory whose trial result holds the attempt": 1,
    }


def test_trajectories_below_a_trial_belong_to_it(tmp_path: Path) -> None:
    shutil.copytree(TRIAL, tmp_path / "trial")
    learning = tmp_path / "trial" / "agent" / "learning" / "trajectory.json"
    learning.parent.mkdir()
    shutil.copyfile(TRIAL / "agent" / "trajectory.json", learning)
    assert len(read(tmp_path)) == 1


def test_a_trajectory_whose_trial_left_no_result_is_an_attempt(tmp_path: Path) -> None:
    trajectory = tmp_path / "some-trial__x1" / "agent" / "trajectory.json"
    trajectory.parent.mkdir(parents=True)
    shutil.copyfile(TRIAL / "agent" / "trajectory.json", trajectory)
    shutil.copyfile(JOB / "result.json", tmp_path / "result.json")
    (attempt,) = read(tmp_path)
    assert (attempt.problem, attempt.passed) == ("some-trial__x1", None)
    assert attempt.cache_write_tokens == 24787
    assert attempt.duration_ms == pytest.approx(332_185)


def test_files_that_were_copied_out_of_their_folders_are_paired_by_name() -> None:
    running = Import([DATA / "flat"], Settings(), importer=IMPORTER)
    attempts = {attempt.problem.split(".")[0]: attempt for attempt in running.attempts()}
    assert attempts.keys() == {"mozilla__bleach", "pyutils__line_profiler"}
    assert attempts["pyutils__line_profiler"].requests == 14
    assert running.tally.skipped.total() == 1


# Identity, usage and money


def test_a_trial_says_what_was_tried_with_what() -> None:
    (attempt,) = read(WITHOUT_TRAJECTORY)
    assert (attempt.experiment, attempt.benchmark) == ("2026-04-13__06-59-50", "swesmith-train")
    assert (attempt.strategy, attempt.runner, attempt.runner_version) == (
        "claude-code+MiniMax-M2.7",
        "claude-code",
        "2.1.104",
    )
    assert attempt.started_at == datetime(2026, 4, 13, 7, 7, 57, 917650, tzinfo=UTC)
    assert attempt.duration_ms == pytest.approx(260_201.667)


def test_cache_reads_and_writes_are_taken_out_of_the_input() -> None:
    (attempt,) = read(TRIAL / "result.json")
    assert attempt.cache_read_tokens == 736_296
    assert attempt.cache_write_tokens == 24_787
    assert attempt.input_tokens == 1_178_968 - 736_296 - 24_787
    assert attempt.output_tokens == 9310
    # What the steps' own metrics leave, each prompt less what was read and written for it.
    steps = json.loads((TRIAL / "agent" / "trajectory.json").read_text())["steps"]
    metrics = [step["metrics"] for step in steps if "metrics" in step]
    uncached = [
        each["prompt_tokens"] - each["cached_tokens"] - each["extra"]["cache_creation_input_tokens"] for each in metrics
    ]
    assert min(uncached) >= 0
    assert attempt.input_tokens == sum(uncached)


def test_writes_for_an_hour_are_a_class_of_their_own(tmp_path: Path) -> None:
    shutil.copytree(TRIAL, tmp_path / "trial")
    path = tmp_path / "trial" / "agent" / "trajectory.json"
    trajectory = json.loads(path.read_text())
    trajectory["steps"][1]["metrics"]["extra"]["cache_creation"]["ephemeral_1h_input_tokens"] = 20_000
    path.write_text(json.dumps(trajectory))
    (attempt,) = read(tmp_path)
    assert (attempt.cache_write_tokens, attempt.cache_write_1h_tokens) == (4787, 20_000)


def test_without_a_trajectory_writes_to_the_cache_are_unknown() -> None:
    (attempt,) = read(WITHOUT_TRAJECTORY)
    assert (attempt.input_tokens, attempt.cache_read_tokens, attempt.cache_write_tokens) == (345_173, 515_517, None)
    assert "cache_writes_unknown" in attempt.flags


def test_a_reply_that_became_several_steps_is_one_request() -> None:
    (attempt,) = read(TRIAL / "result.json")
    assert (attempt.requests, attempt.turns, attempt.tool_calls) == (34, 34, 39)


def test_subagents_that_the_totals_leave_out_make_the_usage_incomplete() -> None:
    with_subagent, without = read(TRIAL / "result.json")[0], read(FLAT)[0]
    assert with_subagent.usage_complete is False
    assert "subagents_uncounted" in with_subagent.flags
    assert without.usage_complete is None
    assert "subagents_uncounted" not in without.flags


def test_spend_of_another_phase_is_flagged_and_not_counted() -> None:
    (attempt,) = read(FLAT)
    assert "other_phase_spend" in attempt.flags
    assert (attempt.input_tokens or 0) + (attempt.cache_read_tokens or 0) == 428_190


def test_a_model_other_than_the_one_asked_for_is_flagged() -> None:
    (attempt,) = read(FLAT)
    assert (attempt.model, attempt.model_reported) == ("qwen3.5-27b", "MiniMax-M2.7")
    assert "other_model_reported" in attempt.flags


def test_an_unknown_cost_is_priced_and_a_known_one_kept(trial: Write) -> None:
    (priced,) = read(trial())
    assert (priced.cost_source, priced.cost_usd) == ("priced", Decimal("0.14459652"))
    used = {"n_input_tokens": 1000, "n_cache_tokens": 0, "n_output_tokens": 10}
    (known,) = read(trial(agent_result={**used, "cost_usd": 0.25}))
    assert (known.cost_source, known.cost_usd) == ("imported", Decimal("0.25"))


def test_a_cost_of_zero_for_tokens_is_unknown(trial: Write) -> None:
    used = {"n_input_tokens": 1000, "n_cache_tokens": 0, "n_output_tokens": 10, "cost_usd": 0.0}
    (attempt,) = read(trial(agent_result=used), price=False)
    assert attempt.cost_usd is None


def test_tokens_of_zero_for_an_agent_that_ran_are_unknown(trial: Write) -> None:
    used = {"n_input_tokens": 0, "n_cache_tokens": 0, "n_output_tokens": 0, "cost_usd": None}
    (attempt,) = read(trial(agent_result=used))
    assert (attempt.input_tokens, attempt.output_tokens, attempt.cost_usd) == (None, None, None)


def test_a_trial_whose_agent_never_started_cost_nothing(trial: Write) -> None:
    error = raised("EnvironmentStartTimeoutError", "Environment start timed out after 600 seconds")
    path = trial(agent_result=None, agent_execution=None, verifier_result=None, exception_info=error)
    (attempt,) = read(path)
    assert (attempt.status, attempt.failure, attempt.cost_usd) == ("fault", "harness_error", Decimal(0))


# Outcomes


def test_the_reward_decides() -> None:
    assert read(TRIAL / "result.json")[0].passed is True
    lost = read(WITHOUT_TRAJECTORY)[0]
    assert (lost.passed, lost.score, lost.failure) == (False, 0.0, "wrong_answer")


def test_a_partial_reward_passes_from_the_threshold_on(trial: Write) -> None:
    path = trial(verifier_result={"rewards": {"reward": 0.6, "style": 0.1}})
    assert read(path)[0].passed is False
    (attempt,) = read(path, threshold=0.5)
    assert (attempt.passed, attempt.scores) == (True, {"reward": 0.6, "style": 0.1})


@pytest.mark.parametrize(("reward", "passed", "failure"), [(1.0, True, None), (0.0, False, "wall_clock")])
def test_an_agent_that_ran_out_of_time_timed_out_and_keeps_its_reward(
    trial: Write, reward: float, passed: bool, failure: str | None
) -> None:
    error = raised("AgentTimeoutError", "Agent execution timed out after 900 seconds")
    (attempt,) = read(trial(verifier_result={"rewards": {"reward": reward}}, exception_info=error))
    assert (attempt.status, attempt.passed, attempt.failure) == ("timeout", passed, failure)
    assert attempt.cost_usd == Decimal("0.14459652")


def test_a_timeout_without_a_verdict_is_a_lost_attempt(trial: Write) -> None:
    (attempt,) = read(trial(verifier_result=None, exception_info=raised("AgentTimeoutError")))
    assert (attempt.status, attempt.passed) == ("timeout", False)


@pytest.mark.parametrize(
    ("kind", "message", "status", "failure"),
    [
        ("VerifierTimeoutError", "timed out", "fault", "harness_error"),
        ("RateLimitError", "slow down", "fault", "rate_limit"),
        ("NonZeroAgentExitCodeError", "Invalid API key · Please run /login", "fault", "auth"),
        ("CancelledError", "", "interrupted", "interrupted"),
    ],
)
def test_what_the_infrastructure_broke_is_a_fault_that_keeps_its_spend(
    trial: Write, kind: str, message: str, status: str, failure: str
) -> None:
    (attempt,) = read(trial(exception_info=raised(kind, message)))
    assert (attempt.status, attempt.passed, attempt.failure) == (status, None, failure)
    assert attempt.cost_usd == Decimal("0.14459652")


def test_an_agent_that_crashed_and_was_graded_lost_its_attempt(trial: Write) -> None:
    (attempt,) = read(trial(exception_info=raised("NonZeroAgentExitCodeError", "exit code 1")))
    assert (attempt.status, attempt.passed, attempt.failure) == ("completed", False, "agent_error")


# Trajectories alone


def test_a_trajectory_alone_has_its_cost_and_no_verdict() -> None:
    (attempt,) = read(ALONE / "hello-world-timeout.trajectory_atif.json")
    assert (attempt.problem, attempt.strategy) == ("hello-world-timeout", "terminus-2+openai/gpt-4o")
    assert (attempt.passed, attempt.cost_usd, attempt.cost_source) == (None, Decimal("0.003905"), "imported")


def test_calls_that_no_step_shows_are_in_the_usage_and_leave_the_requests_unknown() -> None:
    (attempt,) = read(ALONE / "context-summarization.trajectory_atif.json")
    assert (attempt.input_tokens, attempt.output_tokens, attempt.requests) == (7802, 1030, None)


@pytest.mark.parametrize(("passed", "failure"), [(True, None), (False, "wrong_answer")])
def test_a_verdict_given_beside_a_trajectory_counts(passed: bool, failure: str | None) -> None:
    path = ALONE / "hello-world-timeout.trajectory_atif.json"
    (attempt,) = read(path, outcomes={"hello-world-timeout": passed})
    assert (attempt.passed, attempt.failure) == (passed, failure)


def test_without_final_metrics_the_steps_are_added_up(tmp_path: Path) -> None:
    trajectory = json.loads((ALONE / "context-summarization.trajectory_atif.json").read_text())
    del trajectory["final_metrics"]
    path = tmp_path / "t.trajectory.json"
    path.write_text(json.dumps(trajectory))
    (attempt,) = read(path)
    assert (attempt.problem, attempt.input_tokens, attempt.output_tokens, attempt.requests) == ("t", 6502, 690, 7)


# Bad files


def test_a_job_summary_alone_is_no_attempt() -> None:
    with pytest.raises(BadInputError, match="its trials hold the attempts"):
        read(JOB / "result.json")


@pytest.mark.parametrize(
    "changes",
    [
        {"agent_result": [1]},
        {"agent_result": {"n_input_tokens": 10, "n_output_tokens": "many"}},
        {"agent_info": {}},
        {"config": "none"},
        {"verifier_result": {"rewards": {"reward": "good"}}},
        {"exception_info": {"exception_type": "X"}},
    ],
)
def test_a_malformed_trial_is_rejected_with_a_reason(trial: Write, changes: dict[str, Any]) -> None:
    with pytest.raises(BadInputError, match="1 rows were rejected"):
        read(trial(**changes))
