"""The frontier as text, Markdown and JSON."""

from collections.abc import Callable

from costpass.analysis.frontier import BenchmarkFrontier, Essentialness, Frontier
from costpass.reports import table
from costpass.reports.figures import amount, bounds, cost

Draw = Callable[..., str]


def _headline(row: BenchmarkFrontier, unit: str) -> list[str]:
    name = row.benchmark or "all problems"
    expert = "" if row.expert_usd is None else f", the expert at {amount(row.expert_usd, unit)}"
    lines = [f"{name}: {row.problems} problem{'' if row.problems == 1 else 's'}{expert}"]
    if row.frontier_usd.infinite:
        lines.append(f"  frontier: infinite; nobody solved {len(row.unsolved)} of the problems")
    else:
        figure = f"{cost(row.frontier_usd, unit)} {bounds(row.frontier_usd, unit)}".rstrip()
        lines.append(f"  frontier (best strategy of each problem, in hindsight): {figure}")
    if row.optimism_usd is not None and row.frontier_usd.value:
        off, size = ("low", row.optimism_usd) if row.optimism_usd > 0 else ("high", -row.optimism_usd)
        why = (
            "the least of noisy figures is optimistic"
            if off == "low"
            else "some that seem unsolved only need more tries"
        )
        if size > 0.01 * row.frontier_usd.value:
            lines.append(f"  likely too {off} by about {amount(size, unit)}: {why}")
    for label, policy in (("best single strategy", row.best_single), ("best cascade", row.best_cascade)):
        if policy is not None:
            figure = f"{cost(policy.cost_usd, unit)} {bounds(policy.cost_usd, unit)}".rstrip()
            lines.append(
                f"  {label} that can be deployed: {figure} on problems it was not chosen on. {policy.sentence}"
            )
    return lines


def _tables(row: BenchmarkFrontier, unit: str, draw: Draw) -> list[str]:
    shares = {(entry.kind, entry.subset): entry for entry in row.essentialness}
    singles = [
        [
            single.strategy,
            f"{single.solved}/{single.tried}",
            cost(single.frontier_usd, unit),
            bounds(single.frontier_usd, unit),
            _percent(shares["strategy", single.strategy].percent),
        ]
        for single in row.single
    ]
    parts = ["", draw(["strategy", "solved", "alone", "95 %", "essential"], singles)]
    others = [entry for entry in row.essentialness if entry.kind != "strategy"]
    if others:
        cells = [[_subset(entry), _percent(entry.percent), _ends(entry.low, entry.high)] for entry in others]
        parts += ["", draw(["without it", "essential", "95 %"], cells)]
    if row.trend:
        dated = [
            [
                str(step.date or "before"),
                ", ".join(step.added),
                cost(step.frontier_usd, unit),
                _percent_of(step.relative_gain),
            ]
            for step in row.trend
        ]
        parts += ["", draw(["released", "added", "frontier", "gain"], dated, left=2)]
    if row.half_life_months is not None:
        life = row.half_life_months
        known = (
            f"{life.value:.1f} months [{life.low:.1f}, {life.high:.1f}]"
            if life.value and life.low and life.high
            else ""
        )
        parts += ["", f"half-life: {known}" if known else f"half-life: not identified ({life.reason})"]
    return parts


def _subset(entry: Essentialness) -> str:
    return entry.subset if entry.subset == entry.kind else f"{entry.kind} {entry.subset}"


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.1f} %"


def _percent_of(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{low:.1f}, {high:.1f}]"


def _drawn(report: Frontier, draw: Draw, bullet: str) -> str:
    parts: list[str] = []
    for row in report.benchmarks:
        parts += [*_headline(row, report.unit), *_tables(row, report.unit, draw), ""]
    parts += [f"{bullet} {note}" for note in report.notes]
    return "\n".join(parts).rstrip()


FORMATS: dict[str, Callable[[Frontier], str]] = {
    "text": lambda report: _drawn(report, table.text, "·"),
    "md": lambda report: _drawn(report, table.markdown, "-"),
    "json": lambda report: report.to_json(),
}
