"""Two arms over the clusters that they share: ratios and differences with their intervals. The ratio is always B over
A, minus 1; a cluster that only one arm has holds zeros in the other and counts in that arm's sums alone."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costpass.uncertainty.arrays import Bools, Floats, Ints, column, floats, present
from costpass.uncertainty.bootstrap import extended_quantiles, pooled_ratios, resampled_sums
from costpass.uncertainty.decision import clusters_needed, holm
from costpass.uncertainty.interval import Interval, Intervals
from costpass.uncertainty.jackknife import (
    deleted_log_ratios,
    jackknife_scale,
    linear_log_ratios,
    linear_scale,
    norm,
    t_quantile,
)
from costpass.uncertainty.permutation import permutation_p
from costpass.uncertainty.pooled import ratios_interval

__all__ = [
    "LogRatios",
    "clusters_needed",
    "holm",
    "joint_bootstrap",
    "paired_log_ratio",
    "paired_rate_delta",
    "paired_ratio",
    "paired_ratios",
    "paired_spend_ratio",
    "permutation_p",
]

METHOD = "paired log jackknife over clusters, t"


@dataclass(frozen=True)
class LogRatios:
    """log(ratio of B / ratio of A) per column, its standard error, and how many clusters the scarcer arm has.

    `first_order` is the linearised standard error, which stays finite where a single cluster holds all of a sum.
    """

    value: Floats
    se: Floats
    first_order: Floats
    clusters: Ints


def paired_ratio(
    cost_a: npt.ArrayLike,
    passes_a: npt.ArrayLike,
    cost_b: npt.ArrayLike,
    passes_b: npt.ArrayLike,
    *,
    attempts_a: npt.ArrayLike | None = None,
    attempts_b: npt.ArrayLike | None = None,
    level: float = 0.95,
) -> Interval:
    """B's pooled cost of pass over A's, minus 1, with the interval of that very figure.

    >>> delta = paired_ratio([1, 2, 3, 2], [4, 3, 2, 4], [0.6, 1.1, 1.4, 1.2], [4, 3, 3, 4])
    >>> print(f"{delta.value:+.1%} [{delta.low:+.1%}, {delta.high:+.1%}]")
    -50.1% [-69.2%, -19.1%]
    """
    return paired_ratios(
        column(cost_a),
        column(passes_a),
        column(cost_b),
        column(passes_b),
        attempts_a=None if attempts_a is None else column(attempts_a),
        attempts_b=None if attempts_b is None else column(attempts_b),
        level=level,
    )[0]


def paired_ratios(
    cost_a: npt.ArrayLike,
    passes_a: npt.ArrayLike,
    cost_b: npt.ArrayLike,
    passes_b: npt.ArrayLike,
    *,
    attempts_a: npt.ArrayLike | None = None,
    attempts_b: npt.ArrayLike | None = None,
    level: float = 0.95,
) -> Intervals:
    """The same for every column of clusters × comparisons.

    Where only a single cluster passed in B nothing bounds the ratio above; in A, nothing below. Where B never passed
    the value is infinite and `low` a one-sided bound (nan without attempts); where A never passed the value cannot be
    said, and `high` is the bound. With neither there is nothing to compare.
    """
    a, b = (floats(cost_a), floats(passes_a)), (floats(cost_b), floats(passes_b))
    tried_a = None if attempts_a is None else floats(attempts_a)
    tried_b = None if attempts_b is None else floats(attempts_b)
    fitted = _log_ratios(a, b, tried_a, tried_b)
    value = _ratio_of_ratios(a[0].sum(axis=0), a[1].sum(axis=0), b[0].sum(axis=0), b[1].sum(axis=0))
    low, high = _bounds(value, fitted, _on_one_cluster(a), _on_one_cluster(b), level)
    spent = (a[0].sum(axis=0) > 0) & (b[0].sum(axis=0) > 0)
    passed_a, passed_b = a[1].sum(axis=0) > 0, b[1].sum(axis=0) > 0
    only_a, only_b = spent & passed_a & ~passed_b, spent & passed_b & ~passed_a
    if only_a.any() or only_b.any():
        least = _least_ratio_if_never(a, b, tried_a, tried_b, level)
        with np.errstate(divide="ignore", over="ignore"):
            most = 1 / (1 + _least_ratio_if_never(b, a, tried_b, tried_a, level)) - 1
        low = np.where(only_a, least, np.where(only_b, np.nan, low))
        high = np.where(only_a, np.inf, np.where(only_b, most, high))
    said = spent & (passed_a | passed_b)
    return Intervals(value, np.where(said, low, np.nan), np.where(said, high, np.nan), METHOD)


def paired_log_ratio(
    cost_a: npt.ArrayLike, passes_a: npt.ArrayLike, cost_b: npt.ArrayLike, passes_b: npt.ArrayLike
) -> tuple[float, float, int]:
    """log(ratio of B / ratio of A), its standard error and its clusters: what `clusters_needed` asks for."""
    fitted = _log_ratios((column(cost_a), column(passes_a)), (column(cost_b), column(passes_b)), None, None)
    return float(fitted.value[0]), float(fitted.se[0]), int(fitted.clusters[0])


def paired_spend_ratio(
    cost_a: npt.ArrayLike,
    attempts_a: npt.ArrayLike,
    cost_b: npt.ArrayLike,
    attempts_b: npt.ArrayLike,
    *,
    level: float = 0.95,
) -> Interval:
    """B's mean cost per attempt over A's, minus 1.

    >>> spend = paired_spend_ratio([1, 2, 3, 2], [5, 5, 5, 5], [0.6, 1.1, 1.4, 1.2], [5, 5, 5, 5])
    >>> print(f"{spend.value:+.1%} [{spend.low:+.1%}, {spend.high:+.1%}]")
    -46.2% [-61.4%, -25.2%]
    """
    a, b = (column(cost_a), column(attempts_a)), (column(cost_b), column(attempts_b))
    fitted = _log_ratios(a, b, a[1], b[1])
    value = _ratio_of_ratios(a[0].sum(axis=0), a[1].sum(axis=0), b[0].sum(axis=0), b[1].sum(axis=0))
    low, high = _bounds(value, fitted, _on_one_cluster(a), _on_one_cluster(b), level)
    if not (a[0].sum() > 0 and b[0].sum() > 0):
        low = high = np.full(1, np.nan)
    return Intervals(value, low, high, METHOD)[0]


def paired_rate_delta(
    passes_a: npt.ArrayLike,
    attempts_a: npt.ArrayLike,
    passes_b: npt.ArrayLike,
    attempts_b: npt.ArrayLike,
    *,
    level: float = 0.95,
) -> Interval:
    """B's success rate minus A's, clustered, within [-1, 1].

    >>> delta = paired_rate_delta([5, 4, 2, 5], [5, 5, 5, 5], [4, 2, 1, 5], [5, 5, 5, 5])
    >>> print(f"{delta.value:+.3f} [{delta.low:+.3f}, {delta.high:+.3f}]")
    -0.200 [-0.460, +0.060]
    """
    scores, rates, floors, counts = [], [], [], []
    for passes, attempts in ((floats(passes_a), floats(attempts_a)), (floats(passes_b), floats(attempts_b))):
        tried = attempts.sum()
        clusters = np.count_nonzero(attempts > 0)
        if clusters < 2:
            return Interval(_rate_difference(passes_a, attempts_a, passes_b, attempts_b), math.nan, math.nan, "")
        rate = passes.sum() / tried
        scores.append((passes - rate * attempts) / tried * math.sqrt(clusters / (clusters - 1)))
        rates.append(rate)
        counts.append(clusters)
        floors.append(_rate_floor(float(rate), float(tried)))
    se = math.hypot(float(norm(scores[1] - scores[0])), *floors)
    delta = float(rates[1] - rates[0])
    reach = float(t_quantile(np.asarray(min(counts)), level)) * se
    return Interval(delta, max(-1.0, delta - reach), min(1.0, delta + reach), "clustered difference, t")


def joint_bootstrap(
    cost_a: npt.ArrayLike,
    passes_a: npt.ArrayLike,
    cost_b: npt.ArrayLike,
    passes_b: npt.ArrayLike,
    *,
    resamples: int,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Interval:
    """The same ratio with percentile bounds, both arms drawn together cluster by cluster."""
    sums = [column(values) for values in (cost_a, passes_a, cost_b, passes_b)]
    value = float(_ratio_of_ratios(*(each.sum(axis=0) for each in sums))[0])
    table = np.hstack(sums)
    table = table[table.any(axis=1)]
    if len(table) < 2 or math.isnan(value):
        return Interval(value, math.nan, math.nan, "joint cluster bootstrap, percentile")
    replicates = _ratio_of_ratios(*resampled_sums(table, resamples, rng).T)
    low, high = extended_quantiles(replicates[:, None], level)
    # A percentile interval can in principle leave its own estimate outside; it may not here.
    return Interval(value, min(float(low[0]), value), max(float(high[0]), value), "joint cluster bootstrap, percentile")


def _ratio_of_ratios(cost_a: Floats, passes_a: Floats, cost_b: Floats, passes_b: Floats) -> Floats:
    """Of sums; nan where A never passed or never paid: B over infinity, or over nothing, is no ratio."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        ratio = pooled_ratios(cost_b, passes_b) / pooled_ratios(cost_a, passes_a) - 1
    return np.where((cost_a > 0) & (passes_a > 0), ratio, np.nan)


def _log_ratios(
    a: tuple[Floats, Floats], b: tuple[Floats, Floats], tried_a: Floats | None, tried_b: Floats | None
) -> LogRatios:
    clusters_a: Ints = present(*a, tried_a).sum(axis=0)
    clusters_b: Ints = present(*b, tried_b).sum(axis=0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        value = np.log(b[0].sum(axis=0) / b[1].sum(axis=0) / (a[0].sum(axis=0) / a[1].sum(axis=0)))
        # Each arm is scaled by its own clusters, so that one they do not share counts where it is.
        deleted = deleted_log_ratios(*b) * jackknife_scale(clusters_b)
        deleted = deleted - deleted_log_ratios(*a) * jackknife_scale(clusters_a)
        linear = linear_log_ratios(*b) * linear_scale(clusters_b)
        linear = linear - linear_log_ratios(*a) * linear_scale(clusters_a)
        floor = np.square(_all_passed_floor(a[1], tried_a)) + np.square(_all_passed_floor(b[1], tried_b))
        se = np.sqrt(np.square(norm(deleted)) + floor)
        first_order = np.sqrt(np.square(norm(linear)) + floor)
    return LogRatios(value, se, first_order, np.minimum(clusters_a, clusters_b))


def _bounds(value: Floats, fitted: LogRatios, open_low: Bools, open_high: Bools, level: float) -> tuple[Floats, Floats]:
    """exp(log ratio ∓ t·se) - 1, open on the side where a single cluster carries an arm."""
    quantile = t_quantile(fitted.clusters, level)
    with np.errstate(over="ignore", invalid="ignore"):
        reach = quantile * np.where(np.isfinite(fitted.se), fitted.se, fitted.first_order)
        low = np.where(open_low, -1.0, np.expm1(fitted.value - reach))
        high = np.where(open_high, np.inf, np.expm1(fitted.value + reach))
    unsaid = np.isnan(quantile)
    # Rounding of exp(log) must not put a figure outside an interval without width.
    low, high = np.minimum(low, value), np.maximum(high, value)
    return np.where(unsaid, np.nan, low), np.where(unsaid, np.nan, high)


def _on_one_cluster(arm: tuple[Floats, Floats]) -> Bools:
    """Where a single cluster holds all of the arm's spend, or all of its passes."""
    cost, passes = arm
    held_by_one = (np.count_nonzero(cost > 0, axis=0) == 1) | (np.count_nonzero(passes > 0, axis=0) == 1)
    return np.asarray(held_by_one)


def _all_passed_floor(passes: Floats, attempts: Floats | None) -> Floats:
    """The relative error of a success rate that no failure was seen of: as if one attempt more had failed.

    Without it two arms that passed everything at constant prices would differ by an interval without width.
    """
    if attempts is None:
        return np.zeros(passes.shape[1])
    tried = attempts.sum(axis=0)
    with np.errstate(divide="ignore", over="ignore"):
        return np.where((passes.sum(axis=0) >= tried) & (tried > 0), 1 / tried, 0.0)


def _rate_floor(rate: float, tried: float) -> float:
    return 1 / tried if rate in (0.0, 1.0) else 0.0


def _rate_difference(
    passes_a: npt.ArrayLike, attempts_a: npt.ArrayLike, passes_b: npt.ArrayLike, attempts_b: npt.ArrayLike
) -> float:
    tried_a, tried_b = floats(attempts_a).sum(), floats(attempts_b).sum()
    if not (tried_a and tried_b):
        return math.nan
    return float(floats(passes_b).sum() / tried_b - floats(passes_a).sum() / tried_a)


def _least_ratio_if_never(
    some: tuple[Floats, Floats],
    never: tuple[Floats, Floats],
    tried_some: Floats | None,
    tried_never: Floats | None,
    level: float,
) -> Floats:
    """How much dearer, at least, the arm without a pass is: its own lower bound over the other's upper one, each
    one-sided at half of what may be missed."""
    half = 1 - (1 - level) / 2
    least = ratios_interval(*never, attempts=tried_never, level=half).low
    most = ratios_interval(*some, attempts=tried_some, level=level).high
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(least / most - 1)
