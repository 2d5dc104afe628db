"""The array types that the functions of this package take and return."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
#: An expert's price for one solution: one figure, one per problem, or None where there is no expert.
Expert = float | Floats | None
#: Some of the strategies: a mask of S booleans, or their indices.
Subset = Bools | Ints | Sequence[int] | Sequence[bool]


def mask_of(subset: Subset, strategies: int) -> Bools:
    """A mask over `strategies`, from a mask or from indices.

    >>> mask_of([2, 0], 3).tolist()
    [True, False, True]
    """
    chosen = np.asarray(subset)
    if chosen.dtype == np.bool_:
        if chosen.shape != (strategies,):
            raise ValueError(f"a mask over {strategies} strategies must have that length, not shape {chosen.shape}")
        return chosen
    mask = np.zeros(strategies, dtype=np.bool_)
    mask[chosen.astype(np.int64)] = True
    return mask
