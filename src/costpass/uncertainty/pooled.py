"""Pooled figures of one strategy with their intervals: cost of pass, mean spend, success rate. Clusters are problems,
or the groups that problems belong to."""

import numpy as np
import numpy.typing as npt

from costpass.uncertainty.arrays import Floats, Ints, column, floats, present
from costpass.uncertainty.bootstrap import ratio_bootstrap
from costpass.uncertainty.interval import Interval, Intervals
from costpass.uncertainty.jackknife import (
    deleted_log_ratios,
    jackknife_scale,
    linear_log_ratios,
    linear_scale,
    norm,
    t_quantile,
)
from costpass.uncertainty.rates import rate_ceiling, rate_interval, rates_interval

__all__ = [
    "mean_interval",
    "means_interval",
    "rate_interval",
    "rates_interval",
    "ratio_bootstrap",
    "ratio_interval",
    "ratios_interval",
]

METHOD = "log jackknife over clusters, t"


def ratio_interval(
    cost: npt.ArrayLike, passes: npt.ArrayLike, *, attempts: npt.ArrayLike | None = None, level: float = 0.95
) -> Interval:
    """Σ cost / Σ passes over clusters, with its interval on the log scale.

    >>> cost = ratio_interval([1.0, 1.2, 0.7, 2.0, 1.1, 0.9], [5, 4, 5, 2, 4, 5])
    >>> print(f"{cost.value:.3f} [{cost.low:.3f}, {cost.high:.3f}]")
    0.276 [0.135, 0.563]
    >>> ratio_interval([1.0, 1.2, 0.7], [0, 0, 0], attempts=[5, 5, 5]).high
    inf
    """
    tried = None if attempts is None else column(attempts)
    return ratios_interval(column(cost), column(passes), attempts=tried, level=level)[0]


def ratios_interval(
    cost: npt.ArrayLike, passes: npt.ArrayLike, *, attempts: npt.ArrayLike | None = None, level: float = 0.95
) -> Intervals:
    """The same for every column of clusters × strategies.

    With `attempts` the interval is never tighter than the success rate alone allows: thirty passes of thirty do not
    prove that the next attempt passes. Where nothing passed, `low` is a one-sided bound at the level (nan without
    `attempts`) and `high` is infinite; where a single cluster passed, `high` is infinite too.
    """
    cost, passes = floats(cost), floats(passes)
    tried = None if attempts is None else floats(attempts)
    clusters: Ints = present(cost, passes, tried).sum(axis=0)
    spend, passed = cost.sum(axis=0), passes.sum(axis=0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        value = np.where(passed > 0, spend / passed, np.inf)
    low, high = _log_bounds(value, cost, passes, clusters, level)
    if tried is not None:
        low, high = _no_tighter_than_the_rate(low, high, spend, passes, tried, level)
        never_low = _low_without_passes(spend, tried, clusters, level)
    else:
        never_low = np.full_like(value, np.nan)
    never = passed == 0
    low, high = np.where(never, never_low, low), np.where(never, np.inf, high)
    unsaid = (clusters < 2) | (spend == 0)
    return Intervals(value, np.where(unsaid, np.nan, low), np.where(unsaid, np.nan, high), METHOD)


def mean_interval(total: npt.ArrayLike, attempts: npt.ArrayLike, *, level: float = 0.95) -> Interval:
    """Σ total / Σ attempts over clusters: spend, seconds or tokens per attempt.

    >>> spend = mean_interval([1.0, 1.2, 0.7, 2.0], [5, 5, 5, 5])
    >>> print(f"{spend.value:.3f} [{spend.low:.3f}, {spend.high:.3f}]")
    0.245 [0.114, 0.528]
    """
    return means_interval(column(total), column(attempts), level=level)[0]


def means_interval(total: npt.ArrayLike, attempts: npt.ArrayLike, *, level: float = 0.95) -> Intervals:
    """The same for every column of clusters × strategies."""
    total, attempts = floats(total), floats(attempts)
    clusters: Ints = (attempts > 0).sum(axis=0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        value = total.sum(axis=0) / attempts.sum(axis=0)
    low, high = _log_bounds(value, total, attempts, clusters, level)
    unsaid = (clusters < 2) | (total.sum(axis=0) == 0)
    return Intervals(value, np.where(unsaid, np.nan, low), np.where(unsaid, np.nan, high), METHOD)


def _log_bounds(
    value: Floats, numerator: Floats, denominator: Floats, clusters: Ints, level: float
) -> tuple[Floats, Floats]:
    """value · exp(∓t·se), with nothing above it where one cluster holds the whole numerator or denominator."""
    deleted = deleted_log_ratios(numerator, denominator)
    quantile = t_quantile(clusters, level)
    error = norm(deleted) * jackknife_scale(clusters)
    # Leaving out the only cluster that passed makes the ratio infinite, which bounds nothing above; below, the first
    # order still says something (a factor of 7.4 where counts of one alone would say 5.6).
    first_order = norm(linear_log_ratios(numerator, denominator)) * linear_scale(clusters)
    with np.errstate(over="ignore", invalid="ignore"):
        low = value * np.exp(-quantile * np.where(np.isinf(error), first_order, error))
        high = value * np.exp(quantile * error)
    return np.minimum(low, value), np.maximum(high, value)


def _no_tighter_than_the_rate(
    low: Floats, high: Floats, spend: Floats, passes: Floats, attempts: Floats, level: float
) -> tuple[Floats, Floats]:
    rate = rates_interval(passes, attempts, level=level)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        mean = spend / attempts.sum(axis=0)
        return np.minimum(low, mean / rate.high), np.maximum(high, mean / rate.low)


def _low_without_passes(spend: Floats, attempts: Floats, clusters: Ints, level: float) -> Floats:
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return np.asarray(spend / attempts.sum(axis=0) / rate_ceiling(clusters, level))
