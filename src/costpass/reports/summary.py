"""The summary as text, Markdown, CSV and JSON."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from costpass.analysis.summary import Summary, SummaryRow
from costpass.reports import table
from costpass.reports.figures import cost_of_pass, dollars, percent

SCHEMA = "costpass.report/1"

_WIDEST_CELL = 51


def _shown(value: Any) -> str:
    return "–" if value is None else str(value)


def _cells(row: SummaryRow, by: list[str]) -> list[str]:
    return [
        *by,
        str(row.attempts),
        str(row.passed),
        percent(row.success_rate.value),
        dollars(row.spend_usd) if row.cost_known else "unknown",
        cost_of_pass(row.cost_of_pass_usd),
        str(row.faults),
        str(row.records - row.cost_known),
    ]


def _table(report: Summary) -> tuple[list[str], list[list[str]]]:
    header = [*report.by, "attempts", "passed", "success", "spend", "cost of pass", "faults", "cost unknown"]
    rows = [_cells(row, [_shown(row.by[name]) for name in report.by]) for row in report.rows]
    if len(rows) > 1:
        rows.append(_cells(report.total, ["all", *[""] * (len(report.by) - 1)]))
    return header, rows


def _headline(report: Summary) -> str:
    """The answer first: which row buys a correct answer for the least."""
    known = [row for row in report.rows if row.cost_of_pass_usd.value is not None]
    if not known:
        if any(row.cost_of_pass_usd.infinite for row in report.rows):
            return "No attempt passed, so no correct answer was bought."
        return "What a correct answer cost cannot be said: no attempt has both a known cost and a known outcome."
    best = min(known, key=lambda row: row.cost_of_pass_usd.value or 0)
    name = ", ".join(_shown(best.by[name]) for name in report.by)
    least = "with" if len(report.rows) == 1 else "at the least, with"
    return (
        f"A correct answer cost {dollars(best.cost_of_pass_usd.value)} {least} {name} "
        f"({best.passed} of {best.graded} passed)."
    )


def as_text(report: Summary) -> str:
    header, rows = _table(report)
    rows = [[_clipped(cell) for cell in row] for row in rows]
    parts = [_headline(report), "", table.text(header, rows, left=len(report.by))]
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
    parts = [_headline(report), "", table.markdown(header, rows, left=len(report.by))]
    if report.notes:
        parts += ["", *(f"- {note}" for note in report.notes)]
    return "\n".join(parts)


def as_csv(report: Summary) -> str:
    """Every figure unrounded, one line a row."""
    names = list(_figures(report.total))
    rows = [
        [
            *("" if row.by[name] is None else str(row.by[name]) for name in report.by),
            *map(_plain, _figures(row).values()),
        ]
        for row in report.rows
    ]
    return table.comma_separated([*report.by, *names], rows)


def _plain(figure: Any) -> str:
    if isinstance(figure, dict):
        return "inf" if figure["infinite"] else _plain(figure["value"])
    return "" if figure is None else str(figure)


def as_json(report: Summary) -> str:
    document = {
        "schema": SCHEMA,
        "by": list(report.by),
        "figure": report.figure,
        "strategies": [{**_plain_by(row.by), **_figures(row)} for row in report.rows],
        "total": _figures(report.total),
        "notes": list(report.notes),
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def _plain_by(by: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if value is None or isinstance(value, bool | int | float | str) else str(value)
        for name, value in by.items()
    }


def _figures(row: SummaryRow) -> dict[str, Any]:
    return {
        "attempts": row.attempts,
        "passed": row.passed,
        "graded": row.graded,
        "outcome_unknown": row.outcome_unknown,
        "faults": row.faults,
        "cost_known": row.cost_known,
        "cost_unknown": row.records - row.cost_known,
        "spend_usd": float(row.spend_usd) if row.cost_known else None,
        "fault_spend_usd": float(row.fault_spend_usd),
        "success_rate": row.success_rate.to_json(),
        "mean_cost_usd": row.mean_cost_usd.to_json(),
        "cost_of_pass_usd": row.cost_of_pass_usd.to_json(),
    }


FORMATS: dict[str, Callable[[Summary], str]] = {
    "text": as_text,
    "md": as_markdown,
    "json": as_json,
    "csv": as_csv,
}
