"""What may be spent until the first pass."""

import math
from typing import Any

import pytest

import costpass
from costpass.reports.risk import FORMATS


def rows(passes: int, tries: int, problem: str = "p") -> list[dict[str, Any]]:
    return [
        {"problem": problem, "model": "m", "passed": number < passes, "cost_usd": 1.0 if number < passes else 2.0}
        for number in range(tries)
    ]


def test_retrying_costs_failures_and_one_pass() -> None:
    [row] = costpass.load(rows(2, 4)).risk(budgets=[1.0, 3.0]).rows
    # Half of the tries pass: on average one failure at $2 and the pass at $1.
    assert row.mean.value == pytest.approx(3.0, rel=1e-3)
    assert row.p50.value == 1.0
    assert [entry.chance for entry in row.within] == pytest.approx([0.5, 0.75])


def test_an_unsolved_problem_has_no_limit() -> None:
    [row] = costpass.load(rows(4, 4, "easy") + rows(0, 4, "hard")).risk().rows
    assert row.mean.infinite and row.cvar90.infinite
    assert row.unsolved_share == 0.5
    assert row.p50.value == 1.0


def test_faults_are_spent_on_the_way() -> None:
    plain = costpass.load(rows(2, 4)).risk().rows[0].mean.value
    faulty = [*rows(2, 4), {"problem": "p", "strategy": "m", "model": "m", "cost_usd": 4.0, "status": "fault"}]
    with_fault = costpass.load([{**row, "strategy": "m"} for row in faulty]).risk().rows[0].mean.value
    assert plain is not None and with_fault is not None
    assert with_fault > plain
    assert math.isfinite(with_fault)


def test_a_ledger_that_says_nothing_is_told_so_in_words() -> None:
    rows = [{"benchmark": "B", "problem": "p", "strategy": "a", "model": "a", "passed": None, "cost_usd": 1.0}]
    assert FORMATS["text"](costpass.load(rows).risk()).startswith("Nothing can be said")


def test_chances_within_budgets_reach_the_frame() -> None:
    frame = costpass.load(rows(2, 4)).risk(budgets=[1.0, 3.0]).to_frame()
    assert frame["within_3"].to_list() == [0.75]
