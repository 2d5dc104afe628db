"""Pareto fronts as text, Markdown and JSON."""

from collections.abc import Callable

from costpass.analysis.estimate import Estimate
from costpass.analysis.pareto import Pareto
from costpass.analysis.wording import label
from costpass.reports import table
from costpass.reports.figures import dollars, percent


def _shown(axis: str, place: Estimate) -> str:
    value = place.value
    if place.infinite or value is None:
        return "∞" if place.infinite else "unknown"
    if axis in ("cost", "spend"):
        return dollars(value)
    return {"success": percent(value), "time": f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.0f} ms"}.get(
        axis, f"{value:.1f}"
    )


def _table(report: Pareto) -> tuple[list[str], list[list[str]]]:
    by = list(report.rows[0].by) if report.rows else []
    rows = [
        [
            *map(label, row.by.values()),
            *(_shown(axis, row.values[axis]) for axis in report.axes),
            "yes" if row.on_front else "",
            str(row.rank or "–"),
        ]
        for row in sorted(report.rows, key=lambda row: row.rank or len(report.rows) + 1)
    ]
    return [*by, *report.axes, "on the front", "rank"], rows


FORMATS: dict[str, Callable[[Pareto], str]] = {
    "text": lambda report: table.text(*_table(report)),
    "md": lambda report: table.markdown(*_table(report)),
    "json": lambda report: report.to_json(),
}
