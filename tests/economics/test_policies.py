"""Deployable policies: against enumeration of every order of the attempts, and what selection must not do."""

from itertools import pairwise, permutations, product

import numpy as np
import pytest

from costpass.economics.arrays import Floats
from costpass.economics.policies import Step, best_cascade, best_single, cross_validated, policy_cost


def by_enumeration(
    steps: list[Step], n: list[int], k: list[int], cost: list[float], verification: float, expert: float | None
) -> tuple[float, float]:
    """Spend and solutions averaged over every order in which each strategy's attempts may come up."""
    orders = [
        set(permutations([True] * passes + [False] * (tries - passes))) for tries, passes in zip(n, k, strict=True)
    ]
    spends, solutions = [], []
    for outcome in product(*orders):
        spend, solved, used = 0.0, False, [0] * len(n)
        for strategy in [step.strategy for step in steps for _ in range(step.tries)]:
            if solved:
                break
            spend += cost[strategy] + verification
            solved = outcome[strategy][used[strategy]]
            used[strategy] += 1
        if not solved and expert is not None:
            spend, solved = spend + expert, True
        spends.append(spend)
        solutions.append(solved)
    return float(np.mean(spends)), float(np.mean(solutions))


@pytest.mark.parametrize("expert", [None, 2.0])
@pytest.mark.parametrize(
    "steps",
    [
        [],
        [Step(0, 3)],
        [Step(0, 1), Step(1, 2)],
        [Step(1, 1), Step(0, 2), Step(1, 2)],
        [Step(2, 1), Step(0, 4), Step(2, 2), Step(1, 1)],
    ],
)
def test_policy_cost_equals_the_mean_over_every_order_of_the_attempts(steps: list[Step], expert: float | None) -> None:
    n, cost = [4, 3, 3], [0.1, 0.4, 0.7]
    for k in ([0, 0, 0], [1, 2, 0], [4, 1, 3], [2, 0, 1]):
        columns = [np.array(column, dtype=np.float64)[:, None] for column in (n, k, cost)]
        got = policy_cost(steps, *columns, verification=0.05, expert=expert)
        assert (float(got[0][0]), float(got[1][0])) == pytest.approx(by_enumeration(steps, n, k, cost, 0.05, expert))


def test_a_problem_the_policy_cannot_know_is_nan_unless_solved_before() -> None:
    n, k = np.array([[4, 4], [0, 0]]), np.array([[4, 2], [0, 0]])
    cost, solved = policy_cost([Step(0, 1), Step(1, 1)], n, k, np.array([[0.1, 0.1], [np.nan, np.nan]]), expert=1.0)
    assert cost[0] == pytest.approx(0.1)
    assert np.isnan(cost[1])
    assert np.isnan(solved[1])


def world(seed: int, strategies: int, problems: int, attempts: int) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    logit = np.linspace(-1, 2, strategies)[:, None] - rng.normal(0, 1.5, problems)
    cost = np.exp(np.linspace(-5, -2, strategies))[:, None] * np.ones(problems)
    n = np.full((strategies, problems), float(attempts))
    return n, rng.binomial(attempts, 1 / (1 + np.exp(-logit))).astype(np.float64), cost


def spend_per_solution(steps: list[Step], n: Floats, k: Floats, cost: Floats, expert: float | None) -> float:
    spend, solved = policy_cost(steps, n, k, cost, expert=expert)
    return float(spend.sum() / solved.sum())


@pytest.mark.parametrize("expert", [0.5, 5.0, None])
def test_the_cascade_found_is_the_best_of_all(expert: float | None) -> None:
    n, k, cost = world(1, 3, 60, 4)
    found = best_cascade(n, k, cost, expert=expert, max_steps=3, max_tries=2)
    steps = [Step(strategy, tries) for strategy in range(3) for tries in (1, 2)]
    every = [list(policy) for length in (1, 2, 3) for policy in product(steps, repeat=length)]
    distinct = [one for one in every if all(a.strategy != b.strategy for a, b in pairwise(one))]
    least = min(spend_per_solution(policy, n, k, cost, expert) for policy in distinct)
    assert spend_per_solution(found, n, k, cost, expert) == pytest.approx(least, rel=0.01)


def test_the_best_single_strategy_is_the_best_of_all() -> None:
    n, k, cost = world(2, 4, 80, 6)
    (step,) = best_single(n, k, cost, expert=1.0)
    every = [Step(strategy, tries) for strategy in range(4) for tries in range(1, 7)]
    assert step == min(every, key=lambda one: spend_per_solution([one], n, k, cost, 1.0))
    cascade = best_cascade(n, k, cost, expert=1.0)
    assert spend_per_solution(cascade, n, k, cost, 1.0) <= spend_per_solution([step], n, k, cost, 1.0)


def test_an_expert_cheaper_than_any_try_is_asked_at_once() -> None:
    n, k, cost = world(3, 3, 20, 4)
    assert best_single(n, k, cost, expert=1e-6) == []
    assert best_cascade(n, k, cost, expert=1e-6) == []


def test_verification_makes_a_cheap_unreliable_step_not_worth_it() -> None:
    n, k = np.full((2, 10), 8.0), np.array([[1.0] * 10, [8.0] * 10])
    cost = np.array([[0.001] * 10, [0.1] * 10])
    assert best_cascade(n, k, cost, expert=9.0)[0].strategy == 0
    assert best_cascade(n, k, cost, expert=9.0, verification=0.5) == [Step(1, 1)]


def test_missing_cells_do_not_let_a_strategy_drop_the_hard_problems() -> None:
    n, k = np.full((2, 40), 4.0), np.full((2, 40), 2.0)
    cost = np.full((2, 40), 0.1)
    n[0, :3], k[0, :3], cost[0, :3] = 0, 0, np.nan
    assert best_single(n, k, cost, expert=1.0)[0].strategy == 1


def test_held_out_problems_are_not_seen_by_the_selection() -> None:
    n, k, cost = world(4, 3, 30, 4)
    cost = cost + np.arange(30) * 1e-9
    group = np.repeat(np.arange(10), 3)
    seen: list[set[float]] = []

    def select(n: Floats, k: Floats, mean_cost: Floats, *, verification: float, expert: float) -> list[Step]:
        assert n.shape == k.shape
        assert (verification, expert) == (0.0, 1.0)
        seen.append(set(mean_cost[0].tolist()))
        return [Step(len(seen) % 3, 1)]

    held_out, solved, policies = cross_validated(
        select, n, k, cost, folds=5, group=group, rng=np.random.default_rng(0), expert=1.0
    )
    assert len(seen) == len(policies) == 5
    for fold, policy in enumerate(policies):
        unseen = np.array([price not in seen[fold] for price in cost[0].tolist()])
        assert unseen.sum() == 6
        assert all(unseen[group == name].all() or not unseen[group == name].any() for name in range(10))
        expected, _ = policy_cost(policy, n[:, unseen], k[:, unseen], cost[:, unseen], expert=1.0)
        assert held_out[unseen].tolist() == expected.tolist()
    assert solved.tolist() == [1.0] * 30


def test_per_problem_expert_prices_follow_their_problems_into_the_folds() -> None:
    n, k, cost = world(5, 2, 12, 4)
    expert = np.arange(1.0, 13.0)
    held_out, _, _ = cross_validated(
        lambda *_, **__: [], n, k, cost, folds=3, rng=np.random.default_rng(1), expert=expert
    )
    assert held_out.tolist() == expert.tolist()


def test_one_group_cannot_be_cross_validated() -> None:
    n, k, cost = world(6, 2, 5, 4)
    with pytest.raises(ValueError, match="two groups"):
        cross_validated(best_single, n, k, cost, group=["a"] * 5, rng=np.random.default_rng(0))
