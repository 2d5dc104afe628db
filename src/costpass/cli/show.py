"""costpass show: the attempts themselves."""

from collections.abc import Iterable
from enum import StrEnum
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated

import typer

from costpass.cli import common

if TYPE_CHECKING:
    from costpass.attempt import Attempt

_ROWS_AT_ONCE = 50


class Format(StrEnum):
    text = "text"
    jsonl = "jsonl"


def command(
    sources: common.Sources,
    where: common.Filters = None,
    attempt_id: Annotated[str, typer.Option("--id", help="Only the attempt whose id begins so, in full.")] = "",
    last: Annotated[int | None, typer.Option("--last", "-n", min=1, help="Only the last so many.")] = None,
    output_format: Annotated[
        Format, typer.Option("--format", help="text: a table, or one attempt in full; jsonl: attempts as stored.")
    ] = Format.text,
    prices: common.PriceFiles = None,
    log_format: common.LogFormat = None,
) -> None:
    """List attempts, or show one in full."""
    from costpass.errors import CostpassError
    from costpass.ledger.queries import attempts

    with common.opened(sources, prices=prices, log_format=log_format) as found:
        chosen = attempts(found.scan, where=common.pairs(where, "--where"), last=last, id_prefix=attempt_id)
        if output_format is Format.jsonl:
            for attempt in chosen:
                typer.echo(attempt.to_line().decode(), nl=False)
            return
        first = list(islice(chosen, 2))
        if not first:
            raise CostpassError("no attempt is like that")
        if len(first) == 1:
            typer.echo(_in_full(first[0]))
        else:
            _print_table(chain(first, chosen))


def _in_full(attempt: "Attempt") -> str:
    import json

    fields = {"id": attempt.id, **json.loads(attempt.to_line())}
    known = {name: value for name, value in fields.items() if value not in (None, [], {})}
    width = max(map(len, known))
    lines = [f"{name.ljust(width)}  {value}" for name, value in known.items()]
    unknown = [name for name, value in fields.items() if value is None]
    return "\n".join([*lines, f"{'not known'.ljust(width)}  {', '.join(unknown)}"])


def _print_table(attempts: Iterable["Attempt"]) -> None:
    """In pages, so that a long ledger starts to print at once."""
    from costpass.reports import table
    from costpass.reports.figures import dollars

    header = ["id", "strategy", "problem", "rep", "outcome", "cost", "tokens in", "out", "started"]
    rows = iter(attempts)
    while page := list(islice(rows, _ROWS_AT_ONCE)):
        cells = [
            [
                attempt.id,
                attempt.strategy,
                attempt.problem[:60],
                str(attempt.repetition) + (f"r{attempt.retry}" if attempt.retry else ""),
                _outcome(attempt),
                dollars(attempt.cost_usd),
                _number(attempt.input_tokens),
                _number(attempt.output_tokens),
                f"{attempt.started_at:%Y-%m-%d %H:%M}" if attempt.started_at else "–",
            ]
            for attempt in page
        ]
        typer.echo(table.text(header, cells, left=3))


def _outcome(attempt: "Attempt") -> str:
    if attempt.passed:
        return "passed"
    return attempt.failure or ("failed" if attempt.passed is False else attempt.status)


def _number(count: int | None) -> str:
    return "–" if count is None else f"{count:,}"
