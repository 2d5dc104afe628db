"""The `costpass` command. One thin file per subcommand; what is heavy is imported when it is used."""

import os
import signal
import sys
from typing import Annotated

import typer

from costpass.cli import (
    compact,
    compare,
    frontier,
    import_,
    ledger,
    pareto,
    prices,
    regrade,
    report,
    reprice,
    risk,
    run,
    schema,
    show,
)
from costpass.version import __version__

app = typer.Typer(
    help="What does a correct answer cost? Cost of pass for language models, coding agents and the logs you have.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)
app.command("run")(run.command)
app.command("import")(import_.command)
app.command("report")(report.command)
app.command("compare")(compare.command)
app.command("frontier")(frontier.command)
app.command("risk")(risk.command)
app.command("pareto")(pareto.command)
app.command("show")(show.command)
app.command("prices")(prices.command)
app.command("reprice")(reprice.command)
app.command("regrade")(regrade.command)
app.command("compact")(compact.command)
app.command("schema")(schema.command)
app.add_typer(ledger.app, name="ledger")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"costpass {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What does a correct answer cost?"""


def main() -> None:
    """Runs the command; what the user can mend is told in one sentence, without a traceback."""
    from costpass.errors import CostpassError

    # As an exception, so that what was begun is cleared away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        app(prog_name="costpass")
    except CostpassError as error:
        _give_up(str(error), 1)
    except BrokenPipeError:
        # The reader has gone, as `head` does; point stdout elsewhere so that closing it stays quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        _give_up(f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error), 1)
    except MemoryError:
        _give_up("out of memory", 1)


def _give_up(sentence: str, code: int) -> None:
    sys.stderr.write(f"costpass: {sentence}\n")
    sys.exit(code)
