"""costpass ledger: looking after a ledger."""

from pathlib import Path
from typing import Annotated

import typer

from costpass.cli import common

app = typer.Typer(help="Look after a ledger.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    """Look after a ledger."""


@app.command("check")
def check(
    sources: common.Sources,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend a torn last line; whole lines are never touched.")
    ] = False,
) -> None:
    """Check every line of ledgers: whole, valid, none twice, the columnar copy in agreement."""
    from costpass.ledger import check as checking
    from costpass.ledger.store import Ledger

    sound = True
    for name in sources:
        if not Ledger.is_ledger(Path(name)):
            _check_log(name)
            continue
        result = checking.check(Ledger(Path(name)), repair=repair)
        if result.repaired:
            typer.echo(f"{name}: {result.repaired}")
        for problem in result.problems:
            common.say(f"{name}: {problem}")
        if result.intact:
            typer.echo(f"{name}: {result.attempts} attempts, intact")
        sound = sound and result.intact
    if not sound:
        raise typer.Exit(1)


def _check_log(name: str) -> None:
    with common.opened([name]) as found:
        count = found.imported.attempts if found.imported else 0
        typer.echo(f"{name}: not a ledger; as a log it holds {count} attempts")
