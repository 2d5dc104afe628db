"""Pareto fronts and ranks over any set of axes, such as cost, time and success rate."""

from collections.abc import Sequence

import numpy as np

from costpass.economics.arrays import Bools, Floats, Ints

_ROWS_AT_ONCE = 256


def pareto_front(points: Floats, maximise: Sequence[bool]) -> Bools:
    """Which of the points `[N, D]` no other point beats: at least as good on every axis and better on one.

    Equal points are both on the front. Infinite coordinates compare as numbers do. A point with a nan coordinate
    cannot be compared: it dominates nothing, nothing dominates it, and it is not on the front.

    >>> pareto_front(np.array([[0.9, 100], [0.8, 50], [0.7, 200]]), maximise=[True, False]).tolist()
    [True, True, False]
    """
    return np.asarray(pareto_rank(points, maximise) == 1)


def pareto_rank(points: Floats, maximise: Sequence[bool]) -> Ints:
    """1 + the number of points that dominate each one; 0 for a point with a nan coordinate, which has no place.

    >>> pareto_rank(np.array([[0.9, 100], [0.8, 50], [0.7, 200]]), maximise=[True, False]).tolist()
    [1, 1, 3]
    """
    if points.ndim != 2 or points.shape[1] != len(maximise):
        raise ValueError(f"points of shape {points.shape} need one direction per axis, not {len(maximise)}")
    losses = np.where(np.asarray(maximise, dtype=np.bool_), -points, points).astype(np.float64)
    known = ~np.isnan(losses).any(axis=1)
    ranks = np.zeros(len(points), dtype=np.int64)
    rivals = losses[known]
    dominators = np.zeros(len(rivals), dtype=np.int64)
    for start in range(0, len(rivals), _ROWS_AT_ONCE):
        block = rivals[start : start + _ROWS_AT_ONCE, None, :]
        beaten = (rivals <= block).all(axis=2) & (rivals < block).any(axis=2)
        dominators[start : start + _ROWS_AT_ONCE] = beaten.sum(axis=1)
    ranks[known] = 1 + dominators
    return ranks
