"""costpass import: logs of other tools into a ledger."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from costpass.cli import common

if TYPE_CHECKING:
    from costpass.ledger.importers.importing import Tally


def command(
    sources: Annotated[
        list[str] | None, typer.Argument(help="Log files, folders or globs; .gz is read as it is.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The ledger to make.")] = None,
    log_format: Annotated[
        str | None, typer.Option("--format", help="Read as this format instead of guessing; --list shows them.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="FIELD=COLUMN,…", help="For tables: which column is which field; repeatable."),
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="The least score that is a pass, where the log has scores and no verdict.")
    ] = None,
    outcomes: Annotated[
        Path | None,
        typer.Option(help="Verdicts in another file: a SWE-bench report, or a table of problem and passed."),
    ] = None,
    prices: common.PriceFiles = None,
    pricing: Annotated[
        bool, typer.Option("--pricing/--no-pricing", help="Price usage that comes without a cost, at its own time.")
    ] = True,
    append: Annotated[bool, typer.Option("--append", help="Add to a ledger that is there.")] = False,
    list_formats: Annotated[bool, typer.Option("--list", help="List the formats that can be read.")] = False,
) -> None:
    """Make a ledger of logs that are already there, without running anything again."""
    from costpass.errors import CostpassError

    if list_formats:
        _print_formats()
        return
    if not sources or output is None:
        raise CostpassError("say what to import and where to: costpass import LOG… -o LEDGER")
    from costpass.ledger.importers.importing import Import
    from costpass.ledger.importers.into import import_into
    from costpass.ledger.importers.outcomes import read_outcomes
    from costpass.ledger.opening import expand

    settings = common.settings_for(prices)
    settings.threshold = threshold
    settings.price = pricing
    settings.outcomes = read_outcomes(outcomes) if outcomes else {}
    settings.columns = common.pairs(
        [part for text in columns or () for part in text.split(",") if part.strip()], "--map"
    )
    importer = common.importer_named(log_format or ("table" if columns else None))
    with common.progress_bar("importing") as progress:
        reader = Import(expand(sources), settings, importer=importer, progress=progress)
        ledger = import_into(output, reader, settings, append=append)
    _print_summary(reader.tally, output)
    for note in settings.notes:
        common.say(note)
    common.tell_problems(reader.tally, rejected_file=ledger.path / "rejected.jsonl")
    if reader.tally.rejected:
        raise typer.Exit(common.EXIT_REJECTED)


def _print_summary(tally: "Tally", output: Path) -> None:
    formats = ", ".join(f"{name} {number}" for name, number in tally.formats.most_common())
    typer.echo(f"{tally.attempts} attempts imported into {output} ({formats})")
    typer.echo(f"cost known for {tally.cost_known} of {tally.attempts}, outcome for {tally.outcome_known}")
    typer.echo(f"next: costpass report {output}")


def _print_formats() -> None:
    from costpass.ledger.importers.registry import importers
    from costpass.reports import table

    rows = [[importer.name, importer.about] for importer in importers().values()]
    typer.echo(table.text(["format", "what it reads"], rows, left=2))
