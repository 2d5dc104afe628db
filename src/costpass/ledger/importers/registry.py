"""Which importers there are, and which of them a file is for."""

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from costpass.errors import CostpassError, did_you_mean
from costpass.ledger.importers.protocol import Importer
from costpass.ledger.importers.source import Source

ENTRY_POINT_GROUP = "costpass.importers"

#: In the order in which they are asked: those that know a format for sure come before those that guess.
BUILT_IN = (
    "costpass_attempts",
    "copeca",
    "ailang",
    "cost_of_pass",
    "context_bench",
    "inspect_log",
    "harbor",
    "mini_swe_agent",
    "swe_agent",
    "promptfoo",
    "table",
)


@cache  # asked for every file of a folder, and looking for entry points takes milliseconds
def importers() -> dict[str, Importer]:
    """Every importer by name; installed ones come before the built-in guessers, and may not take a built-in name."""
    built_in = [import_module(f"costpass.ledger.importers.formats.{module}").IMPORTER for module in BUILT_IN]
    found: dict[str, Importer] = {importer.name: importer for importer in built_in[:-1]}
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: point.name):
        importer: Importer = point.load()
        if importer.name in found:
            raise CostpassError(f"importer {point.value} calls itself {importer.name!r}, which is already taken")
        found[importer.name] = importer
    found[built_in[-1].name] = built_in[-1]
    return found


def by_name(name: str) -> Importer:
    """The importer that `--format` names."""
    known = importers()
    if name not in known:
        raise CostpassError(f"there is no importer {name!r}{did_you_mean(name, known)} (costpass import --list)")
    return known[name]


def recognise(source: Source) -> Importer | None:
    """The first importer that knows the file."""
    return next((importer for importer in importers().values() if importer.recognises(source)), None)
