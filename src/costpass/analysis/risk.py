"""How much may it take? The distribution of spend until the first pass, retrying on a problem drawn at random."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costpass.analysis.estimate import Estimate, Result, plain
from costpass.economics.risk import spend_to_pass
from costpass.ledger.cells import Cells, Unit, cells
from costpass.ledger.scan import Scan

_CURVE_POINTS = 60


@dataclass(frozen=True)
class Within:
    """The chance of a pass before more than a budget is spent."""

    budget: float
    chance: float | None


@dataclass(frozen=True)
class RiskRow:
    """One strategy on one benchmark."""

    by: Mapping[str, Any]
    benchmark: str | None
    problems: int
    #: Share of problems that no attempt of this strategy solved: retrying would never end there.
    unsolved_share: float
    mean: Estimate
    p50: Estimate
    p90: Estimate
    #: Mean of the worst tenth.
    cvar90: Estimate
    within: Sequence[Within]
    #: Spend, and the chance of a pass within it, for a curve.
    curve: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class RiskReport(Result):
    """Every strategy on every benchmark."""

    unit: str
    rows: Sequence[RiskRow]

    schema = "costpass.risk/1"

    def records(self) -> list[dict[str, Any]]:
        return [
            {key: value for key, value in plain(row).items() if key not in ("within", "curve")}
            | {f"within_{entry.budget:g}": entry.chance for entry in row.within}
            for row in self.rows
        ]


def risk(
    scan: Scan,
    *,
    by: Sequence[str] = ("strategy",),
    budgets: Sequence[float] = (),
    cost: Unit | None = None,
    where: Mapping[str, str] | None = None,
) -> RiskReport:
    """Spend until the first pass. Retries are taken as independent, as in the definition of cost of pass."""
    table = cells(scan, by, cost=cost, where=where)
    rows = []
    for name in table.benchmarks:
        part = table.of_benchmark(name)
        for place in range(len(part.strategies)):
            if part.attempts[place].any():
                rows.append(_row(part, place, name, by, budgets))
    return RiskReport(cost.name if cost else "usd", rows)


def _row(part: Cells, place: int, benchmark: str | None, by: Sequence[str], budgets: Sequence[float]) -> RiskRow:
    n, k = part.attempts[place], part.passes[place]
    with np.errstate(divide="ignore", invalid="ignore"):
        # A fault is spent on the way like a failure, and says nothing of the chance to pass.
        on_pass = np.where(k > 0, part.pass_cost[place] / k, np.nan) + np.where(
            (k > 0) & (n == k), part.fault_cost[place] / n, 0.0
        )
        on_fail = np.where(n > k, (part.fail_cost[place] + part.fault_cost[place]) / (n - k), np.nan)
    found = spend_to_pass(n, k, on_pass, on_fail, budgets=tuple(budgets))
    spend, chance = found.curve(_CURVE_POINTS)
    return RiskRow(
        by=dict(zip(by, part.strategies[place], strict=True)),
        benchmark=benchmark,
        problems=found.problems,
        unsolved_share=found.unsolved,
        mean=Estimate.point(found.mean),
        p50=Estimate.point(found.p50),
        p90=Estimate.point(found.p90),
        cvar90=Estimate.point(found.cvar90),
        within=[Within(budget, share) for budget, share in zip(found.budgets, found.chances, strict=True)],
        curve=[(float(x), float(y)) for x, y in zip(spend, chance, strict=True)],
    )
