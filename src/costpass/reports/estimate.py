"""What a run would cost, as text and as JSON."""

import json
from collections.abc import Iterator
from decimal import Decimal
from textwrap import fill

from costpass.analysis.estimate import plain
from costpass.reports import table
from costpass.reports.figures import dollars
from costpass.runs.estimate import Estimate

SCHEMA = "costpass.estimate/1"

_WIDTH = 80
_LONGEST_NAME = 36


def text(estimate: Estimate) -> str:
    """A calm page of 80 columns: strategies, what was assumed, benchmarks."""
    return "\n\n".join([_heading(estimate), _strategies(estimate), *_remarks(estimate), _benchmarks(estimate)])


def to_json(estimate: Estimate) -> str:
    """The same for machines."""
    return json.dumps({"schema": SCHEMA, **plain(estimate)}, indent=2, ensure_ascii=False, allow_nan=False)


def _heading(estimate: Estimate) -> str:
    done = f"; {estimate.done:,} are done, for {dollars(estimate.spent_usd)}" if estimate.done else ""
    return f"{estimate.experiment}: {estimate.attempts:,} attempts to make{done}. Nothing was run."


def _strategies(estimate: Estimate) -> str:
    rows = [
        [_clipped(row.strategy), f"{row.attempts:,}", f"{row.calls:,}", dollars(row.usd), _worst(row.worst_usd)]
        for row in estimate.strategies
    ]
    total = ["total", f"{estimate.attempts:,}", f"{estimate.calls:,}", dollars(estimate.usd)]
    header = ["strategy", "attempts", "calls", "estimate", "at most"]
    return table.text(header, [*rows, [*total, _worst(estimate.worst_usd)]])


def _remarks(estimate: Estimate) -> Iterator[str]:
    lines = [*estimate.notes]
    if estimate.not_set:
        lines.append(f"Not set, and needed by the run: {', '.join(estimate.not_set)}.")
    if lines:
        yield "\n".join(fill(line, _WIDTH, initial_indent="- ", subsequent_indent="  ") for line in lines)


def _benchmarks(estimate: Estimate) -> str:
    rows = [
        [
            _clipped(found.benchmark),
            f"{found.problems:,}" + (" (assumed)" if found.assumed_because else ""),
            "–" if found.expert_usd is None else dollars(found.expert_usd),
        ]
        for found in estimate.benchmarks
    ]
    return table.text(["benchmark", "problems", "expert"], rows)


def _worst(usd: Decimal | None) -> str:
    return "no limit" if usd is None else dollars(usd)


def _clipped(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
