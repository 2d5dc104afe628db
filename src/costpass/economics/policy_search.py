"""Searching for a policy: what many policies at once spend, and steps from each to better ones.

A policy is a tuple of (strategy, tries) pairs. Policies are rated together, as arrays of policy × problem.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
import numpy.typing as npt

from costpass.economics.arrays import Expert, Floats, Ints

Policy = tuple[tuple[int, int], ...]

#: A policy is considered only if it tries no strategy more often than it was tried on this share of the problems.
MIN_OBSERVED = 0.9
_BEAM = 6
_RATED_AT_ONCE = 2**20
#: How many tries of a strategy are put in at a time.
_NEW_TRIES = (1, 2, 4)


class Table:
    """What j tries of each strategy do on each problem: `fail[j]`, `tries[j]` and the price of one, `[S, P]` each."""

    def __init__(self, n: Floats, k: Floats, price: Floats, most: int) -> None:
        self.price = price
        #: C(n-k, j) / C(n, j): the chance that all j fail.
        self.fail = np.ones((most + 1, *n.shape))
        #: How many of the j are expected to be made, stopping at the first pass.
        self.tries = np.zeros((most + 1, *n.shape))
        for j in range(most):
            left = np.where(k > 0, np.maximum(n - k - j, 0.0) / np.maximum(n - j, 1.0), 1.0)
            self.fail[j + 1] = self.fail[j] * np.where(n > 0, left, np.nan)
            self.tries[j + 1] = np.where(n > 0, self.tries[j] + self.fail[j], np.nan)

    def outcomes(self, policies: Sequence[Policy], expert: Expert) -> tuple[Floats, Floats]:
        """Expected spend and chance of a solution, `[policy, problem]` each; nan where not known."""
        count, problems = len(policies), self.price.shape[1]
        reach, cost = np.ones((count, problems)), np.zeros((count, problems))
        used = np.zeros((count, self.price.shape[0]), dtype=np.int64)
        for place in range(max(map(len, policies), default=0)):
            rows = np.array([row for row, policy in enumerate(policies) if len(policy) > place], dtype=np.int64)
            strategy, tries = np.array([policies[row][place] for row in rows], dtype=np.int64).T
            before = used[rows, strategy]
            after = before + tries
            # Tries of the same strategy made before are in the reach already: take their failing out of it.
            failed = self.fail[before, strategy]
            with np.errstate(invalid="ignore", divide="ignore"):
                reached = np.where(failed > 0, reach[rows] / failed, np.where(np.isnan(failed), np.nan, 0.0))
            made = self.tries[after, strategy] - self.tries[before, strategy]
            certain = reach[rows] == 0
            cost[rows] += np.where(certain, 0.0, reached * made * self.price[strategy])
            reach[rows] = np.where(certain, 0.0, reached * self.fail[after, strategy])
            used[rows, strategy] = after
        if expert is None:
            return cost, 1 - reach
        return cost + reach * expert, np.where(np.isnan(reach), np.nan, 1.0)


@dataclass(frozen=True)
class Limits:
    """How many steps, tries in one step, and tries in all a policy may have."""

    steps: int
    tries: int
    total: int


class Search:
    """The policies within some limits, and how much each spends per solution."""

    def __init__(
        self,
        n: npt.ArrayLike,
        k: npt.ArrayLike,
        mean_cost: npt.ArrayLike,
        verification: float,
        expert: Expert,
        limits: Limits,
    ) -> None:
        attempts, passes = np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64)
        price = np.asarray(mean_cost, dtype=np.float64) + verification
        self.strategies, self.problems = attempts.shape
        self.expert = expert
        self.limits = limits
        observed = np.quantile(attempts, 1 - MIN_OBSERVED, axis=1, method="lower").astype(np.int64)
        most: Ints = np.minimum(observed, limits.total)
        #: Tries of each strategy that may be used, over all its steps.
        self.most: list[int] = most.tolist()
        self.table = Table(*_without_gaps(attempts, passes, price), max(self.most, default=0))

    def steps(self) -> list[tuple[int, int]]:
        """Every single step that may be taken."""
        return [
            (strategy, tries)
            for strategy in range(self.strategies)
            for tries in range(1, min(self.limits.tries, self.most[strategy]) + 1)
        ]

    def spends(self, policies: Sequence[Policy]) -> Floats:
        """Spend per solution of each policy, Σ cost / Σ solved over the problems."""
        size = max(1, _RATED_AT_ONCE // max(1, self.problems))
        rates = [np.zeros(0)]
        for start in range(0, len(policies), size):
            cost, solved = self.table.outcomes(policies[start : start + size], self.expert)
            total = solved.sum(axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                rates.append(np.where(total > 0, cost.sum(axis=1) / total, np.inf))
        return np.concatenate(rates)

    def best(self, policies: Sequence[Policy]) -> Policy:
        return policies[int(np.argmin(self.spends(policies)))]

    def beam(self) -> list[Policy]:
        """The best policy of each length that appending to the best shorter ones gives, the cheapest first."""
        found: list[tuple[float, Policy]] = [(float(self.spends([()])[0]), ())]
        kept: list[Policy] = [()]
        for _ in range(self.limits.steps):
            grown = [
                (*policy, step)
                for policy in kept
                for step in self.steps()
                if not (policy and policy[-1][0] == step[0]) and self._allowed((*policy, step))
            ]
            if not grown:
                break
            ranked = sorted(zip(self.spends(grown).tolist(), grown, strict=True))
            kept = [policy for _, policy in ranked[:_BEAM]]
            found.append(ranked[0])
        return [policy for _, policy in sorted(found)]

    def improved(self, policy: Policy) -> Policy:
        """The policy that one change at a time leads to, the best change first, until none helps."""
        spend = float(self.spends([policy])[0])
        while True:
            changes = sorted({_merged(one) for one in self._neighbours(policy)} - {policy})
            changes = [one for one in changes if self._allowed(one)]
            if not changes:
                return policy
            spends = self.spends(changes)
            place = int(np.argmin(spends))
            if not spends[place] < spend:
                return policy
            spend, policy = float(spends[place]), changes[place]

    def _allowed(self, policy: Policy) -> bool:
        if len(policy) > self.limits.steps:
            return False
        total = 0
        of_each: dict[int, int] = {}
        for strategy, tries in policy:
            if not 0 < tries <= self.limits.tries:
                return False
            total += tries
            of_each[strategy] = of_each.get(strategy, 0) + tries
            if of_each[strategy] > self.most[strategy]:
                return False
        return total <= self.limits.total

    def _neighbours(self, policy: Policy) -> list[Policy]:
        new = [(strategy, tries) for strategy in range(self.strategies) for tries in _NEW_TRIES]
        changed: list[Policy] = [(*policy[:at], step, *policy[at:]) for at in range(len(policy) + 1) for step in new]
        for at, (own, tries) in enumerate(policy):
            before, after = policy[:at], policy[at + 1 :]
            changed.append(before + after)
            changed += [(*before, (strategy, tries), *after) for strategy in range(self.strategies)]
            changed += [(*before, (own, tries + more), *after) for more in (-2, -1, 1, 2)]
            others = before + after
            changed += [(*others[:to], (own, tries), *others[to:]) for to in range(len(others) + 1)]
        return changed


def _without_gaps(n: Floats, k: Floats, price: Floats) -> tuple[Floats, Floats, Floats]:
    """Where a strategy was never tried it is taken to fail at its mean price.

    Left unknown, those problems would drop out of the sums, and a search would learn to lose the hard ones.
    """
    missing = n == 0
    tried = np.maximum((~missing).sum(axis=1, keepdims=True), 1)
    typical = np.where(missing, 0.0, price).sum(axis=1, keepdims=True) / tried
    return np.where(missing, 1.0, n), np.where(missing, 0.0, k), np.where(missing, typical, price)


def _merged(policy: Policy) -> Policy:
    """Neighbouring steps of one strategy are one step."""
    if all(one[0] != other[0] for one, other in pairwise(policy)):
        return policy
    runs = groupby(policy, key=lambda step: step[0])
    return tuple((strategy, sum(tries for _, tries in run)) for strategy, run in runs)
