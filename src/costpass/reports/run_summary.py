"""What a run came to, said once it has ended."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from costpass.reports import table
from costpass.reports.figures import dollars
from costpass.reports.progress import counted, figures, fitted, printable, spend
from costpass.runs.standing import Standing, Tally

_WIDTH = 80

_MOST_HALTS = 5

#: Why a run that is not complete ended, and what to do about it.
_GOES_ON = {
    "budget": "A cap ended the run. Raise it, or bound replies with max_tokens; the same command then goes on.",
    "faults": "Some attempts could not be made. The same command tries them again.",
    "stopped": "The run was stopped. The same command goes on, and pays for no finished attempt again.",
}


def as_text(standing: Standing, ended: str, ledger: Path) -> str:
    """The answer first, then a row for each strategy, then what to type next."""
    strategies = {name: tally for name, tally in standing.tallies.items() if tally.planned}
    is_complete = ended not in _GOES_ON
    return "\n".join(
        [
            _headline(strategies, is_complete=is_complete),
            "",
            _table(strategies),
            "",
            _whole(standing),
            *_ungraded(standing),
            *_faults(strategies),
            *_halts(strategies),
            *([] if is_complete else [_GOES_ON[ended]]),
            "",
            *_next(standing, ledger, is_complete=is_complete),
        ]
    )


def _next(standing: Standing, ledger: Path, *, is_complete: bool) -> list[str]:
    place = shlex.quote(str(ledger))
    if not standing.done:
        return [f"The ledger is {place}."]
    commands = ["report", "frontier"] if is_complete else ["report"]
    return [f"The ledger is {place}. Next:", *(f"  costpass {command} {place}" for command in commands)]


def _headline(strategies: Mapping[str, Tally], *, is_complete: bool) -> str:
    so_far = "" if is_complete else " so far"
    passing = {name: tally for name, tally in strategies.items() if tally.passed}
    if not passing:
        graded = sum(tally.graded for tally in strategies.values())
        return f"No attempt passed{so_far}, of {graded:,} graded." if graded else "No attempt was graded yet."
    name, best = min(passing.items(), key=lambda item: item[1].cost_of_pass_usd or 0)
    least = "with" if len(strategies) == 1 else "at the least, with"
    cost = dollars(best.cost_of_pass_usd)
    return f"A correct answer cost {cost}{so_far} {least} {name} ({best.passed:,} of {best.graded:,} passed)."


def _table(strategies: Mapping[str, Tally]) -> str:
    header = ["strategy", "done", "passed", "cost of pass", "spend", "faults"]
    rows = [
        [
            name,
            f"{tally.done}/{tally.planned}",
            *figures(tally),
            dollars(tally.spent_usd + tally.grading_usd),
            str(tally.faults),
        ]
        for name, tally in strategies.items()
    ]
    return table.text(header, fitted(header, rows, _WIDTH))


def _whole(standing: Standing) -> str:
    before = f", {standing.done_before:,} of them before" if standing.done_before else ""
    planned = counted(standing.planned, "attempt")
    if standing.done < standing.planned:
        counts = f"{standing.done:,} of {planned} done{before}"
    elif standing.done == standing.done_before:
        counts = f"Nothing was left to do: {standing.done:,} of {planned} were done before"
    else:
        counts = f"All done: {planned}{before}"
    return f"{counts}; {spend(standing)} spent in all{_elsewhere(standing)}."


def _elsewhere(standing: Standing) -> str:
    gone = sum(tally.spent_usd + tally.grading_usd for tally in standing.tallies.values() if not tally.planned)
    return f" ({dollars(gone)} of it by strategies that the experiment no longer has)" if gone else ""


def _ungraded(standing: Standing) -> list[str]:
    number = sum(tally.done - tally.graded for tally in standing.tallies.values())
    return [f"{counted(number, 'attempt')} could not be graded and say nothing of the pass rate."] if number else []


def _faults(strategies: Mapping[str, Tally]) -> list[str]:
    """What providers said last, of strategies that were not halted for it and have attempts left to make."""
    said = {
        tally.last_fault
        for tally in strategies.values()
        if tally.last_fault and tally.halted is None and tally.done < tally.planned
    }
    return [printable(f"The last fault: {message}") for message in sorted(said)[:_MOST_HALTS]]


def _halts(strategies: Mapping[str, Tally]) -> list[str]:
    """Each reason once, with the strategies that it halted."""
    names_by_reason: dict[str, list[str]] = {}
    for name, tally in strategies.items():
        if tally.halted is not None:
            names_by_reason.setdefault(tally.halted, []).append(name)
    lines = [printable(f"Halted {', '.join(names)}: {reason}") for reason, names in names_by_reason.items()]
    left_out = len(lines) - _MOST_HALTS
    return (
        lines if left_out <= 0 else [*lines[:_MOST_HALTS], f"{counted(left_out, 'more halt')} for reasons of the kind."]
    )
