"""Spend until the first pass: against simulation, and what unsolved problems do to it."""

import numpy as np
import pytest

from costpass.economics.cost_of_pass import cost_of_pass
from costpass.economics.risk import spend_to_pass

N = np.array([8, 8, 4, 10, 8])
K = np.array([8, 3, 1, 9, 5])
ON_PASS = np.array([0.1, 0.2, 0.5, 0.05, 0.3])
ON_FAIL = np.array([np.nan, 0.4, 0.3, 0.9, 0.0])


def test_the_distribution_is_that_of_simulated_retries() -> None:
    rng = np.random.default_rng(0)
    problem = rng.integers(0, len(N), 400_000)
    failures = rng.geometric(K[problem] / N[problem]) - 1
    spend = ON_PASS[problem] + failures * np.nan_to_num(ON_FAIL)[problem]
    budgets = [0.07, 0.25, 0.65, 2.0]
    risk = spend_to_pass(N, K, ON_PASS, ON_FAIL, budgets=budgets)
    assert risk.mean == pytest.approx(spend.mean(), rel=0.01)
    assert (risk.p50, risk.p90) == pytest.approx(np.quantile(spend, [0.5, 0.9]).tolist())
    worst = np.sort(spend)[int(0.9 * len(spend)) :]
    assert risk.cvar90 == pytest.approx(worst.mean(), rel=0.01)
    assert risk.chances == pytest.approx([(spend <= budget).mean() for budget in budgets], abs=0.004)
    assert risk.chances == tuple(risk.within(budget) for budget in budgets)


def test_the_mean_is_the_mean_cost_of_pass() -> None:
    mean_cost = (K * ON_PASS + (N - K) * np.nan_to_num(ON_FAIL)) / N
    assert spend_to_pass(N, K, ON_PASS, ON_FAIL).mean == pytest.approx(cost_of_pass(mean_cost, K / N).mean())


def test_a_rare_pass_keeps_an_exact_mean_beyond_the_enumeration() -> None:
    risk = spend_to_pass([100_000], [1], [1.0], [1.0])
    assert risk.mean == pytest.approx(100_000)
    assert len(risk.spend) < 25_000


def test_unsolved_problems_put_mass_at_infinity() -> None:
    half = spend_to_pass([4] * 10, [4] * 5 + [0] * 5, [1.0] * 5 + [np.nan] * 5, [np.nan] * 5 + [1.0] * 5, budgets=[1.0])
    assert (half.mean, half.p50, half.p90, half.cvar90) == (np.inf, 1.0, np.inf, np.inf)
    assert half.chances == (0.5,)
    assert half.unsolved == 0.5
    one = spend_to_pass([4] * 20, [4] * 19 + [0], [1.0] * 19 + [np.nan], [np.nan] * 19 + [1.0])
    assert (one.p90, one.cvar90) == (1.0, np.inf)
    assert spend_to_pass([4], [0], [np.nan], [1.0], budgets=[9.0]).chances == (0.0,)


def test_problems_without_an_attempt_are_left_out() -> None:
    risk = spend_to_pass([4, 0], [4, 0], [1.0, np.nan], [np.nan, np.nan])
    assert (risk.mean, risk.problems) == (1.0, 1)
    nothing = spend_to_pass([0], [0], [np.nan], [np.nan], budgets=[1.0])
    assert np.isnan(nothing.mean)
    assert np.isnan(nothing.chances[0])


def test_the_curve_rises_to_the_share_that_is_solved() -> None:
    risk = spend_to_pass(np.append(N, 8), np.append(K, 0), np.append(ON_PASS, np.nan), np.append(ON_FAIL, 1.0))
    spend, probability = risk.curve(50)
    assert len(spend) <= 50
    assert (np.diff(spend) >= 0).all()
    assert (np.diff(probability) >= 0).all()
    assert probability[-1] == pytest.approx(5 / 6)
    assert [risk.within(float(one)) for one in spend] == pytest.approx(probability.tolist())
