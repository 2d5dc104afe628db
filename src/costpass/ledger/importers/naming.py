"""Short names for what a log identifies by its content only: a prompt's text, a test's variables."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable

_LONGEST = 80
_KEPT = 60


def short_name(text: str) -> str:
    """The text on one line, cut where it is long, with a digest of all of it then.

    >>> short_name("Translate to  French")
    'Translate to French'
    """
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_KEPT]}… {_digest(line)}"


def distinct_names(texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    """A name for each identity, given as pairs of an identity and a text for people.

    Two identities with one text get a digest after it, which is the same in the next log too.
    """
    identities: defaultdict[str, set[str]] = defaultdict(set)
    for identity, text in texts:
        identities[short_name(text)].add(identity)
    return {
        identity: name if len(sharing) == 1 else f"{name} {_digest(identity)}"
        for name, sharing in identities.items()
        for identity in sharing
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
