"""Two arms: the headline is inside its own interval whatever happens, and all spend counts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.uncertainty.arms import Arm, pairs

from costpass.uncertainty.arrays import Floats
from costpass.uncertainty.interval import Interval
from costpass.uncertainty.paired import (
    clusters_needed,
    holm,
    joint_bootstrap,
    paired_log_ratio,
    paired_rate_delta,
    paired_ratio,
    paired_spend_ratio,
    permutation_p,
)


def compared(a: Arm, b: Arm) -> Interval:
    return paired_ratio(a.cost, a.passes, b.cost, b.passes, attempts_a=a.attempts, attempts_b=b.attempts)


@given(pairs())
def test_the_headline_lies_in_its_own_interval(pair: tuple[Arm, Arm]) -> None:
    a, b = pair
    for found in (
        compared(a, b),
        paired_ratio(a.cost, a.passes, b.cost, b.passes),
        paired_spend_ratio(a.cost, a.attempts, b.cost, b.attempts),
        paired_rate_delta(a.passes, a.attempts, b.passes, b.attempts),
        joint_bootstrap(a.cost, a.passes, b.cost, b.passes, resamples=50, rng=np.random.default_rng(0)),
    ):
        assert not found.low > found.value
        assert not found.high < found.value


@given(pairs(some_pass=True))
def test_the_headline_is_the_ratio_of_pooled_costs(pair: tuple[Arm, Arm]) -> None:
    a, b = pair
    expected = (b.cost.sum() / b.passes.sum()) / (a.cost.sum() / a.passes.sum()) - 1
    assert compared(a, b).value == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(pairs(some_pass=True))
def test_swapping_the_arms_inverts_the_ratio(pair: tuple[Arm, Arm]) -> None:
    there, back = compared(*pair), compared(*reversed(pair))
    for one, other in ((there.value, back.value), (there.low, back.high), (there.high, back.low)):
        if math.isnan(one):
            assert math.isnan(other)
        elif math.isinf(one) or math.isinf(other) or min(one, other) < -1 + 1e-9:
            assert min(one, other) <= -1 + 1e-9
        else:
            assert (1 + one) * (1 + other) == pytest.approx(1, nan_ok=True)


@given(pairs(), st.floats(0.01, 100))
def test_other_units_leave_the_ratio_as_it_is(pair: tuple[Arm, Arm], scale: float) -> None:
    a, b = pair
    plain, scaled = compared(a, b), compared(a._replace(cost=a.cost * scale), b._replace(cost=b.cost * scale))
    assert scaled.low == pytest.approx(plain.low, rel=1e-7, abs=1e-9, nan_ok=True)
    assert scaled.high == pytest.approx(plain.high, rel=1e-7, abs=1e-9, nan_ok=True)


@given(pairs(some_pass=True))
def test_an_arm_against_itself_is_no_change(pair: tuple[Arm, Arm]) -> None:
    a, _ = pair
    found = compared(a, a)
    assert found.value == 0
    assert not found.excludes(0)


@given(pairs(some_pass=True))
def test_the_order_of_clusters_does_not_matter(pair: tuple[Arm, Arm]) -> None:
    backwards = [Arm(*(figure[::-1] for figure in arm)) for arm in pair]
    plain, other = compared(*pair), compared(*backwards)
    assert other.low == pytest.approx(plain.low, rel=1e-7, abs=1e-9, nan_ok=True)
    assert other.high == pytest.approx(plain.high, rel=1e-7, abs=1e-9, nan_ok=True)


def test_an_arm_that_fails_half_its_problems_is_dearer_in_headline_and_interval() -> None:
    # copeca prints +41 % with an interval of [-29 %, -29 %] here.
    cost_a, passes_a = np.full(10, 0.102 * 2), np.full(10, 2.0)
    cost_b, passes_b = np.full(10, 0.072 * 2), np.repeat([2.0, 0.0], 5)
    found = paired_ratio(cost_a, passes_a, cost_b, passes_b)
    assert found.value == pytest.approx(0.412, abs=0.001)
    assert found.low < found.value < found.high
    assert found.high > 1


def test_timed_out_attempts_that_cost_a_dollar_make_an_arm_dearer() -> None:
    # 10 problems × 4; the tool is 10 % cheaper where it ends, and half of its attempts burn $1 and end in nothing.
    rng = np.random.default_rng(0)
    cost_a, passes_a = 4 * 0.10 * rng.lognormal(0, 0.1, 10), np.full(10, 4.0)
    cost_b, passes_b = 2 * 0.09 * rng.lognormal(0, 0.1, 10) + 2 * 1.00, np.full(10, 2.0)
    found = paired_ratio(cost_a, passes_a, cost_b, passes_b)
    assert found.value > 5
    assert found.low > 0


def test_pairing_removes_what_the_problems_share() -> None:
    rng = np.random.default_rng(3)
    size = rng.lognormal(0, 1, 30)
    passes = np.full(30, 4.0)
    cost_a, cost_b = size * rng.lognormal(0, 0.05, 30), 0.9 * size * rng.lognormal(0, 0.05, 30)
    together = paired_ratio(cost_a, passes, cost_b, passes)
    apart = paired_ratio(
        np.append(cost_a, np.zeros(30)),
        np.append(passes, np.zeros(30)),
        np.append(np.zeros(30), cost_b),
        np.append(np.zeros(30), passes),
    )
    assert together.value == pytest.approx(apart.value)
    assert apart.low < together.low < together.high < 0 < apart.high


def test_a_problem_that_one_arm_alone_has_counts_in_that_arm() -> None:
    cost_a, passes_a = np.array([1.0, 1.2, 0.8, 1.1, 5.0]), np.array([4.0, 4, 4, 3, 1])
    cost_b, passes_b = np.array([1.0, 1.1, 0.9, 1.0, 0.0]), np.array([4.0, 4, 3, 4, 0])
    found = paired_ratio(cost_a, passes_a, cost_b, passes_b)
    assert found.value == pytest.approx((4.0 / 15) / (9.1 / 16) - 1)
    assert found.low < found.value < found.high


def test_an_arm_without_a_pass_is_infinitely_dearer_and_bounded_below() -> None:
    ones, none = np.ones(40), np.zeros(40)
    cost_a = np.linspace(0.9, 1.1, 40)
    found = paired_ratio(cost_a, ones, ones, none, attempts_a=ones, attempts_b=ones)
    assert found.value == found.high == math.inf
    assert found.low > 3
    assert math.isnan(paired_ratio(cost_a, ones, ones, none).low)


def test_a_baseline_without_a_pass_gives_no_ratio_but_a_bound() -> None:
    ones, none = np.ones(40), np.zeros(40)
    found = paired_ratio(ones, none, np.linspace(0.9, 1.1, 40), ones, attempts_a=ones, attempts_b=ones)
    assert math.isnan(found.value)
    assert math.isnan(found.low)
    assert found.high < -0.7
    assert found.excludes(0)


def test_two_arms_without_a_pass_cannot_be_compared() -> None:
    ones, none = np.ones(5), np.zeros(5)
    found = paired_ratio(ones, none, ones, none, attempts_a=ones, attempts_b=ones)
    assert math.isnan(found.value)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_one_shared_problem_or_none_has_no_interval() -> None:
    one = paired_ratio([1.0], [3], [2.0], [3], attempts_a=[3], attempts_b=[3])
    assert one.value == 1
    assert math.isnan(one.low)
    none = paired_ratio([], [], [], [], attempts_a=[], attempts_b=[])
    assert math.isnan(none.value)
    assert math.isnan(paired_rate_delta([], [], [], []).value)
    assert math.isnan(paired_spend_ratio([], [], [], []).value)
    assert math.isnan(joint_bootstrap([], [], [], [], resamples=10, rng=np.random.default_rng(0)).value)


def test_passes_in_one_problem_alone_leave_that_side_open() -> None:
    cost, all_pass, one_passes = np.linspace(1, 2, 8), np.full(8, 3.0), np.array([3.0, *[0] * 7])
    dearer = paired_ratio(cost, all_pass, cost, one_passes)
    assert dearer.high == math.inf
    assert -1 < dearer.low < dearer.value
    cheaper = paired_ratio(cost, one_passes, cost, all_pass)
    assert cheaper.low == -1
    assert cheaper.value < cheaper.high < math.inf


def test_arms_that_pass_everything_at_constant_prices_still_have_an_interval() -> None:
    ones = np.ones(10)
    found = paired_ratio(ones, ones, 0.9 * ones, ones, attempts_a=ones, attempts_b=ones)
    assert found.low < found.value < found.high
    rates = paired_rate_delta(ones, ones, ones, ones)
    assert rates.low < 0 < rates.high


def test_joint_bootstrap_agrees_with_the_closed_form_on_many_problems() -> None:
    rng = np.random.default_rng(2)
    size = rng.lognormal(0, 1, 300)
    arms = [size * rng.lognormal(0, 0.3, 300), rng.binomial(5, 0.6, 300).astype(float)]
    arms += [0.8 * size * rng.lognormal(0, 0.3, 300), rng.binomial(5, 0.6, 300).astype(float)]
    closed, drawn = paired_ratio(*arms), joint_bootstrap(*arms, resamples=4000, rng=rng)
    assert drawn.value == closed.value
    assert drawn.low == pytest.approx(closed.low, abs=0.01)
    assert drawn.high == pytest.approx(closed.high, abs=0.01)


def test_all_relabellings_are_tried_when_they_are_few() -> None:
    # B costs double in each of 5 problems: only the labels as they are, and all swapped, are as far apart.
    cost, passes = np.array([1.0, 1.1, 0.9, 1.2, 1.0]), np.full(5, 3.0)
    rng = np.random.default_rng(0)
    assert permutation_p(cost, passes, 2 * cost, passes, rng=rng) == 2 / 2**5
    assert permutation_p(cost, passes, cost, passes, rng=rng) == 1


@given(pairs(some_pass=True), st.integers(10, 2000))
def test_permutation_p_is_a_probability_and_blind_to_names(pair: tuple[Arm, Arm], permutations: int) -> None:
    a, b = pair
    p, swapped = (
        permutation_p(*arms, permutations=permutations, rng=np.random.default_rng(0))
        for arms in ((a.cost, a.passes, b.cost, b.passes), (b.cost, b.passes, a.cost, a.passes))
    )
    assert 0 < p <= 1
    assert p == pytest.approx(swapped)


def test_random_relabellings_approach_all_of_them() -> None:
    rng = np.random.default_rng(4)
    arms = [rng.lognormal(0, 0.4, 12), rng.binomial(5, 0.7, 12).astype(float)]
    arms += [rng.lognormal(0.2, 0.4, 12), rng.binomial(5, 0.7, 12).astype(float)]
    exact = permutation_p(*arms, permutations=2**12, rng=rng)
    drawn = permutation_p(*arms, permutations=4000, rng=rng)
    assert 0.01 < exact < 0.99
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 4000))


def test_permutation_p_of_nothing_cannot_be_said() -> None:
    nothing = np.zeros(5)
    assert math.isnan(permutation_p(np.ones(5), nothing, np.ones(5), nothing, rng=np.random.default_rng(0)))


def test_an_arm_with_twice_the_attempts_is_not_twice_the_weight() -> None:
    cost, passes = np.linspace(1, 2, 10), np.full(10, 3.0)
    p = permutation_p(
        cost,
        passes,
        2 * cost,
        2 * passes,
        attempts_a=np.full(10, 5.0),
        attempts_b=np.full(10, 10.0),
        rng=np.random.default_rng(0),
    )
    assert p == 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_never_lowers_a_p_value_and_keeps_their_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert (adjusted >= np.array(p_values) - 1e-15).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(p_values, kind="stable")]) >= 0).all()


def test_holm_leaves_what_cannot_be_said() -> None:
    np.testing.assert_allclose(holm([0.01, math.nan, 0.04]), [0.02, math.nan, 0.04])


def test_more_clusters_are_needed_for_less_effect() -> None:
    assert clusters_needed(0.1, 0.1, 20) == pytest.approx(4 * clusters_needed(0.2, 0.1, 20))
    assert clusters_needed(0.0, 0.1, 20) == math.inf
    assert math.isnan(clusters_needed(0.1, math.nan, 1))


@pytest.mark.slow
def test_the_clusters_said_to_be_needed_do_decide() -> None:
    rng = np.random.default_rng(6)

    def trial(clusters: int) -> list[Floats]:
        size, passes = rng.lognormal(0, 1, clusters), np.full(clusters, 5.0)
        noise = rng.lognormal(0, 0.5, (2, clusters))
        return [size * noise[0], passes, 0.8 * size * noise[1], passes]

    needed = clusters_needed(math.log(0.8), *paired_log_ratio(*trial(20_000))[1:])
    decided = np.mean([paired_ratio(*trial(math.ceil(needed))).excludes(0) for _ in range(1500)])
    assert 0.74 < decided < 0.86
