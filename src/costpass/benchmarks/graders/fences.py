"""Fenced blocks of a reply."""

import re

_FENCE = re.compile(r"^[ \t]{0,3}(```+|~~~+)[ \t]*([\w+#.-]*)[^\n]*$", re.MULTILINE)


def blocks(text: str) -> list[tuple[str, str]]:
    """The language and the content of each fenced block; a last one that is not closed takes the rest.

    >>> blocks("So:\\n```python\\nx = 1\\n```\\nDone.")
    [('python', 'x = 1\\n')]
    """
    found: list[tuple[str, str]] = []
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opening is None:
            opening = fence
        elif fence[1].startswith(opening[1]) and not fence[2]:
            found.append((opening[2].lower(), text[opening.end() + 1 : fence.start()]))
            opening = None
    if opening is not None:
        found.append((opening[2].lower(), text[opening.end() + 1 :]))
    return found
