"""How an answer is read out of a reply, and brought into a form in which equal answers are equal strings."""

import re
from collections.abc import Sequence

from costpass.benchmarks.graders import choice_letters, number_text
from costpass.benchmarks.problem import Problem, Reading

#: An answer stands at the end: of a longer reply without a tag only this much is searched.
_SEARCHED_CHARS = 8_000
_DEEPEST_WRAPPING = 8

_OPENING = re.compile(r"<\s{0,9}answer\s{0,9}>", re.IGNORECASE)
_CLOSING = re.compile(r"<\s{0,9}/\s{0,9}answer\s{0,9}>", re.IGNORECASE)
_BOXED = re.compile(r"\\(?:boxed|fbox)\s{0,9}\{")
_BOXED_BARE = re.compile(r"\\boxed\s+(\S+)")
_TEXT_COMMAND = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|textrm)\s?\{([^{}]*)\}")
_ANSWER_IS = re.compile(r"\banswer\b(?:[^.\n]{0,60}?\bis\b|[\s*]{0,4}:)[\s:*]{0,4}", re.IGNORECASE)
_INLINE_MATH = re.compile(r"\$([^$\n]+)\$|\\\(((?:(?!\\[()])[^\n])+)\\\)|\\\[((?:(?!\\[\[\]])[^\n])+)\\\]")
_LAYOUT = re.compile(r"\\(?:left|right|displaystyle|[,;:! ])|\s+")
_VARIABLE = re.compile(r"\\?[A-Za-z]\w{0,9}=([^=<>]+)")
_CLOSING_PUNCTUATION = " \t\r\n.,;:!?…。"


def tagged(text: str) -> str | None:
    """What stands in the last `<answer>…</answer>`; a last one that is not closed takes the rest.

    >>> tagged("<answer>1</answer> no, <Answer> 2 </answer>"), tagged("42")
    ('2', None)
    """
    opening = None
    for opening in _OPENING.finditer(text):  # noqa: B007
        pass
    if opening is None:
        return None
    closing = _CLOSING.search(text, opening.end())
    return text[opening.end() : closing.start() if closing else len(text)].strip()


def boxed(text: str) -> str | None:
    r"""What stands in the last `\boxed{…}`, braces balanced; one that is not closed takes the rest of its line."""
    start = None
    for start in _BOXED.finditer(text):  # noqa: B007
        pass
    if start is None:
        bare = _BOXED_BARE.search(text)
        return bare[1].strip("$.,") if bare else None
    depth = 1
    for brace in re.finditer(r"\\.|[{}]", text[start.end() :]):
        depth += {"{": 1, "}": -1}.get(brace.group(), 0)
        if depth == 0:
            return text[start.end() : start.end() + brace.start()].strip()
    return text[start.end() :].partition("\n")[0].strip()


def undressed(text: str) -> str:
    """A mathematical expression without dollars, emphasis and a closing full stop."""
    bare = text.strip().strip("*`").rstrip(_CLOSING_PUNCTUATION).strip()
    for opening, closing in (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")):
        if len(bare) > len(opening) + len(closing) and bare.startswith(opening) and bare.endswith(closing):
            inner = bare[len(opening) : -len(closing)]
            return bare if "$" in inner else inner.strip().rstrip(_CLOSING_PUNCTUATION).strip()
    return bare


def _number(text: str, _: Sequence[str]) -> str | None:
    said = text if (whole := number_text.parse(text)) else boxed(text) or text
    number = whole or number_text.parse(said) or number_text.last_in(said)
    return number.text if number else None


def _choice(text: str, choices: Sequence[str]) -> str | None:
    box = boxed(text)
    if box and (letter := choice_letters.letter_in(_TEXT_COMMAND.sub(r"\1", box), choices)):
        return letter
    return choice_letters.letter_in(text, choices)


def _math(text: str, _: Sequence[str]) -> str | None:
    if box := boxed(text):
        return undressed(box) or None
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    said = _ANSWER_IS.split(lines[-1])[-1]
    inline = [next(filter(None, found.groups())) for found in _INLINE_MATH.finditer(said)]
    return undressed(inline[-1] if inline else said) or None


def _text(text: str, _: Sequence[str]) -> str | None:
    return text.strip() or None


_READERS = {"number": _number, "choice": _choice, "math": _math, "text": _text}


def read_as(reading: Reading, text: str, choices: Sequence[str] = ()) -> str | None:
    """The answer in a reply: what is tagged as it, else what the reading finds; None where there is none."""
    inside = tagged(text)
    if inside is None:
        inside = text
    return _READERS[reading](inside if reading == "text" else inside[-_SEARCHED_CHARS:], choices)


def read(text: str, problem: Problem) -> str | None:
    """The answer in a reply to `problem`, or None where there is none."""
    return read_as(problem.reading, text, problem.choices)


def canonical_text(text: str) -> str:
    """Text without regard to case, spacing and closing punctuation."""
    return " ".join(text.casefold().split()).rstrip(_CLOSING_PUNCTUATION)


def canonical_math(text: str) -> str:
    """An expression without regard to layout; a number in its one spelling."""
    number = number_text.parse(text)
    if number and number.value is not None:
        return number_text.canonical(number.value)
    plain = _LAYOUT.sub("", _TEXT_COMMAND.sub(r"\1", undressed(text))).replace("dfrac", "frac").replace("tfrac", "frac")
    value = _VARIABLE.fullmatch(plain)
    return canonical_math(value[1]) if value else plain


def _canonical_once(text: str, problem: Problem) -> str | None:
    answer = read(text, problem)
    if answer is None or problem.reading == "choice":
        return answer
    if problem.reading == "number":
        number = number_text.parse(answer)
        return answer if number is None or number.value is None else number_text.canonical(number.value)
    return (canonical_math(answer) if problem.reading == "math" else canonical_text(answer)) or None


def canonical(text: str, problem: Problem) -> str | None:
    """The answer in a reply, so that two equal answers are equal strings: for votes.

    >>> canonical("It is 1,000.0", Problem("p", "?", "1000", reading="number"))
    '1000'
    """
    form = _canonical_once(text, problem)
    # Wrappings may stand inside each other; what is left has to be read as itself again.
    for _ in range(_DEEPEST_WRAPPING):
        if form is None or (inner := _canonical_once(form, problem)) == form:
            return form
        form = inner
    return form
