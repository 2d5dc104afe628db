"""The intervals are right where the truth is known. perf/calibration.py prints the same, and more, beside others."""

import math

import numpy as np
import pytest
from perf import calibration

TRIALS = 2000


def rng() -> np.random.Generator:
    return np.random.default_rng(20260101)


@pytest.mark.slow
@pytest.mark.parametrize(("problems", "attempts"), calibration.AA_SIZES)
def test_identical_arms_are_told_apart_in_one_trial_of_twenty(problems: int, attempts: int) -> None:
    a, b = calibration.identical_arms(rng(), problems, attempts, TRIALS)
    found = calibration.paired_interval(a, b)
    assert 0.03 <= found.excludes(0).mean() <= 0.07
    assert not ((found.value < found.low) | (found.value > found.high)).any()


@pytest.mark.slow
def test_copeca_finds_a_difference_between_identical_arms_in_two_trials_of_five() -> None:
    a, b = calibration.identical_arms(rng(), 52, 5, 500)
    assert calibration.copeca_interval(a, b, 500, rng()).excludes(0).mean() > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("world", calibration.WORLDS[:2], ids=lambda world: world.name)
@pytest.mark.parametrize(("problems", "least", "most"), [(20, 0.92, 0.98), (50, 0.93, 0.97), (150, 0.93, 0.97)])
def test_intervals_of_cost_of_pass_cover(world: calibration.World, problems: int, least: float, most: float) -> None:
    truth, rate = world.truth()
    sample = world.draw(rng(), problems, 5, TRIALS)
    assert least <= 1 - calibration.pooled_interval(sample).excludes(truth).mean() <= most
    assert 0.93 <= 1 - calibration.rate_intervals(sample).excludes(rate).mean() <= 0.985


@pytest.mark.slow
@pytest.mark.parametrize("world", calibration.WORLDS[2:], ids=lambda world: world.name)
@pytest.mark.parametrize(("problems", "attempts"), [(10, 5), (20, 5), (50, 5), (30, 1)])
def test_few_passes_many_passes_and_skewed_costs_do_not_make_it_lie(
    world: calibration.World, problems: int, attempts: int
) -> None:
    truth, rate = world.truth()
    sample = world.draw(rng(), problems, attempts, TRIALS)
    assert 1 - calibration.pooled_interval(sample).excludes(truth).mean() >= 0.91
    assert 1 - calibration.rate_intervals(sample).excludes(rate).mean() >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize("problems", [10, 20])
def test_permutation_test_errs_as_often_as_it_says(problems: int) -> None:
    trials = 800
    a, b = calibration.identical_arms(rng(), problems, 5, trials)
    wrong = np.mean(calibration.permutation_p_values(a, b, 999, rng()) <= 0.05)
    assert abs(wrong - 0.05) <= 3.5 * math.sqrt(0.05 * 0.95 / trials)


def test_the_true_cost_of_pass_is_what_many_attempts_cost() -> None:
    world = calibration.HARD_PROBLEMS_COST_MORE
    sample = world.draw(rng(), 200_000, 5, 1)
    cost_of_pass, rate = world.truth()
    assert sample.cost.sum() / sample.passed.sum() == pytest.approx(cost_of_pass, rel=0.01)
    assert sample.passed.mean() == pytest.approx(rate, rel=0.01)
