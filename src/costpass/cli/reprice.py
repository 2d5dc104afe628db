"""costpass reprice: the same attempts at other prices."""

from pathlib import Path
from typing import Annotated

import typer

from costpass.cli import common


def command(
    sources: common.Sources,
    output: Annotated[Path, typer.Option("-o", "--output", help="The new ledger; the old one stays as it is.")],
    at: Annotated[
        str | None, typer.Option(help="Use the prices of this date; each attempt's own time where not given.")
    ] = None,
    prices: common.PriceFiles = None,
    keep_unpriced: Annotated[
        bool, typer.Option("--keep-unpriced", help="Keep the old figure of attempts that have no price, and go on.")
    ] = False,
    log_format: common.LogFormat = None,
) -> None:
    """Write a new ledger in which every attempt is priced anew; the old figure is kept beside the new one."""
    from costpass.ledger.queries import attempts
    from costpass.ledger.reprice import Repricing
    from costpass.ledger.writing import write_ledger
    from costpass.pricing import PriceBook
    from costpass.reports.figures import dollars

    repricing = Repricing(PriceBook.load(*(prices or ())), common.day(at))

    with common.opened(sources, prices=prices, log_format=log_format) as found:
        write_ledger(
            output,
            repricing.attempts(attempts(found.scan)),
            price_book=repricing.book.digest,
            before_it_counts=lambda: None if keep_unpriced else repricing.refuse_unpriced(),
        )
    typer.echo(
        f"{repricing.repriced} attempts priced anew into {output}: "
        f"{dollars(repricing.before_usd)} before, {dollars(repricing.after_usd)} now"
    )
    kept = sum(repricing.unpriced.values())
    if repricing.undated:
        common.say(f"{repricing.undated} attempts have no date and were priced at today's prices; --at sets the date")
    if repricing.without_usage:
        common.say(f"{repricing.without_usage} attempts have no known usage and keep their figure")
    if kept:
        common.say(f"{kept} attempts have no price and keep their figure: {next(iter(repricing.unpriced))}")
