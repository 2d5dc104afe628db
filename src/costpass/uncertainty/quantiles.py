"""Quantiles of the t and the beta distribution.

A few of moderate size are computed here: loading scipy.special takes longer than all the rest of a small report. Many,
or those of large counts, go to scipy. Tests hold the two together.
"""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from costpass.uncertainty.arrays import Floats

_FEW = 64
_LARGE = 2000.0
_LOWEST_LOG = -745.0
_HALVINGS = 62
_TINY = 1e-300


def t_quantiles(degrees: npt.ArrayLike, probability: float) -> Floats:
    """Quantiles above the median of Student's t; nan for nan degrees of freedom.

    >>> t_quantiles([1.0, 5.0, np.nan], 0.975).round(4).tolist()
    [12.7062, 2.5706, nan]
    """
    freedom = np.asarray(degrees, dtype=np.float64)
    if _is_heavy(freedom):
        from scipy.special import stdtrit

        return np.asarray(stdtrit(freedom, probability), dtype=np.float64)
    values = [_t_quantile(float(one), probability) for one in freedom.ravel()]
    return np.array(values, dtype=np.float64).reshape(freedom.shape)


def beta_quantiles(a: npt.ArrayLike, b: npt.ArrayLike, probability: float) -> Floats:
    """Quantiles of the beta distribution; nan where a parameter is.

    >>> beta_quantiles([1.0, 4.0], [1.0, 2.0], 0.5).round(4).tolist()
    [0.5, 0.6862]
    """
    first, second = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    if _is_heavy(first) or _is_heavy(second):
        from scipy.special import betaincinv

        return np.asarray(betaincinv(first, second, probability), dtype=np.float64)
    pairs = zip(first.ravel().tolist(), second.ravel().tolist(), strict=True)
    return np.array([_beta_quantile(*pair, probability) for pair in pairs], dtype=np.float64).reshape(first.shape)


def _is_heavy(values: Floats) -> bool:
    return values.size > _FEW or bool((np.nan_to_num(values) > _LARGE).any())


@lru_cache(maxsize=4096)
def _t_quantile(degrees: float, probability: float) -> float:
    if not degrees > 0:
        return math.nan
    # T² / (T² + degrees) is a beta variable: the square of T is nearest to its median where the beta's is.
    share = _beta_quantile(0.5, degrees / 2, 2 * probability - 1)
    return math.sqrt(degrees * share / (1 - share))


@lru_cache(maxsize=4096)
def _beta_quantile(a: float, b: float, probability: float) -> float:
    if not (a > 0 and b > 0):
        return math.nan
    if probability > _beta_share(a, b, 0.5):
        return 1 - _below_half(b, a, 1 - probability)
    return _below_half(a, b, probability)


def _below_half(a: float, b: float, probability: float) -> float:
    """A quantile that is at most one half, by halving its logarithm: relative precision, however small it is."""
    low, high = _LOWEST_LOG, math.log(0.5)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _beta_share(a, b, math.exp(middle)) < probability:
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2)


def _beta_share(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction."""
    if x <= 0:
        return 0.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Lentz's method for the continued fraction of the incomplete beta function."""
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1 / _away_from_zero(1 + even * d), _away_from_zero(1 + even / c)
        value *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / _away_from_zero(1 + odd * d), _away_from_zero(1 + odd / c)
        value *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
