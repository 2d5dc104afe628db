"""The frontier cost of pass: least cost over strategies and the expert, and what each of them contributes to it.

`v` is a table of costs of pass, `[..., S, P]`, infinite where a strategy never passed and nan where it was not
tried; both are passed over by the minimum. Every function works on any leading axes, such as replicates.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from costpass.economics.arrays import Bools, Expert, Floats, Ints, Subset, mask_of


def frontier(v: Floats, expert: Expert = None) -> Floats:
    """Least cost of pass on each problem, `[..., P]` (eq. 3; with an expert's price, eq. 5).

    >>> v = np.array([[0.01, 0.02, np.inf], [0.05, np.nan, np.inf]])
    >>> frontier(v).tolist()
    [0.01, 0.02, inf]
    >>> frontier(v, expert=1.0).tolist()
    [0.01, 0.02, 1.0]
    """
    least = np.fmin.reduce(v, axis=-2, initial=np.inf)
    return np.asarray(least if expert is None else np.minimum(least, expert), dtype=np.float64)


def value(frontier_per_problem: Floats) -> Floats:
    """A benchmark's frontier: the mean over problems (eq. 8), infinite if any problem is."""
    return np.asarray(frontier_per_problem.mean(axis=-1), dtype=np.float64)


def unsolved(v: Floats) -> Bools:
    """Problems that no strategy solved, `[..., P]`; the ones that none tried are among them (see `untried`)."""
    return np.asarray(np.isinf(frontier(v)))


def untried(v: Floats) -> Bools:
    """Problems that no strategy attempted, `[..., P]`."""
    return np.asarray(np.isnan(v).all(axis=-2))


def problem_gain(v: Floats, new: Subset, base: Subset | None = None, expert: Expert = None) -> Floats:
    """By how much `new` lowers the frontier of `base` on each problem, `[..., P]` (eq. 7).

    `base` is every other strategy unless given. Infinite on a problem that only `new` solves, 0 on one nobody does.
    """
    joining, before = _masks(v, new, base)
    without = frontier(v[..., before, :], expert)
    with_new = frontier(v[..., before | joining, :], expert)
    return _difference(without, with_new)


def gain(v: Floats, new: Subset, base: Subset | None = None, expert: Expert = None) -> Floats:
    """V(base) - V(base ∪ new), the mean over problems of what `new` saves (eq. 9).

    >>> v = np.array([[0.1, np.inf], [0.3, 0.3]])
    >>> round(float(gain(v, [1], [0], expert=1.0)), 6), round(float(gain(v, [0], expert=1.0)), 6)
    (0.35, 0.1)
    """
    return np.asarray(problem_gain(v, new, base, expert).mean(axis=-1), dtype=np.float64)


def leave_out(v: Floats, subset_mask: Subset, expert: Expert = None) -> Floats:
    """Value of the frontier without a subset of the strategies."""
    return value(frontier(v[..., ~mask_of(subset_mask, v.shape[-2]), :], expert))


def essentialness(v: Floats, subset_mask: Subset, expert: Expert = None) -> Floats:
    """Share of the frontier without a subset that its presence saves (eq. 11; of one strategy, eq. 16), 0 to 1.

    Where only the subset solves some problem the ratio is ∞/∞ and 1 by the paper's convention (appendix C.4).
    nan where it cannot be said: a problem is unsolved with the subset and without it, and there is no expert.

    >>> v = np.array([[0.1, np.inf], [0.3, 0.3]])
    >>> round(float(essentialness(v, [0], expert=1.0)), 4), float(essentialness(v, [1]))
    (0.3333, 1.0)
    """
    without = frontier(v[..., ~mask_of(subset_mask, v.shape[-2]), :], expert)
    return _saved_share(without, frontier(v, expert))


def expert_essentialness(v: Floats, expert: float | Floats) -> Floats:
    """The expert as a subset like any other (eq. 15): 1 exactly when some problem is unsolved without.

    >>> float(expert_essentialness(np.array([[0.1, np.inf]]), 1.0)), float(expert_essentialness(np.array([[0.1]]), 1.0))
    (1.0, 0.0)
    """
    without = frontier(v)
    return _saved_share(without, np.minimum(without, expert))


def single_essentialness(v: Floats, expert: Expert = None) -> Floats:
    """Essentialness of every single strategy at once, `[..., S]` (eq. 16).

    Without the cheapest strategy of a problem the second cheapest takes over, so the two smallest values do.
    """
    costs = np.where(np.isnan(v), np.inf, v)
    strategies, problems = costs.shape[-2:]
    if strategies == 0 or problems == 0:
        return np.full(v.shape[:-1], np.nan)
    cheapest = costs.argmin(axis=-2)
    first = np.take_along_axis(costs, cheapest[..., None, :], axis=-2)[..., 0, :]
    np.put_along_axis(costs, cheapest[..., None, :], np.inf, axis=-2)
    second = costs.min(axis=-2)
    if expert is not None:
        first, second = np.minimum(first, expert), np.minimum(second, expert)
    extra = _difference(second, first)
    needed = np.isinf(extra)
    extra[needed] = 0.0
    total = first.mean(axis=-1)[..., None]
    saved = _sum_by_strategy(cheapest, extra, strategies) / problems
    alone = _sum_by_strategy(cheapest, needed.astype(np.float64), strategies) > 0
    share = np.where(np.isinf(total), np.nan, _relative(total + saved, total))
    return np.asarray(np.where(alone, 1.0, share), dtype=np.float64)


def technique_gain(v_base: Floats, v_with: Floats, expert: Expert = None) -> Floats:
    """What a technique applied to every strategy of `v_base` saves, relative to their frontier (eq. 12).

    The strategies with the technique join those without, so this is never negative.
    """
    before = frontier(v_base, expert)
    return _saved_share(before, np.minimum(before, frontier(v_with, expert)))


def over_time(v: Floats, order: Sequence[npt.ArrayLike], expert: Expert = None) -> Floats:
    """Value of the frontier as groups of strategies join, `[..., T + 1]` (eq. 6, 8), from the expert alone onwards.

    `order` holds the indices of the strategies released on each date, oldest first.

    >>> over_time(np.array([[0.5, np.inf], [0.4, 0.2]]), [[0], [1]], expert=1.0).round(3).tolist()
    [1.0, 0.75, 0.3]
    """
    least = frontier(v[..., :0, :], expert)
    values = [value(least)]
    for joining in order:
        chosen: Ints = np.asarray(joining, dtype=np.int64)
        least = np.minimum(least, frontier(v[..., chosen, :]))
        values.append(value(least))
    return np.stack(values, axis=-1)


def relative_gain(values: Floats) -> Floats:
    """What each release saved of the frontier before it, `[..., T]` from `[..., T + 1]` values (eq. 14).

    >>> relative_gain(np.array([1.0, 0.5, 0.5, 0.4])).round(3).tolist()
    [0.5, 0.0, 0.2]
    """
    return _relative(values[..., :-1], values[..., 1:])


def _masks(v: Floats, new: Subset, base: Subset | None) -> tuple[Bools, Bools]:
    joining = mask_of(new, v.shape[-2])
    return joining, ~joining if base is None else mask_of(base, v.shape[-2])


def _difference(larger: Floats, smaller: Floats) -> Floats:
    """larger - smaller where ∞ - ∞ is 0: what was impossible and stays so has gained nothing."""
    both = np.isinf(larger) & np.isinf(smaller)
    return np.where(both, 0.0, larger) - np.where(both, 0.0, smaller)


def _saved_share(without: Floats, with_it: Floats) -> Floats:
    """Relative saving from two frontiers per problem, 1 where a problem is solved only by what was left out."""
    only = (np.isinf(without) & np.isfinite(with_it)).any(axis=-1)
    return np.asarray(np.where(only, 1.0, _relative(value(without), value(with_it))), dtype=np.float64)


def _relative(before: Floats, after: Floats) -> Floats:
    """(before - after) / before: 0 of nothing is 0, ∞ to finite is 1, ∞ to ∞ cannot be said (nan)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (before - after) / before
    share = np.where((before == 0) & (after == 0), 0.0, share)
    return np.asarray(np.where(np.isinf(before) & np.isfinite(after), 1.0, share), dtype=np.float64)


def _sum_by_strategy(cheapest: npt.NDArray[np.intp], amounts: Floats, strategies: int) -> Floats:
    """Sum amounts `[..., P]` into the strategies `[..., S]` that `cheapest` names."""
    problems = amounts.shape[-1]
    tables = amounts.size // problems
    rows = np.arange(tables)[:, None] * strategies + cheapest.reshape(tables, problems)
    sums = np.bincount(rows.ravel(), weights=amounts.ravel(), minlength=tables * strategies)
    return np.asarray(sums.reshape(*amounts.shape[:-1], strategies), dtype=np.float64)
