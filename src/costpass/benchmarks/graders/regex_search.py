"""Which patterns are found in a text. Called in worker processes: a pattern can take for ever."""

import re
from functools import cache


@cache
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    return re.compile(pattern, flags)


def found(patterns: list[str], flags: int, text: str) -> list[bool]:
    """For each pattern, whether it is found."""
    return [_compiled(pattern, flags).search(text) is not None for pattern in patterns]
