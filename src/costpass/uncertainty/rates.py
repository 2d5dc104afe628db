"""Success rates, where attempts at one problem resemble each other: Korn and Graubard's interval."""

import numpy as np
import numpy.typing as npt

from costpass.uncertainty.arrays import Floats, Ints, column, floats
from costpass.uncertainty.interval import Interval, Intervals
from costpass.uncertainty.jackknife import linear_scale, norm, t_quantile
from costpass.uncertainty.quantiles import beta_quantiles, t_quantiles

METHOD = "Korn-Graubard"


def rate_interval(passes: npt.ArrayLike, attempts: npt.ArrayLike, *, level: float = 0.95) -> Interval:
    """Passes per attempt, over clusters.

    >>> rate = rate_interval([5, 0, 4, 5, 1, 5], [5, 5, 5, 5, 5, 5])
    >>> print(f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]")
    0.667 [0.152, 0.979]
    """
    return rates_interval(column(passes), column(attempts), level=level)[0]


def rates_interval(passes: npt.ArrayLike, attempts: npt.ArrayLike, *, level: float = 0.95) -> Intervals:
    """The same for every column of clusters × strategies."""
    passes, attempts = floats(passes), floats(attempts)
    clusters = (attempts > 0).sum(axis=0)
    tried = attempts.sum(axis=0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        rate = passes.sum(axis=0) / tried
    trials = effective_trials(passes, attempts, level=level)
    low, high = clopper_pearson(rate * trials, trials, tail=(1 - level) / 2)
    unknown = clusters < 2
    return Intervals(rate, np.where(unknown, np.nan, low), np.where(unknown, np.nan, high), METHOD)


def effective_trials(passes: Floats, attempts: Floats, *, level: float) -> Floats:
    """How many independent attempts would say as much as these clusters do.

    With no pass, or nothing but passes, the data say nothing about how alike the attempts at one problem are, so each
    problem counts once: that is exact when they are fully alike and too careful otherwise.
    """
    clusters: Ints = (attempts > 0).sum(axis=0)
    tried = attempts.sum(axis=0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        rate = passes.sum(axis=0) / tried
        error = norm(passes - rate * attempts) * linear_scale(clusters) / tried
        independent = rate * (1 - rate) / np.square(error)
        # The variance itself is estimated from few clusters; the ratio of the t quantiles pays for that.
        few = np.square(t_quantiles(np.maximum(tried - 1, 1), 0.5 + level / 2) / t_quantile(clusters, level))
        effective = np.minimum(independent * few, tried)
    return np.where((rate == 0) | (rate == 1), clusters, effective)


def clopper_pearson(passes: Floats, trials: Floats, *, tail: float) -> tuple[Floats, Floats]:
    """Exact binomial bounds that leave out `tail` on each side; the counts need not be whole."""
    fails = trials - passes
    with np.errstate(over="ignore", invalid="ignore"):
        low = np.where(passes > 0, beta_quantiles(np.maximum(passes, 1e-300), fails + 1, tail), 0.0)
        high = np.where(fails > 0, beta_quantiles(passes + 1, np.maximum(fails, 1e-300), 1 - tail), 1.0)
    return low, high


def rate_ceiling(clusters: Ints, level: float) -> Floats:
    """The one-sided upper bound on a success rate where no cluster passed. nan for a single cluster."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(clusters > 1, -np.expm1(np.log(1 - level) / clusters), np.nan)
