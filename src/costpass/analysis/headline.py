"""The headline of a comparison, and what should be known beside it, in sentences."""

from typing import Literal

from costpass.analysis.arms import Change, Coverage
from costpass.analysis.wording import bound, counted, signed_percent

Verdict = Literal["cheaper", "dearer", "not decided"]

_FEW_CLUSTERS = 5


def headline(
    other: str, baseline: str, overall: Change, verdict: Verdict, more: int | None, *, corrected_for: int = 1
) -> str:
    """The headline, with what makes it up."""
    if overall.delta.infinite:
        return (
            f"{other} never passed, so it bought no correct answer at all; {baseline} passed {overall.passed[0]} times."
        )
    if overall.delta.value is None and overall.passed[0]:
        return f"It cannot be said what {other} changes: {baseline} cost nothing, and nothing is a share of that."
    if overall.delta.value is None:
        return f"It cannot be said what {other} changes: {baseline} never passed on the problems they share."
    rates = [passed / tries for passed, tries in zip(overall.passed, overall.attempts, strict=True)]
    spend = overall.spend_ratio.value
    spent = "unknown" if spend is None else signed_percent(spend - 1)
    parts = f"spend {spent}, accuracy {signed_percent(rates[1] / rates[0] - 1)}"
    bounds = "" if overall.delta.low is None else f" [{signed_percent(overall.delta.low)}, {bound(overall.delta.high)}]"
    change = f"{signed_percent(overall.delta.value)}{bounds} per correct answer ({parts})"
    return f"{other} against {baseline}: {change}: {_ending(other, verdict, more, corrected_for)}"


def _ending(other: str, verdict: Verdict, more: int | None, corrected_for: int) -> str:
    if verdict != "not decided":
        return f"{other} is {verdict}."
    if corrected_for > 1:
        return f"not decided once corrected for the {corrected_for} arms compared."
    if more is None:
        return "not decided."
    return f"not decided; about {counted(more, 'more attempt')} of each, on as many more problems, would tell."


def remarks(name: str, overall: Change, coverage: Coverage) -> list[str]:
    """What should be known of the problems behind a comparison."""
    notes = []
    missing = len(coverage.only_baseline) + len(coverage.only_this)
    if missing:
        notes.append(
            f"{name}: {counted(missing, 'problem')} attempted by one arm only, and left out "
            f"({len(coverage.only_baseline)} by the baseline, {len(coverage.only_this)} by {name})"
        )
    if coverage.uneven:
        uneven = counted(len(coverage.uneven), "problem")
        notes.append(f"{name}: on {uneven} one arm has over a fifth more attempts than the other")
    if overall.problems < _FEW_CLUSTERS:
        notes.append(f"{name}: only {counted(overall.problems, 'problem')} in common; little can be said from so few")
    return notes
