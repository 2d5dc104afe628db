"""AILANG's efficiency block of one strategy: medians to success, p90 cost, speed score, killed attempts.

Its names and formulas, with two repairs: p90 is the true nearest rank (theirs is the maximum at ten passes), and
only nan is unknown, so a measured zero counts.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costpass.economics.arrays import Floats


@dataclass(frozen=True)
class Efficiency:
    """Over passed attempts, except `cost_killed_count`; None where nothing is known."""

    median_time_to_first_attempt_ms: float | None
    median_time_to_success_ms: float | None
    median_turns_to_success: float | None
    median_tokens_per_sec: float | None
    p90_cost_per_success: float | None
    speed_efficiency_score: float | None
    cost_killed_count: int


def efficiency(
    passed: npt.ArrayLike,
    cost_usd: npt.ArrayLike,
    duration_ms: npt.ArrayLike,
    success_at_ms: npt.ArrayLike,
    first_attempt_ms: npt.ArrayLike,
    turns: npt.ArrayLike,
    tokens_per_sec: npt.ArrayLike,
    cost_killed: npt.ArrayLike,
) -> Efficiency:
    """The block from arrays over one strategy's attempts, nan where a figure was not measured.

    `passed` is true, false, or nan for an attempt that was not graded (out of the success rate). Time to success is
    `success_at_ms`, or the whole duration where that is not known.

    >>> block = efficiency([1, 1, 0], [0.2, 0.4, 9], [60e3, 60e3, 1], [np.nan] * 3, [np.nan] * 3, [3, 4, 99],
    ...                    [50, 70, 1], [False, False, True])
    >>> block.median_time_to_success_ms, block.median_turns_to_success, block.p90_cost_per_success
    (60000.0, 3.5, 0.4)
    >>> round(block.speed_efficiency_score, 4), block.median_time_to_first_attempt_ms, block.cost_killed_count
    (0.3333, None, 1)
    """
    outcome = _floats(passed)
    won = outcome == 1
    graded = int((~np.isnan(outcome)).sum())
    success_at = _floats(success_at_ms)
    to_success = np.where(np.isnan(success_at), _floats(duration_ms), success_at)
    median_tts_ms = _median(to_success[won])
    return Efficiency(
        median_time_to_first_attempt_ms=_median(_floats(first_attempt_ms)[won]),
        median_time_to_success_ms=median_tts_ms,
        median_turns_to_success=_median(_floats(turns)[won]),
        median_tokens_per_sec=_median(_floats(tokens_per_sec)[won]),
        p90_cost_per_success=nearest_rank(_floats(cost_usd)[won], 0.9),
        speed_efficiency_score=score(int(won.sum()) / graded, median_tts_ms) if graded else None,
        cost_killed_count=int(np.asarray(cost_killed, dtype=np.bool_).sum()),
    )


def score(success_rate: float, median_tts_ms: float | None) -> float | None:
    """speed_efficiency_score: success rate over one plus the minutes to success; 0 without a success.

    >>> score(0.9, 60_000.0)
    0.45
    """
    if success_rate == 0:
        return 0.0
    if median_tts_ms is None:
        return None
    return success_rate / (1 + median_tts_ms / 60_000)


def nearest_rank(values: Floats, quantile: float) -> float | None:
    """The smallest known value with at least that share of values at or below it.

    >>> nearest_rank(np.arange(1.0, 11.0), 0.9)
    9.0
    """
    known = np.sort(values[~np.isnan(values)])
    if not known.size:
        return None
    # Rounded first: 0.9 * 10 must be nine, not the float next above it.
    return float(known[max(math.ceil(round(quantile * known.size, 9)) - 1, 0)])


def _median(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if known.size else None


def _floats(values: npt.ArrayLike) -> Floats:
    return np.asarray(values, dtype=np.float64)
