"""costpass run: an experiment, from its file to its ledger."""

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from costpass.cli import common

if TYPE_CHECKING:
    from collections.abc import Iterator

    from costpass.runs.engine import Ended
    from costpass.runs.events import Watcher
    from costpass.runs.experiment import Experiment
    from costpass.runs.plan import Plan
    from costpass.runs.preparing import Overrides

#: By why the run ended. A cap was reached before all attempts were made: 4. Some attempts were broken by the
#: infrastructure, and the same command tries them again: 5. Stopped by Ctrl-C or SIGTERM, all spend booked: 130.
EXITS = {"complete": 0, "budget": 4, "faults": 5, "stopped": 130}


def command(
    experiment: Annotated[str, typer.Argument(help="The experiment's YAML, or a bundled one: demo, cost-of-pass.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The ledger; ledgers/NAME where not given. Resumed if there.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be run, with its estimated and its worst cost.")
    ] = False,
    sample: Annotated[int | None, typer.Option(min=1, help="At most so many problems of each benchmark.")] = None,
    repetitions: Annotated[int | None, typer.Option(min=1, help="Attempts at each problem.")] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="The most attempts under way at once.")] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="Send every request here: a gateway, or a server of your own.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="A folder with the benchmarks as files, such as gsm8k.jsonl.")
    ] = None,
    prices: common.PriceFiles = None,
    json_events: Annotated[bool, typer.Option("--json", help="Print events as JSON lines, for machines.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")] = False,
) -> None:
    """Run an experiment; the same command again resumes it, and pays for no finished attempt twice."""
    from costpass.runs.experiment import load_experiment
    from costpass.runs.preparing import Overrides, prepare
    from costpass.runs.running import LEDGERS

    document, folder = load_experiment(experiment)
    overrides = Overrides(
        sample=sample,
        repetitions=repetitions,
        base_url=base_url,
        data=data,
        prices=prices or (),
        concurrency=concurrency,
    )
    ledger = output or LEDGERS / document.experiment
    if dry_run:
        _print_estimate(document, folder, overrides, ledger, as_json=json_events)
        return
    plan = prepare(document, folder, overrides)
    ended = _run_for_machines(plan, ledger) if json_events else _run_for_people(plan, ledger, quiet=quiet)
    raise typer.Exit(EXITS[ended.value])


def _print_estimate(
    document: "Experiment", folder: Path, overrides: "Overrides", ledger: Path, *, as_json: bool
) -> None:
    from costpass.reports.estimate import text, to_json
    from costpass.runs.estimate import estimate

    expected = estimate(document, folder, overrides, ledger=ledger)
    typer.echo(to_json(expected) if as_json else text(expected))


def _run_for_machines(plan: "Plan", ledger: Path) -> "Ended":
    from costpass.reports.events_json import JsonEvents
    from costpass.runs.running import run_plan

    events = JsonEvents(plan.experiment.experiment, ledger, typer.echo)
    return run_plan(plan, ledger, events, say=common.say)


def _run_for_people(plan: "Plan", ledger: Path, *, quiet: bool) -> "Ended":
    from costpass.reports.run_summary import as_text
    from costpass.runs.events import Remembering, Together
    from costpass.runs.running import run_plan

    kept = Remembering()
    with _view(plan, quiet=quiet) as view:
        ended = run_plan(plan, ledger, Together([kept, view]), say=common.say)
    if kept.standing is not None:
        typer.echo(as_text(kept.standing, ended.value, ledger))
    return ended


@contextmanager
def _view(plan: "Plan", *, quiet: bool) -> "Iterator[Watcher]":
    """Whoever watches: nobody, a display on a terminal, or lines."""
    from costpass.runs.events import Unwatched

    if quiet:
        yield Unwatched()
        return
    from rich.console import Console

    from costpass.reports.live import LineView, LiveView

    name = plan.experiment.experiment
    console = Console(stderr=True)
    # Rich takes a forced colour for a terminal, as in CI, where a display would be drawn below itself for ever.
    if not (sys.stderr.isatty() and console.is_interactive):
        yield LineView(name, common.say)
        return
    cap = plan.experiment.budgets.strategy_usd
    with LiveView(name, console, strategy_cap_usd=cap, redirect_stdout=sys.stdout.isatty()) as view:
        yield view
