"""Events are JSON lines with the keys that the module's page promises."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from costpass.attempt import Attempt
from costpass.reports import events_json
from costpass.reports.events_json import JsonEvents
from costpass.runs.events import Remembering, Together
from costpass.runs.standing import Standing, Tally

LOST = Attempt(
    benchmark="b",
    problem="p1",
    strategy="small",
    repetition=1,
    passed=False,
    failure="wrong_answer",
    cost_usd=Decimal("0.25"),
    cost_source="priced",
    grading_usd=Decimal("0.5"),
    duration_ms=12.5,
)
BROKEN = Attempt(problem="p2", strategy="small", retry=2, status="fault", failure="provider_error")


def events_of_a_run() -> list[dict[str, Any]]:
    lines: list[str] = []
    where = Standing({"small": Tally(3), "gone": Tally(0, spent_usd=Decimal(1))}, Decimal(5))
    watcher = JsonEvents("addition", Path("ledgers/addition"), lines.append)
    watcher.started(where)
    for record, message in ((LOST, None), (BROKEN, "HTTP 503:\noverloaded")):
        where.tallies["small"].add(record)
        watcher.recorded(record, where, message)
    where.tallies["small"].halted = "the provider is down"
    watcher.halted(["small"], "the provider is down")
    watcher.finished(where, "faults")
    assert not any("\n" in line for line in lines)
    return [json.loads(line) for line in lines]


def test_a_run_is_told_from_start_to_finish() -> None:
    events = events_of_a_run()
    assert [event["event"] for event in events] == ["run_started", "attempt", "attempt", "halted", "run_finished"]
    started = events[0]
    assert (started["experiment"], started["ledger"]) == ("addition", "ledgers/addition")
    assert (started["planned"], started["done_before"]) == (3, 0)
    assert (started["spent_usd"], started["total_cap_usd"]) == (1.0, 5.0)
    assert events[3] == {"event": "halted", "strategies": ["small"], "reason": "the provider is down"}


def test_an_attempt_carries_its_outcome_and_its_bill() -> None:
    lost, broken = events_of_a_run()[1:3]
    assert lost == {
        "event": "attempt",
        "id": LOST.id,
        "benchmark": "b",
        "problem": "p1",
        "strategy": "small",
        "repetition": 1,
        "retry": 0,
        "status": "completed",
        "passed": False,
        "cost_usd": 0.25,
        "grading_usd": 0.5,
        "duration_ms": 12.5,
        "failure": "wrong_answer",
        "message": None,
    }
    assert (broken["status"], broken["passed"], broken["cost_usd"]) == ("fault", None, None)
    assert broken["message"] == "HTTP 503:\noverloaded"


def test_the_end_says_why_and_what_each_strategy_came_to() -> None:
    finished = events_of_a_run()[-1]
    assert (finished["reason"], finished["done"], finished["planned"], finished["faults"]) == ("faults", 1, 3, 1)
    assert finished["spent_usd"] == 1.75
    assert finished["strategies"][0] == {
        "strategy": "small",
        "planned": 3,
        "done": 1,
        "done_before": 0,
        "graded": 1,
        "passed": 0,
        "pass_rate": 0.0,
        "cost_of_pass_usd": None,
        "spent_usd": 0.25,
        "grading_usd": 0.5,
        "faults": 1,
        "failures": {"wrong_answer": 1},
        "halted": "the provider is down",
    }


def test_every_key_is_on_the_page() -> None:
    for event in events_of_a_run():
        for key in (*event, *(inner for row in event.get("strategies", []) if isinstance(row, dict) for inner in row)):
            assert key in (events_json.__doc__ or ""), key


def test_a_run_without_trouble_ends_complete() -> None:
    lines: list[str] = []
    JsonEvents("addition", Path("l"), lines.append).finished(Standing({}), None)
    assert json.loads(lines[0])["reason"] == "complete"


def test_watchers_together_are_all_told_of_everything() -> None:
    lines: list[str] = []
    kept, events = Remembering(), JsonEvents("addition", Path("l"), lines.append)
    both = Together([kept, events, events])
    where = Standing({"small": Tally(1)})
    both.started(where)
    both.recorded(LOST, where, None)
    both.halted(["small"], "why")
    both.finished(where, None)
    assert kept.standing is where
    told = [json.loads(line)["event"] for line in lines]
    assert told == [name for name in ("run_started", "attempt", "halted", "run_finished") for _ in range(2)]
