"""Cost of pass of a strategy on a problem (eq. 2), its success measure, and its cost as prices times quantities."""

import re

import numpy as np
import numpy.typing as npt

from costpass.economics.arrays import Floats

_REPEATED = re.compile(r"pass([@^])([1-9][0-9]*)")


def cost_of_pass(mean_cost: npt.ArrayLike, success: npt.ArrayLike) -> Floats:
    """v = C / R (eq. 2): infinite where the strategy never passed, nan where it made no attempt.

    A nan cell means "no such strategy here": the frontier passes over it, as over an infinite one, but
    `attempted` can still tell the two apart.

    >>> cost_of_pass([0.1, 0.1, np.nan], [0.5, 0.0, np.nan]).tolist()
    [0.2, inf, nan]
    """
    cost, rate = np.broadcast_arrays(np.asarray(mean_cost, dtype=np.float64), np.asarray(success, dtype=np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        v = cost / rate
    never = (rate == 0) & ~np.isnan(cost)
    return np.asarray(np.where(never, np.inf, v), dtype=np.float64)


def attempted(v: Floats) -> npt.NDArray[np.bool_]:
    """Which cells of a cost-of-pass table hold an attempt, passed or not."""
    return np.asarray(~np.isnan(v))


def tries(measure: str) -> int:
    """How many attempts one trial of the success measure costs.

    >>> tries("pass"), tries("pass@4"), tries("pass^2")
    (1, 4, 2)
    """
    return _parse(measure)[1]


def success(attempts: npt.ArrayLike, passes: npt.ArrayLike, *, measure: str = "pass") -> Floats:
    """Estimated chance of success from n attempts of which s passed.

    `pass` is s/n. `pass@K` (any of K passes) and `pass^K` (all K pass) are the unbiased 1 - C(n-s,K)/C(n,K) and
    C(s,K)/C(n,K). nan where there are fewer than K attempts. One trial costs `tries(measure)` attempts, so the
    cost of pass is `cost_of_pass(tries(measure) * mean_cost, success(...))`.

    >>> success(8, [0, 4, 8]).tolist()
    [0.0, 0.5, 1.0]
    >>> success([4, 1], [2, 1], measure="pass@2").round(4).tolist()
    [0.8333, nan]
    >>> success(4, 2, measure="pass^2").round(4).tolist()
    0.1667
    """
    kind, size = _parse(measure)
    n, s = np.broadcast_arrays(np.asarray(attempts, dtype=np.float64), np.asarray(passes, dtype=np.float64))
    if kind == "@":
        return 1.0 - all_drawn_from(n, n - s, size)
    return all_drawn_from(n, s, size)


def all_drawn_from(n: Floats, among: Floats, size: int) -> Floats:
    """C(among, size) / C(n, size): chance that `size` of n attempts, drawn without return, are all of one kind."""
    chance = np.where(n >= size, 1.0, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        for drawn in range(size):
            chance = chance * np.maximum(among - drawn, 0.0) / (n - drawn)
    return np.asarray(np.where(n >= size, chance, np.nan), dtype=np.float64)


def vector_cost(weights: npt.ArrayLike, quantities: npt.ArrayLike) -> Floats:
    """Cost as unit prices times quantities, w·x over the last axis (eq. 13, appendix D.1).

    Any priced unit may be a component: tokens of each class, verification minutes, joules.

    >>> vector_cost([2e-6, 10e-6, 0.05], [[1000, 200, 0], [0, 0, 3]]).round(6).tolist()
    [0.004, 0.15]
    """
    w = np.asarray(weights, dtype=np.float64)
    return np.asarray((w * np.asarray(quantities, dtype=np.float64)).sum(axis=-1), dtype=np.float64)


def _parse(measure: str) -> tuple[str, int]:
    if measure == "pass":
        return "", 1
    found = _REPEATED.fullmatch(measure)
    if found is None:
        raise ValueError(f"unknown success measure {measure!r}: use pass, pass@K or pass^K, such as pass@4")
    return found[1], int(found[2])
