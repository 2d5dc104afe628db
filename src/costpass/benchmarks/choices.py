"""Multiple choice: a question with its choices under letters, and the letter that is right."""

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any


def lettered(question: str, choices: Sequence[str]) -> str:
    """The question with one line per choice: `A) …`."""
    if not 2 <= len(choices) <= len(ascii_uppercase):
        raise ValueError(f"{len(choices)} choices; a question takes 2 to {len(ascii_uppercase)}")
    lines = [f"{letter}) {choice}" for letter, choice in zip(ascii_uppercase, choices, strict=False)]
    return "\n".join([question.rstrip(), "", *lines])


def letter_of(target: Any, choices: Sequence[str]) -> str:
    """The letter of the right choice, which a file may give as the letter, as the text or as a number from 0."""
    letters = ascii_uppercase[: len(choices)]
    meant = {letter for letter, choice in zip(letters, choices, strict=True) if choice == str(target)}
    if isinstance(target, str) and len(target.strip()) == 1 and target.strip().upper() in letters:
        meant.add(target.strip().upper())
    if isinstance(target, int) and not isinstance(target, bool) and 0 <= target < len(letters):
        meant.add(letters[target])
    if len(meant) != 1:
        doubt = f"could be {' or '.join(sorted(meant))}" if meant else "is none of the choices"
        raise ValueError(f"the target {target!r:.60} {doubt}; give the letter of the right one")
    return meant.pop()
