"""costpass compare: did it help?"""

from typing import Annotated

import typer

from costpass.cli import common


def command(
    sources: common.Sources,
    baseline: Annotated[str, typer.Option(help="The arm that the others are compared with.")],
    against: Annotated[
        list[str] | None, typer.Option(help="An arm to compare; repeatable. All others where not given.")
    ] = None,
    by: Annotated[str, typer.Option(help="The field that tells the arms apart.")] = "mode",
    output_format: Annotated[
        common.ReportFormat, typer.Option("--format", help="How to print it.")
    ] = common.ReportFormat.text,
    unit: common.UnitName = "usd",
    interval: common.IntervalMethod = common.Interval.linearised,
    resamples: common.Resamples = 10_000,
    seed: common.Seed = 0,
    where: common.Filters = None,
    prices: common.PriceFiles = None,
    log_format: common.LogFormat = None,
) -> None:
    """The change in what a correct answer costs, arm against arm on the same problems, and how sure that is."""
    from costpass.analysis.compare import compare
    from costpass.ledger.cells import unit as cost_in
    from costpass.reports.comparison import FORMATS

    with common.opened(sources, prices=prices, log_format=log_format) as found:
        result = compare(
            found.scan,
            baseline=baseline,
            against=against,
            by=by,
            cost=cost_in(unit),
            where=common.pairs(where, "--where"),
            interval=interval.value,
            resamples=resamples,
            seed=seed,
        )
        found.answer(FORMATS[output_format.value](result))
