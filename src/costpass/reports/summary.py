"""The summary as text, Markdown, CSV and JSON."""

from collections.abc import Callable
from typing import Any

from costpass.analysis.estimate import flat
from costpass.analysis.summary import Summary, SummaryRow
from costpass.reports import table
from costpass.reports.figures import bounds, cost, dollars, percent, percent_bounds

_WIDEST_CELL = 51


def _shown(value: Any) -> str:
    return "–" if value is None else str(value)


def _cells(row: SummaryRow, by: list[str]) -> list[str]:
    return [
        *by,
        str(row.attempts),
        str(row.passed),
        percent(row.success_rate.value),
        percent_bounds(row.success_rate),
        dollars(row.spend_usd),
        cost(row.cost_of_pass_usd, infinite="∞ (none passed)"),
        bounds(row.cost_of_pass_usd),
        str(row.faults),
        str(row.cost_unknown),
    ]


def _table(report: Summary) -> tuple[list[str], list[list[str]]]:
    by = list(report.grouped_by)
    header = [*by, "attempts", "passed", "success", "95 %", "spend", "cost of pass", "95 %", "faults", "cost unknown"]
    rows = [_cells(row, [_shown(row.by[name]) for name in by]) for row in report.strategies]
    if len(rows) > 1:
        rows.append(_cells(report.total, ["all", *[""] * (len(by) - 1)]))
    return header, rows


def _headline(report: Summary) -> str:
    """The answer first: which row buys a correct answer for the least."""
    known = [row for row in report.strategies if row.cost_of_pass_usd.value is not None]
    if not known:
        if any(row.cost_of_pass_usd.infinite for row in report.strategies):
            return "No attempt passed, so no correct answer was bought."
        return "What a correct answer cost cannot be said: no attempt has both a known cost and a known outcome."
    best = min(known, key=lambda row: row.cost_of_pass_usd.value or 0)
    name = ", ".join(_shown(best.by[name]) for name in report.grouped_by)
    least = "with" if len(report.strategies) == 1 else "at the least, with"
    return (
        f"A correct answer cost {dollars(best.cost_of_pass_usd.value)} {least} {name} "
        f"({best.passed} of {best.graded} passed)."
    )


def as_text(report: Summary) -> str:
    header, rows = _table(report)
    rows = [[_clipped(cell) for cell in row] for row in rows]
    parts = [_headline(report), "", table.text(header, rows, left=len(report.grouped_by))]
    if report.notes:
        parts += ["", *(f"· {note}" for note in report.notes)]
    return "\n".join(parts)


def _clipped(cell: str) -> str:
    """A name that would push the figures off the screen, cut in the middle, where names differ least."""
    if len(cell) <= _WIDEST_CELL:
        return cell
    half = (_WIDEST_CELL - 1) // 2
    return f"{cell[:half]}…{cell[-half:]}"


def as_markdown(report: Summary) -> str:
    header, rows = _table(report)
    parts = [_headline(report), "", table.markdown(header, rows, left=len(report.grouped_by))]
    if report.notes:
        parts += ["", *(f"- {note}" for note in report.notes)]
    return "\n".join(parts)


def as_csv(report: Summary) -> str:
    """Every figure unrounded, one line a row."""
    rows = [flat(record) for record in report.records()]
    names = list(rows[0]) if rows else []
    return table.comma_separated(
        names, [["" if row[name] is None else str(row[name]) for name in names] for row in rows]
    )


def as_json(report: Summary) -> str:
    return report.to_json()


FORMATS: dict[str, Callable[[Summary], str]] = {
    "text": as_text,
    "md": as_markdown,
    "json": as_json,
    "csv": as_csv,
}
