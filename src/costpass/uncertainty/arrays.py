"""The array types that uncertainty computes on, and how what callers pass becomes one."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]


def floats(values: npt.ArrayLike) -> Floats:
    """The values as float64."""
    return np.asarray(values, dtype=np.float64)


def column(values: npt.ArrayLike) -> Floats:
    """One figure per cluster as a table of clusters × 1."""
    return floats(values).reshape(-1, 1)


def present(cost: Floats, passes: Floats, attempts: Floats | None) -> Bools:
    """Where a cluster was attempted: told by its attempts, or else by any trace that they left."""
    return (cost > 0) | (passes > 0) if attempts is None else attempts > 0
