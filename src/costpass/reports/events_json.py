"""A run as JSON lines, for machines.

Each line is one object. Null means not known. Keys stay as they are; new ones may be added. Money is in dollars.

`run_started`, once, before anything is sent:
    event, schema (of these events), experiment, ledger (its folder), planned and done_before (attempts),
    spent_usd, total_cap_usd, strategies (see below; what earlier runs did is counted)

`attempt`, for each record as it is written; a fault that is tried again is a record of its own:
    event, id, benchmark, problem, strategy, repetition, retry, status (completed, cost_killed, timeout, fault,
    invalid, interrupted), passed, cost_usd, grading_usd (a judge's bill, not part of cost_usd), duration_ms,
    failure (a category such as wrong_answer or rate_limit), message (in words, where there is something to say)

`halted`, when no more attempts of some strategies are made:
    event, strategies (their ids), reason

`run_finished`, once, last; not printed where an error, told on stderr, ended the run:
    event, reason (complete, budget, faults, stopped), planned, done, faults, rate_limited, spent_usd,
    strategies: for each {strategy, planned, done, done_before, graded, passed, pass_rate, cost_of_pass_usd,
    spent_usd, grading_usd, faults, failures (how often each category), halted (why, or null)}
"""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from costpass.attempt import Attempt
from costpass.runs.standing import Standing, Tally

SCHEMA = "costpass.run_events/1"


class JsonEvents:
    """Prints every event as one line."""

    def __init__(self, experiment: str, ledger: Path, print_line: Callable[[str], None]) -> None:
        self._experiment = experiment
        self._ledger = ledger
        self._print_line = print_line

    def started(self, standing: Standing) -> None:
        self._print(
            "run_started",
            schema=SCHEMA,
            experiment=self._experiment,
            ledger=str(self._ledger),
            planned=standing.planned,
            done_before=standing.done_before,
            spent_usd=_number(standing.spent_usd),
            total_cap_usd=_number(standing.total_cap_usd),
            strategies=_strategies(standing),
        )

    def recorded(self, record: Attempt, standing: Standing, message: str | None) -> None:  # noqa: ARG002
        self._print(
            "attempt",
            id=record.id,
            benchmark=record.benchmark,
            problem=record.problem,
            strategy=record.strategy,
            repetition=record.repetition,
            retry=record.retry,
            status=record.status,
            passed=record.passed,
            cost_usd=_number(record.cost_usd),
            grading_usd=_number(record.grading_usd),
            duration_ms=record.duration_ms,
            failure=record.failure,
            message=message,
        )

    def halted(self, strategies: list[str], reason: str) -> None:
        self._print("halted", strategies=strategies, reason=reason)

    def finished(self, standing: Standing, reason: str | None) -> None:
        self._print(
            "run_finished",
            reason=reason or "complete",
            planned=standing.planned,
            done=standing.done,
            faults=standing.faults,
            rate_limited=standing.rate_limited,
            spent_usd=_number(standing.spent_usd),
            strategies=_strategies(standing),
        )

    def _print(self, event: str, **values: Any) -> None:
        self._print_line(json.dumps({"event": event, **values}, separators=(",", ":")))


def _strategies(standing: Standing) -> list[dict[str, Any]]:
    return [_figures(name, tally) for name, tally in standing.tallies.items()]


def _figures(name: str, tally: Tally) -> dict[str, Any]:
    return {
        "strategy": name,
        "planned": tally.planned,
        "done": tally.done,
        "done_before": tally.done_before,
        "graded": tally.graded,
        "passed": tally.passed,
        "pass_rate": tally.pass_rate,
        "cost_of_pass_usd": _number(tally.cost_of_pass_usd),
        "spent_usd": _number(tally.spent_usd),
        "grading_usd": _number(tally.grading_usd),
        "faults": tally.faults,
        "failures": dict(sorted(tally.failures.items())),
        "halted": tally.halted,
    }


def _number(usd: Decimal | None) -> float | None:
    return None if usd is None else float(usd)
