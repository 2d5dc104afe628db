"""Policies that can be deployed: chosen on some problems, scored on others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costpass.analysis.estimate import Estimate
from costpass.economics import policies
from costpass.ledger.cells import Array, Cells
from costpass.uncertainty import pooled

_FOLDS = 5


@dataclass(frozen=True)
class PolicyStep:
    """What to try, how often, before going on."""

    strategy: str
    tries: int


@dataclass(frozen=True)
class Deployable:
    """A policy, and what a solution costs with it on problems it was not chosen on."""

    policy: Sequence[PolicyStep]
    #: The price at which an expert takes what is left; None: what is left stays unsolved.
    then_expert_usd: float | None
    cost_usd: Estimate
    solved_share: float
    sentence: str


def best_single(part: Cells, expert: float | None, verification: float, seed: int) -> Deployable | None:
    """The one strategy, and number of tries, that costs least."""
    return _deployable(policies.best_single, part, expert, verification, seed)


def best_cascade(part: Cells, expert: float | None, verification: float, seed: int) -> Deployable | None:
    """The ordered tries of several strategies that cost least."""
    return _deployable(policies.best_cascade, part, expert, verification, seed)


def _deployable(choose: Any, part: Cells, expert: float | None, verification: float, seed: int) -> Deployable | None:
    n, k = part.attempts, part.passes
    if not k.any() or int(part.cluster.max()) + 1 < 2:
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(n > 0, part.cost / n, np.nan)
    folds = min(_FOLDS, int(part.cluster.max()) + 1)
    cost, solved, _ = policies.cross_validated(
        choose,
        n,
        k,
        mean,
        folds=folds,
        group=part.cluster,
        rng=np.random.default_rng(seed),
        verification=verification,
        expert=expert,
    )
    steps = choose(n, k, mean, verification=verification, expert=expert)
    if not steps and expert is None:
        return None
    policy = [PolicyStep(str(part.strategies[step.strategy][0]), int(step.tries)) for step in steps]
    share = float(np.mean(_own(steps, n, k, mean, verification)))
    estimate = Estimate.of(pooled.ratio_interval(_clustered(part, cost), _clustered(part, solved)))
    return Deployable(policy, expert, estimate, share, _sentence(policy, expert, share))


def _own(steps: Any, n: Array, k: Array, mean: Array, verification: float) -> Array:
    """The chance of a solution before any expert is asked, by problem."""
    _, solved = policies.policy_cost(steps, n, k, mean, verification=verification, expert=None)
    return np.asarray(solved, dtype=np.float64)


def _clustered(part: Cells, values: Array) -> Array:
    return np.bincount(part.cluster, values).astype(np.float64)


def _sentence(policy: Sequence[PolicyStep], expert: float | None, share: float) -> str:
    if not policy:
        return "Ask the expert straight away: no strategy is worth trying first."
    steps = [f"{step.strategy}{f' up to {step.tries} times' if step.tries > 1 else ''}" for step in policy]
    rest = f", then the expert for the {1 - share:.0%} that are left" if expert is not None else ""
    return f"Try {', then '.join(steps)}{rest}."
