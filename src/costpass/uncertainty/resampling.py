"""The two-level bootstrap of strategy × problem cells: problems drawn anew, and attempts within every copy drawn."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr

from costpass.uncertainty.arrays import Floats, Ints, floats

CHUNK_CELLS = 2**19
TABLE_BITS = 16
TABLES_AT_MOST = 512

Words: TypeAlias = npt.NDArray[np.uint16]


class Replicates(NamedTuple):
    """A chunk of replicates: which problem each column is a copy of, and the cells as they came out."""

    problems: Ints
    mean_cost: Floats
    success: Floats


def two_level(
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    pass_cost: npt.ArrayLike,
    pass_cost_sq: npt.ArrayLike,
    fail_cost: npt.ArrayLike,
    fail_cost_sq: npt.ArrayLike,
    *,
    resamples: int,
    rng: np.random.Generator,
    chunk: int | None = None,
    group: npt.ArrayLike | None = None,
    problems: bool = True,
) -> Iterator[Replicates]:
    """Cells drawn anew, replicate by replicate, in chunks: mean cost and success rate of each, b × S × P.

    The arguments are strategies × problems: attempts, passes, Σ cost and Σ cost² of the attempts that passed and of
    those that failed. A cell without attempts is nan in both.

    P problems are drawn with replacement; with `group`, whole groups, the last one cut so that there are P again; with
    `problems=False` they stay as they are. Then the attempts of every cell of every copy: passes are binomial, and the
    cost of so many passes and failures is drawn from a normal with the moments that resampling them has, cut at 0.
    The normal is an approximation: it knows nothing of a long tail in a cell of few attempts. `chunk` is how many
    replicates are drawn at a time; it is part of the seed, in that another chunk draws other numbers.
    """
    cells = _cells(n, k, pass_cost, pass_cost_sq, fail_cost, fail_cost_sq)
    strategies, columns = np.shape(n)
    rows = chunk if chunk is not None else max(1, CHUNK_CELLS // max(1, strategies * columns))
    draw = _Drawing(columns, None if group is None else np.asarray(group)) if problems else None
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        drawn = np.tile(np.arange(columns), (count, 1)) if draw is None else draw(count, rng)
        mean_cost, success = _resampled(cells, drawn, rng)
        # Problems × strategies inside, so that a drawn problem is one run of memory; S × P outside.
        yield Replicates(drawn, mean_cost.swapaxes(1, 2), success.swapaxes(1, 2))


@dataclass(frozen=True)
class _Cells:
    """What a resampled cell needs, problems × strategies.

    Of r, the share that passed: mean cost is fail_mean + r·more_mean with variance fail_var + r·more_var.
    """

    attempts: Ints
    rate: Floats
    fail_mean: Floats
    more_mean: Floats
    fail_var: Floats
    more_var: Floats
    #: Row of `table` for each cell, or None where cells are too various for tables.
    row: npt.NDArray[np.intp] | None
    #: The share that passed, by row and 16 random bits: the inverse of the binomial distribution, to 1 in 65,536.
    table: Floats | None


def _cells(
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    pass_cost: npt.ArrayLike,
    pass_cost_sq: npt.ArrayLike,
    fail_cost: npt.ArrayLike,
    fail_cost_sq: npt.ArrayLike,
) -> _Cells:
    attempts = np.asarray(n, dtype=np.int64).T
    passes = np.asarray(k, dtype=np.int64).T
    pass_mean, pass_var = _moments(passes, floats(pass_cost).T, floats(pass_cost_sq).T)
    fail_mean, fail_var = _moments(attempts - passes, floats(fail_cost).T, floats(fail_cost_sq).T)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        one_over: Floats = np.where(attempts > 0, 1 / attempts, np.nan)
    row, table = _pass_tables(attempts, passes)
    return _Cells(
        attempts=attempts,
        rate=floats(passes * one_over),
        fail_mean=np.ascontiguousarray(fail_mean),
        more_mean=np.ascontiguousarray(pass_mean - fail_mean),
        fail_var=np.ascontiguousarray(fail_var * one_over),
        more_var=np.ascontiguousarray((pass_var - fail_var) * one_over),
        row=row,
        table=table,
    )


def _moments(count: Ints, total: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the costs of one cell; zero where there is none, which nothing then draws."""
    some = np.maximum(count, 1)
    mean = np.where(count > 0, total / some, 0.0)
    # Rounding can leave a little below zero where all costs are equal.
    return mean, np.where(count > 0, np.maximum(squares / some - mean**2, 0.0), 0.0)


def _pass_tables(attempts: Ints, passes: Ints) -> tuple[npt.NDArray[np.intp] | None, Floats | None]:
    kinds, row = np.unique(attempts * (attempts.max(initial=0) + 1) + passes, return_inverse=True)
    if len(kinds) > TABLES_AT_MOST:
        return None, None
    size = 2**TABLE_BITS
    tried, passed = np.divmod(kinds, attempts.max(initial=0) + 1)
    middles = (np.arange(size) + 0.5) / size
    table = np.stack([_pass_shares(int(t), int(p), middles) for t, p in zip(tried, passed, strict=True)])
    return row.reshape(attempts.shape).astype(np.intp), table


def _pass_shares(tried: int, passed: int, quantiles: Floats) -> Floats:
    """The share that passes of `tried` resampled attempts at each quantile."""
    if tried == 0:
        return np.full(len(quantiles), np.nan)
    at_most = np.asarray(bdtr(np.arange(tried, dtype=np.float64), tried, passed / tried))
    return np.searchsorted(at_most, quantiles) / tried


def _resampled(cells: _Cells, drawn: Ints, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Mean cost and success of the drawn problems: replicates × problems × strategies."""
    success = _success(cells, drawn, rng)
    mean = cells.more_mean[drawn]
    mean *= success
    mean += cells.fail_mean[drawn]
    spread = cells.more_var[drawn]
    spread *= success
    spread += cells.fail_var[drawn]
    np.maximum(spread, 0.0, out=spread)
    np.sqrt(spread, out=spread)
    spread *= rng.standard_normal(spread.shape, dtype=np.float32)
    mean += spread
    np.maximum(mean, 0.0, out=mean)
    return mean, success


def _success(cells: _Cells, drawn: Ints, rng: np.random.Generator) -> Floats:
    if cells.row is None or cells.table is None:
        tried = cells.attempts[drawn]
        rate = cells.rate[drawn]
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return np.where(tried > 0, rng.binomial(tried, np.nan_to_num(rate)) / tried, np.nan)
    at = cells.row[drawn]
    at <<= TABLE_BITS
    at += _random_words(at.size, rng).reshape(at.shape)
    return np.take(cells.table.ravel(), at)


def _random_words(count: int, rng: np.random.Generator) -> Words:
    return rng.integers(0, 2**64, size=(count + 3) // 4, dtype=np.uint64).view(np.uint16)[:count]


class _Drawing:
    """Draws problems, or whole groups of them, with replacement."""

    def __init__(self, problems: int, group: npt.NDArray[np.int64] | None) -> None:
        self.problems = problems
        self.members: Ints | None = None
        if group is not None:
            _, label, sizes = np.unique(group, return_inverse=True, return_counts=True)
            # Groups of one are no groups.
            self.members = np.argsort(label, kind="stable") if sizes.max(initial=0) > 1 else None
            self.sizes = sizes
            self.first = np.cumsum(sizes) - sizes

    def __call__(self, count: int, rng: np.random.Generator) -> Ints:
        if self.members is None:
            return rng.integers(0, self.problems, size=(count, self.problems), dtype=np.int64)
        most = -(-self.problems // int(self.sizes.min()))
        groups = rng.integers(0, len(self.sizes), size=(count, most))
        ends = np.cumsum(self.sizes[groups], axis=1)
        starts = ends - self.sizes[groups]
        # Position p of a replicate lies in the last group that starts at or before it.
        begins = np.zeros((count, self.problems), dtype=np.int64)
        rows, columns = np.nonzero(starts < self.problems)
        begins[rows, starts[rows, columns]] = 1
        which = np.cumsum(begins, axis=1) - 1
        chosen = np.take_along_axis(groups, which, axis=1)
        offset = np.arange(self.problems) - np.take_along_axis(starts, which, axis=1)
        return np.asarray(self.members[self.first[chosen] + offset])
