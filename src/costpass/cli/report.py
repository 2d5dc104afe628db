"""costpass report: what a correct answer cost."""

from enum import StrEnum
from typing import Annotated

import typer

from costpass.cli import common


class Format(StrEnum):
    text = "text"
    md = "md"
    json = "json"
    csv = "csv"


class Figure(StrEnum):
    cost = "cost"
    billed = "billed"
    metered = "metered"
    priced = "priced"
    imported = "imported"


def command(
    sources: common.Sources,
    by: Annotated[str, typer.Option(help="Fields to group by, parted by commas: strategy,benchmark …")] = "strategy",
    output_format: Annotated[Format, typer.Option("--format", help="How to print it.")] = Format.text,
    figure: Annotated[
        Figure, typer.Option("--cost", help="Which figure of cost to use; `cost` is the one the ledger settled on.")
    ] = Figure.cost,
    expert: common.Experts = None,
    context: common.ContextFile = None,
    interval: common.ReportIntervalMethod = common.ReportInterval.linearised,
    resamples: common.Resamples = 10_000,
    seed: common.Seed = 0,
    where: common.Filters = None,
    prices: common.PriceFiles = None,
    log_format: common.LogFormat = None,
) -> None:
    """Attempts, passes, spend and cost of pass, per strategy or any other grouping."""
    from costpass.analysis.context import load_context, parse_expert
    from costpass.analysis.summary import summary
    from costpass.reports.summary import FORMATS

    with common.opened(sources, prices=prices, log_format=log_format) as found:
        result = summary(
            found.scan,
            common.fields(by),
            figure=figure.value,
            where=common.pairs(where, "--where"),
            context=load_context(context)
            .before(found.contexts)
            .with_experts(dict(parse_expert(text) for text in expert or ())),
            interval=interval.value,
            resamples=resamples,
            seed=seed,
        )
        found.answer(FORMATS[output_format.value](result))
