"""How fast the frontier falls: the decay a·e^(-bt) + c (eq. 10), its half-life, and when the data cannot say."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from costpass.economics.arrays import Bools, Floats

MIN_DATES = 4
_GRID = 96
_ZOOMS = 9
_ZOOM_POINTS = 9
#: Residuals below this share of the total variation are rounding, not misfit.
_ROUNDING = 1e-18
#: Replicate paths fitted at once, so that paths × grid × dates stays in tens of megabytes.
_PATHS_AT_ONCE = 2048


@dataclass(frozen=True)
class Decay:
    """a·e^(-bt) + c, t in months from the first date; nan throughout, and why, where it is not identified."""

    a: float
    b: float
    c: float
    half_life_months: float
    identified: bool
    reason: str


@dataclass(frozen=True)
class _Profile:
    """The best fit of each path, `[B]`, and whether the region of plausible b ends inside the grid."""

    a: Floats
    b: Floats
    c: Floats
    at_edge: Bools
    flat: Bools


def fit_decay(months: npt.ArrayLike, values: npt.ArrayLike, *, level: float = 0.95) -> Decay:
    """Least squares of a·e^(-bt) + c with a, c ≥ 0 over release dates.

    c ≥ 0 because a cost cannot fall below nothing; without it a straight line is fitted by a huge negative c.
    Not identified, with the reason in words, when
    - there are fewer than four distinct dates or a value is not finite,
    - the last value is not below the first,
    - the best b lies at an end of the grid: half-lives from a quarter of the typical gap between dates (the fall is
      over before the next date, however fast) to ten times the span (a straight line),
    - the sum of squares is too flat in b: the b with SSE(b) ≤ SSE_min · (1 + F(level; 1, T-3) / (T-3)), the usual
      region of a profile, reach an end of the grid. A frontier is a staircase, not a curve with independent noise, so
      this is a criterion of sense rather than a test.

    >>> t = np.array([0.0, 1, 2, 4, 6, 8])
    >>> fit = fit_decay(t, 3 * np.exp(-np.log(2) / 2 * t) + 1)
    >>> fit.identified, round(fit.half_life_months, 3), round(fit.c, 3)
    (True, 2.0, 1.0)
    >>> fit_decay([0, 1, 2], [4, 2, 1]).reason
    'fewer than 4 distinct dates'
    """
    t, y = _since_first(months), np.asarray(values, dtype=np.float64)
    reason = _unfit_dates(t)
    if not reason and not np.isfinite(y).all():
        reason = "the frontier is infinite or unknown on some date"
    if not reason and not bool(_falls(t, y[None])[0]):
        reason = "no decrease"
    if reason:
        return _not_identified(reason)
    best = _profile(t, y[None], level)
    if best.at_edge[0]:
        return _not_identified("the best half-life lies beyond what these dates can show")
    if best.flat[0]:
        return _not_identified("half-lives from too short to too long to see fit about equally well")
    a, b, c = float(best.a[0]), float(best.b[0]), float(best.c[0])
    return Decay(a, b, c, float(np.log(2) / b), identified=True, reason="")


def fit_decay_many(months: npt.ArrayLike, values: npt.ArrayLike, *, level: float = 0.95) -> Floats:
    """Half-lives `[B]` of replicate paths `[B, T]`, nan where `fit_decay` would call one not identified.

    An interval over the identified ones alone is too narrow when many are nan: the caller should say so.
    """
    t, y = _since_first(months), np.atleast_2d(np.asarray(values, dtype=np.float64))
    half_lives = np.full(len(y), np.nan)
    if _unfit_dates(t):
        return half_lives
    usable = np.isfinite(y).all(axis=1)
    rows = np.flatnonzero(usable)
    rows = rows[_falls(t, y[rows])]
    for start in range(0, len(rows), _PATHS_AT_ONCE):
        chunk = rows[start : start + _PATHS_AT_ONCE]
        best = _profile(t, y[chunk], level)
        half_lives[chunk] = np.where(best.at_edge | best.flat, np.nan, np.log(2) / best.b)
    return half_lives


def _since_first(months: npt.ArrayLike) -> Floats:
    t = np.asarray(months, dtype=np.float64)
    return t - t.min() if t.size else t


def _unfit_dates(t: Floats) -> str:
    return "" if len(np.unique(t)) >= MIN_DATES else f"fewer than {MIN_DATES} distinct dates"


def _falls(t: Floats, y: Floats) -> Bools:
    first, last = y[:, t == t.min()].mean(axis=1), y[:, t == t.max()].mean(axis=1)
    return np.asarray(last < first * (1 - 1e-12))


def _not_identified(reason: str) -> Decay:
    return Decay(np.nan, np.nan, np.nan, np.nan, identified=False, reason=reason)


def _profile(t: Floats, y: Floats, level: float) -> _Profile:
    """Grid over log b, then zooms around the best grid point of each path."""
    dates = np.unique(t)
    longest, shortest = 10 * (dates[-1] - dates[0]), float(np.median(np.diff(dates))) / 4
    log_b = np.linspace(np.log(np.log(2) / longest), np.log(np.log(2) / shortest), _GRID)
    sse, _, _ = _least_squares(t, y, np.broadcast_to(log_b, (len(y), _GRID)))
    at = sse.argmin(axis=1)
    centre, width = log_b[at], float(log_b[1] - log_b[0])
    for _ in range(_ZOOMS):
        near = np.clip(centre[:, None] + width * np.linspace(-1, 1, _ZOOM_POINTS), log_b[0], log_b[-1])
        near_sse, near_a, near_c = _least_squares(t, y, near)
        best = near_sse.argmin(axis=1)[:, None]
        centre = np.take_along_axis(near, best, axis=1)[:, 0]
        width *= 2 / (_ZOOM_POINTS - 1)
    least = np.take_along_axis(near_sse, best, axis=1)
    freedom = len(t) - 3
    rounding = _ROUNDING * (y**2).sum(axis=1, keepdims=True)
    limit = (least + rounding) * (1 + stats.f.ppf(level, 1, freedom) / freedom)
    return _Profile(
        a=np.take_along_axis(near_a, best, axis=1)[:, 0],
        b=np.exp(centre),
        c=np.take_along_axis(near_c, best, axis=1)[:, 0],
        at_edge=np.asarray((at == 0) | (at == _GRID - 1)),
        flat=np.asarray((sse[:, [0, -1]] <= limit).any(axis=1)),
    )


def _least_squares(t: Floats, y: Floats, log_b: Floats) -> tuple[Floats, Floats, Floats]:
    """For paths y `[B, T]` and rates `[B, G]`: sum of squares, a and c of the best non-negative a, c."""
    x = np.exp(-np.exp(log_b)[..., None] * t)
    mean_x, mean_y = x.mean(axis=-1), y.mean(axis=-1)[:, None]
    centred_x, centred_y = x - mean_x[..., None], (y - mean_y)[:, None, :]
    a = np.maximum((centred_x * centred_y).sum(axis=-1) / (centred_x**2).sum(axis=-1), 0.0)
    c = mean_y - a * mean_x
    # Only one bound can bind for a falling path: a ≥ 0 gives the mean, c ≥ 0 the line through nothing.
    through_zero = (x * y[:, None, :]).sum(axis=-1) / (x**2).sum(axis=-1)
    a = np.where(c < 0, np.maximum(through_zero, 0.0), a)
    c = np.maximum(c, 0.0)
    residual = y[:, None, :] - a[..., None] * x - c[..., None]
    return (residual**2).sum(axis=-1), a, c
