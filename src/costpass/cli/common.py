"""Options and habits that several commands share."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from costpass.ledger.importers.importing import Progress, Tally
    from costpass.ledger.importers.protocol import Importer, Settings
    from costpass.ledger.scan import Scan

#: Done, but some rows could not be read.
EXIT_REJECTED = 3

Sources = Annotated[
    list[str],
    typer.Argument(help="Ledgers, or logs of other tools (files, folders, globs, .gz), which are imported on the fly."),
]
PriceFiles = Annotated[
    list[Path] | None, typer.Option("--prices", help="models.yml with prices that come before the price library's.")
]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--where", metavar="FIELD=VALUE", help="Only attempts with this value; repeatable. FIELD= means not known."
    ),
]
Experts = Annotated[
    list[str] | None,
    typer.Option(
        "--expert",
        metavar="BENCHMARK=USD",
        help="An expert's price for one solution, in the unit of the cost; repeatable, * for all.",
    ),
]
ContextFile = Annotated[
    str | None,
    typer.Option("--context", help="YAML with experts, families and release dates; `paper` is Cost-of-Pass's own."),
]
UnitName = Annotated[
    str,
    typer.Option("--unit", help="What cost is counted in: usd, seconds, tokens, a field, or any quantity recorded."),
]
Resamples = Annotated[int, typer.Option("--resamples", min=100, help="How many resamples, where there is resampling.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The seed of resampling: same seed, same bytes.")]


class Interval(StrEnum):
    linearised = "linearised"
    bootstrap = "bootstrap"


class ReportInterval(StrEnum):
    linearised = "linearised"
    bootstrap = "bootstrap"
    none = "none"


class ReportFormat(StrEnum):
    text = "text"
    md = "md"
    json = "json"


IntervalMethod = Annotated[
    Interval, typer.Option("--interval", help="linearised: closed form, with a t quantile; bootstrap: over problems.")
]
ReportIntervalMethod = Annotated[
    ReportInterval,
    typer.Option(
        "--interval",
        help="linearised: closed form, with a t quantile; bootstrap: over problems; none: figures alone, and fastest.",
    ),
]
LogFormat = Annotated[
    str | None,
    typer.Option("--log-format", help="Read logs as this format (costpass import --list) instead of guessing."),
]


def say(sentence: str) -> None:
    """A line for the person, apart from the output."""
    sys.stderr.write(f"costpass: {sentence}\n")


def pairs(texts: Sequence[str] | None, option: str) -> dict[str, str]:
    """FIELD=VALUE options as a mapping; several may stand in one option, parted by commas, if none holds a comma."""
    from costpass.errors import CostpassError

    found: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise CostpassError(f"{option} {text}: expected NAME=VALUE")
        if name.strip() in found:
            raise CostpassError(f"{option} {text}: {name.strip()} is given twice")
        found[name.strip()] = value
    return found


def fields(text: str) -> list[str]:
    """The fields of --by, each once."""
    from costpass.errors import CostpassError

    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise CostpassError("--by needs at least one field, such as strategy")
    return names


def numbers(text: str | None, option: str) -> dict[str, float]:
    """NAME=NUMBER,… from an option."""
    from costpass.errors import CostpassError

    if not text:
        return {}
    found = pairs(text.split(","), option)
    try:
        return {name: float(value) for name, value in found.items()}
    except ValueError:
        raise CostpassError(f"{option} {text}: every value must be a number") from None


def day(text: str | None) -> datetime | None:
    """A date or time from an option, in UTC where it says no zone."""
    from costpass.errors import CostpassError

    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise CostpassError(f"--at {text}: expected a date such as 2025-10-01") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def settings_for(price_files: Sequence[Path] | None) -> "Settings":
    """How to read logs, with the user's prices."""
    from costpass.ledger.importers.protocol import Settings
    from costpass.pricing import PriceBook

    return Settings(book=PriceBook.load(*(price_files or ())))


@dataclass
class Asked:
    """What the user named, open to be asked, and the answer so far."""

    scan: "Scan"
    imported: "Tally | None"
    #: What the ledgers say of themselves, such as experts' prices.
    contexts: "list[Mapping[str, Any]]" = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    def answer(self, text: str) -> None:
        """Keeps a text to print once the files are closed, as whoever reads it may take their time."""
        self.answers.append(text)


@contextmanager
def opened(
    sources: Sequence[str], *, prices: Sequence[Path] | None = None, log_format: str | None = None
) -> Iterator[Asked]:
    """A scan over what the user named; says what was assumed, and ends with a code of its own if rows were rejected."""
    from contextlib import ExitStack

    from costpass.ledger.opening import open_sources

    with ExitStack() as stack, progress_bar("importing") as progress:
        found = open_sources(
            sources, stack, settings=settings_for(prices), importer=importer_named(log_format), progress=progress
        )
        for note in found.notes:
            say(note)
        asked = Asked(found.scan, found.imported, found.contexts)
        yield asked
    for text in asked.answers:
        typer.echo(text)
    if found.imported is not None:
        tell_problems(found.imported)
        if found.imported.rejected:
            raise typer.Exit(EXIT_REJECTED)


def importer_named(name: str | None) -> "Importer | None":
    from costpass.ledger.importers.registry import by_name

    return None if name is None else by_name(name)


def tell_problems(tally: "Tally", *, rejected_file: Path | None = None) -> None:
    """What an import could not do, on stderr."""
    if tally.rejected:
        place = f" (all of them in {rejected_file})" if rejected_file else ""
        say(f"{tally.rejected} rows were rejected{place}: {'; '.join(tally.first_rejections)}")
    for reason, number in tally.skipped.most_common(5):
        say(f"{number} skipped: {reason}")
    if tally.unrecognised:
        names = ", ".join(tally.unrecognised[:3]) + (" …" if len(tally.unrecognised) > 3 else "")
        say(f"{len(tally.unrecognised)} files are no log that costpass knows and were passed over: {names}")
    for reason, number in tally.unpriced.most_common(3):
        say(f"{number} attempts could not be priced: {reason}")
    if len(tally.unpriced) > 3:
        say(f"{sum(tally.unpriced.values())} attempts could not be priced, for {len(tally.unpriced)} reasons in all")
    if tally.undated:
        say(f"{tally.undated} attempts have no date and were priced at today's prices")


@contextmanager
def progress_bar(what: str) -> Iterator["Progress"]:
    """A bar on a terminal, for work that takes over a second."""
    started = time.monotonic()
    bar: list[tuple[object, object]] = []

    def update(done: int, found: int) -> None:
        if not bar and sys.stderr.isatty() and time.monotonic() - started > 1:
            bar.append(_start_bar(what))
        for progress, task in bar:
            progress.update(task, completed=done, description=f"{what}: {found} attempts")  # type: ignore[attr-defined]

    try:
        yield update
    finally:
        for progress, _ in bar:
            progress.stop()  # type: ignore[attr-defined]


def _start_bar(what: str) -> tuple[object, object]:
    from rich.console import Console
    from rich.progress import DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        DownloadColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )
    progress.start()
    return progress, progress.add_task(what, total=None)
