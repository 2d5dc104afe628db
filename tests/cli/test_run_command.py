"""costpass run: who watches, what is said at the end, and with which code it ends."""

import io
import json
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from costpass.attempt import Attempt
from costpass.cli import app
from costpass.reports.run_summary import as_text
from costpass.runs import running
from costpass.runs.engine import Ended
from costpass.runs.events import Watcher
from costpass.runs.plan import Plan
from costpass.runs.standing import Standing, Tally

EXPERIMENT: Mapping[str, Any] = {
    "experiment": "adding",
    "benchmarks": [{"name": "two-digit-addition", "sample": {"n": 2, "seed": 0}}],
    "strategies": [{"id": "sim", "model": "sim-p70", "base_url": "http://127.0.0.1:9/v1", "technique": "direct"}],
    "budgets": {"total_usd": 5},
    "prices": {"models": {"sim-p70": {"usd_per_million": {"input": 1, "output": 2}}}},
}

Engine = Callable[[Ended], Callable[..., Result]]


def tallies(**changes: Any) -> Standing:
    settings = {"done": 4, "graded": 4, "passed": 3, "spent_usd": Decimal("0.03"), **changes}
    return Standing({"sim": Tally(4, **settings)}, Decimal(5))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The command with a run in the engine's place, as what is tested here is what surrounds one."""
    (tmp_path / "adding.yaml").write_text(json.dumps(EXPERIMENT))
    monkeypatch.chdir(tmp_path)

    def command(ended: Ended) -> Callable[..., Result]:
        def run_plan(plan: Plan, _: Path, watcher: Watcher, **__: object) -> Ended:
            where = Standing({"sim": Tally(plan.size)}, plan.experiment.budgets.total_usd)
            watcher.started(where)
            won = Attempt(problem="1+1", strategy="sim", passed=True, cost_usd=Decimal("0.01"), cost_source="priced")
            where.tallies["sim"].add(won)
            watcher.recorded(won, where, None)
            watcher.finished(where, None if ended is Ended.complete else ended.value)
            return ended

        monkeypatch.setattr(running, "run_plan", run_plan)
        return lambda *arguments: CliRunner().invoke(app, ["run", "adding.yaml", *arguments])

    return command


@pytest.mark.parametrize(
    ("ended", "code"), [(Ended.complete, 0), (Ended.budget, 4), (Ended.faults, 5), (Ended.stopped, 130)]
)
@pytest.mark.parametrize("arguments", [(), ("--json",), ("--quiet",)])
def test_the_exit_code_says_why_it_ended(run: Engine, ended: Ended, code: int, arguments: tuple[str, ...]) -> None:
    assert run(ended)(*arguments).exit_code == code


def test_lines_on_stderr_and_the_summary_on_stdout(run: Engine) -> None:
    done = run(Ended.complete)("-o", "mine")
    assert done.stderr.splitlines()[0] == "costpass: adding: 2 attempts of 1 strategy, at most $5.00"
    assert done.stdout.startswith("A correct answer cost $0.01000 with sim (1 of 1 passed).\n")
    assert "costpass report mine" in done.stdout
    assert "costpass:" not in done.stdout


def test_quiet_says_nothing_but_the_summary(run: Engine) -> None:
    done = run(Ended.complete)("--quiet")
    assert done.stderr == ""
    assert done.stdout.startswith("A correct answer cost")


def test_json_puts_nothing_but_events_on_stdout(run: Engine) -> None:
    done = run(Ended.stopped)("--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["event"] for event in events] == ["run_started", "attempt", "run_finished"]
    assert events[0]["ledger"] == "ledgers/adding"
    assert events[-1]["reason"] == "stopped"
    assert done.stderr == ""


def test_a_forced_colour_alone_makes_no_terminal(run: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in run(Ended.complete)().stderr


def test_a_terminal_gets_the_display(monkeypatch: pytest.MonkeyPatch, run: Engine) -> None:
    from costpass.cli import run as module
    from costpass.reports.live import LineView, LiveView
    from costpass.runs.experiment import load_experiment
    from costpass.runs.preparing import Overrides, prepare

    run(Ended.complete)
    plan = prepare(*load_experiment("adding.yaml"), Overrides())

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    for kind, watcher in (("xterm", LiveView), ("dumb", LineView)):
        monkeypatch.setenv("TERM", kind)
        with module._view(plan, quiet=False) as view:
            assert isinstance(view, watcher)


def test_dry_run_estimates_and_runs_nothing(run: Engine, tmp_path: Path) -> None:
    command = run(Ended.faults)
    done = command("--dry-run")
    assert done.exit_code == 0, done.output
    assert "2 attempts to make" in done.stdout
    assert json.loads(command("--dry-run", "--json").stdout)["attempts"] == 2
    assert not (tmp_path / "ledgers").exists()


def test_a_complete_run_says_what_to_type_next() -> None:
    said = as_text(tallies(), "complete", Path("my ledgers/a"))
    assert said.startswith("A correct answer cost $0.01000 with sim (3 of 4 passed).")
    assert "All done: 4 attempts; $0.03000 of $5.00 spent in all." in said
    assert "costpass report 'my ledgers/a'" in said
    assert "costpass frontier 'my ledgers/a'" in said
    assert "same command" not in said


def test_a_run_with_nothing_left_to_do_says_so() -> None:
    said = as_text(tallies(done_before=4), "complete", Path("l"))
    assert "Nothing was left to do: 4 of 4 attempts were done before" in said


@pytest.mark.parametrize(
    ("ended", "why"), [("budget", "A cap ended the run"), ("faults", "could not be made"), ("stopped", "was stopped")]
)
def test_an_incomplete_run_says_why_and_that_the_same_command_goes_on(ended: str, why: str) -> None:
    said = as_text(tallies(done=2, done_before=1, graded=2, passed=1), ended, Path("l"))
    assert said.startswith("A correct answer cost $0.03000 so far")
    assert "2 of 4 attempts done, 1 of them before" in said
    assert why in said
    assert "same command" in said.lower()


def test_the_summary_names_the_cheapest_correct_answer_and_not_the_cheapest_strategy() -> None:
    where = tallies()
    where.tallies["cheap-but-wrong"] = Tally(4, done=4, graded=4, passed=0, spent_usd=Decimal("0.001"))
    where.tallies["dear"] = Tally(4, done=4, graded=4, passed=4, spent_usd=Decimal(1))
    said = as_text(where, "complete", Path("l"))
    assert said.startswith("A correct answer cost $0.01000 at the least, with sim (3 of 4 passed).")
    assert "∞" in next(line for line in said.splitlines() if line.startswith("cheap-but-wrong"))


def test_spend_of_strategies_taken_out_is_still_spend() -> None:
    where = tallies()
    where.tallies["gone"] = Tally(0, spent_usd=Decimal(1))
    said = as_text(where, "complete", Path("l"))
    assert "$1.0300 of $5.00 spent in all ($1.0000 of it by strategies that the experiment no longer has)" in said


def test_a_reason_that_halts_many_is_said_once() -> None:
    where = Standing({name: Tally(4, faults=1, halted="HTTP 401: wrong \x1b[31mkey") for name in ("a", "b", "c")})
    said = as_text(where, "faults", Path("l"))
    assert said.startswith("No attempt was graded yet.")
    assert "Halted a, b, c: HTTP 401: wrong  [31mkey" in said
    assert "costpass report" not in said


def test_ungraded_attempts_are_told() -> None:
    assert "1 attempt could not be graded" in as_text(tallies(graded=3), "complete", Path("l"))


def test_no_row_of_the_summary_is_wider_than_eighty_columns() -> None:
    names = [f"{'a-very-long-strategy-name-' * 4}{number}" for number in range(3)]
    tally = Tally(120_000, done=120_000, graded=120_000, passed=119_999, spent_usd=Decimal("12345.678"), faults=1234)
    rows = as_text(Standing(dict.fromkeys(names, tally)), "complete", Path("l")).splitlines()[2:7]
    assert max(map(len, rows)) <= 80
    assert len(set(rows[2:])) == 3
