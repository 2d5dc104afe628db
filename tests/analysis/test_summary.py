"""What the summary counts, and what it refuses to say."""

import math
import tracemalloc
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import write_attempts

from costpass.analysis.summary import Summary, summary
from costpass.attempt import Attempt
from costpass.economics.efficiency import efficiency
from costpass.errors import CostpassError
from costpass.ledger.scan import Scan, Table


def attempt(number: int, **fields: Any) -> Attempt:
    cost = {"cost_source": "imported"} if fields.get("cost_usd") is not None else {}
    return Attempt(**{"problem": f"p{number}", "strategy": "s", "repetition": 0, **cost, **fields})


def summarised(tmp_path: Path, attempts: Iterable[Attempt], **options: Any) -> Summary:
    with Scan([Table(write_attempts(tmp_path / "a.jsonl", attempts), "jsonl")]) as scan:
        return summary(scan, **options)


def test_killed_and_timed_out_attempts_keep_their_spend(tmp_path: Path) -> None:
    result = summarised(
        tmp_path,
        [
            attempt(1, passed=True, cost_usd=1),
            attempt(2, passed=False, cost_usd=3, status="timeout"),
            attempt(3, passed=False, cost_usd=2, status="cost_killed"),
        ],
    )
    assert result.total.cost_of_pass_usd.value == 6
    assert result.total.attempts == 3


def test_a_fault_costs_but_is_no_failure(tmp_path: Path) -> None:
    result = summarised(
        tmp_path,
        [
            attempt(1, passed=True, cost_usd=1),
            attempt(2, cost_usd=0.5, status="fault"),
            attempt(3, cost_usd=0.25, status="interrupted"),
        ],
    )
    assert (result.total.attempts, result.total.faults) == (1, 2)
    assert result.total.success_rate.value == 1
    assert result.total.cost_of_pass_usd.value == 1.75
    assert result.total.fault_spend_usd == Decimal("0.75")


def test_unknown_costs_are_counted_and_left_out_on_both_sides(tmp_path: Path) -> None:
    result = summarised(
        tmp_path,
        [attempt(1, passed=True, cost_usd=1), attempt(2, passed=True), attempt(3, passed=False)],
    )
    assert result.total.cost_of_pass_usd.value == 1
    assert (result.total.passed, result.total.cost_known) == (2, 1)
    assert any("cost known for 1 of 3" in note for note in result.notes)


def test_unknown_outcomes_are_not_failures(tmp_path: Path) -> None:
    result = summarised(tmp_path, [attempt(1, passed=True, cost_usd=1), attempt(2, cost_usd=5)])
    assert result.total.success_rate.value == 1
    assert result.total.cost_of_pass_usd.value == 1
    assert result.total.spend_usd == 6
    assert result.total.outcome_unknown == 1


def test_no_pass_is_infinite_and_no_cost_is_unknown(tmp_path: Path) -> None:
    never = summarised(tmp_path, [attempt(1, passed=False, cost_usd=1)]).total.cost_of_pass_usd
    assert (never.value, never.infinite) == (None, True)
    unknown = summarised(tmp_path, [attempt(1, passed=True)]).total.cost_of_pass_usd
    assert (unknown.value, unknown.infinite) == (None, False)


def test_free_passes_cost_nothing(tmp_path: Path) -> None:
    assert summarised(tmp_path, [attempt(1, passed=True, cost_usd=0)]).total.cost_of_pass_usd.value == 0


def test_filters_choose_and_an_empty_value_asks_for_the_unknown(tmp_path: Path) -> None:
    attempts = [attempt(1, passed=True, mode="a{b}'c"), attempt(2, passed=True)]
    assert summarised(tmp_path, attempts, where={"mode": "a{b}'c"}).total.attempts == 1
    assert summarised(tmp_path, attempts, where={"mode": ""}).total.attempts == 1
    assert summarised(tmp_path, attempts, where={"passed": "true", "repetition": "0"}).total.attempts == 2


def test_another_figure_of_cost_can_be_used(tmp_path: Path) -> None:
    attempts = [attempt(1, passed=True, cost_usd=1, billed_usd=3)]
    assert summarised(tmp_path, attempts, figure="billed").total.cost_of_pass_usd.value == 3


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.sampled_from([True, False, None]),
            st.one_of(st.none(), st.integers(0, 10**9)),
            st.booleans(),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_rows_add_up_to_the_total(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    attempts = [
        attempt(
            number,
            strategy=strategy,
            passed=None if fault else passed,
            cost_usd=None if nano is None else nano / 10**9,
            status="fault" if fault else "completed",
        )
        for number, (strategy, passed, nano, fault) in enumerate(rows)
    ]
    result = summarised(tmp_path_factory.mktemp("x"), attempts)
    assert sum(row.attempts + row.faults for row in result.strategies) == len(attempts)
    assert sum(row.passed for row in result.strategies) == sum(1 for a in attempts if a.passed)
    assert sum(row.spend_usd or 0 for row in result.strategies) == (result.total.spend_usd or 0)
    assert (result.total.spend_usd or 0) == sum(a.cost_usd or 0 for a in attempts)


def test_grouping_by_problem_keeps_memory_in_bounds(tmp_path: Path) -> None:
    """Three thousand groups by three thousand problems, as full arrays, would be half a gigabyte."""
    attempts = [attempt(number, passed=True, cost_usd=1) for number in range(3000)]
    tracemalloc.start()
    result = summarised(tmp_path, attempts, by=["problem"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(result.strategies) == 3000
    assert peak < 60_000_000


def test_too_many_groups_to_resample_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("costpass.ledger.cells._MOST_CELLS", 5)
    attempts = [attempt(number, passed=True, cost_usd=1) for number in range(3)]
    with pytest.raises(CostpassError, match="group by something coarser"):
        summarised(tmp_path, attempts, by=["problem"], interval="bootstrap")


figures = st.one_of(st.none(), st.integers(0, 10**6).map(float))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([True, False, None]), *[figures] * 6, st.booleans()), min_size=1, max_size=25)
)
def test_the_reports_efficiency_is_the_one_defined_on_arrays(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any]
) -> None:
    names = ("cost_usd", "duration_ms", "success_at_ms", "first_attempt_ms", "turns", "tokens_per_sec")
    attempts, columns = [], []
    for number, (passed, *values, killed) in enumerate(rows):
        fields: dict[str, Any] = dict(zip(names, values, strict=True))
        fields["turns"] = None if fields["turns"] is None else int(fields["turns"])
        fields["cost_usd"] = None if fields["cost_usd"] is None else fields["cost_usd"] / 1000
        attempts.append(attempt(number, passed=passed, status="cost_killed" if killed else "completed", **fields))
        columns.append([passed, *(fields[name] for name in names), killed])
    arrays: list[Any] = [
        [math.nan if value is None else value for value in column] for column in zip(*columns, strict=True)
    ]
    expected = efficiency(*arrays)
    found = summarised(tmp_path_factory.mktemp("x"), attempts).strategies[0].efficiency
    assert vars(found) == pytest.approx(vars(expected))
