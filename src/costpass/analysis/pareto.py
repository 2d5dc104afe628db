"""Which strategies are beaten on every count? Pareto fronts over cost, time and success, or any set of axes."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costpass.analysis.estimate import Estimate, Result, plain
from costpass.analysis.summary import Summary, SummaryRow
from costpass.economics.pareto import pareto_front, pareto_rank
from costpass.errors import CostpassError, did_you_mean

Reading = Callable[[SummaryRow], float | None]


def _cost(row: SummaryRow) -> float | None:
    return math.inf if row.cost_of_pass_usd.infinite else row.cost_of_pass_usd.value


#: Each axis: how it is read off a row, and whether more is better.
_AXES: dict[str, tuple[Reading, bool]] = {
    "cost": (_cost, False),
    "time": (lambda row: row.efficiency.median_time_to_success_ms if row.efficiency else None, False),
    "success": (lambda row: row.success_rate.value, True),
    "spend": (lambda row: row.mean_cost_usd.value, False),
    "turns": (lambda row: row.efficiency.median_turns_to_success if row.efficiency else None, False),
    "speed": (lambda row: row.efficiency.median_tokens_per_sec if row.efficiency else None, True),
}


@dataclass(frozen=True)
class ParetoRow:
    """One strategy: its place on each axis, whether it is on the front, and 1 + how many beat it (0: no place)."""

    by: Mapping[str, Any]
    values: Mapping[str, Estimate]
    on_front: bool
    rank: int


@dataclass(frozen=True)
class Pareto(Result):
    """Every strategy."""

    axes: Sequence[str]
    rows: Sequence[ParetoRow]

    schema = "costpass.pareto/1"

    def records(self) -> list[dict[str, Any]]:
        return [{**plain(row.by), **plain(row.values), "on_front": row.on_front, "rank": row.rank} for row in self.rows]


def pareto(summary: Summary, axes: Sequence[str] = ("cost", "time", "success")) -> Pareto:
    """The front over the given axes. What is not known on an axis is not comparable there."""
    for axis in axes:
        if axis not in _AXES:
            raise CostpassError(f"there is no axis {axis!r}{did_you_mean(axis, _AXES)} (there are: {', '.join(_AXES)})")
    values = [[_AXES[axis][0](row) for axis in axes] for row in summary.strategies]
    points = np.array([[math.nan if v is None else v for v in row] for row in values], dtype=np.float64)
    points = points.reshape(len(values), len(axes))
    more_is_better = [_AXES[axis][1] for axis in axes]
    front, rank = pareto_front(points, more_is_better), pareto_rank(points, more_is_better)
    rows = [
        ParetoRow(
            row.by, dict(zip(axes, map(Estimate.point, found), strict=True)), bool(front[place]), int(rank[place])
        )
        for place, (row, found) in enumerate(zip(summary.strategies, values, strict=True))
    ]
    return Pareto(tuple(axes), rows)
