"""Did it help? What the comparison says, and what it refuses to say."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import costpass
from costpass.analysis.compare import Against
from costpass.errors import CostpassError


def arm(mode: str, outcomes: Sequence[tuple[bool, float]], **fields: Any) -> list[dict[str, Any]]:
    """One attempt on each problem."""
    return [
        {"problem": f"p{number}", "model": "m", "mode": mode, "passed": passed, "cost_usd": cost, **fields}
        for number, (passed, cost) in enumerate(outcomes)
    ]


def compared(rows: list[dict[str, Any]], **options: Any) -> Against:
    return costpass.load(rows).compare(baseline="base", **options).against[0]


def test_the_headline_is_the_ratio_of_pooled_costs_of_pass() -> None:
    rows = arm("base", [(True, 1.0), (True, 2.0), (False, 3.0)]) + arm("tool", [(True, 1.0), (True, 1.0), (True, 1.0)])
    result = compared(rows)
    assert result.delta.value == pytest.approx((3 / 3) / (6 / 2) - 1)
    assert result.spend_ratio.value == pytest.approx(0.5)
    assert result.success_rate_delta.value == pytest.approx(1 / 3)


@pytest.mark.parametrize("interval", ["linearised", "bootstrap"])
def test_an_arm_that_fails_half_its_problems_stays_inside_its_interval(interval: str) -> None:
    base = arm("base", [(True, 1.0 + n / 50) for n in range(10)])
    tool = arm("tool", [(n % 2 == 0, 0.7 + n / 50) for n in range(10)])
    result = compared(base + tool, interval=interval)
    assert result.delta.low is not None and result.delta.high is not None and result.delta.value is not None
    assert result.delta.low <= result.delta.value <= result.delta.high
    assert result.delta.value > 0.3


def test_timed_out_attempts_that_burned_money_make_an_arm_dearer() -> None:
    base = arm("base", [(True, 1.0)] * 40)
    tool = arm("tool", [(True, 0.9)] * 20 + [(False, 1.0)] * 20)
    for row in tool[20:]:
        row["status"] = "timeout"
    result = compared(base + tool)
    assert result.verdict == "dearer"
    assert result.delta.value == pytest.approx((18 + 20) / 20 - 1)


def test_the_baseline_is_the_one_that_is_named() -> None:
    rows = arm("base", [(True, 2.0)] * 6) + arm("acme", [(True, 1.0)] * 6)
    assert compared(rows).delta.value == pytest.approx(-0.5)
    with pytest.raises(CostpassError, match="did you mean 'base'"):
        costpass.load(rows).compare(baseline="bass")


def test_three_arms_are_each_compared_and_their_p_values_corrected() -> None:
    rng = np.random.default_rng(1)
    noisy = {
        mode: [(True, float(scale * rng.lognormal(0, 0.1))) for _ in range(12)]
        for mode, scale in (("base", 1.0), ("half", 0.5), ("same", 1.0))
    }
    rows = [row for mode, outcomes in noisy.items() for row in arm(mode, outcomes)]
    result = costpass.load(rows).compare(baseline="base")
    assert [(str(a.by["mode"]), a.verdict) for a in result.against] == [("half", "cheaper"), ("same", "not decided")]
    assert all(a.p_adjusted is not None and a.p_value is not None and a.p_adjusted >= a.p_value for a in result.against)
    half = result.against[0]
    assert half.p_adjusted == pytest.approx(2 * (half.p_value or 0))


def test_an_undecided_comparison_says_how_much_more_would_decide_it() -> None:
    rng = np.random.default_rng(2)
    rows = arm("base", [(True, float(rng.lognormal(0, 0.5))) for _ in range(8)])
    rows += arm("tool", [(True, float(0.9 * rng.lognormal(0, 0.5))) for _ in range(8)])
    result = compared(rows)
    assert result.verdict == "not decided"
    assert result.more_attempts is not None and result.more_attempts > 0
    assert "more attempts" in result.sentence


def test_models_are_compared_like_with_like() -> None:
    """A model that one arm alone ran would otherwise be mistaken for the tool's effect."""
    rows = arm("base", [(True, 1.0)] * 6) + arm("tool", [(True, 1.0)] * 6)
    rows += [{**row, "model": "dear", "cost_usd": 100.0} for row in arm("tool", [(True, 1.0)] * 6)]
    assert compared(rows).delta.value == pytest.approx(0.0)


def test_each_model_has_its_own_change() -> None:
    rows = []
    for model, scale in (("cheap", 0.01), ("dear", 1.0)):
        rows += arm("base", [(True, scale)] * 5, model=model)
        rows += arm("tool", [(True, scale * (2 if model == "cheap" else 1))] * 5, model=model)
    changes = {part.name: part.change.delta.value for part in compared(rows).by_model}
    assert changes == {"cheap": pytest.approx(1.0), "dear": pytest.approx(0.0)}


def test_control_problems_stay_out_of_the_headline() -> None:
    rows = arm("base", [(True, 1.0)] * 4) + arm("tool", [(True, 0.5)] * 4)
    control = arm("base", [(True, 1.0)] * 4, control=True) + arm("tool", [(True, 3.0)] * 4, control=True)
    rows += [{**row, "problem": "c" + row["problem"]} for row in control]
    result = compared(rows)
    assert result.delta.value == pytest.approx(-0.5)
    assert result.control is not None
    assert result.control.delta.value == pytest.approx(2.0)


def test_problems_of_one_arm_only_are_left_out_and_named() -> None:
    rows = arm("base", [(True, 1.0)] * 6) + arm("tool", [(True, 1.0)] * 4)
    comparison = costpass.load(rows).compare(baseline="base")
    assert comparison.against[0].coverage.only_baseline == ["p4", "p5"]
    assert comparison.against[0].overall.problems == 4
    assert any("2 problems attempted by one arm only" in note for note in comparison.notes)


def test_an_arm_that_never_passes_is_infinitely_dear_and_not_a_number() -> None:
    rows = arm("base", [(True, 1.0)] * 5) + arm("tool", [(False, 1.0)] * 5)
    result = compared(rows)
    assert (result.delta.value, result.delta.infinite) == (None, True)
    assert "never passed" in result.sentence
    swapped = costpass.load(rows).compare(baseline="tool").against[0]
    assert swapped.delta.value is None
    assert swapped.verdict == "not decided"


def test_one_problem_says_nothing_sure() -> None:
    result = compared(arm("base", [(True, 1.0)]) + arm("tool", [(True, 0.1)]))
    assert result.delta.value == pytest.approx(-0.9)
    assert (result.delta.low, result.delta.high, result.verdict) == (None, None, "not decided")


def test_groups_are_the_clusters() -> None:
    """Twenty problems of two repositories are two witnesses, not twenty."""
    rows = arm("base", [(True, 1.0 + n % 2) for n in range(20)]) + arm("tool", [(True, 1.2) for n in range(20)])
    alone = compared(rows)
    grouped = compared([{**row, "group": f"g{int(row['problem'][1:]) % 2}"} for row in rows])
    assert alone.delta.low is not None and grouped.delta.low is not None
    assert grouped.delta.low < alone.delta.low


def test_other_units_go_through_the_same_comparison() -> None:
    rows = arm("base", [(True, 1.0)] * 4, duration_ms=2000) + arm("tool", [(True, 1.0)] * 4, duration_ms=1000)
    assert compared(rows, cost="seconds").delta.value == pytest.approx(-0.5)


def test_the_same_attempts_give_the_same_bytes(data: Path) -> None:
    log = data / "copeca" / "sample_report_records.jsonl"
    first, second = (costpass.load(log).compare(baseline="baseline", interval="bootstrap").to_json() for _ in range(2))
    assert first == second


def test_an_arm_that_costs_nothing_has_its_spend_said() -> None:
    result = compared(arm("base", [(True, 1.0)] * 6) + arm("tool", [(True, 0.0)] * 6))
    assert result.spend_ratio.value == 0
    assert "spend −100.0 %" in result.sentence


def test_arms_that_both_cost_nothing_are_not_said_to_have_failed() -> None:
    result = compared(arm("base", [(True, 0.0)] * 6) + arm("tool", [(True, 0.0)] * 6))
    assert result.p_value is None
    assert "cost nothing" in result.sentence and "never passed" not in result.sentence


def test_arms_without_a_comparable_attempt_are_told_what_counts() -> None:
    rows = arm("base", [(True, 1.0)] * 6, control=True) + arm("tool", [(True, 1.0)] * 6, control=True)
    with pytest.raises(CostpassError, match="control problems apart"):
        compared(rows)


def test_attempts_without_a_mode_are_not_said_to_have_the_baseline_s() -> None:
    with pytest.raises(CostpassError, match="no attempt has another mode"):
        compared([*arm("base", [(True, 1.0)] * 3), {"problem": "p0", "model": "m", "passed": True, "cost_usd": 1.0}])


def test_tokens_are_unknown_where_the_output_is_not_known() -> None:
    tokens = {"input_tokens": 10}
    rows = arm("base", [(True, 1.0)] * 4, **tokens, output_tokens=5) + arm("tool", [(True, 1.0)] * 4, **tokens)
    with pytest.raises(CostpassError, match="known cost"):
        compared(rows, cost="tokens")


def test_of_several_arms_a_change_must_stand_after_the_correction() -> None:
    """Five problems cannot give a p-value below one in sixteen, and three arms make that three in sixteen."""
    rows = arm("base", [(True, 1.0 + n / 100) for n in range(5)])
    rows += arm("half", [(True, 0.1 + n / 100) for n in range(5)])
    alone = costpass.load(rows).compare(baseline="base").against[0]
    assert alone.verdict == "cheaper"
    rows += arm("same", [(True, 1.0 + n / 90) for n in range(5)]) + arm(
        "more", [(True, 1.0 + n / 80) for n in range(5)]
    )
    one_of_three = next(a for a in costpass.load(rows).compare(baseline="base").against if a.by["mode"] == "half")
    assert (one_of_three.p_adjusted or 0) > 0.05
    assert one_of_three.verdict == "not decided"
    assert "corrected for the 3 arms" in one_of_three.sentence


def test_few_problems_need_more_than_a_normal_distribution_says() -> None:
    result = compared(
        arm("base", [(True, c) for c in (1.0, 2.0, 1.5)]) + arm("tool", [(True, c) for c in (0.5, 1.9, 1.4)])
    )
    assert result.verdict == "not decided"
    assert result.more_attempts is not None and result.more_attempts >= 3
