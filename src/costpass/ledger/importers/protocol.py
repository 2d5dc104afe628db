"""What an importer is: a plain object that recognises a log, lists its rows and turns each row into attempts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from costpass.attempt import Attempt
from costpass.pricing import PriceBook

if TYPE_CHECKING:
    from costpass.ledger.importers.source import Source


@dataclass(frozen=True)
class Row:
    """One item of a log, with the place it stands at."""

    where: str
    content: Any
    #: Set where the item could not even be parsed; it goes to rejected.jsonl.
    error: str | None = None
    #: The item as the log has it, for rejected.jsonl, where `content` is something made of it.
    as_logged: Any = None


@dataclass
class Settings:
    """What the user said about how to read."""

    book: PriceBook = field(default_factory=PriceBook)
    #: The least score that is a pass, for logs that give scores and no verdict; None: what the format itself says.
    threshold: float | None = None
    #: Field of the record → column of the log, for tables.
    columns: Mapping[str, str] = field(default_factory=dict)
    #: Problem → passed, for trajectories whose verdict stands in another file.
    outcomes: Mapping[str, bool] = field(default_factory=dict)
    #: Whether usage without a cost is priced by the book.
    price: bool = True
    #: What an importer assumed, in sentences for the summary.
    notes: list[str] = field(default_factory=list)


class Skip(Exception):  # noqa: N818 - not an error: the importer knows what this is, and that it is no attempt
    """Raised for a row that is known not to be an attempt; the reason is counted and shown."""


class Importer(Protocol):
    """Reads one kind of log.

    `attempts` may raise `Skip` for what is no attempt and `ValueError`, `KeyError` or `TypeError` for what it cannot
    read; the row then goes to rejected.jsonl with the reason. What the log does not say stays null: a repetition
    that is null is numbered in order of appearance, and usage without a cost is priced by the book.
    """

    #: What `--format` calls it.
    name: str
    #: One line for `costpass import --list`.
    about: str

    def recognises(self, source: "Source") -> bool:
        """Whether this file looks like the importer's kind; must be cheap and never raise on strange bytes."""
        ...

    def rows(self, source: "Source") -> Iterable[Row]:
        """The items of the file."""
        ...

    def attempts(self, row: Row, settings: Settings) -> Iterable[Attempt]:
        """The attempts that one item holds."""
        ...
