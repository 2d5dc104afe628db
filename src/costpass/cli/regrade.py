"""costpass regrade: the kept answers under another grader, or the same one mended."""

from pathlib import Path
from typing import Annotated

import typer

from costpass.cli import common


def command(
    ledger: Annotated[Path, typer.Argument(help="The ledger of a run, with the answers that it kept.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The new ledger; the old one stays as it is.")],
    grader: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="A grader for all problems: its name, or YAML such as '{numeric: {strict: true}}'. "
            "Each problem's own where not given.",
        ),
    ] = None,
) -> None:
    """Write a new ledger in which every kept answer is graded anew; what was spent stays as it was."""
    from contextlib import ExitStack

    from costpass.ledger.opening import open_sources
    from costpass.ledger.queries import attempts
    from costpass.ledger.store import Ledger
    from costpass.runs.regrading import Regrading, read_grader

    regrading = Regrading(None if grader is None else read_grader(grader))
    source = Ledger(ledger)
    with ExitStack() as stack:
        regrading.write(source, output, attempts(open_sources([str(ledger)], stack).scan))
    typer.echo(
        f"{regrading.graded} attempts graded anew into {output}: {regrading.to_pass} now pass that did not, "
        f"{regrading.to_fail} now fail that did not"
    )
    if regrading.undecided:
        common.say(f"{regrading.undecided} answers could not be graded and have no verdict now")
    if regrading.without_trace:
        common.say(f"{regrading.without_trace} attempts have no answer kept and stay as they are")
