"""Inspect logs: what becomes of samples, epochs, retries, judges, limits, and of files that are none."""

import gzip
import json
import shutil
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from costpass.attempt import Attempt
from costpass.errors import BadInputError, CostpassError
from costpass.ledger.importers import archive
from costpass.ledger.importers.formats.inspect_log import IMPORTER
from costpass.ledger.importers.importing import Import
from costpass.ledger.importers.protocol import Settings
from costpass.ledger.importers.source import Source

DATA = Path(__file__).parents[2] / "data" / "inspect"
RETRIED = DATA / "cost_epochs_retry_limit.eval"

MINI, NANO = "openai/gpt-4o-mini", "openai/gpt-4.1-nano"


def read(path: Path, **settings: Any) -> list[Attempt]:
    return list(Import([path], Settings(**settings), importer=IMPORTER).attempts())


def usage(sent: int = 1000, received: int = 100, **more: Any) -> dict[str, Any]:
    return {"input_tokens": sent, "output_tokens": received, "total_tokens": sent + received, **more}


def sample(name: str = "a", **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "epoch": 1,
        "input": "?",
        "target": "!",
        "scores": {"match": {"value": "C"}},
        "model_usage": {MINI: usage()},
        **more,
    }


@pytest.fixture
def log(tmp_path: Path) -> Callable[..., Path]:
    """Writes a log of samples; what the header has beyond them is given as `stats`."""

    def write(*samples: dict[str, Any], status: str = "success", **more: Any) -> Path:
        spec: dict[str, Any] = {"created": "2026-03-01T10:00:00+00:00", "task": "sums", "task_id": "T1", "model": MINI}
        spec |= {"dataset": {}, "config": {}, **more.pop("spec", {})}
        document = {"version": 2, "status": status, "eval": spec, "samples": samples, **more}
        path = tmp_path / "log.json"
        path.write_text(json.dumps(document))
        return path

    return write


def stats(**models: dict[str, Any]) -> dict[str, Any]:
    by_name = {"mini": MINI, "nano": NANO}
    return {"started_at": "", "completed_at": "", "model_usage": {by_name[name]: used for name, used in models.items()}}


# Samples, epochs, retries


def test_every_sample_and_epoch_is_an_attempt() -> None:
    attempts = [attempt for attempt in read(RETRIED) if attempt.status != "fault"]
    assert {(attempt.problem, attempt.repetition) for attempt in attempts} == {
        (f"t{problem}", epoch) for problem in (1, 2, 3, 4) for epoch in (0, 1, 2)
    }
    first = attempts[0]
    assert (first.benchmark, first.strategy, first.model, first.provider) == (
        "demo",
        "mockllm/model",
        "mockllm/model",
        "mockllm",
    )
    assert first.experiment is not None
    assert first.experiment.startswith("demo@2026-11-15T00:58:41")
    assert first.runner_version == "0.3.285"
    assert first.duration_ms == 14.0
    assert (first.requests, first.turns) == (1, 1)


def test_retried_sample_spend_is_booked_as_a_fault() -> None:
    attempts = read(RETRIED)
    assert sum(attempt.cost_usd or 0 for attempt in attempts) == Decimal("0.047460")
    (fault,) = [attempt for attempt in attempts if attempt.status == "fault"]
    assert (fault.cost_usd, fault.cost_source, fault.failure) == (Decimal("0.001695"), "imported", "retried")
    assert (fault.input_tokens, fault.cache_read_tokens, fault.cache_write_tokens) == (100, 900, 100)


def test_a_superseded_try_precedes_the_final_one_in_the_same_repetition() -> None:
    tries = [attempt for attempt in read(RETRIED) if (attempt.problem, attempt.repetition) == ("t1", 0)]
    assert {(attempt.retry, attempt.status, attempt.passed) for attempt in tries} == {
        (0, "fault", None),
        (1, "completed", False),
    }


def test_spend_of_several_retried_samples_is_booked_once_for_all(log: Callable[..., Path]) -> None:
    retries = [{"message": "boom", "traceback": "", "traceback_ansi": ""}]
    path = log(
        sample("a", error_retries=retries), sample("b", error_retries=retries), stats=stats(mini=usage(3500, 300))
    )
    fault = read(path)[-1]
    assert (fault.problem, fault.status, fault.failure) == ("(retried samples)", "fault", "retried")
    assert (fault.input_tokens, fault.output_tokens) == (1500, 100)
    assert fault.cost_source == "priced"


def test_spend_of_samples_that_a_cancelled_run_left_unfinished_is_kept(log: Callable[..., Path]) -> None:
    rest = read(log(sample(), status="cancelled", stats=stats(mini=usage(1700, 150))))[-1]
    assert (rest.problem, rest.status) == ("(unfinished samples)", "interrupted")
    assert (rest.input_tokens, rest.output_tokens) == (700, 50)


def test_a_header_that_counts_less_than_the_samples_books_nothing(log: Callable[..., Path]) -> None:
    running = Import([log(sample(), stats=stats(mini=usage(900, 200)))], Settings(), importer=IMPORTER)
    assert len(list(running.attempts())) == 1
    assert running.tally.rejected == 0


def test_two_runs_of_a_task_within_a_second_are_two_experiments(log: Callable[..., Path]) -> None:
    experiments = {read(log(sample(), spec={"task_id": task_id}))[0].experiment for task_id in ("T1", "T2")}
    assert len(experiments) == 2


def test_cancelled_run_still_gives_its_samples() -> None:
    attempts = read(DATA / "cancelled.json")
    assert [attempt.passed for attempt in attempts] == [True, True, False]
    assert sum(attempt.cost_usd or 0 for attempt in attempts) == Decimal("0.0000324")


def test_a_run_that_died_gives_the_samples_it_had_written(tmp_path: Path) -> None:
    died = tmp_path / "died.eval"
    _copy_archive(RETRIED, died, leave_out={"header.json", "summaries.json", "reductions.json"})
    attempts = read(died)
    assert len(attempts) == 12
    assert {attempt.passed for attempt in attempts} == {True, False}


# Usage and money


def test_cached_tokens_that_an_old_log_counts_as_input_are_taken_out() -> None:
    (attempt,) = read(DATA / "cache_within_input.json")
    assert (attempt.input_tokens, attempt.cache_read_tokens, attempt.output_tokens) == (15235 - 9088, 9088, 281)


@pytest.mark.parametrize(
    ("logged", "expected"),
    [
        ({"input_tokens_cache_read": 600}, (400, 600, 100, None)),
        ({"input_tokens_cache_read": 600, "total_tokens": 1700}, (1000, 600, 100, None)),
        ({"reasoning_tokens": 40}, (1000, None, 100, 40)),
        ({"reasoning_tokens": 400, "total_tokens": 1500}, (1000, None, 500, 400)),
        ({"reasoning_tokens": 400, "input_tokens_cache_read": 600, "total_tokens": 2100}, (1000, 600, 500, 400)),
        ({"reasoning_tokens": 400, "input_tokens_cache_read": 600, "total_tokens": 1500}, (400, 600, 500, 400)),
        ({"reasoning_tokens": 400}, (1000, None, 100, None)),
        ({"input_tokens_cache_read": 5000}, (1000, 5000, 100, None)),
    ],
    ids=[
        "cache within input",
        "cache beside input",
        "reasoning within output",
        "reasoning beside output",
        "both beside",
        "cache within, reasoning beside",
        "more reasoning than output",
        "more cached than sent",
    ],
)
def test_the_total_tells_which_class_includes_which(
    log: Callable[..., Path], logged: dict[str, Any], expected: tuple[int | None, ...]
) -> None:
    (attempt,) = read(log(sample(model_usage={MINI: usage(**logged)})))
    classes = (attempt.input_tokens, attempt.cache_read_tokens, attempt.output_tokens, attempt.reasoning_tokens)
    assert classes == expected


def test_a_log_without_usage_per_sample_gives_that_of_its_calls() -> None:
    (attempt,) = read(DATA / "no_usage_per_sample.json")
    assert (attempt.input_tokens, attempt.output_tokens, attempt.cost_usd) == (66, 2, None)


def test_usage_without_a_cost_is_priced(log: Callable[..., Path]) -> None:
    (attempt,) = read(log(sample()))
    assert (attempt.cost_source, attempt.cost_usd) == ("priced", Decimal("0.00021"))


def test_the_logs_own_cost_is_kept(log: Callable[..., Path]) -> None:
    (attempt,) = read(log(sample(model_usage={MINI: usage(total_cost=0.5)})))
    assert (attempt.cost_source, attempt.cost_usd, attempt.imported_usd) == ("imported", Decimal("0.5"), Decimal("0.5"))


def test_a_judge_of_the_same_model_is_billed_apart() -> None:
    (attempt,) = read(DATA / "judge_is_the_same_model.eval")
    assert (attempt.input_tokens, attempt.output_tokens, attempt.requests) == (52, 61, 1)
    assert attempt.grading_usd == Decimal("0.00011985")
    assert attempt.cost_usd == Decimal("0.0000444")


def test_a_judge_within_a_scorers_span_is_billed_apart(log: Callable[..., Path]) -> None:
    events = [
        {"event": "span_begin", "id": "s", "parent_id": None, "type": "solver", "name": "generate"},
        {"event": "model", "span_id": "s", "model": MINI, "output": {"usage": usage()}},
        {"event": "model", "span_id": "s", "model": MINI, "cache": "read", "output": {"usage": usage()}},
        {"event": "span_begin", "id": "j", "parent_id": None, "type": "scorer", "name": "judge"},
        {"event": "span_begin", "id": "jj", "parent_id": "j", "type": "subtask", "name": "ask"},
        {"event": "model", "span_id": "jj", "model": NANO, "output": {"usage": usage(2000, 50, total_cost=0.25)}},
    ]
    spent = {MINI: usage(), NANO: usage(2000, 50, total_cost=0.25)}
    (attempt,) = read(log(sample(model_usage=spent, events=events)))
    assert (attempt.model, attempt.input_tokens, attempt.requests) == (MINI, 1000, 1)
    assert attempt.grading_usd == Decimal("0.25")


@pytest.mark.parametrize(
    "role_usage", [{"grader": usage(2000, 50)}, {}], ids=["usage by role", "only the role's model"]
)
def test_a_judge_in_a_role_is_billed_apart_in_a_log_without_events(
    log: Callable[..., Path], role_usage: dict[str, Any]
) -> None:
    judged = sample(model_usage={MINI: usage(), NANO: usage(2000, 50)}, role_usage=role_usage)
    roles = {"model_roles": {"grader": {"model": NANO}}}
    (attempt,) = read(log(judged, spec=roles, stats=stats(mini=usage(), nano=usage(2000, 50))))
    assert (attempt.model, attempt.input_tokens, attempt.output_tokens) == (MINI, 1000, 100)
    assert attempt.grading_usd == Decimal("0.00022")
    assert attempt.cost_usd == Decimal("0.00021")


def test_a_judge_that_counts_more_than_the_sample_leaves_the_solver_nothing(log: Callable[..., Path]) -> None:
    call = {"event": "model", "role": "grader", "model": MINI, "output": {"usage": usage(1500, 100)}}
    (attempt,) = read(log(sample(events=[call])))
    assert (attempt.input_tokens, attempt.output_tokens, attempt.cost_usd) == (0, 0, Decimal(0))


def test_a_judge_without_a_price_leaves_the_solvers_cost_known(log: Callable[..., Path]) -> None:
    judged = sample(
        model_usage={MINI: usage(), "ollama/judge": usage()},
        role_usage={"grader": usage()},
    )
    (attempt,) = read(log(judged, spec={"model_roles": {"grader": {"model": "ollama/judge"}}}))
    assert (attempt.cost_usd, attempt.grading_usd) == (Decimal("0.00021"), None)
    assert attempt.flags == ["grading_unpriced"]


def test_two_models_of_one_solver_are_each_priced_at_their_own_rates(log: Callable[..., Path]) -> None:
    (attempt,) = read(log(sample(model_usage={MINI: usage(), NANO: usage()})))
    assert attempt.cost_usd == Decimal("0.00021") + Decimal("0.00014")
    assert (attempt.input_tokens, attempt.output_tokens) == (2000, 200)
    assert attempt.flags == ["several_models"]


def test_two_models_of_which_one_has_no_price_have_no_cost(log: Callable[..., Path]) -> None:
    (attempt,) = read(log(sample(model_usage={MINI: usage(), "ollama/llama3.1": usage()})))
    assert attempt.cost_usd is None
    assert attempt.usage_complete is False


# Outcomes


def test_a_sample_over_its_cost_limit_is_cost_killed_and_keeps_its_grade() -> None:
    killed = [attempt for attempt in read(RETRIED) if attempt.status == "cost_killed"]
    assert {(attempt.problem, attempt.repetition, attempt.passed, attempt.failure) for attempt in killed} == {
        ("t3", 0, False, "budget"),
        ("t3", 1, True, None),
        ("t3", 2, True, None),
    }
    assert {(attempt.budget_usd, attempt.cost_killed_at_usd) for attempt in killed} == {
        (Decimal("0.01"), Decimal("0.01017"))
    }


@pytest.mark.parametrize(
    ("kind", "status", "failure", "flags"),
    [
        ("cost", "cost_killed", "budget", []),
        ("time", "timeout", "wall_clock", []),
        ("working", "timeout", "wall_clock", []),
        ("token", "completed", "token_limit", ["token_limit"]),
        ("message", "completed", "message_limit", ["message_limit"]),
    ],
)
def test_a_limited_sample_without_a_score_has_not_passed(
    log: Callable[..., Path], kind: str, status: str, failure: str, flags: list[str]
) -> None:
    (attempt,) = read(log(sample(scores=None, limit={"type": kind, "limit": 5})))
    assert (attempt.passed, attempt.status, attempt.failure, attempt.flags) == (False, status, failure, flags)


@pytest.mark.parametrize(
    ("message", "failure"), [("RateLimitError: 429", "rate_limit"), ("RuntimeError('boom')", "harness_error")]
)
def test_an_errored_sample_is_a_fault_that_keeps_its_spend(
    log: Callable[..., Path], message: str, failure: str
) -> None:
    error = {"message": message, "traceback": "", "traceback_ansi": ""}
    (attempt,) = read(log(sample(error=error, scores=None)))
    assert (attempt.status, attempt.passed, attempt.failure) == ("fault", None, failure)
    assert attempt.cost_usd == Decimal("0.00021")


@pytest.mark.parametrize(
    ("value", "threshold", "score", "passed"),
    [
        ("C", None, 1.0, True),
        ("I", None, 0.0, False),
        ("P", None, 0.5, False),
        ("P", 0.5, 0.5, True),
        ("N", None, 0.0, False),
        (True, None, 1.0, True),
        (0.9, None, 0.9, False),
        (0.9, 0.8, 0.9, True),
        (float("nan"), None, None, None),
        ("a long answer", None, None, None),
    ],
)
def test_a_score_is_a_pass_from_the_threshold_on(
    log: Callable[..., Path], value: Any, threshold: float | None, score: float | None, passed: bool | None
) -> None:
    (attempt,) = read(log(sample(scores={"match": {"value": value}})), threshold=threshold)
    assert (attempt.score, attempt.passed) == (score, passed)


def test_of_several_scorers_the_one_that_the_results_name_first_decides(log: Callable[..., Path]) -> None:
    scores = {"style": {"value": 0.2}, "match": {"value": "C"}, "parts": {"value": {"tone": 0.5}}}
    results = {"scores": [{"name": "match", "scorer": "match"}, {"name": "style", "scorer": "style"}]}
    (attempt,) = read(log(sample(scores=scores), results=results))
    assert (attempt.score, attempt.passed) == (1.0, True)
    assert attempt.scores == {"style": 0.2, "match": 1.0, "parts.tone": 0.5}


def test_an_unscored_sample_has_no_outcome(log: Callable[..., Path]) -> None:
    (attempt,) = read(log(sample(scores={})))
    assert (attempt.passed, attempt.status, attempt.failure) == (None, "completed", None)


# Which files are logs, and what bad ones do


def test_logs_are_recognised_without_loading_inspect_ai() -> None:
    logs = [str(path) for path in sorted(DATA.iterdir())]
    code = (
        "import sys; from pathlib import Path;"
        "from costpass.ledger.importers.formats.inspect_log import IMPORTER;"
        "from costpass.ledger.importers.source import Source;"
        "print([IMPORTER.recognises(Source(Path(name))) for name in sys.argv[1:]], 'inspect_ai' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code, *logs], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == f"{[True] * len(logs)} False"


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x03\x04 a zip, but no log", b'{"eval": ', b'{"evalId": "e", "results": {}}', b"\x00\xff" * 100, b"[]"],
)
def test_other_files_are_not_recognised(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    assert not IMPORTER.recognises(Source(path))


def test_a_log_written_anew_with_sorted_keys_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(json.loads((DATA / "cancelled.json").read_text()), sort_keys=True))
    assert IMPORTER.recognises(Source(path))


@pytest.mark.parametrize("name", [RETRIED.name, "cancelled.json"])
def test_gzipped_logs_are_read(tmp_path: Path, name: str) -> None:
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress((DATA / name).read_bytes()))
    assert IMPORTER.recognises(Source(packed))
    assert len(read(packed)) == len(read(DATA / name))


def test_a_log_without_samples_says_so() -> None:
    with pytest.raises(BadInputError, match="an Inspect log without samples"):
        read(DATA / "no_samples.json")


def test_without_inspect_ai_the_error_names_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(CostpassError, match=r"retry_limit.eval.*costpass\[inspect\]"):
        read(RETRIED)


def test_without_inspect_ai_the_other_logs_of_a_folder_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    shutil.copy(RETRIED, tmp_path)
    (tmp_path / "x.jsonl").write_text('{"problem": "p", "model": "m", "passed": true, "cost_usd": 1}\n')
    reader = Import([tmp_path], Settings())
    assert [attempt.problem for attempt in reader.attempts()] == ["p"]
    assert ["costpass[inspect]" in reason for reason in reader.tally.skipped] == [True]


def test_reading_is_quiet_and_stays_off_the_network(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a log was read over the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    for path in sorted(DATA.glob("*.eval")):
        read(path)
    assert capfd.readouterr() == ("", "")


def test_a_zip_bomb_is_refused_by_what_it_declares(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.eval"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archived:
        archived.writestr("_journal/start.json", "{}")
        with archived.open("samples/a_epoch_1.json", "w", force_zip64=True) as member:
            for _ in range(120):
                member.write(bytes(1_000_000))
    assert IMPORTER.recognises(Source(bomb))
    with pytest.raises(BadInputError, match="bytes that unpack to 120000002 are no log"):
        read(bomb)


@pytest.mark.parametrize("limit", ["LARGEST_MEMBER_BYTES", "LARGEST_ARCHIVE_BYTES"])
def test_an_archive_over_a_limit_is_refused(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(archive, limit, 10_000)
    with pytest.raises(BadInputError, match="no log of attempts"):
        read(RETRIED)


def test_a_gzip_bomb_around_an_archive_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(archive, "LARGEST_MEMBER_BYTES", 1_000_000)
    bomb = tmp_path / "log.eval.gz"
    bomb.write_bytes(gzip.compress(b"PK\x03\x04" + bytes(3_000_000)))
    with pytest.raises(BadInputError, match=r"unzip the \.gz first"):
        read(bomb)


def test_a_truncated_archive_is_one_sentence(tmp_path: Path) -> None:
    cut = tmp_path / "cut.eval"
    cut.write_bytes(RETRIED.read_bytes()[:20_000])
    with pytest.raises(BadInputError, match=r"cut\.eval: not a whole zip archive"):
        read(cut)


def test_an_eval_file_that_is_no_archive_is_one_sentence(tmp_path: Path) -> None:
    fake = tmp_path / "fake.eval"
    fake.write_text("hello")
    with pytest.raises(BadInputError, match="not a whole zip archive, or none at all"):
        read(fake)


def test_an_archive_that_is_no_log_is_one_sentence(tmp_path: Path) -> None:
    other = tmp_path / "other.eval"
    with zipfile.ZipFile(other, "w") as archived:
        archived.writestr("readme.txt", "hello")
    with pytest.raises(BadInputError, match="is no Inspect log"):
        read(other)


@pytest.mark.parametrize("header", ["{not json", '{"version": 2}', "[1]", '{"eval": {"task": 5}}'])
def test_a_corrupt_header_is_one_sentence(tmp_path: Path, header: str) -> None:
    path = tmp_path / "bad.eval"
    _copy_archive(RETRIED, path, replace={"header.json": header})
    with pytest.raises(BadInputError) as raised:
        read(path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "content", ["{not json", "[1]", '{"id": "t2"}', "[" * 100_000, '{"model_usage": {"m": {"input_tokens": "x"}}}']
)
def test_a_corrupt_sample_is_rejected_and_the_others_and_all_spend_are_kept(tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad.eval"
    _copy_archive(RETRIED, path, replace={"samples/t2_epoch_1.json": content})
    running = Import([path], Settings(), importer=IMPORTER)
    rejected = StringIO()
    attempts = list(running.attempts(rejected))
    assert running.tally.rejected == 1
    assert "t2_epoch_1" in rejected.getvalue()
    assert len([attempt for attempt in attempts if attempt.status != "fault"]) == 11
    assert sum(attempt.cost_usd or 0 for attempt in attempts) == Decimal("0.047460")
    # Whose spend the rest is can no longer be told.
    assert attempts[-1].problem == "(outside the samples)"


def test_a_sample_that_was_run_anew_counts_once(tmp_path: Path) -> None:
    again = tmp_path / "again.eval"
    shutil.copyfile(DATA / "judge_is_the_same_model.eval", again)
    with zipfile.ZipFile(again, "a") as archived, pytest.warns(UserWarning, match="Duplicate name"):
        archived.writestr(
            "samples/1_epoch_1.json", json.dumps(sample("1", scores={"model_graded_fact": {"value": "I"}}))
        )
    assert [attempt.passed for attempt in read(again)] == [False]


def _copy_archive(
    source: Path, to: Path, *, leave_out: Iterable[str] = (), replace: Mapping[str, str] | None = None
) -> None:
    import inspect_ai.log  # noqa: F401 - teaches zipfile zstd, which the log is packed with

    with zipfile.ZipFile(source) as old, zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name not in leave_out:
                new.writestr(name, (replace or {}).get(name) or old.read(name))
