"""Kept answers can be graded anew, and nothing else of the ledger changes."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Run, write_attempts, write_lines
from tests.loopback import provider
from tests.runs import experiments

from costpass.attempt import Attempt
from costpass.ledger.store import Ledger
from costpass.runs.resuming import attempts_of

Q = "What is 2 + 2?"


def attempt(problem: str, repetition: int = 0, **changes: Any) -> Attempt:
    fields: dict[str, Any] = {
        "experiment": "sums",
        "benchmark": "mine",
        "problem": problem,
        "strategy": "s",
        "repetition": repetition,
        "cost_usd": "0.25",
        "cost_source": "priced",
        "passed": False,
        "failure": "wrong_answer",
        **changes,
    }
    return Attempt(**fields)


def problem(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": name,
        "question": Q,
        "target": "4",
        "reading": "number",
        "benchmark": "mine",
        "grader": "numeric",
    } | changes


def ledger(folder: Path, kept: Sequence[tuple[Attempt, str | None]], problems: list[dict[str, Any]]) -> Path:
    """A ledger as a run leaves it: attempts, and the traces of those with an answer."""
    made = Ledger.create(folder / "old", name="sums", price_book="book", context={"experts": {"mine": {"usd": 2.0}}})
    write_attempts(made.journal_path, [one for one, _ in kept])
    write_lines(
        made.path / "traces.jsonl", [{"attempt": one.id, "answer": said} for one, said in kept if said is not None]
    )
    write_lines(made.path / "problems.jsonl", problems)
    return made.path


def outcomes(path: Path) -> list[tuple[bool | None, str | None]]:
    return [(one.passed, one.failure) for one in attempts_of(path / "attempts.jsonl")]


def test_answers_are_graded_anew_and_the_changes_are_counted(costpass: Run, tmp_path: Path) -> None:
    right, wrong = attempt("right"), attempt("wrong", passed=True, failure=None)
    same = attempt("same", passed=True, failure=None)
    old = ledger(
        tmp_path,
        [(right, "It is 4."), (wrong, "It is 5."), (same, "4")],
        [problem(name) for name in ("right", "wrong", "same")],
    )
    done = costpass("regrade", old, "-o", "new")
    assert done.returncode == 0, done.stderr
    assert "3 attempts graded anew into new: 1 now pass that did not, 1 now fail that did not" in done.stdout
    assert outcomes(tmp_path / "new") == [(True, None), (False, "wrong_answer"), (True, None)]


def test_the_old_ledger_stays_and_the_new_one_keeps_everything_else(costpass: Run, tmp_path: Path) -> None:
    one = attempt("a", cost_usd="0.125", output_tokens=7, input_tokens=3, config_digest="d")
    old = ledger(tmp_path, [(one, "4")], [problem("a")])
    before = {path.name: path.read_bytes() for path in old.iterdir()}
    assert costpass("regrade", old, "-o", "new").returncode == 0
    assert {path.name: path.read_bytes() for path in old.iterdir()} == before
    (found,) = attempts_of(tmp_path / "new" / "attempts.jsonl")
    assert found == one.revised(passed=True, failure=None)
    new = Ledger(tmp_path / "new")
    assert new.manifest["context"] == {"experts": {"mine": {"usd": 2.0}}}
    assert new.manifest["price_book"] == "book"
    assert (new.path / "traces.jsonl").read_bytes() == before["traces.jsonl"]


def test_the_last_trace_of_an_attempt_counts(costpass: Run, tmp_path: Path) -> None:
    one = attempt("a")
    old = ledger(tmp_path, [(one, "5")], [problem("a")])
    with (old / "traces.jsonl").open("a") as traces:
        traces.write(json.dumps({"attempt": one.id, "answer": "4"}) + "\n")
        traces.write('{"attempt": "torn')
    assert costpass("regrade", old, "-o", "new").returncode == 0
    assert outcomes(tmp_path / "new") == [(True, None)]


def test_another_grader_takes_the_place_of_all(costpass: Run, tmp_path: Path) -> None:
    one = attempt("a", passed=True, failure=None)
    old = ledger(tmp_path, [(one, "I think it is 4")], [problem("a", reading="text")])
    assert costpass("regrade", old, "-o", "new", "--grader", "{numeric: {strict: true}}").returncode == 0
    assert outcomes(tmp_path / "new") == [(False, "wrong_answer")]
    again = costpass("regrade", "new", "-o", "again")
    assert "0 now pass that did not, 0 now fail" in again.stdout, (
        "the new ledger names the grader that it was graded by"
    )
    assert costpass("regrade", old, "-o", "by-name", "--grader", "exact").returncode == 0
    assert outcomes(tmp_path / "by-name") == [(False, "wrong_answer")]


def test_what_has_no_answer_kept_stays_and_is_counted(costpass: Run, tmp_path: Path) -> None:
    old = ledger(tmp_path, [(attempt("a"), None), (attempt("gone"), "4")], [problem("a")])
    done = costpass("regrade", old, "-o", "new")
    assert "0 attempts graded anew" in done.stdout
    assert "2 attempts have no answer kept and stay as they are" in done.stderr
    assert outcomes(tmp_path / "new") == [(False, "wrong_answer")] * 2


def test_faults_stay_and_stopped_attempts_keep_their_reason(costpass: Run, tmp_path: Path) -> None:
    kept = [
        (attempt("a", 0, status="fault", passed=None, failure="rate_limit"), "4"),
        (attempt("a", 1, status="interrupted", passed=None, failure="stopped"), "4"),
        (attempt("a", 2, failure="technique_error"), "4"),
        (attempt("a", 3, status="cost_killed", failure="budget"), "4"),
        (attempt("a", 4, status="timeout", failure="wall_clock"), "5"),
        (attempt("a", 5, passed=None, failure="ungraded"), "4"),
    ]
    old = ledger(tmp_path, kept, [problem("a")])
    done = costpass("regrade", old, "-o", "new")
    assert "3 attempts graded anew" in done.stdout
    assert outcomes(tmp_path / "new") == [
        (None, "rate_limit"),
        (None, "stopped"),
        (False, "technique_error"),
        (True, "budget"),
        (False, "wall_clock"),
        (True, None),
    ]


def test_an_answer_that_is_none_is_graded_as_no_answer(costpass: Run, tmp_path: Path) -> None:
    one = attempt("a", passed=True, failure=None)
    old = ledger(tmp_path, [], [problem("a")])
    write_attempts(old / "attempts.jsonl", [one])
    write_lines(old / "traces.jsonl", [{"attempt": one.id, "answer": None}])
    assert costpass("regrade", old, "-o", "new").returncode == 0
    assert outcomes(tmp_path / "new") == [(False, "no_answer")]


def test_more_attempts_than_are_graded_at_once_keep_their_order(costpass: Run, tmp_path: Path) -> None:
    kept = [(attempt("a", number), str(number % 5)) for number in range(200)]
    old = ledger(tmp_path, kept, [problem("a")])
    assert costpass("regrade", old, "-o", "new").returncode == 0
    found = list(attempts_of(tmp_path / "new" / "attempts.jsonl"))
    assert [one.repetition for one in found] == list(range(200))
    assert [one.passed for one in found] == [number % 5 == 4 for number in range(200)]


def test_a_compacted_ledger_can_be_regraded(costpass: Run, tmp_path: Path) -> None:
    old = ledger(tmp_path, [(attempt("a"), "4")], [problem("a")])
    assert costpass("compact", old).returncode == 0
    assert costpass("regrade", old, "-o", "new").returncode == 0
    assert outcomes(tmp_path / "new") == [(True, None)]
    assert Ledger(tmp_path / "new").columnar_path is None


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--grader", "numerc"], "did you mean 'numeric'"),
        (["--grader", "{numeric: {stict: true}}"], "did you mean 'strict'"),
        (["--grader", "[numeric"], "expected a grader's name"),
        (["--grader", "[numeric]"], "expected a grader's name"),
        (["--grader", "{judge: {model: 'openai:gpt-4o'}}"], "asks a model (openai:gpt-4o), which costs money"),
    ],
)
def test_a_grader_that_will_not_do_is_refused_and_nothing_is_written(
    costpass: Run, tmp_path: Path, option: list[str], said: str
) -> None:
    old = ledger(tmp_path, [(attempt("a"), "4")], [problem("a")])
    done = costpass("regrade", old, "-o", "new", *option)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"old"}


@pytest.mark.parametrize("missing", ["traces.jsonl", "problems.jsonl"])
def test_a_ledger_without_what_grading_needs_is_refused(costpass: Run, tmp_path: Path, missing: str) -> None:
    old = ledger(tmp_path, [(attempt("a"), "4")], [problem("a")])
    (old / missing).unlink()
    done = costpass("regrade", old, "-o", "new")
    assert done.returncode == 1
    assert "old: no " in done.stderr
    assert not (tmp_path / "new").exists()


def test_an_output_that_is_there_is_not_overwritten(costpass: Run, tmp_path: Path) -> None:
    old = ledger(tmp_path, [(attempt("a"), "4")], [problem("a")])
    shutil.copytree(old, tmp_path / "new")
    done = costpass("regrade", old, "-o", "new")
    assert done.returncode == 1
    assert "already there" in done.stderr


def test_a_run_regraded_by_its_own_graders_does_not_change(costpass: Run, tmp_path: Path) -> None:
    benchmarks = [{"name": "two-digit-addition", "sample": {"n": 5}}, {"name": "capitals", "sample": {"n": 5}}]
    with provider(tmp_path) as loopback:
        experiments.run(experiments.experiment(loopback.url, benchmarks=benchmarks), tmp_path / "ledger")
    done = costpass("regrade", "ledger", "-o", "new")
    assert "40 attempts graded anew into new: 0 now pass that did not, 0 now fail that did not" in done.stdout
    assert (tmp_path / "new/attempts.jsonl").read_bytes() == (tmp_path / "ledger/attempts.jsonl").read_bytes()
