"""Two arms of a comparison as arrays over the problems that they share, and what changes between them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from costpass.analysis.estimate import Estimate
from costpass.ledger.cells import Array, Cells
from costpass.uncertainty import paired

Method = Literal["linearised", "bootstrap"]


@dataclass(frozen=True)
class Change:
    """How one arm's cost of pass differs from the baseline's, on the problems that both attempted."""

    #: The ratio of the pooled costs of pass, minus one.
    delta: Estimate
    success_rate_delta: Estimate
    spend_ratio: Estimate
    problems: int
    attempts: tuple[int, int]
    passed: tuple[int, int]
    cost_of_pass: tuple[Estimate, Estimate]


@dataclass(frozen=True)
class Slice:
    """The change on one model, capability or problem."""

    name: str | None
    change: Change


@dataclass(frozen=True)
class ProblemChange:
    """The two arms on one problem; from one problem alone no interval can be had."""

    benchmark: str | None
    problem: str
    attempts: tuple[int, int]
    passed: tuple[int, int]
    cost_of_pass: tuple[Estimate, Estimate]
    delta: Estimate


@dataclass(frozen=True)
class Coverage:
    """Which cells the two arms share."""

    shared_problems: int
    only_baseline: Sequence[str]
    only_this: Sequence[str]
    uneven: Sequence[str]


@dataclass(frozen=True)
class Arms:
    """Two arms as sums over shared clusters."""

    cost: tuple[Array, Array]
    passes: tuple[Array, Array]
    attempts: tuple[Array, Array]

    @property
    def clusters(self) -> int:
        return len(self.cost[0])


@dataclass(frozen=True)
class Measure:
    """How a change is measured."""

    method: Method
    resamples: int
    seed: int

    def change(self, arms: Arms, problems: int) -> Change:
        (cost_a, cost_b), (pass_a, pass_b), (n_a, n_b) = arms.cost, arms.passes, arms.attempts
        if self.method == "bootstrap":
            rng = np.random.default_rng(self.seed)
            delta = paired.joint_bootstrap(cost_a, pass_a, cost_b, pass_b, resamples=self.resamples, rng=rng)
        else:
            delta = paired.paired_ratio(cost_a, pass_a, cost_b, pass_b, attempts_a=n_a, attempts_b=n_b)
        return Change(
            delta=Estimate.of(delta),
            success_rate_delta=Estimate.of(paired.paired_rate_delta(pass_a, n_a, pass_b, n_b)),
            spend_ratio=_as_ratio(Estimate.of(paired.paired_spend_ratio(cost_a, n_a, cost_b, n_b))),
            problems=problems,
            attempts=(int(n_a.sum()), int(n_b.sum())),
            passed=(int(pass_a.sum()), int(pass_b.sum())),
            cost_of_pass=(_pooled(cost_a, pass_a), _pooled(cost_b, pass_b)),
        )

    def p_value(self, arms: Arms) -> float | None:
        if arms.clusters < 2 or not arms.passes[0].sum() or not arms.passes[1].sum():
            return None
        p_value = paired.permutation_p(
            *in_turn(arms.cost, arms.passes),
            attempts_a=arms.attempts[0],
            attempts_b=arms.attempts[1],
            permutations=self.resamples,
            rng=np.random.default_rng(self.seed),
        )
        return None if math.isnan(p_value) else float(p_value)


def _as_ratio(change: Estimate) -> Estimate:
    """A ratio minus one as the ratio."""

    def back(bound: float | None) -> float | None:
        return None if bound is None else 1 + bound

    return Estimate(back(change.value), back(change.low), back(change.high), change.infinite)


def _pooled(cost: Array, passes: Array) -> Estimate:
    if not cost.size:
        return Estimate(None)
    return Estimate.point(float(cost.sum() / passes.sum()) if passes.sum() else math.inf)


class Pair:
    """Two arms of a table, and the slices they are compared on."""

    def __init__(self, table: Cells, baseline: str, other: str, measure: Measure) -> None:
        self._table = table
        self._names = (baseline, other)
        self._measure = measure
        models = {arm: {model for name, model in table.strategies if name == arm} for arm in self._names}
        #: The models that both arms ran; a model that one arm alone ran is left out, lest models be compared
        #: instead of arms. Where the arms share none, as when models are the arms, each has all of its own.
        self.models = sorted(models[baseline] & models[other], key=str)
        self._all = self.models or sorted(models[baseline] | models[other], key=str)

    def change(self, problems: Any, model: Any = ...) -> tuple[Arms, Change]:
        """The change on some problems, on one model or on all that both arms ran."""
        arms, count = self._arms(problems, self._all if model is ... else [model])
        return arms, self._measure.change(arms, count)

    def slices(self, problems: Any, labels: Sequence[str | None]) -> list[Slice]:
        """The change for each label that some problems carry and both arms attempted."""
        found = []
        array = np.array([label if label is not None else "" for label in labels], dtype=object)
        for label in sorted({label for label in labels if label is not None}):
            arms, change = self.change(problems & (array == label))
            if arms.clusters:
                found.append(Slice(label, change))
        return found

    def problems(self) -> list[ProblemChange]:
        """Every problem that both arms attempted."""
        attempts, passes, cost = (
            [self._sum(arm, of, self._all) for arm in self._names]
            for of in (lambda part: part.attempts, lambda part: part.passes, lambda part: part.cost)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            each = [np.where(p > 0, c / p, np.inf) for c, p in zip(cost, passes, strict=True)]
            delta = np.where(np.isfinite(each[0]), each[1] / each[0] - 1, np.nan)
        shared = np.flatnonzero((attempts[0] > 0) & (attempts[1] > 0))
        return [
            ProblemChange(
                *self._table.problems[place],
                attempts=(int(attempts[0][place]), int(attempts[1][place])),
                passed=(int(passes[0][place]), int(passes[1][place])),
                cost_of_pass=(Estimate.point(float(each[0][place])), Estimate.point(float(each[1][place]))),
                delta=Estimate.point(float(delta[place])),
            )
            for place in shared
        ]

    def coverage(self) -> Coverage:
        counts = [self._sum(arm, lambda part: part.attempts, self._all) for arm in self._names]
        names = np.array([problem for _, problem in self._table.problems], dtype=object)
        tried = [count > 0 for count in counts]
        uneven = tried[0] & tried[1] & (np.abs(counts[0] - counts[1]) > 0.2 * np.maximum(counts[0], counts[1]))
        return Coverage(
            shared_problems=int((tried[0] & tried[1]).sum()),
            only_baseline=list(names[tried[0] & ~tried[1]]),
            only_this=list(names[tried[1] & ~tried[0]]),
            uneven=list(names[uneven]),
        )

    def _arms(self, problems: Any, models: Sequence[Any]) -> tuple[Arms, int]:
        attempts = [self._sum(arm, lambda part: part.attempts, models) for arm in self._names]
        shared = problems & (attempts[0] > 0) & (attempts[1] > 0)
        cluster = np.unique(self._table.cluster[shared], return_inverse=True)[1]
        size = int(cluster.max()) + 1 if cluster.size else 0

        def pick(of: Callable[[Cells], Array]) -> tuple[Array, Array]:
            sums = [np.bincount(cluster, self._sum(arm, of, models)[shared], minlength=size) for arm in self._names]
            return sums[0].astype(np.float64), sums[1].astype(np.float64)

        arms = Arms(pick(lambda part: part.cost), pick(lambda part: part.passes), pick(lambda part: part.attempts))
        return arms, int(shared.sum())

    def _sum(self, arm: str, of: Callable[[Cells], Array], models: Sequence[Any]) -> Array:
        rows = [row for row, (name, model) in enumerate(self._table.strategies) if name == arm and model in models]
        return np.asarray(of(self._table)[rows].sum(axis=0), dtype=np.float64)


def in_turn(cost: tuple[Array, Array], passes: tuple[Array, Array]) -> tuple[Array, Array, Array, Array]:
    return cost[0], passes[0], cost[1], passes[1]
