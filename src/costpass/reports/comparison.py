"""The comparison of arms as text, Markdown and JSON."""

from collections.abc import Callable, Sequence

from costpass.analysis.arms import Change
from costpass.analysis.compare import Against, Comparison
from costpass.reports import figures, table
from costpass.reports.figures import change_bounds, cost

Draw = Callable[..., str]


def _row(name: str, change: Change, unit: str) -> list[str]:
    delta = "∞ (none passed)" if change.delta.infinite else figures.change(change.delta.value)
    rate = change.success_rate_delta
    points = "unknown" if rate.value is None else f"{100 * rate.value:+.1f} pp".replace("-", "−")
    spend = change.spend_ratio.value
    return [
        name,
        str(change.problems),
        f"{change.passed[0]}/{change.attempts[0]}",
        f"{change.passed[1]}/{change.attempts[1]}",
        cost(change.cost_of_pass[0], unit),
        cost(change.cost_of_pass[1], unit),
        delta,
        change_bounds(change.delta),
        points,
        figures.change(None if spend is None else spend - 1),
    ]


def _section(arm: Against, unit: str, baseline: str, draw: Draw) -> list[str]:
    name = str(next(iter(arm.by.values())))
    header = ["", "problems", f"{baseline} passed", f"{name} passed", f"{baseline} cost", f"{name} cost"]
    header += ["change", "95 %", "accuracy", "spend"]
    rows = [_row("all", arm.overall, unit)]
    if len(arm.by_model) > 1:
        rows += [_row(f"model {part.name}", part.change, unit) for part in arm.by_model]
    if len(arm.by_capability) > 1:
        rows += [_row(f"capability {part.name}", part.change, unit) for part in arm.by_capability]
    if arm.control is not None:
        rows.append(_row("control problems", arm.control, unit))
    p_value = "" if arm.p_value is None else f"p = {arm.p_value:.3g}"
    if arm.p_adjusted is not None and arm.p_adjusted != arm.p_value:
        p_value += f" ({arm.p_adjusted:.3g} after correction for the number of arms)"
    return [arm.sentence, *([p_value] if p_value else []), "", draw(header, rows), ""]


def _drawn(report: Comparison, draw: Draw, bullet: str) -> str:
    parts: list[str] = []
    for arm in report.against:
        parts += _section(arm, report.unit, report.baseline, draw)
    return "\n".join([*parts, *_bullets(report.notes, bullet)]).rstrip()


def _bullets(notes: Sequence[str], bullet: str) -> list[str]:
    return [f"{bullet} {note}" for note in notes]


FORMATS: dict[str, Callable[[Comparison], str]] = {
    "text": lambda report: _drawn(report, table.text, "·"),
    "md": lambda report: _drawn(report, table.markdown, "-"),
    "json": lambda report: report.to_json(),
}
