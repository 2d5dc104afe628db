"""Errors that a person reads: one sentence saying what is wrong, where, and what to do."""

import difflib
from collections.abc import Iterable


class CostpassError(Exception):
    """Something the user can mend. The command prints its message and no traceback."""


class BadInputError(CostpassError):
    """A file that cannot be read as what it claims to be."""


class MissingExtraError(CostpassError):
    """A part of costpass that needs an optional install."""

    def __init__(self, needed_for: str, extra: str) -> None:
        super().__init__(f"{needed_for} needs an optional part: pip install 'costpass[{extra}]'")


def nearest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The known names that look most like `name`, best first, compared without regard to case."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=count, cutoff=0.5)
    return [by_folded[folded] for folded in close]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A closing clause such as `; did you mean 'cost_usd'?`, or nothing where nothing is near."""
    close = nearest(name, known, count=1)
    return f"; did you mean {close[0]!r}?" if close else ""
