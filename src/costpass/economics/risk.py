"""Risk: the distribution of spend until the first pass, for one strategy on a problem drawn at random.

On one problem, tries are independent with chance k/n: the number of failures before the pass is geometric, each costs
what failures cost on average and the pass what passes do. Over problems this is a mixture, with mass at infinity for
those never solved. The spread of cost between attempts of one kind on one problem is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costpass.economics.arrays import Floats, Ints

_TAIL = 1e-6
_MAX_FAILURES = 20_000
#: Cumulated probabilities are sums of up to millions of terms; a quantile must not be missed by their rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Risk:
    """Spend until the first pass on a random problem; infinite where the unsolved problems reach."""

    mean: float
    p50: float
    p90: float
    #: Mean of the worst tenth of outcomes.
    cvar90: float
    #: Share of problems never solved: the mass at infinity.
    unsolved: float
    #: Problems with an attempt; the others are left out.
    problems: int
    budgets: tuple[float, ...]
    #: Chance of a pass within each of the budgets.
    chances: tuple[float, ...]
    #: Every possible spend in rising order, and the chance of a pass within it.
    spend: Floats
    probability: Floats

    def within(self, budget: float) -> float:
        """Chance of a pass before more than this is spent."""
        reached = int(np.searchsorted(self.spend, budget * (1 + _ROUNDING), side="right"))
        return float(self.probability[reached - 1]) if reached else 0.0

    def quantile(self, share: float) -> float:
        """Least spend that suffices with this chance; infinite where no spend does."""
        at = int(np.searchsorted(self.probability, share - _ROUNDING))
        return float(self.spend[at]) if at < len(self.spend) else float("inf")

    def curve(self, points: int = 200) -> tuple[Floats, Floats]:
        """Spend and chance of a pass within it at up to that many spends, evenly spaced by probability."""
        if len(self.spend) <= points:
            return self.spend, self.probability
        at = np.searchsorted(self.probability, np.linspace(self.probability[0], self.probability[-1], points))
        chosen = np.unique(np.minimum(at, len(self.spend) - 1))
        return self.spend[chosen], self.probability[chosen]


def spend_to_pass(
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    pass_cost_mean: npt.ArrayLike,
    fail_cost_mean: npt.ArrayLike,
    *,
    budgets: Sequence[float] = (),
) -> Risk:
    """Risk of one strategy over problems `[P]`, each with k of n attempts passed and mean costs by outcome.

    A mean cost is nan where there was no such attempt; problems with n = 0 are left out.

    >>> risk = spend_to_pass([4, 4], [4, 2], [1.0, 1.0], [np.nan, 3.0], budgets=[1.0, 5.0])
    >>> risk.mean, risk.p50, risk.p90, risk.chances
    (2.5, 1.0, 7.0, (0.75, 0.875))
    >>> spend_to_pass([4, 4], [4, 0], [1.0, np.nan], [np.nan, 3.0]).p90
    inf
    """
    attempts, passes = np.asarray(n, dtype=np.int64), np.asarray(k, dtype=np.int64)
    on_pass, on_fail = np.asarray(pass_cost_mean, dtype=np.float64), np.asarray(fail_cost_mean, dtype=np.float64)
    problems = int((attempts > 0).sum())
    if not problems:
        return Risk(np.nan, np.nan, np.nan, np.nan, np.nan, 0, tuple(budgets), (np.nan,) * len(budgets), _NONE, _NONE)
    solved = passes > 0
    chance = passes[solved] / attempts[solved]
    spend, mass = _outcomes(chance, on_pass[solved], np.where(chance < 1, on_fail[solved], 0.0), problems)
    return _summary(spend, mass, problems, int(((attempts > 0) & ~solved).sum()), tuple(budgets))


_NONE: Floats = np.zeros(0)


def _outcomes(chance: Floats, on_pass: Floats, on_fail: Floats, problems: int) -> tuple[Floats, Floats]:
    """Spend and probability of every number of failures on every solved problem, sorted by spend.

    What is left when the enumeration stops goes to its expected spend, so the mean stays exact.
    """
    failing = 1 - chance
    with np.errstate(divide="ignore"):
        needed = np.where(failing > 0, np.ceil(np.log(_TAIL) / np.log(failing)), 0)
    last: Ints = np.minimum(needed, _MAX_FAILURES).astype(np.int64)
    owner = np.repeat(np.arange(len(chance)), last + 1)
    failures = np.arange(len(owner)) - np.repeat(np.cumsum(last + 1) - (last + 1), last + 1)
    spend = on_pass[owner] + failures * on_fail[owner]
    mass = chance[owner] * failing[owner] ** failures
    rest = failing ** (last + 1)
    rest_spend = on_pass + (last + 1 + failing / chance) * on_fail
    spend, mass = np.concatenate([spend, rest_spend]), np.concatenate([mass, rest]) / problems
    order = np.argsort(spend, kind="stable")
    return spend[order], mass[order]


def _summary(spend: Floats, mass: Floats, problems: int, unsolved: int, budgets: tuple[float, ...]) -> Risk:
    probability = np.cumsum(mass)
    last_of_equal = (
        np.append(spend[1:] > spend[:-1] * (1 + _ROUNDING), True) if len(spend) else np.zeros(0, dtype=np.bool_)
    )
    levels, reached = spend[last_of_equal], probability[last_of_equal]
    draft = Risk(0, 0, 0, 0, unsolved / problems, problems, budgets, (), levels, reached)
    return Risk(
        mean=float("inf") if unsolved else float(spend @ mass),
        p50=draft.quantile(0.5),
        p90=draft.quantile(0.9),
        cvar90=float("inf") if unsolved else _mean_above(spend, mass, probability, 0.9),
        unsolved=unsolved / problems,
        problems=problems,
        budgets=budgets,
        chances=tuple(draft.within(budget) for budget in budgets),
        spend=levels,
        probability=reached,
    )


def _mean_above(spend: Floats, mass: Floats, probability: Floats, share: float) -> float:
    """Mean of the outcomes beyond a share of them, an outcome that straddles it counted in part."""
    beyond = np.clip(probability - share, 0.0, mass)
    return float(spend @ beyond / beyond.sum())
