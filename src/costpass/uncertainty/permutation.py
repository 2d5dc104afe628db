"""The permutation test of two arms: what difference would relabelling the arms cluster by cluster have made?"""

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from costpass.uncertainty.arrays import Floats, floats

CHUNK_BYTES = 32 * 2**20
# Relabellings that give the observed difference again, up to rounding, are as extreme as it is.
TIE = 1e-9


def permutation_p(
    cost_a: npt.ArrayLike,
    passes_a: npt.ArrayLike,
    cost_b: npt.ArrayLike,
    passes_b: npt.ArrayLike,
    *,
    attempts_a: npt.ArrayLike | None = None,
    attempts_b: npt.ArrayLike | None = None,
    permutations: int = 10_000,
    rng: np.random.Generator,
) -> float:
    """The two-sided p-value of the ratio of pooled costs of pass, by swapping the arms within clusters.

    All 2^T relabellings are tried where they are no more than `permutations`. With attempts per cluster given, each
    arm is first put on the scale of one attempt in all, so that an arm with twice the attempts is not twice the weight.
    nan where no arm passed or nothing was spent.
    """
    arm_a = np.stack([floats(cost_a), floats(passes_a)], axis=1) / _size(attempts_a)
    arm_b = np.stack([floats(cost_b), floats(passes_b)], axis=1) / _size(attempts_b)
    used = (arm_a != 0).any(axis=1) | (arm_b != 0).any(axis=1)
    arm_a, arm_b = arm_a[used], arm_b[used]
    total = arm_a.sum(axis=0) + arm_b.sum(axis=0)
    if not (total > 0).all():
        return math.nan
    observed = _distance(arm_a.sum(axis=0)[None], total)[0]
    clusters = len(arm_a)
    exact = clusters < 63 and 2**clusters <= permutations
    swaps = _all_swaps(clusters) if exact else _random_swaps(clusters, permutations, rng)
    start, change = arm_a.sum(axis=0), arm_b - arm_a
    as_far = sum(int(np.count_nonzero(_distance(start + swap @ change, total) >= observed - TIE)) for swap in swaps)
    return as_far / 2**clusters if exact else (1 + as_far) / (1 + permutations)


def _distance(arm_a: Floats, total: Floats) -> Floats:
    """|log ratio of the arms' costs of pass|, of the sums of one arm and of both together."""
    # What is left of a sum after all of it was taken is rounding, not a pass.
    arm_a = np.where(np.abs(arm_a) <= 1e-12 * total, 0.0, arm_a)
    arm_b = np.where(np.abs(total - arm_a) <= 1e-12 * total, 0.0, total - arm_a)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        log_ratio = np.log(arm_b[:, 0]) - np.log(arm_b[:, 1]) - np.log(arm_a[:, 0]) + np.log(arm_a[:, 1])
    # An arm with neither spend nor passes differs from the other by all there is.
    return np.where(np.isnan(log_ratio), np.inf, np.abs(log_ratio))


def _size(attempts: npt.ArrayLike | None) -> float:
    return 1.0 if attempts is None else max(float(floats(attempts).sum()), 1.0)


def _all_swaps(clusters: int) -> Iterator[Floats]:
    labels = np.arange(2**clusters, dtype=np.int64)
    yield ((labels[:, None] >> np.arange(clusters)) & 1).astype(np.float64)


def _random_swaps(clusters: int, permutations: int, rng: np.random.Generator) -> Iterator[Floats]:
    chunk = max(1, CHUNK_BYTES // (8 * clusters))
    for start in range(0, permutations, chunk):
        rows = min(chunk, permutations - start)
        packed = rng.integers(0, 256, size=(rows, (clusters + 7) // 8), dtype=np.uint8)
        yield np.unpackbits(packed, axis=1, count=clusters).astype(np.float64)
