"""Risk as text, Markdown, CSV and JSON."""

from collections.abc import Callable

from costpass.analysis.estimate import flat
from costpass.analysis.risk import RiskReport
from costpass.analysis.wording import label
from costpass.reports import table
from costpass.reports.figures import cost, percent


def _table(report: RiskReport) -> tuple[list[str], list[list[str]]]:
    by = list(report.rows[0].by) if report.rows else []
    budgets = [f"within {entry.budget:g}" for entry in report.rows[0].within] if report.rows else []
    header = [*by, "benchmark", "problems", "never solved", "mean", "half by", "90 % by", "worst tenth", *budgets]
    rows = [
        [
            *map(label, row.by.values()),
            row.benchmark or "–",
            str(row.problems),
            percent(row.unsolved_share),
            *(cost(figure, report.unit) for figure in (row.mean, row.p50, row.p90, row.cvar90)),
            *(percent(entry.chance) for entry in row.within),
        ]
        for row in report.rows
    ]
    return header, rows


def _csv(report: RiskReport) -> str:
    rows = [flat(record) for record in report.records()]
    names = list(rows[0]) if rows else []
    return table.comma_separated(
        names, [["" if row[name] is None else str(row[name]) for name in names] for row in rows]
    )


def _drawn(report: RiskReport, draw: Callable[..., str]) -> str:
    if not report.rows:
        return "Nothing can be said: no attempt has both a known cost and a known outcome."
    return f"{_LEAD}\n\n{draw(*_table(report), left=2)}"


_LEAD = "Spend until the first pass, trying again on a problem drawn at random:"

FORMATS: dict[str, Callable[[RiskReport], str]] = {
    "text": lambda report: _drawn(report, table.text),
    "md": lambda report: _drawn(report, table.markdown),
    "csv": _csv,
    "json": lambda report: report.to_json(),
}
