"""Did it help? Two arms on the same problems: the change in what a correct answer costs, and how sure that is."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from costpass.analysis.estimate import Estimate, Result, plain
from costpass.errors import CostpassError, did_you_mean
from costpass.ledger.cells import Array, Cells, Unit, cells
from costpass.ledger.scan import Scan
from costpass.uncertainty import paired

Verdict = Literal["cheaper", "dearer", "not decided"]
Method = Literal["linearised", "bootstrap"]

_FEW_CLUSTERS = 5
_FEW_TO_RESAMPLE = 20
#: A bound beyond a thousandfold says that there is none worth printing.
_FAR = 1000


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
class Against:
    """One arm against the baseline."""

    by: Mapping[str, Any]
    delta: Estimate
    p_value: float | None
    #: After Holm's correction for the number of arms.
    p_adjusted: float | None
    verdict: Verdict
    sentence: str
    success_rate_delta: Estimate
    spend_ratio: Estimate
    #: More attempts for each arm that would decide it four times out of five, if the change is what it seems.
    more_attempts: int | None
    overall: Change
    by_model: Sequence[Slice]
    by_capability: Sequence[Slice]
    by_problem: Sequence[ProblemChange]
    control: Change | None
    coverage: Coverage


@dataclass(frozen=True)
class Comparison(Result):
    """Every arm against the baseline."""

    baseline: str
    compared_by: str
    unit: str
    against: Sequence[Against]
    notes: Sequence[str] = field(default_factory=tuple)

    schema = "costpass.compare/1"

    def records(self) -> list[dict[str, Any]]:
        skipped = ("by_model", "by_capability", "by_problem", "overall", "control", "coverage")
        return [{key: value for key, value in plain(row).items() if key not in skipped} for row in self.against]


def compare(
    scan: Scan,
    *,
    baseline: str,
    against: Sequence[str] | None = None,
    by: str = "mode",
    cost: Unit | None = None,
    where: Mapping[str, str] | None = None,
    interval: Method = "linearised",
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compares arms, the values of field `by`, with the one named as the baseline.

    Control problems, on which nothing should change, are kept apart from the headline.
    """
    table = cells(scan, [by, "model"], cost=cost, where=where)
    arms = [str(arm) for arm in dict.fromkeys(arm for arm, _ in table.strategies) if arm is not None]
    others = _others(arms, baseline, against, by)
    measure = _Measure(interval, resamples, seed)
    found = [_against(table, baseline, other, by, measure) for other in others]
    adjusted = _holm([arm.p_value for arm in found])
    found = [replace(arm, p_adjusted=p) for arm, p in zip(found, adjusted, strict=True)]
    return Comparison(baseline, by, cost.name if cost else "usd", found, _notes(found, interval))


def _others(arms: Sequence[str], baseline: str, against: Sequence[str] | None, by: str) -> list[str]:
    for name in (baseline, *(against or ())):
        if name not in arms:
            known = ", ".join(arms[:8]) or "none"
            raise CostpassError(f"no attempt has {by} {name!r}{did_you_mean(name, arms)} (there are: {known})")
    others = [arm for arm in (against or arms) if arm != baseline]
    if not others:
        raise CostpassError(f"there is nothing to compare {baseline!r} with: no attempt has another {by}")
    return others


@dataclass(frozen=True)
class _Arms:
    """Two arms as sums over shared clusters."""

    cost: tuple[Array, Array]
    passes: tuple[Array, Array]
    attempts: tuple[Array, Array]

    @property
    def clusters(self) -> int:
        return len(self.cost[0])


@dataclass(frozen=True)
class _Measure:
    """How a change is measured."""

    method: Method
    resamples: int
    seed: int

    def change(self, arms: _Arms, problems: int) -> Change:
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

    def p_value(self, arms: _Arms) -> float | None:
        if arms.clusters < 2 or not arms.passes[0].sum() or not arms.passes[1].sum():
            return None
        p_value = paired.permutation_p(
            *_in_turn(arms.cost, arms.passes),
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


def _against(table: Cells, baseline: str, other: str, by: str, measure: _Measure) -> Against:
    pair = _Pair(table, baseline, other, measure)
    main = ~table.control
    arms, overall = pair.change(main)
    if not arms.clusters:
        raise CostpassError(
            f"{baseline!r} and {other!r} have no problem in common, so they cannot be compared (what counts are "
            "attempts with a known cost and outcome, faults and control problems apart)"
        )
    verdict = _verdict(overall.delta)
    more = _more_attempts(overall, arms)
    return Against(
        by={by: other},
        delta=overall.delta,
        p_value=measure.p_value(arms),
        p_adjusted=None,
        verdict=verdict,
        sentence=_sentence(other, baseline, overall, verdict, more),
        success_rate_delta=overall.success_rate_delta,
        spend_ratio=overall.spend_ratio,
        more_attempts=more,
        overall=overall,
        by_model=[Slice(model, pair.change(main, model)[1]) for model in pair.models],
        by_capability=pair.slices(main, table.capability),
        by_problem=pair.problems(),
        control=pair.change(table.control)[1] if table.control.any() else None,
        coverage=pair.coverage(),
    )


class _Pair:
    """Two arms of a table, and the slices they are compared on."""

    def __init__(self, table: Cells, baseline: str, other: str, measure: _Measure) -> None:
        self._table = table
        self._names = (baseline, other)
        self._measure = measure
        models = {arm: {model for name, model in table.strategies if name == arm} for arm in self._names}
        #: The models that both arms ran; a model that one arm alone ran is left out, lest models be compared
        #: instead of arms. Where the arms share none, as when models are the arms, each has all of its own.
        self.models = sorted(models[baseline] & models[other], key=str)
        self._all = self.models or sorted(models[baseline] | models[other], key=str)

    def change(self, problems: Any, model: Any = ...) -> tuple[_Arms, Change]:
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

    def _arms(self, problems: Any, models: Sequence[Any]) -> tuple[_Arms, int]:
        attempts = [self._sum(arm, lambda part: part.attempts, models) for arm in self._names]
        shared = problems & (attempts[0] > 0) & (attempts[1] > 0)
        cluster = np.unique(self._table.cluster[shared], return_inverse=True)[1]
        size = int(cluster.max()) + 1 if cluster.size else 0

        def pick(of: Callable[[Cells], Array]) -> tuple[Array, Array]:
            sums = [np.bincount(cluster, self._sum(arm, of, models)[shared], minlength=size) for arm in self._names]
            return sums[0].astype(np.float64), sums[1].astype(np.float64)

        arms = _Arms(pick(lambda part: part.cost), pick(lambda part: part.passes), pick(lambda part: part.attempts))
        return arms, int(shared.sum())

    def _sum(self, arm: str, of: Callable[[Cells], Array], models: Sequence[Any]) -> Array:
        rows = [row for row, (name, model) in enumerate(self._table.strategies) if name == arm and model in models]
        return np.asarray(of(self._table)[rows].sum(axis=0), dtype=np.float64)


def _verdict(delta: Estimate) -> Verdict:
    if delta.high is not None and delta.high < 0:
        return "cheaper"
    if delta.low is not None and delta.low > 0:
        return "dearer"
    return "not decided"


def _more_attempts(overall: Change, arms: _Arms) -> int | None:
    if _verdict(overall.delta) != "not decided" or overall.delta.value is None:
        return None
    needed = paired.clusters_needed(*paired.paired_log_ratio(*_in_turn(arms.cost, arms.passes)))
    if not math.isfinite(needed):
        return None
    return max(1, math.ceil(max(overall.attempts) * (needed / arms.clusters - 1)))


def _in_turn(cost: tuple[Array, Array], passes: tuple[Array, Array]) -> tuple[Array, Array, Array, Array]:
    return cost[0], passes[0], cost[1], passes[1]


def _sentence(other: str, baseline: str, overall: Change, verdict: Verdict, more: int | None) -> str:
    """The headline, with what makes it up."""
    if overall.delta.infinite:
        return (
            f"{other} never passed, so it bought no correct answer at all; {baseline} passed {overall.passed[0]} times."
        )
    if overall.delta.value is None and overall.passed[0]:
        return f"It cannot be said what {other} changes: {baseline} cost nothing, and nothing is a share of that."
    if overall.delta.value is None:
        return f"It cannot be said what {other} changes: {baseline} never passed on the problems they share."
    rates = [passed / tries for passed, tries in zip(overall.passed, overall.attempts, strict=True)]
    spend = overall.spend_ratio.value
    spent = "unknown" if spend is None else _signed(spend - 1)
    parts = f"spend {spent}, accuracy {_signed(rates[1] / rates[0] - 1)}"
    bounds = "" if overall.delta.low is None else f" [{_signed(overall.delta.low)}, {_bound(overall.delta.high)}]"
    end = {
        "cheaper": f"{other} is cheaper.",
        "dearer": f"{other} is dearer.",
        "not decided": "not decided"
        + (f"; about {more:,} more attempts of each, on as many more problems, would tell." if more else "."),
    }[verdict]
    return f"{other} against {baseline}: {_signed(overall.delta.value)}{bounds} per correct answer ({parts}): {end}"


def _signed(change: float) -> str:
    return f"{100 * change:+.1f} %".replace("-", "−")


def _bound(change: float | None) -> str:
    return "no limit" if change is None or change > _FAR else _signed(change)


def _holm(p_values: Sequence[float | None]) -> list[float | None]:
    known = [p for p in p_values if p is not None]
    adjusted = iter(paired.holm(np.array(known, dtype=np.float64))) if known else iter(())
    return [None if p is None else float(next(adjusted)) for p in p_values]


def _notes(found: Sequence[Against], interval: Method) -> list[str]:
    notes = []
    if interval == "bootstrap" and min(arm.overall.problems for arm in found) < _FEW_TO_RESAMPLE:
        notes.append("resampling so few problems gives intervals that are too narrow; the linearised ones hold")
    for arm in found:
        name = next(iter(arm.by.values()))
        coverage = arm.coverage
        missing = len(coverage.only_baseline) + len(coverage.only_this)
        if missing:
            notes.append(
                f"{name}: {missing} problems were attempted by one arm only and are left out "
                f"({len(coverage.only_baseline)} by the baseline, {len(coverage.only_this)} by {name})"
            )
        if coverage.uneven:
            notes.append(
                f"{name}: on {len(coverage.uneven)} problems one arm has over a fifth more attempts than the other"
            )
        if arm.overall.problems < _FEW_CLUSTERS:
            notes.append(f"{name}: only {arm.overall.problems} problems are shared; little can be said from so few")
    return notes
