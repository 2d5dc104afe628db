"""From intervals to decisions: many comparisons at once, and how much more data would decide one."""

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from costpass.uncertainty.arrays import Floats, floats


def holm(p_values: npt.ArrayLike) -> Floats:
    """Holm's adjusted p-values, in the order given; a p-value that cannot be said stays nan and is not counted.

    >>> [round(float(p), 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    given = floats(p_values)
    adjusted = np.full_like(given, np.nan)
    known = np.flatnonzero(~np.isnan(given))
    order = known[np.argsort(given[known], kind="stable")]
    steps = given[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def clusters_needed(log_ratio: float, se: float, clusters: int, *, level: float = 0.95, power: float = 0.8) -> float:
    """How many clusters of the same kind would show an effect of this size with the given power.

    Infinite for no effect; nan where the standard error cannot be said.

    >>> round(clusters_needed(math.log(0.9), 0.08, 20))
    91
    """
    if math.isnan(se) or math.isnan(log_ratio):
        return math.nan
    if log_ratio == 0 or math.isinf(se):
        return math.inf
    reach = float(ndtri(0.5 + level / 2) + ndtri(power))
    return max(2.0, clusters * (reach * se / log_ratio) ** 2)
