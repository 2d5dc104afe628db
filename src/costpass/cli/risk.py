"""costpass risk: what may be spent until the first pass."""

from enum import StrEnum
from typing import Annotated

import typer

from costpass.cli import common


class Format(StrEnum):
    text = "text"
    md = "md"
    json = "json"
    csv = "csv"


def command(
    sources: common.Sources,
    budget: Annotated[
        list[float] | None, typer.Option(min=0, help="Print the chance of a pass within this much; repeatable.")
    ] = None,
    by: Annotated[str, typer.Option(help="Fields to group by, parted by commas.")] = "strategy",
    output_format: Annotated[Format, typer.Option("--format", help="How to print it.")] = Format.text,
    unit: common.UnitName = "usd",
    where: common.Filters = None,
    prices: common.PriceFiles = None,
    log_format: common.LogFormat = None,
) -> None:
    """Spend until the first pass: mean, median, 90th percentile, worst tenth, and the chance within a budget."""
    from costpass.analysis.risk import risk
    from costpass.ledger.cells import unit as cost_in
    from costpass.reports.risk import FORMATS

    with common.opened(sources, prices=prices, log_format=log_format) as found:
        result = risk(
            found.scan,
            by=common.fields(by),
            budgets=budget or (),
            cost=cost_in(unit),
            where=common.pairs(where, "--where"),
        )
        found.answer(FORMATS[output_format.value](result))
