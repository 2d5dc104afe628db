"""What the trajectories of SWE-bench agents share: one document per attempt, and a verdict that stands elsewhere."""

import re
from typing import Any

from costpass.attempt import FAULT_STATUSES, Status
from costpass.errors import BadInputError
from costpass.ledger.importers.protocol import Row, Settings
from costpass.ledger.importers.source import Source

_INSTANCE = re.compile(r"^([\w.-]+?)__([\w.-]+)-\d+$")
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


def document_row(source: Source) -> Row:
    """The file as one row. A run that was killed while it saved leaves half a document: that costs one row only."""
    try:
        return Row(source.name, source.document)
    except BadInputError as error:
        return Row(source.name, source.head.decode(errors="replace")[:2000], error=str(error))


def graded(
    problem: str, status: Status, failure: str | None, settings: Settings
) -> tuple[bool | None, Status, str | None]:
    """The outcome of an attempt that ended like this, with the verdict the user gave beside the log, if any."""
    if status in FAULT_STATUSES:
        return None, status, failure
    passed = settings.outcomes.get(problem)
    if passed:
        return True, status, None
    return passed, status, failure or ("wrong_answer" if passed is False else None)


def repository(instance: str) -> str | None:
    """The repository that a SWE-bench instance is about.

    >>> repository("pydicom__pydicom-1458")
    'pydicom/pydicom'
    """
    match = _INSTANCE.match(instance)
    return f"{match[1]}/{match[2]}" if match else None


def words(exception: str) -> str:
    """An exception's class name as words, in which a kind of fault can be looked for.

    >>> words("InternalServerError")
    'Internal Server Error'
    """
    return _BETWEEN_WORDS.sub(" ", exception)


def above_zero(value: Any) -> Any:
    """A limit or cost of a tool that writes 0 for "none" or "not known"."""
    return value if isinstance(value, int | float) and value > 0 else None
