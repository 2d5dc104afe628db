"""The letter of a choice, read out of a reply, and never out of an ordinary word."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

#: Where a question's choices are not known. Up to H: an I is a word.
_LETTERS = "ABCDEFGH"
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OPEN = r"[\s\"'“‘`*_(\[{$]*+"
_CLOSE = r"[\"'”’`*_)\]}$]*"
_ALONE = r"(?![\w'’])"
#: After a letter that may be a word (a, A, I) the sentence must end, pause or give a reason.
_NO_WORD = r"(?=\s*(?:$|[).,:;!*\]}\"'”’`$\n—-]|(?:because|since|as|for|so|given|which|and)\b))"
_TO_BE = r"(?:is|are|be|was)"
_NAMED = r"(?i:option|choice|letter|answer)"
_CHOOSING = rf"(?i:choose|pick|select|go with|going with|say|it['’]s|thus|so|therefore|hence|{_TO_BE})"
_NOT = rf"(?:{_TO_BE}|can|could|does|do)(?:\s+\w+)?\s*(?:n['’]t|not\b|wrong|incorrect|false|out\b)|\w+n['’]t\b"


class _Patterns:
    """The patterns for one range of letters. Each has the letter in a group."""

    def __init__(self, letters: str) -> None:
        anycase = letters + letters.lower()
        wordlike = letters.lower() + "".join(letter for letter in letters if letter in "AI")
        marked = rf"[(\[]\s?([{anycase}])\s?[)\]]|\*\*\W{{0,2}}([{letters}]){_ALONE}(?=[^\n]{{0,80}}?\*\*)"
        one = rf"(?:([{letters}])(?<![AI]){_ALONE}|([{wordlike}]){_ALONE}{_CLOSE}{_NO_WORD}|{marked})"
        self.lone = re.compile(rf"[\W_]*+(?:{_NAMED}[\W_]*+)?([{anycase}])[\W_]*+")
        self.labelled = re.compile(rf"[\s\"'*_]*+([{letters}])\s?[).:]{_CLOSE}(?:\s|$)")
        said = rf"(?:[^.\n]{{0,40}}?\b{_TO_BE}\b|\s*\**\s*[:=])[\s:*]*"
        # Quotes and brackets may open before the letter, or belong to it: `is "B"`, `is (B)`.
        self.said = re.compile(rf"\b{_NAMED}\b{said}(?:{_NAMED}\s+)?(?:{one}|{_OPEN}{one})")
        self.affirmed = re.compile(
            rf"(?<![\w'’])([{letters}]){_ALONE}{_CLOSE}\s+is\s+(?:the\s+)?(?:most\s+)?(?:correct|right|answer|best|true)\b"
        )
        self.chosen = re.compile(rf"\b{_CHOOSING},?:?\s+(?:{_NAMED}\s+)?(?:{one}|{_OPEN}{one})")
        self.marked = re.compile(marked)
        self.mentioned = re.compile(rf"\b{_NAMED}\s+([{letters}]){_ALONE}")
        self.denied = re.compile(rf"{_CLOSE}\s+(?:{_NOT})")


@cache
def _patterns(letters: str) -> _Patterns:
    return _Patterns(letters)


def letters_of(choices: Sequence[str]) -> str:
    """The letters that a question with these choices allows."""
    return _ALPHABET[: len(choices)] if choices else _LETTERS


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .,;:!?*\"'`()[]$")


def of_text(text: str, choices: Sequence[str]) -> str | None:
    """The letter of the choice that reads like `text`, where exactly one does."""
    wanted = _folded(text)
    found = [letter for letter, choice in zip(_ALPHABET, choices, strict=False) if _folded(choice) == wanted]
    return found[0] if wanted and len(found) == 1 else None


def _found(pattern: re.Pattern[str], text: str, denied: re.Pattern[str] | None = None) -> Iterator[str]:
    for match in pattern.finditer(text):
        if denied is None or not denied.match(text, match.end()):
            yield next(group for group in match.groups() if group).upper()


def _only(letters: Iterator[str]) -> str | None:
    distinct = set(letters)
    return distinct.pop() if len(distinct) == 1 else None


def _last(letters: Iterator[str]) -> str | None:
    return next(reversed(list(letters)), None)


def _lone_lines(lines: Sequence[str], patterns: _Patterns) -> Iterator[str]:
    for line in dict.fromkeys((lines[0], lines[-1])):
        if match := patterns.lone.fullmatch(line):
            yield match[1].upper()


def letter_in(text: str, choices: Sequence[str] = ()) -> str | None:
    """The letter that a reply settles on; None where it names none, or several and none above the others.

    >>> letter_in("The correct option is B because (A) is wrong"), letter_in("I don't know")
    ('B', None)
    """
    patterns = _patterns(letters_of(choices))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    if whole := patterns.lone.fullmatch(text.strip()):
        return whole[1].upper()
    by_text = (of_text(part, choices) for part in (text, lines[-1], _tail_of_sentence(lines[-1])))
    labelled = [match[1] for line in lines if (match := patterns.labelled.match(line))]
    return (
        next((letter for letter in by_text if letter), None)
        or _last(_found(patterns.said, text, patterns.denied))
        or _only(_lone_lines(lines, patterns))
        or _last(_found(patterns.affirmed, text))
        or _last(_found(patterns.chosen, text, patterns.denied))
        or _only(iter(labelled))
        or _only(_found(patterns.marked, text, patterns.denied))
        or _only(_found(patterns.marked, lines[-1], patterns.denied))
        or _only(_found(patterns.mentioned, text, patterns.denied))
    )


def _tail_of_sentence(line: str) -> str:
    return re.split(r"\b(?:answer|option|choice)\s+(?:is|would be)\b|:", line)[-1]
