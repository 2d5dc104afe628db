"""Pooled figures: an interval holds its own figure, follows the units, and says when it cannot be said."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.uncertainty.arms import Arm, one_arm

from costpass.uncertainty.interval import Interval
from costpass.uncertainty.pooled import (
    mean_interval,
    means_interval,
    rate_interval,
    rates_interval,
    ratio_bootstrap,
    ratio_interval,
    ratios_interval,
)


def same(one: Interval, other: Interval, rel: float = 1e-9) -> bool:
    return all(
        a == pytest.approx(b, rel=rel, nan_ok=True)
        for a, b in ((one.value, other.value), (one.low, other.low), (one.high, other.high))
    )


@given(one_arm())
def test_the_cost_of_pass_lies_in_its_own_interval(arm: Arm) -> None:
    for attempts in (None, arm.attempts):
        found = ratio_interval(arm.cost, arm.passes, attempts=attempts)
        expected = arm.cost.sum() / arm.passes.sum() if arm.passes.any() else math.inf
        assert found.value == pytest.approx(expected, rel=1e-12)
        assert not found.low > found.value
        assert not found.high < found.value


@given(one_arm(), st.floats(1e-3, 1e3))
def test_other_units_scale_the_interval(arm: Arm, scale: float) -> None:
    plain = ratio_interval(arm.cost, arm.passes, attempts=arm.attempts)
    scaled = ratio_interval(arm.cost * scale, arm.passes, attempts=arm.attempts)
    assert same(scaled, Interval(plain.value * scale, plain.low * scale, plain.high * scale))


@given(one_arm(), st.randoms(use_true_random=False))
def test_the_order_of_clusters_does_not_matter(arm: Arm, random: object) -> None:
    order = np.argsort(np.array([random.random() for _ in arm.cost]))  # type: ignore[attr-defined]
    shuffled = [figure[order] for figure in arm]
    assert same(
        ratio_interval(arm.cost, arm.passes, attempts=arm.attempts),
        ratio_interval(shuffled[0], shuffled[1], attempts=shuffled[2]),
    )
    assert same(rate_interval(arm.passes, arm.attempts), rate_interval(shuffled[1], shuffled[2]))
    assert same(mean_interval(arm.cost, arm.attempts), mean_interval(shuffled[0], shuffled[2]))


@given(one_arm())
def test_a_cluster_that_was_not_attempted_changes_nothing(arm: Arm) -> None:
    longer = [np.append(figure, 0.0) for figure in arm]
    assert same(
        ratio_interval(arm.cost, arm.passes, attempts=arm.attempts),
        ratio_interval(longer[0], longer[1], attempts=longer[2]),
    )
    assert same(rate_interval(arm.passes, arm.attempts), rate_interval(longer[1], longer[2]))


@given(one_arm())
def test_success_rates_stay_between_zero_and_one(arm: Arm) -> None:
    rate = rate_interval(arm.passes, arm.attempts)
    if len(arm.cost) == 1:
        assert math.isnan(rate.low)
        assert math.isnan(rate.high)
    else:
        assert 0 <= rate.low <= rate.value <= rate.high <= 1


@given(one_arm())
def test_more_confidence_is_a_wider_interval(arm: Arm) -> None:
    usual = ratio_interval(arm.cost, arm.passes, attempts=arm.attempts, level=0.9)
    sure = ratio_interval(arm.cost, arm.passes, attempts=arm.attempts, level=0.99)
    assert not sure.low > usual.low
    assert not sure.high < usual.high


def test_strategies_side_by_side_are_as_one_by_one() -> None:
    rng = np.random.default_rng(0)
    attempts = rng.integers(1, 9, (12, 5)).astype(float)
    passes = rng.binomial(attempts.astype(int), 0.4).astype(float)
    passes[:, 3] = 0
    cost = rng.lognormal(0, 1, (12, 5))
    ratios, rates = ratios_interval(cost, passes, attempts=attempts), rates_interval(passes, attempts)
    means = means_interval(cost, attempts)
    for s in range(5):
        assert same(ratios[s], ratio_interval(cost[:, s], passes[:, s], attempts=attempts[:, s]))
        assert same(rates[s], rate_interval(passes[:, s], attempts[:, s]))
        assert same(means[s], mean_interval(cost[:, s], attempts[:, s]))


def test_without_a_pass_the_cost_is_infinite_and_bounded_below() -> None:
    found = ratio_interval(np.ones(20), np.zeros(20), attempts=np.full(20, 5.0))
    assert found.value == found.high == math.inf
    # 20 problems without a pass: at 95 % no more than 14 % of attempts pass, so a pass costs $0.20 / 0.14 at least.
    assert found.low == pytest.approx(0.2 / (1 - 0.05 ** (1 / 20)))
    assert math.isnan(ratio_interval(np.ones(20), np.zeros(20)).low)


def test_one_problem_says_nothing_however_often_it_was_tried() -> None:
    for found in (ratio_interval([7.0], [30]), mean_interval([7.0], [40]), rate_interval([30], [40])):
        assert math.isfinite(found.value)
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        assert not found.excludes(0)


def test_no_spend_at_all_has_no_interval() -> None:
    found = ratio_interval([0, 0, 0], [1, 2, 3], attempts=[4, 4, 4])
    assert found.value == 0
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_passes_in_one_problem_alone_bound_nothing_above() -> None:
    found = ratio_interval(np.ones(20), [5, *[0] * 19], attempts=np.full(20, 5.0))
    assert found.value == 4
    assert found.high == math.inf
    assert found.low < 4 / 5


def test_passes_in_two_problems_leave_a_wide_interval() -> None:
    found = ratio_interval(np.ones(30), [1, 1, *[0] * 28])
    # Counts of two alone allow 0.24 to 7.2 passes.
    assert found.high / found.value > 6
    assert found.low / found.value < 0.4


def test_passing_everything_at_one_price_is_not_certainty() -> None:
    found = ratio_interval(np.ones(10), np.ones(10), attempts=np.ones(10))
    assert found.value == found.low == 1
    assert found.high == pytest.approx(1 / 0.025 ** (1 / 10))


def test_rates_of_all_and_nothing_count_each_problem_once() -> None:
    assert rate_interval(np.full(10, 5.0), np.full(10, 5.0)).low == pytest.approx(0.025 ** (1 / 10))
    nothing = rate_interval(np.zeros(10), np.full(10, 5.0))
    assert nothing.low == 0
    assert nothing.high == pytest.approx(1 - 0.025 ** (1 / 10))


def test_repeating_the_same_attempts_narrows_nothing() -> None:
    passes = np.array([1, 0, 1, 1, 0, 1, 0, 1.0])
    cost = np.array([1, 2, 1, 1, 3, 1, 2, 1.0])
    once = ratio_interval(cost, passes, attempts=np.ones(8))
    thrice = ratio_interval(3 * cost, 3 * passes, attempts=np.full(8, 3.0))
    assert thrice.high - thrice.low >= 0.95 * (once.high - once.low)


def test_bootstrap_agrees_with_the_closed_form_on_many_problems() -> None:
    rng = np.random.default_rng(1)
    cost = rng.lognormal(0, 0.5, (400, 3))
    passes = rng.binomial(5, 0.6, (400, 3)).astype(float)
    closed = ratios_interval(cost, passes)
    low, high = ratio_bootstrap(cost, passes, resamples=4000, rng=rng)
    np.testing.assert_allclose(low, closed.low, rtol=0.01)
    np.testing.assert_allclose(high, closed.high, rtol=0.01)


def test_bootstrap_knows_infinity_and_one_problem() -> None:
    cost, passes = np.ones((12, 3)), np.zeros((12, 3))
    passes[0, 1] = 1
    passes[:, 2] = 1
    low, high = ratio_bootstrap(cost, passes, resamples=500, rng=np.random.default_rng(0))
    assert low[0] == high[0] == high[1] == math.inf
    assert math.isfinite(low[1])
    assert low[2] == high[2] == 1
    low, high = ratio_bootstrap(cost[:1], passes[:1], resamples=10, rng=np.random.default_rng(0))
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_same_seed_same_bytes() -> None:
    cost, passes = np.arange(1.0, 41).reshape(20, 2), np.ones((20, 2))
    once, again = (ratio_bootstrap(cost, passes, resamples=300, rng=np.random.default_rng(5)) for _ in range(2))
    assert once[0].tobytes() + once[1].tobytes() == again[0].tobytes() + again[1].tobytes()
