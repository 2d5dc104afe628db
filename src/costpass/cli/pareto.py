"""costpass pareto: which strategies no other beats on every count."""

from typing import Annotated

import typer

from costpass.cli import common


def command(
    sources: common.Sources,
    axes: Annotated[
        str, typer.Option(help="Axes, parted by commas: cost (of pass), time, success, spend, turns, speed.")
    ] = "cost,time,success",
    by: Annotated[str, typer.Option(help="Fields to group by, parted by commas.")] = "strategy",
    output_format: Annotated[
        common.ReportFormat, typer.Option("--format", help="How to print it.")
    ] = common.ReportFormat.text,
    where: common.Filters = None,
    prices: common.PriceFiles = None,
    log_format: common.LogFormat = None,
) -> None:
    """The Pareto front over cost, time and success rate, or any other axes, and each strategy's rank."""
    from costpass.analysis.pareto import pareto
    from costpass.analysis.summary import summary
    from costpass.reports.pareto import FORMATS

    with common.opened(sources, prices=prices, log_format=log_format) as found:
        result = pareto(
            summary(found.scan, common.fields(by), where=common.pairs(where, "--where")),
            [axis.strip() for axis in axes.split(",")],
        )
        found.answer(FORMATS[output_format.value](result))
