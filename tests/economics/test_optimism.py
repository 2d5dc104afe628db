"""The optimism of the plug-in frontier and its interval, in worlds whose frontier is known."""

import numpy as np
import pytest

from costpass.economics.arrays import Floats
from costpass.economics.optimism import frontier_interval, optimism

Sums = tuple[Floats, Floats, Floats, Floats, Floats, Floats]


def world(rng: np.random.Generator, problems: int = 100, strategies: int = 10) -> tuple[Floats, Floats]:
    ability = np.linspace(-1.5, 2.0, strategies) + rng.normal(0, 0.3, strategies)
    price = np.exp(np.linspace(-6, -2.5, strategies) + rng.normal(0, 0.3, strategies))
    difficulty = rng.normal(0, 1.5, problems)
    logit = ability[:, None] - difficulty + rng.normal(0, 0.7, (strategies, problems))
    return 1 / (1 + np.exp(-logit)), price[:, None] * np.exp(rng.normal(0, 0.3, (strategies, problems)))


def attempts(rng: np.random.Generator, chance: Floats, cost: Floats, count: int = 8) -> Sums:
    passed = rng.random((count, *chance.shape)) < chance
    spent = cost * np.exp(rng.normal(0, 0.3, passed.shape) - 0.045)
    won, lost = spent * passed, spent * ~passed
    return (
        np.full(chance.shape, float(count)),
        passed.sum(axis=0).astype(np.float64),
        won.sum(axis=0),
        (won**2).sum(axis=0),
        lost.sum(axis=0),
        (lost**2).sum(axis=0),
    )


def frontier_of(chance: Floats, cost: Floats) -> float:
    return float(np.minimum((cost / chance).min(axis=0), 1.0).mean())


def test_the_interval_covers_the_truth_and_the_optimism_points_the_right_way() -> None:
    rng = np.random.default_rng(20)
    covered, right, before, after = [], [], [], []
    for _ in range(40):
        chance, cost = world(rng)
        true = frontier_of(chance, cost)
        found = frontier_interval(*attempts(rng, chance, cost), expert=1.0, rng=rng, resamples=300)
        covered.append(found.low <= true <= found.high)
        right.append(np.sign(found.optimism) == np.sign(true - found.value))
        before.append(abs(found.value - true))
        after.append(abs(found.value + found.optimism - true))
    assert np.mean(covered) >= 0.92
    assert np.mean(right) >= 0.8
    assert np.mean(after) < 0.7 * np.mean(before)


def test_many_attempts_leave_no_optimism() -> None:
    rng = np.random.default_rng(1)
    chance, cost = world(rng, 40, 4)
    found = frontier_interval(*attempts(rng, chance, cost, 2000), expert=1.0, rng=rng, resamples=200)
    assert found.value == pytest.approx(frontier_of(chance, cost), rel=0.02)
    assert abs(found.optimism) < 0.02 * found.value


def test_same_seed_same_figures_and_prices_only_scale_them() -> None:
    rng = np.random.default_rng(2)
    sums = attempts(rng, *world(rng, 30, 4))
    one = frontier_interval(*sums, expert=1.0, rng=np.random.default_rng(5), resamples=100)
    again = frontier_interval(*sums, expert=1.0, rng=np.random.default_rng(5), resamples=100)
    assert one == again
    n, k, won, won_sq, lost, lost_sq = sums
    tenfold = (n, k, 10 * won, 100 * won_sq, 10 * lost, 100 * lost_sq)
    scaled = frontier_interval(*tenfold, expert=10.0, rng=np.random.default_rng(5), resamples=100)
    assert (scaled.value, scaled.low, scaled.high, scaled.optimism) == pytest.approx(
        (10 * one.value, 10 * one.low, 10 * one.high, 10 * one.optimism)
    )
    assert optimism(*sums, expert=1.0, rng=np.random.default_rng(5), resamples=100) == pytest.approx(one.optimism)


def test_the_headline_lies_in_its_interval() -> None:
    rng = np.random.default_rng(3)
    for problems, strategies, count in ((2, 1, 1), (3, 2, 2), (10, 3, 8), (5, 10, 1)):
        sums = attempts(rng, *world(rng, problems, strategies), count)
        found = frontier_interval(*sums, expert=0.2, rng=rng, resamples=100)
        assert found.low <= found.value <= found.high
        assert found.high <= 0.2 + 1e-12


def test_an_unsolved_problem_without_an_expert_stays_infinite() -> None:
    rng = np.random.default_rng(4)
    sums = attempts(rng, *world(rng, 20, 3))
    sums[1][:, 0] = 0
    found = frontier_interval(*sums, rng=rng, resamples=100)
    assert found.value == found.high == np.inf
    assert 0 < found.low < np.inf
    assert np.isnan(found.optimism)


def test_one_problem_cannot_say() -> None:
    rng = np.random.default_rng(5)
    found = frontier_interval(*attempts(rng, *world(rng, 1, 3)), expert=1.0, rng=rng, resamples=50)
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def test_a_free_strategy_that_always_passes_costs_nothing_for_sure() -> None:
    n, nothing = np.full((2, 6), 4.0), np.zeros((2, 6))
    found = frontier_interval(n, n, nothing, nothing, nothing, nothing, expert=1.0, rng=np.random.default_rng(0))
    assert (found.value, found.low, found.high, found.optimism) == (0, 0, 0, 0)


def test_cells_without_attempts_or_without_a_known_cost_are_passed_over() -> None:
    rng = np.random.default_rng(6)
    sums = attempts(rng, *world(rng, 40, 4))
    only = [one[:3] for one in sums]
    untried = [one.copy() for one in sums]
    untried[0][3], untried[1][3] = 0, 0
    for one in untried[2:]:
        one[3] = np.nan
    unpriced = [one.copy() for one in sums]
    for one in unpriced[2:]:
        one[3] = np.nan
    plug_in = frontier_interval(*only, expert=1.0, rng=rng, resamples=50).value
    for table in (untried, unpriced):
        found = frontier_interval(*table, expert=1.0, rng=rng, resamples=50)
        assert found.value == pytest.approx(plug_in)
        assert np.isfinite([found.low, found.high, found.optimism]).all()


def test_problems_of_one_group_are_drawn_together() -> None:
    rng = np.random.default_rng(7)
    chance, cost = world(rng, 10, 4)
    sums = attempts(rng, np.repeat(chance, 20, axis=1), np.repeat(cost, 20, axis=1))
    apart = frontier_interval(*sums, expert=1.0, rng=rng, resamples=300)
    together = frontier_interval(*sums, expert=1.0, rng=rng, resamples=300, group=np.repeat(np.arange(10), 20))
    assert together.high - together.low > 2 * (apart.high - apart.low)


def test_an_expert_may_have_a_price_for_each_problem() -> None:
    rng = np.random.default_rng(8)
    sums = attempts(rng, *world(rng, 30, 3))
    prices = np.linspace(0.001, 0.002, 30)
    found = frontier_interval(*sums, expert=prices, rng=rng, resamples=100)
    assert found.value <= prices.mean()
    assert found.high <= 0.002
