"""By how much the plug-in frontier is too low, and an interval around it that covers the true one.

The minimum over noisy strategies picks the lucky ones, so the plug-in mean frontier is too low; where nobody passed it
takes the expert's price, and is too high. perf/frontier_worlds.py compares, in worlds whose frontier is known,
- resampling attempts within cells and taking the shift of the minimum as the bias: it has the wrong sign more often
  than not, because a cell without a pass never passes in a resample and the lucky cells stay lucky;
- the percentiles of a two-level bootstrap, shifted by that or not, or turned around on the log scale: they
  miss the truth in one trial of ten or more, and the frontier of new problems in one of four or more;
- draws of the true table from an empirical-Bayes posterior (posterior.py), problems resampled: right sign in nine
  of ten trials, less than half the error of the plug-in, and the best coverage. That is what is used here.
The plug-in stays the headline, and the interval is widened where needed so that it contains it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from costpass.economics.arrays import Expert, Floats, Ints
from costpass.economics.cost_of_pass import cost_of_pass
from costpass.economics.frontier import frontier, value
from costpass.economics.posterior import Cells, cells_of, draws

#: Cells drawn in all: a large table needs fewer draws of each, as every problem has its own.
_DRAWN_CELLS = 8_000_000
_FEWEST_DRAWS = 40
_GATHERED_AT_ONCE = 2**21


@dataclass(frozen=True)
class FrontierInterval:
    """The plug-in frontier of a benchmark, the interval of the true one, and the estimated optimism of the plug-in."""

    value: float
    low: float
    high: float
    #: True frontier minus plug-in, as estimated: positive where the plug-in is too low; nan where that is infinite.
    optimism: float


def optimism(
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    pass_cost: npt.ArrayLike,
    pass_cost_sq: npt.ArrayLike,
    fail_cost: npt.ArrayLike,
    fail_cost_sq: npt.ArrayLike,
    *,
    expert: Expert = None,
    rng: np.random.Generator,
    resamples: int = 400,
) -> float:
    """Dollars by which the plug-in mean frontier is estimated to be too low; negative if it seems too high.

    Arguments are strategies × problems: attempts, passes, Σ cost and Σ cost² of the passed and of the failed ones.
    """
    cells = cells_of(n, k, pass_cost, pass_cost_sq, fail_cost, fail_cost_sq)
    return _optimism(_plug_in(cells, expert), _true_frontiers(cells, expert, resamples, rng))


def frontier_interval(
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    pass_cost: npt.ArrayLike,
    pass_cost_sq: npt.ArrayLike,
    fail_cost: npt.ArrayLike,
    fail_cost_sq: npt.ArrayLike,
    *,
    expert: Expert = None,
    rng: np.random.Generator,
    resamples: int = 1000,
    level: float = 0.95,
    group: npt.ArrayLike | None = None,
) -> FrontierInterval:
    """Interval of the mean frontier over problems like these, from possible true tables and resampled problems.

    Problems of one `group` are drawn together. The ends are percentiles, taken farther out where problems are few
    (as a t quantile is). nan with fewer than two groups; infinite above where the plug-in is.
    """
    cells = cells_of(n, k, pass_cost, pass_cost_sq, fail_cost, fail_cost_sq)
    plug_in = _plug_in(cells, expert)
    true = _true_frontiers(cells, expert, resamples, rng)
    member = np.unique(np.arange(true.shape[1]) if group is None else np.asarray(group), return_inverse=True)[1]
    low, high = _percentiles(_resampled(true, member.reshape(-1), resamples, rng), int(member.max()) + 1, level)
    return FrontierInterval(
        value=plug_in,
        low=min(low, plug_in),
        high=max(high, plug_in),
        optimism=_optimism(plug_in, true),
    )


def _plug_in(cells: Cells, expert: Expert) -> float:
    rate = np.where(cells.tried, cells.k / np.maximum(cells.n, 1), np.nan)
    return float(value(frontier(cost_of_pass(cells.mean_cost, rate), expert)))


def _optimism(plug_in: float, true: Floats) -> float:
    return float(true.mean()) - plug_in if np.isfinite(plug_in) else float("nan")


def _true_frontiers(cells: Cells, expert: Expert, resamples: int, rng: np.random.Generator) -> Floats:
    """Draws of each problem's true frontier, `[draws, P]`."""
    count = min(resamples, max(_FEWEST_DRAWS, _DRAWN_CELLS // max(1, cells.n.size)))
    return np.concatenate([frontier(v, expert) for v in draws(cells, count=count, rng=rng)])


def _resampled(true: Floats, member: Ints, resamples: int, rng: np.random.Generator) -> Floats:
    """Mean frontiers `[resamples]`: groups of problems drawn with replacement, any of a problem's draws for each."""
    problems, groups = true.shape[1], int(member.max()) + 1
    rows = max(1, _GATHERED_AT_ONCE // problems)
    means = []
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        weights = rng.multinomial(groups, np.full(groups, 1 / groups), size=count)[:, member]
        values = true[rng.integers(0, len(true), (count, problems)), np.arange(problems)]
        # 0 · ∞: a problem that was not drawn does not count, even if it is infinite.
        total = np.where(weights > 0, weights * values, 0.0) if np.isinf(values).any() else weights * values
        means.append(total.sum(axis=1) / weights.sum(axis=1))
    return np.concatenate(means)


def _percentiles(means: Floats, groups: int, level: float) -> tuple[float, float]:
    if groups < 2:
        return float("nan"), float("nan")
    quantile = stats.t.ppf((1 + level) / 2, groups - 1) * np.sqrt(groups / (groups - 1))
    upper = float(stats.norm.cdf(quantile))
    low, high = np.quantile(means, [1 - upper, upper], method="inverted_cdf")
    return float(low), float(high)
