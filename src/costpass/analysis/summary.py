"""What did a correct answer cost? Attempts, passes, spend and cost of pass, by strategy or any other field."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal

import numpy as np

from costpass.analysis.benchmarks import Benchmark, benchmarks
from costpass.analysis.context import Context
from costpass.analysis.estimate import Estimate, Result, plain
from costpass.analysis.wording import counted
from costpass.economics.efficiency import Efficiency, score
from costpass.errors import CostpassError
from costpass.ledger.cells import CELL_COLUMNS, Groups, groups, unit
from costpass.ledger.columns import require_fields
from costpass.ledger.queries import SPEED_COLUMNS, Figure, Medians, Sums, medians, sums
from costpass.ledger.scan import Scan
from costpass.uncertainty import pooled
from costpass.uncertainty.interval import Interval

Method = Literal["linearised", "bootstrap", "none"]


@dataclass(frozen=True)
class SummaryRow:
    """One strategy, or whatever the rows were grouped by."""

    by: Mapping[str, Any]
    #: Attempts at problems; faults are apart.
    attempts: int
    passed: int
    graded: int
    outcome_unknown: int
    faults: int
    #: Of attempts and faults together, how many have a known cost.
    cost_known: int
    cost_unknown: int
    #: All that was spent and is known, faults included.
    spend_usd: Decimal | None
    fault_spend_usd: Decimal | None
    #: How many problems were attempted: the number of clusters behind the intervals is at most this.
    problems: int
    success_rate: Estimate
    mean_cost_usd: Estimate
    cost_of_pass_usd: Estimate
    efficiency: Efficiency | None = None

    @property
    def records(self) -> int:
        return self.attempts + self.faults


@dataclass(frozen=True)
class Summary(Result):
    """The answer, row by row and in all."""

    grouped_by: Sequence[str]
    figure: Figure
    strategies: Sequence[SummaryRow]
    total: SummaryRow
    benchmarks: Sequence[Benchmark]
    notes: Sequence[str] = field(default_factory=tuple)

    schema = "costpass.report/1"

    def records(self) -> list[dict[str, Any]]:
        return [plain(row) for row in self.strategies]


def summary(
    scan: Scan,
    by: Sequence[str] = ("strategy",),
    *,
    figure: Figure = "cost",
    where: Mapping[str, str] | None = None,
    context: Context | None = None,
    interval: Method = "linearised",
    resamples: int = 10_000,
    seed: int = 0,
) -> Summary:
    """Summarises the attempts of a scan. Intervals take problems, or their groups, as the clusters."""
    if "passed" in by:
        raise CostpassError("every row counts its passes already; group by status or failure instead of passed")
    if interval != "none":
        scan.load([*require_fields([*by, *(where or {})]), *CELL_COLUMNS, *SPEED_COLUMNS, f"{figure}_usd"])
    counts = sums(scan, by, figure=figure, where=where)
    total = Sums({})
    for count in counts:
        _add(total, count)
    if interval == "none":
        rows = [_row(count, _counted(count), None) for count in counts]
        whole = _row(total, _counted(total), None)
        return Summary(tuple(by), figure, rows, whole, [], _notes(rows, whole))
    found = groups(scan, by, cost=unit(figure=figure), where=where)
    speeds = medians(scan, by, figure=figure, where=where)
    estimates = _every_estimate(found, _bootstrap(found, resamples, seed) if interval == "bootstrap" else None)
    place = {values: row for row, values in enumerate(found.strategies)}
    rows = []
    for count in counts:
        key = tuple(count.by.values())
        rows.append(_row(count, estimates[place[key]], speeds.get(key)))
    whole = _row(total, _estimates(found, slice(None)), None)
    return Summary(tuple(by), figure, rows, whole, benchmarks(found, by, context or Context()), _notes(rows, whole))


@dataclass(frozen=True)
class _Estimates:
    success_rate: Interval
    mean_cost: Interval
    cost_of_pass: Interval
    problems: int


def _every_estimate(found: Groups, bootstrapped: tuple[Any, Any] | None) -> list[_Estimates]:
    """The estimates of each strategy."""
    every = []
    for row in range(len(found.strategies)):
        one = _estimates(found, found.entries(row))
        if bootstrapped is not None:
            low, high = float(bootstrapped[0][row]), float(bootstrapped[1][row])
            one = replace(one, cost_of_pass=Interval(one.cost_of_pass.value, low, high, "bootstrap"))
        every.append(one)
    return every


def _estimates(found: Groups, entries: slice) -> _Estimates:
    """The estimates of some entries taken together, clustered."""
    cluster = np.unique(found.cluster[found.col[entries]], return_inverse=True)[1]
    part = {name: np.bincount(cluster, values[entries]) for name, values in found.sums.items()}
    attempts, passes = part["attempts"], part["passes"]
    spent = part["pass_cost"] + part["fail_cost"]
    return _Estimates(
        pooled.rate_interval(passes, attempts),
        pooled.mean_interval(spent, attempts),
        pooled.ratio_interval(spent + part["fault_cost"], passes, attempts=attempts),
        len(np.unique(found.col[entries][found.sums["attempts"][entries] > 0])),
    )


def _counted(count: Sums) -> _Estimates:
    """Figures alone, without an interval."""
    spend = count.scored_spend_usd + count.fault_spend_usd
    ratio = math.inf if not count.scored_passed else float(spend / count.scored_passed)
    rate = count.passed / count.graded if count.graded else math.nan
    mean = float(count.scored_spend_usd / count.scored) if count.scored else math.nan
    nan = math.nan
    return _Estimates(Interval(rate, nan, nan), Interval(mean, nan, nan), Interval(ratio, nan, nan), 0)


def _bootstrap(found: Groups, resamples: int, seed: int) -> tuple[Any, Any]:
    table = found.cells()
    return pooled.ratio_bootstrap(
        table.by_cluster(table.cost),
        table.by_cluster(table.passes),
        resamples=resamples,
        rng=np.random.default_rng(seed),
        level=0.95,
    )


def _row(count: Sums, estimates: _Estimates, speed: Medians | None) -> SummaryRow:
    known = count.cost_known + count.fault_cost_known
    rate = count.passed / count.graded if count.graded else None
    # Rates are of every graded attempt, with or without a cost; so is the figure that the interval is put around.
    success = Estimate.of(estimates.success_rate) if count.scored == count.graded else Estimate.point(rate)
    return SummaryRow(
        by=count.by,
        attempts=count.attempts,
        passed=count.passed,
        graded=count.graded,
        outcome_unknown=count.attempts - count.graded,
        faults=count.faults,
        cost_known=known,
        cost_unknown=count.attempts + count.faults - known,
        spend_usd=count.spend_usd if known else None,
        fault_spend_usd=count.fault_spend_usd if count.fault_cost_known or not count.faults else None,
        problems=estimates.problems,
        success_rate=success,
        mean_cost_usd=_mean_cost(count, estimates),
        cost_of_pass_usd=Estimate.of(estimates.cost_of_pass) if count.scored else Estimate(None),
        efficiency=None if speed is None else _efficiency(speed, rate),
    )


def _mean_cost(count: Sums, estimates: _Estimates) -> Estimate:
    if count.scored == count.cost_known:
        return Estimate.of(estimates.mean_cost) if count.cost_known else Estimate(None)
    return Estimate.point(float((count.spend_usd - count.fault_spend_usd) / count.cost_known))


def _efficiency(speed: Medians, rate: float | None) -> Efficiency:
    return Efficiency(
        median_time_to_first_attempt_ms=speed.time_to_first_attempt_ms,
        median_time_to_success_ms=speed.time_to_success_ms,
        median_turns_to_success=speed.turns_to_success,
        median_tokens_per_sec=speed.tokens_per_sec,
        p90_cost_per_success=speed.p90_cost,
        speed_efficiency_score=None if rate is None else score(rate, speed.time_to_success_ms),
        cost_killed_count=speed.cost_killed,
    )


def _add(total: Sums, cell: Sums) -> None:
    for name in vars(total):
        if name != "by":
            setattr(total, name, getattr(total, name) + getattr(cell, name))


def _notes(rows: Sequence[SummaryRow], total: SummaryRow) -> list[str]:
    notes = []
    if total.cost_unknown:
        notes.append(
            f"cost known for {total.cost_known} of {total.records} attempts; "
            "cost of pass covers only those, and says nothing of the others"
        )
    if total.outcome_unknown:
        notes.append(f"outcome not known for {total.outcome_unknown} of {total.attempts} attempts")
    if total.faults:
        many = f"{total.faults} fault{'s' if total.faults > 1 else ''}"
        if total.fault_spend_usd is None:
            notes.append(f"{many}, at a cost that is not known: not counted as failures")
        else:
            spent = f"${float(total.fault_spend_usd):.6g}"
            notes.append(f"{many} cost {spent}: counted in spend and cost of pass, not as failures")
    never = sum(row.cost_of_pass_usd.infinite for row in rows)
    if never and len(rows) > 1:
        notes.append(f"{never} of {len(rows)} rows never passed: their cost of pass is infinite")
    if 0 < total.problems < 20:
        notes.append(f"only {counted(total.problems, 'problem')}: intervals this wide are what so few can say")
    return notes
