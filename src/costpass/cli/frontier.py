"""costpass frontier: the least cost of pass, what it rests on, and what of it can be deployed."""

from typing import Annotated

import typer

from costpass.cli import common


def command(
    sources: common.Sources,
    expert: common.Experts = None,
    context: common.ContextFile = None,
    by: Annotated[str, typer.Option(help="The field that tells strategies apart.")] = "strategy",
    success: Annotated[
        str, typer.Option(help="What counts as success: pass, pass@K (any of K tries) or pass^K (all of K).")
    ] = "pass",
    verification: Annotated[
        float, typer.Option(min=0, help="What it costs to check one answer, for policies that stop at the first pass.")
    ] = 0.0,
    base_technique: Annotated[
        str | None, typer.Option(help="The technique that others are measured against; direct ones where not given.")
    ] = None,
    output_format: Annotated[
        common.ReportFormat, typer.Option("--format", help="How to print it.")
    ] = common.ReportFormat.text,
    unit: common.UnitName = "usd",
    weights: Annotated[
        str | None,
        typer.Option(metavar="UNIT=WEIGHT,…", help="A cost of several parts: output_tokens=0.00001,joules=2e-7."),
    ] = None,
    resamples: common.Resamples = 1000,
    seed: common.Seed = 0,
    where: common.Filters = None,
    prices: common.PriceFiles = None,
    log_format: common.LogFormat = None,
) -> None:
    """The frontier cost of pass of every benchmark: single strategies, essentialness, trend, deployable policies."""
    from costpass.analysis.context import load_context, parse_expert
    from costpass.analysis.frontier import Options, frontier
    from costpass.ledger.cells import unit as cost_in
    from costpass.pricing import PriceBook
    from costpass.reports.frontier import FORMATS

    cost = cost_in("weighted" if weights else unit, weights=common.numbers(weights, "--weights"))
    told = load_context(context)
    experts = dict(parse_expert(text) for text in expert or ())
    options = Options(success, resamples, seed, verification, base_technique)
    with common.opened(sources, prices=prices, log_format=log_format) as found:
        result = frontier(
            found.scan,
            by=by,
            context=told.before(found.contexts).in_unit(unit).with_experts(experts),
            book=PriceBook.load(*(prices or ())),
            cost=cost,
            where=common.pairs(where, "--where"),
            options=options,
        )
        found.answer(FORMATS[output_format.value](result))
