"""The cluster bootstrap of ratios of sums: weights × sums, a chunk of replicates at a time."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from costpass.uncertainty.arrays import Floats, floats

CHUNK_BYTES = 32 * 2**20


def cluster_weights(clusters: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """How often each cluster is drawn, per replicate, in chunks of replicates × clusters."""
    chunk = max(1, CHUNK_BYTES // (8 * max(clusters, 1)))
    for start in range(0, resamples, chunk):
        rows = min(chunk, resamples - start)
        drawn = rng.integers(0, clusters, size=(rows, clusters), dtype=np.int64)
        drawn += np.arange(0, rows * clusters, clusters)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * clusters).reshape(rows, clusters).astype(np.float64)


def resampled_sums(table: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Column sums of clusters × columns with the clusters drawn anew: replicates × columns."""
    return np.concatenate([weights @ table for weights in cluster_weights(len(table), resamples, rng)])


def extended_quantiles(replicates: Floats, level: float) -> tuple[Floats, Floats]:
    """Both ends of the middle `level` of each column, as order statistics, so that infinite replicates may be among
    them; nan replicates (nothing drawn that says anything) are no replicates."""
    ordered = np.sort(replicates, axis=0)
    known = np.count_nonzero(~np.isnan(ordered), axis=0)
    tail = (1 - level) / 2
    last = np.maximum(known - 1, 0)
    # Outward: the sample at or beyond each quantile.
    low_at = np.floor(tail * last).astype(np.int64)
    high_at = np.ceil((1 - tail) * last).astype(np.int64)
    columns = np.arange(ordered.shape[1])
    return ordered[low_at, columns], ordered[high_at, columns]


def pooled_ratios(cost: Floats, passes: Floats) -> Floats:
    """cost/passes, infinite where nothing passed, nan where there is neither spend nor pass."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return np.asarray(cost / passes)


def ratio_bootstrap(
    cost: npt.ArrayLike, passes: npt.ArrayLike, *, resamples: int, rng: np.random.Generator, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Percentile bounds of each strategy's pooled cost of pass, from clusters × strategies.

    One cluster resamples to itself, which would be an interval without width: its bounds are nan.
    """
    cost, passes = floats(cost), floats(passes)
    strategies = cost.shape[1]
    if len(cost) < 2:
        return np.full(strategies, np.nan), np.full(strategies, np.nan)
    sums = resampled_sums(np.hstack([cost, passes]), resamples, rng)
    low, high = extended_quantiles(pooled_ratios(sums[:, :strategies], sums[:, strategies:]), level)
    unsaid = (np.count_nonzero((cost > 0) | (passes > 0), axis=0) < 2) | (cost.sum(axis=0) == 0)
    return np.where(unsaid, np.nan, low), np.where(unsaid, np.nan, high)
