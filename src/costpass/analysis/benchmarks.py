"""Each strategy on each benchmark, in the terms of the Cost-of-Pass paper."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costpass.analysis.context import Context
from costpass.economics.cost_of_pass import cost_of_pass
from costpass.economics.frontier import frontier, value
from costpass.ledger.cells import Groups


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


def benchmarks(found: Groups, by: Sequence[str], context: Context) -> list[Benchmark]:
    """Every benchmark that was attempted."""
    names = found.benchmarks
    number = {name: place for place, name in enumerate(names)}
    of_problem = np.array([number[name] for name, _ in found.problems], dtype=np.int64)
    tried = np.flatnonzero(found.sums["attempts"] > 0)
    of_entry = of_problem[found.col[tried]]
    result = []
    for place, name in enumerate(names):
        entries = tried[of_entry == place]
        if entries.size:
            price = context.expert_usd(name)
            problems = len(np.unique(found.col[entries]))
            result.append(Benchmark(name, problems, price, _rows(found, entries, by, price)))
    return result


def _rows(found: Groups, entries: Any, by: Sequence[str], expert: float | None) -> list[BenchmarkRow]:
    rows = []
    starts = np.flatnonzero(np.diff(found.row[entries], prepend=-1))
    for part in np.split(entries, starts[1:]):
        attempts, passes = found.sums["attempts"][part], found.sums["passes"][part]
        cost = sum(found.sums[name][part] for name in ("pass_cost", "fail_cost", "fault_cost"))
        single = cost_of_pass(cost / attempts, passes / attempts)[None, :]
        rows.append(
            BenchmarkRow(
                by=dict(zip(by, found.strategies[found.row[part[0]]], strict=True)),
                accuracy=float(passes.sum() / attempts.sum()),
                mean_cost_usd=float(np.sum(cost) / attempts.sum()),
                frontier_with_expert_usd=None if expert is None else float(value(frontier(single, expert))),
            )
        )
    return rows
