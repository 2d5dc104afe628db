"""The two-level bootstrap: cells come out as resampling their attempts would make them."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

from costpass.uncertainty.arrays import Floats, Ints
from costpass.uncertainty.resampling import two_level

Table = dict[str, Any]


def table(cost: Floats, passed: Any) -> Table:
    """The sums of attempts × strategies × problems."""
    failed = ~passed
    return {
        "n": np.full(cost.shape[1:], len(cost)),
        "k": passed.sum(axis=0),
        "pass_cost": (cost * passed).sum(axis=0),
        "pass_cost_sq": (cost**2 * passed).sum(axis=0),
        "fail_cost": (cost * failed).sum(axis=0),
        "fail_cost_sq": (cost**2 * failed).sum(axis=0),
    }


def draw(sums: Table, resamples: int, seed: int = 0, **options: Any) -> tuple[Floats, Floats]:
    chunks = list(two_level(**sums, resamples=resamples, rng=np.random.default_rng(seed), **options))
    return np.concatenate([each.mean_cost for each in chunks]), np.concatenate([each.success for each in chunks])


def attempts(strategies: int, problems: int, tries: int = 6, seed: int = 0) -> tuple[Floats, Any]:
    rng = np.random.default_rng(seed)
    passed = rng.random((tries, strategies, problems)) < rng.beta(1, 1, (strategies, problems))
    return rng.lognormal(0, 0.5, passed.shape) * np.where(passed, 1.0, 2.0), passed


def test_cells_have_the_moments_of_resampled_attempts() -> None:
    cost, passed = attempts(2, 3)
    mean_cost, success = draw(table(cost, passed), 40_000, problems=False)
    assert mean_cost.shape == success.shape == (40_000, 2, 3)
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, len(cost), (40_000, len(cost)))
    brute_cost, brute_success = cost[drawn].mean(axis=1), passed[drawn].mean(axis=1)
    for ours, brute in ((mean_cost, brute_cost), (success, brute_success), (mean_cost * success, None)):
        other = brute_cost * brute_success if brute is None else brute
        np.testing.assert_allclose(ours.mean(axis=0), other.mean(axis=0), atol=0.02)
        np.testing.assert_allclose(ours.std(axis=0), other.std(axis=0), rtol=0.03, atol=1e-6)


def test_many_kinds_of_cells_are_drawn_without_tables_alike() -> None:
    rng = np.random.default_rng(0)
    n = rng.integers(1, 200, (4, 400))
    k = rng.binomial(n, 0.3)
    sums = {"n": n, "k": k, "pass_cost": k * 1.0, "pass_cost_sq": k * 1.5, "fail_cost": n - k, "fail_cost_sq": n - k}
    _, success = draw(sums, 400, problems=False)
    np.testing.assert_allclose(success.mean(axis=0), k / n, atol=0.12)
    expected = np.sqrt(k / n * (1 - k / n) / n)
    np.testing.assert_allclose(success.std(axis=0), expected, rtol=0.25, atol=0.01)


def test_problems_are_drawn_with_replacement_and_their_copies_apart() -> None:
    cost, passed = attempts(3, 200)
    rng = np.random.default_rng(0)
    chunks = list(two_level(**table(cost, passed), resamples=50, rng=rng))
    problems: Ints = np.concatenate([chunk.problems for chunk in chunks])
    success = np.concatenate([chunk.success for chunk in chunks])
    distinct = np.mean([len(np.unique(row)) for row in problems]) / 200
    assert distinct == pytest.approx(1 - np.exp(-1), abs=0.02)
    rate = passed.mean(axis=0)
    assert (success[np.broadcast_to((rate == 1).T[problems].swapaxes(1, 2), success.shape)] == 1).all()
    row = problems[0]
    twice = next(p for p in row if np.count_nonzero(row == p) > 2 and 0.2 < rate[0, p] < 0.8)
    copies = chunks[0].mean_cost[0, 0, row == twice]
    assert len(np.unique(copies)) == len(copies)


def test_spread_of_a_mean_is_that_of_the_two_levels() -> None:
    cost, passed = attempts(1, 120, seed=5)
    _, success = draw(table(cost, passed), 4000)
    rate = passed.mean(axis=0)[0]
    expected = np.sqrt((rate.var() + (rate * (1 - rate) / len(cost)).mean()) / 120)
    assert success[:, 0].mean(axis=1).std() == pytest.approx(expected, rel=0.06)


def test_whole_groups_are_drawn() -> None:
    cost, passed = attempts(2, 40)
    group = np.repeat(np.arange(8), 5)
    rng = np.random.default_rng(0)
    for chunk in two_level(**table(cost, passed), resamples=30, rng=rng, group=group):
        runs = chunk.problems.reshape(-1, 8, 5)
        assert (runs == runs[:, :, :1] // 5 * 5 + np.arange(5)).all()


def test_uneven_groups_fill_every_replicate_and_favour_no_problem() -> None:
    cost, passed = attempts(1, 60)
    group = np.random.default_rng(1).permutation(np.repeat([7, 3, 9, 1, 2, 30], [5, 10, 15, 20, 4, 6]))
    rng = np.random.default_rng(0)
    drawn = np.concatenate(
        [chunk.problems for chunk in two_level(**table(cost, passed), resamples=4000, rng=rng, group=group)]
    )
    assert drawn.shape == (4000, 60)
    counts = np.bincount(drawn.ravel(), minlength=60) / 4000
    assert counts.min() > 0.75
    assert counts.max() < 1.25


def test_groups_of_one_are_problems() -> None:
    cost, passed = attempts(2, 30)
    plain = draw(table(cost, passed), 10)
    grouped = draw(table(cost, passed), 10, group=np.arange(30)[::-1])
    assert plain[0].tobytes() == grouped[0].tobytes()


def test_a_cell_without_attempts_stays_unknown() -> None:
    cost, passed = attempts(2, 4)
    sums = table(cost, passed)
    for figures in sums.values():
        figures[0, 1] = 0
    mean_cost, success = draw(sums, 20, problems=False)
    assert np.isnan(mean_cost[:, 0, 1]).all()
    assert np.isnan(success[:, 0, 1]).all()
    assert np.isfinite(np.delete(success.reshape(20, 8), 1, axis=1)).all()


def test_costs_never_fall_below_zero() -> None:
    n, k = np.full((1, 50), 2), np.ones((1, 50), dtype=int)
    ones = np.ones((1, 50))
    sums = {"n": n, "k": k, "pass_cost": ones, "pass_cost_sq": 9 * ones, "fail_cost": ones, "fail_cost_sq": 9 * ones}
    assert (draw(sums, 200)[0] >= 0).all()


def test_same_seed_same_bytes() -> None:
    cost, passed = attempts(3, 50)
    once, again = (draw(table(cost, passed), 64, seed=9) for _ in range(2))
    assert [part.tobytes() for part in once] == [part.tobytes() for part in again]
    assert draw(table(cost, passed), 64, seed=10)[0].tobytes() != once[0].tobytes()


@pytest.mark.slow
def test_twenty_strategies_on_thousands_of_problems_fit_in_memory() -> None:
    cost, passed = attempts(20, 6250, tries=8)
    sums = table(cost, passed)
    del cost, passed
    tracemalloc.start()
    for _ in two_level(**sums, resamples=12, rng=np.random.default_rng(0)):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300e6
