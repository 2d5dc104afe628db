"""What did a correct answer cost? Attempts, passes, spend and cost of pass, by strategy or any other field."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

import numpy as np

from costpass.analysis.context import Context
from costpass.analysis.estimate import Estimate, Result, plain
from costpass.analysis.wording import counted
from costpass.economics.cost_of_pass import cost_of_pass
from costpass.economics.efficiency import Efficiency, score
from costpass.economics.frontier import frontier, value
from costpass.errors import CostpassError
from costpass.ledger.cells import Cells, cells, unit
from costpass.ledger.queries import Figure, Medians, Sums, medians, sums
from costpass.ledger.scan import Scan
from costpass.uncertainty import pooled
from costpass.uncertainty.interval import Interval

Method = Literal["linearised", "bootstrap"]


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
class BenchmarkRow:
    """One strategy on one benchmark, in the terms of the Cost-of-Pass paper."""

    by: Mapping[str, Any]
    accuracy: float | None
    mean_cost_usd: float | None
    frontier_with_expert_usd: float | None


@dataclass(frozen=True)
class Benchmark:
    """A benchmark and each strategy on it."""

    benchmark: str | None
    problems: int
    expert_usd: float | None
    strategies: Sequence[BenchmarkRow]


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
    counts = sums(scan, by, figure=figure, where=where)
    table = cells(scan, by, cost=unit(figure=figure), where=where)
    speeds = medians(scan, by, figure=figure, where=where)
    place = {values: row for row, values in enumerate(table.strategies)}
    bootstrapped = _bootstrap(table, resamples, seed) if interval == "bootstrap" else None
    rows = []
    for count in counts:
        key = tuple(count.by.values())
        estimates = _Estimates.of(table, [place[key]], bootstrapped, place[key])
        rows.append(_row(count, estimates, speeds.get(key)))
    total = Sums({})
    for count in counts:
        _add(total, count)
    whole = _row(total, _Estimates.of(table, range(len(table.strategies)), None, 0), None)
    return Summary(tuple(by), figure, rows, whole, _benchmarks(table, by, context), _notes(rows, whole))


@dataclass(frozen=True)
class _Estimates:
    success_rate: Interval
    mean_cost: Interval
    cost_of_pass: Interval
    problems: int

    @classmethod
    def of(cls, table: Cells, chosen: Sequence[int], bootstrapped: Any, place: int) -> "_Estimates":
        """The estimates of some strategies taken together."""
        part = table.where(strategies=list(chosen))
        attempts = part.by_cluster(part.attempts).sum(axis=1)
        passes = part.by_cluster(part.passes).sum(axis=1)
        cost = part.by_cluster(part.cost).sum(axis=1)
        without_faults = part.by_cluster(part.pass_cost + part.fail_cost).sum(axis=1)
        tried = (attempts > 0) | (cost > 0)
        attempts, passes, cost, without_faults = attempts[tried], passes[tried], cost[tried], without_faults[tried]
        ratio = pooled.ratio_interval(cost, passes, attempts=attempts)
        if bootstrapped is not None:
            low, high = bootstrapped
            ratio = Interval(ratio.value, float(low[place]), float(high[place]), "bootstrap")
        return cls(
            pooled.rate_interval(passes, attempts),
            pooled.mean_interval(without_faults, attempts),
            ratio,
            int((part.attempts.sum(axis=0) > 0).sum()),
        )


def _bootstrap(table: Cells, resamples: int, seed: int) -> tuple[Any, Any]:
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
    timed = speed.time_to_success_ms is not None and rate is not None
    return Efficiency(
        median_time_to_first_attempt_ms=speed.time_to_first_attempt_ms,
        median_time_to_success_ms=speed.time_to_success_ms,
        median_turns_to_success=speed.turns_to_success,
        median_tokens_per_sec=speed.tokens_per_sec,
        p90_cost_per_success=speed.p90_cost,
        speed_efficiency_score=score(rate or 0.0, speed.time_to_success_ms or 0.0) if timed else None,
        cost_killed_count=speed.cost_killed,
    )


def _benchmarks(table: Cells, by: Sequence[str], context: Context | None) -> list[Benchmark]:
    found = []
    for name in table.benchmarks:
        part = table.of_benchmark(name)
        part = part.where(problems=part.attempts.sum(axis=0) > 0)
        price = context.expert_usd(name) if context is not None else None
        rows = [_benchmark_row(part, row, by, price) for row in range(len(part.strategies)) if part.attempts[row].any()]
        if rows:
            found.append(Benchmark(name, len(part.problems), price, rows))
    return found


def _benchmark_row(part: Cells, row: int, by: Sequence[str], expert: float | None) -> BenchmarkRow:
    tried = part.attempts[row] > 0
    attempts, passes, cost = part.attempts[row, tried], part.passes[row, tried], part.cost[row, tried]
    single = cost_of_pass(cost / attempts, passes / attempts)[None, :]
    with_expert = None if expert is None else float(value(frontier(single, expert)))
    return BenchmarkRow(
        by=dict(zip(by, part.strategies[row], strict=True)),
        accuracy=float(passes.sum() / attempts.sum()),
        mean_cost_usd=float(cost.sum() / attempts.sum()),
        frontier_with_expert_usd=with_expert,
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
