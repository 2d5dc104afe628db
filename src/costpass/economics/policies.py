"""Policies that can be deployed: ordered tries with a check after each, then perhaps the expert.

The paper's frontier picks the best strategy of each problem after seeing the answers. A policy is fixed beforehand:
the same steps for every problem, stopping at the first pass. It is chosen here, and scored on other problems.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costpass.economics.arrays import Expert, Floats, Ints
from costpass.economics.policy_search import Limits, Policy, Search, Table

#: How many of the policies that the beam found are improved on.
_IMPROVED = 2


@dataclass(frozen=True, order=True)
class Step:
    """Up to `tries` attempts of one strategy, stopping at the first pass."""

    strategy: int
    tries: int


#: Chooses a policy from n, k, mean_cost `[S, P]`, with keywords verification and expert.
Select = Callable[..., list[Step]]


def policy_cost(
    steps: Sequence[Step],
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    mean_cost: npt.ArrayLike,
    *,
    verification: float = 0.0,
    expert: Expert = None,
) -> tuple[Floats, Floats]:
    """Expected spend and chance of a solution on each problem, `[P]` each, of trying the steps in order.

    Each try is checked, at a price, and the first pass ends it; the expert, if there is one, solves what is left. The
    chance that j tries of a strategy all fail is C(n-k, j) / C(n, j), which is unbiased, also when they are
    spread over several steps; a try costs the mean of that strategy on that problem. Beyond n tries, a strategy that
    never passed goes on failing. nan on problems where a step may be reached whose strategy was never tried there.

    >>> cost, solved = policy_cost([Step(0, 2)], [[4, 4]], [[2, 0]], [[0.1, 0.1]], expert=1.0)
    >>> cost.round(4).tolist(), solved.tolist()
    ([0.3167, 1.2], [1.0, 1.0])
    """
    attempts, price = np.asarray(n, dtype=np.float64), np.asarray(mean_cost, dtype=np.float64) + verification
    tries = {step.strategy: sum(one.tries for one in steps if one.strategy == step.strategy) for step in steps}
    table = Table(attempts, np.asarray(k, dtype=np.float64), price, max(tries.values(), default=0))
    cost, solved = table.outcomes([tuple((step.strategy, step.tries) for step in steps)], expert)
    return cost[0], solved[0]


def best_single(
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    mean_cost: npt.ArrayLike,
    *,
    verification: float = 0.0,
    expert: Expert = None,
    max_tries: int = 8,
) -> list[Step]:
    """The one strategy, and how often to try it, with the least spend per solution.

    Empty when the expert alone is cheaper than any, or nothing was ever solved.
    """
    search = Search(n, k, mean_cost, verification, expert, Limits(1, max_tries, max_tries))
    policies: list[Policy] = [(), *((step,) for step in search.steps())]
    return _steps(search.best(policies))


def best_cascade(
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    mean_cost: npt.ArrayLike,
    *,
    verification: float = 0.0,
    expert: Expert = None,
    max_steps: int = 4,
    max_tries: int = 8,
    max_total_tries: int = 16,
) -> list[Step]:
    """A sequence of tries with little spend per solution, Σ cost / Σ solved over the problems.

    A beam search appends steps. Then the best it found are changed in one place, a step put in, taken out, exchanged,
    moved or made longer or shorter, as long as that helps: a cheap first step shows its worth only once a dear one
    follows. Not proven optimal. Empty when the expert alone is cheaper, or nothing was solved.
    """
    search = Search(n, k, mean_cost, verification, expert, Limits(max_steps, max_tries, max_total_tries))
    return _steps(search.best([search.improved(start) for start in search.beam()[:_IMPROVED]]))


def cross_validated(
    select: Select,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    mean_cost: npt.ArrayLike,
    *,
    folds: int = 5,
    group: npt.ArrayLike | None = None,
    rng: np.random.Generator,
    verification: float = 0.0,
    expert: Expert = None,
) -> tuple[Floats, Floats, list[list[Step]]]:
    """Held-out spend and chance of a solution per problem, and the policy of each fold.

    Each fold's problems are scored with the policy that `select` chose on all others. Problems of one `group` stay
    together. With fewer groups than folds, every group is a fold.
    """
    attempts, passes = np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64)
    price = np.asarray(mean_cost, dtype=np.float64)
    fold = _folds(np.arange(attempts.shape[1]) if group is None else np.asarray(group), folds, rng)
    cost, solved = np.full(attempts.shape[1], np.nan), np.full(attempts.shape[1], np.nan)
    policies = []
    for held_out in (fold == number for number in range(int(fold.max()) + 1)):
        seen = ~held_out
        steps = select(
            attempts[:, seen],
            passes[:, seen],
            price[:, seen],
            verification=verification,
            expert=_expert_on(expert, seen),
        )
        policies.append(steps)
        cost[held_out], solved[held_out] = policy_cost(
            steps,
            attempts[:, held_out],
            passes[:, held_out],
            price[:, held_out],
            verification=verification,
            expert=_expert_on(expert, held_out),
        )
    return cost, solved, policies


def _steps(policy: Policy) -> list[Step]:
    return [Step(strategy, tries) for strategy, tries in policy]


def _folds(group: npt.NDArray[np.generic], folds: int, rng: np.random.Generator) -> Ints:
    """A fold number for each problem, the same within a group."""
    names, member = np.unique(group, return_inverse=True)
    if len(names) < 2:
        raise ValueError("choosing and scoring on different problems needs at least two groups of problems")
    fold_of_group = np.empty(len(names), dtype=np.int64)
    fold_of_group[rng.permutation(len(names))] = np.arange(len(names)) % min(folds, len(names))
    return np.asarray(fold_of_group[member.reshape(-1)], dtype=np.int64)


def _expert_on(expert: Expert, problems: npt.NDArray[np.bool_]) -> Expert:
    if expert is None or np.ndim(expert) == 0:
        return expert
    return np.asarray(expert, dtype=np.float64)[problems]
