"""What the true success rates and costs may be, given few attempts per cell: an empirical-Bayes model of the table.

A minimum over strategies picks the cells that were lucky, so what a cell says must be weighed with what its strategy
does elsewhere and what others do on its problem:
- success: logit of the mean = strategy + problem, with a spread between cells as wide as the table shows. The spread
  is that of a normal on the logit scale, carried by the Beta with the same mean and variance so that the posterior
  is exact. (One precision for all cells fails where passes are rare: it makes most rates 0 and some large.)
- cost: log of the mean = strategy + problem + rest, the rest shrunk by the noise of a mean of n attempts.
A problem's difficulty is itself drawn, once for all strategies; strategies and spreads are taken as fitted.

On a problem that nobody solved the data give only a bound, and the model says the rest. Where that is most of a
benchmark and the expert is dear, the true frontier is drawn too low.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, gammaln, logit

from costpass.economics.arrays import Bools, Floats

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_SPREADS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0, 2.4, 2.8, 3.4, 4.0, 5.0, 6.0, 8.0)
_FARTHEST = 12.0
_ROUNDS, _STEPS, _DAMPING = 3, 12, 0.9
#: Precision of the prior on a strategy's ability: a deviation of five on the logit scale.
_LOOSE = 1 / 25
#: Problems used to choose the spread; more change nothing.
_ENOUGH_PROBLEMS = 1000
_CHUNK_CELLS = 2**19


@dataclass(frozen=True)
class Cells:
    """Attempts, passes, and Σ cost and Σ cost² of the passed and of the failed attempts, `[S, P]` each."""

    n: Floats
    k: Floats
    pass_cost: Floats
    pass_cost_sq: Floats
    fail_cost: Floats
    fail_cost_sq: Floats

    @property
    def tried(self) -> Bools:
        return np.asarray(self.n > 0)

    @property
    def mean_cost(self) -> Floats:
        """nan where nothing was tried."""
        return np.where(self.tried, (self.pass_cost + self.fail_cost) / np.maximum(self.n, 1), np.nan)


def cells_of(n: npt.ArrayLike, k: npt.ArrayLike, *sums: npt.ArrayLike) -> Cells:
    """Cells from n, k, pass_cost, pass_cost_sq, fail_cost, fail_cost_sq.

    The sums over no attempts may be nan; a cell whose cost is not known otherwise counts as not tried.
    """
    attempts, passes = np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64)
    pass_cost, pass_cost_sq, fail_cost, fail_cost_sq = (np.asarray(one, dtype=np.float64) for one in sums)
    unpriced = ((passes > 0) & np.isnan(pass_cost + pass_cost_sq)) | (
        (attempts > passes) & np.isnan(fail_cost + fail_cost_sq)
    )
    known = [attempts, passes, pass_cost, pass_cost_sq, fail_cost, fail_cost_sq]
    return Cells(*(np.where(unpriced, 0.0, np.nan_to_num(one)) for one in known))


@dataclass(frozen=True)
class _Success:
    """Ability `[S, 1]`, ease and its uncertainty `[1, P]`, and the precision that goes with a mean's logit."""

    ability: Floats
    ease: Floats
    ease_sd: Floats
    at_logit: Floats
    log_precision: Floats

    def precision(self, mean_logit: Floats) -> Floats:
        return np.exp(np.interp(mean_logit, self.at_logit, self.log_precision))


@dataclass(frozen=True)
class _Cost:
    """Mean and deviation of the log of each cell's mean cost, and what a pass costs relative to a failure `[S, 1]`."""

    log_mean: Floats
    log_sd: Floats
    pass_to_fail: Floats


def draws(cells: Cells, *, count: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Costs of pass as they may truly be: chunks `[b, S, P]` of `count` draws, nan where nothing was tried."""
    success, cost = _fit_success(cells), _fit_cost(cells)
    rows = max(1, _CHUNK_CELLS // max(1, cells.n.size))
    for start in range(0, count, rows):
        yield _draw(cells, success, cost, min(rows, count - start), rng)


def _draw(cells: Cells, success: _Success, cost: _Cost, count: int, rng: np.random.Generator) -> Floats:
    shape = (count, *cells.n.shape)
    ease = success.ease + success.ease_sd * rng.standard_normal((count, 1, shape[-1]))
    mean_logit = np.clip(success.ability + ease, -_FARTHEST, _FARTHEST)
    mean, precision = expit(mean_logit), success.precision(mean_logit)
    rate = rng.beta(cells.k + precision * mean, cells.n - cells.k + precision * (1 - mean))
    observed = cells.k / np.maximum(cells.n, 1)
    # The mean cost was measured at the observed rate; at another one passes and failures mix otherwise.
    mix = (1 + rate * (cost.pass_to_fail - 1)) / (1 + observed * (cost.pass_to_fail - 1))
    spend = np.exp(cost.log_mean + cost.log_sd * rng.standard_normal(shape)) * mix
    with np.errstate(divide="ignore", over="ignore"):
        v = np.where(cells.mean_cost == 0, 0.0, spend) / np.maximum(rate, np.finfo(np.float64).tiny)
    return np.asarray(np.where(cells.tried, v, np.nan), dtype=np.float64)


def _fit_success(cells: Cells) -> _Success:
    """Strategy and problem effects by penalised quasi-likelihood, the spread between cells by likelihood, in turns."""
    n, k = cells.n, cells.k
    some = np.unique(np.linspace(0, n.shape[1] - 1, min(n.shape[1], _ENOUGH_PROBLEMS)).astype(np.int64))
    ability, ease, ease_sd = np.zeros((len(n), 1)), np.zeros((1, n.shape[1])), np.ones((1, n.shape[1]))
    deviation, alike = 1.5, np.full(n.shape, 0.1)
    for _ in range(_ROUNDS):
        # Attempts of one cell are alike: n of them say less than n of different cells.
        worth = 1 / (1 + np.maximum(n - 1, 0) * alike)
        for _ in range(_STEPS):
            slope, weight = _score(n, k, ability + ease, worth)
            ability = ability + _DAMPING * _newton(slope, weight, ability, _LOOSE, axis=1)
            slope, weight = _score(n, k, ability + ease, worth)
            ease = ease + _DAMPING * _newton(slope, weight, ease, deviation**-2, axis=0)
            ability, ease = np.clip(ability + ease.mean(), -_FARTHEST, _FARTHEST), ease - ease.mean()
            ease_sd = (weight.sum(axis=0, keepdims=True) + deviation**-2) ** -0.5
            deviation = float(np.sqrt(np.clip((ease**2 + ease_sd**2).mean(), 0.01, 25)))
        at = np.clip(ability + ease, -_FARTHEST, _FARTHEST)
        table = max(_PRECISIONS, key=lambda one: _likelihood(n[:, some], k[:, some], at[:, some], one))
        alike = 1 / (1 + np.exp(np.interp(at, *table)))
    return _Success(ability, ease, ease_sd, *table)


def _score(n: Floats, k: Floats, at: Floats, worth: Floats) -> tuple[Floats, Floats]:
    mean = expit(at)
    return worth * (k - n * mean), worth * n * mean * (1 - mean)


def _newton(slope: Floats, weight: Floats, effect: Floats, penalty: float, *, axis: int) -> Floats:
    total = slope.sum(axis=axis, keepdims=True) - penalty * effect
    return np.asarray(total / (weight.sum(axis=axis, keepdims=True) + penalty))


def _likelihood(n: Floats, k: Floats, at: Floats, table: tuple[Floats, Floats]) -> float:
    """Beta-binomial log likelihood of the table, up to a constant."""
    precision = np.exp(np.interp(at, *table))
    a, b = precision * expit(at), precision * expit(-at)
    terms = gammaln(k + a) + gammaln(n - k + b) - gammaln(n + a + b) - gammaln(a) - gammaln(b) + gammaln(a + b)
    return float(terms.sum())


def _precision_table(spread: float) -> tuple[Floats, Floats]:
    """Logit of the mean, and log precision of the Beta that has the variance, of a logit-normal with this spread."""
    centre = np.linspace(-2 * _FARTHEST, 2 * _FARTHEST, 301)
    rates = expit(centre[:, None] + spread * _NODES)
    weights = _WEIGHTS / _WEIGHTS.sum()
    mean = rates @ weights
    variance = (rates - mean[:, None]) ** 2 @ weights
    return np.asarray(logit(mean)), np.log(np.maximum(mean * (1 - mean) / variance - 1, 1e-3))


_PRECISIONS = [_precision_table(spread) for spread in _SPREADS]


def _fit_cost(cells: Cells) -> _Cost:
    """Log mean costs, each cell's own part shrunk by how much of the spread between cells is noise."""
    mean = cells.mean_cost
    known = cells.tried & (mean > 0)
    log_cost = np.log(np.where(known, mean, 1.0))
    by_strategy = _mean(log_cost, known, axis=1)
    by_problem = _mean(log_cost - by_strategy, known, axis=0)
    rest = np.where(known, log_cost - by_strategy - by_problem, 0.0)
    spread = _mean(rest**2, known, axis=1)
    noise = _noise(cells, mean, known, spread) / np.maximum(cells.n, 1)
    own = np.maximum(spread - _mean(noise, known, axis=1), 0.0)
    keep = own / np.maximum(own + noise, np.finfo(np.float64).tiny)
    strategies = np.maximum(known.sum(axis=0, keepdims=True), 1)
    # What is not kept of a cell's noise is still there in part, through the mean over the strategies of its problem.
    log_sd = np.sqrt(noise * (keep + (1 - keep) / strategies))
    return _Cost(by_strategy + by_problem + keep * rest, log_sd, _pass_to_fail(cells))


def _noise(cells: Cells, mean: Floats, known: Bools, spread: Floats) -> Floats:
    """Squared variation of one attempt's cost within a cell, per strategy `[S, 1]`.

    With one attempt per cell it cannot be told from the spread between cells, and half of that is taken.
    """
    freedom = np.where(known, np.maximum(cells.n - 1, 0), 0)
    squares = cells.pass_cost_sq + cells.fail_cost_sq - cells.n * np.where(known, mean, 0.0) ** 2
    relative = np.where(freedom > 0, np.maximum(squares, 0.0) / np.where(known, mean, 1.0) ** 2, 0.0)
    total = freedom.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, relative.sum(axis=1, keepdims=True) / np.maximum(total, 1), spread / 2))


def _pass_to_fail(cells: Cells) -> Floats:
    """What a passed attempt costs relative to a failed one of the same cell, geometric mean per strategy `[S, 1]`."""
    failed = cells.n - cells.k
    both = (cells.k > 0) & (failed > 0) & (cells.pass_cost > 0) & (cells.fail_cost > 0)
    on_pass = np.where(both, cells.pass_cost, 1.0) / np.maximum(cells.k, 1)
    on_fail = np.where(both, cells.fail_cost, 1.0) / np.maximum(failed, 1)
    return np.exp(_mean(np.log(on_pass / on_fail), both, axis=1))


def _mean(values: Floats, where: Bools, *, axis: int) -> Floats:
    """Mean over the marked cells, 0 where there are none."""
    count = np.maximum(where.sum(axis=axis, keepdims=True), 1)
    return np.asarray(np.where(where, values, 0.0).sum(axis=axis, keepdims=True) / count)
