r"""Numbers as people write them: `-1,234.50`, `$5`, `50%`, `3/4`, `2 1/2`, `1.5e3`, `3 × 10^8`, `\frac{3}{4}`."""

import re
from dataclasses import dataclass
from fractions import Fraction

#: Longer than any answer and still quick to compute with; a longer one is kept as text.
_LARGEST_DIGITS = 1500
_LARGEST_BITS = 4900
_LARGEST_EXPONENT = 1000
_LONGEST_DECIMAL = 30

_SPELLINGS = str.maketrans(
    {
        "−": "-",
        "﹣": "-",
        "－": "-",
        "–": "-",
        "⁄": "/",
        "½": " 1/2",
        "¼": " 1/4",
        "¾": " 3/4",
        "⅓": " 1/3",
        "⅔": " 2/3",
    }
    | {chr(0xFF10 + digit): str(digit) for digit in range(10)}
)
_THIN_SPACE = re.compile(r"(?<=[0-9])[\u00a0\u2009\u202f](?=[0-9]{3})")
_NUMBER = re.compile(
    r"""
    (?:(?<![\w)\]}])(?P<sign>[-+])(?:(?:(?<=is[ ]-)|(?<==[ ]-))[ ])?+)?+
    (?:[$€£][ ]?(?P<inner_sign>-)?+)?+
    (?:
      \\[dt]?frac\s?\{\s?(?P<top>-?[0-9]++)\s?\}\s?\{\s?(?P<bottom>[0-9]++)\s?\}
    |
      (?<![\w.])(?P<whole>[0-9]++)[ ](?P<part>[0-9]++)/(?P<parts>[0-9]++)(?!\.?[0-9])
    |
      (?:
        (?<![A-Za-z0-9_])(?<![0-9]\.)(?P<integer>[0-9]{1,3}(?:,[0-9]{3})++(?![0-9])|[0-9]++)(?P<decimals>\.[0-9]++)?+
      |
        (?<![\w.])(?P<bare_decimals>\.[0-9]++)
      )
      (?:
        [eE](?P<exponent>[-+]?[0-9]++)(?!\w)
      |
        [ ]?(?:×|\\times|\\cdot|\*|x)[ ]?10[ ]?\^[ ]?\{?(?P<power>[-+]?[0-9]++)\}?
      )?+
      (?:[ ]?/[ ]?(?P<divisor>[0-9]++)(?!\.[0-9]|,[0-9]{3}))?
    )
    (?P<percent>[ ]?\\?%)?
    """,
    re.VERBOSE,
)
_BRACKETS = r"[\s*$\\(\[{`~≈]*+"
_SUM = r"(?:[-+*/×÷().,0-9 $]{1,80}=\s?)"
_LEADING = re.compile(rf"{_BRACKETS}(?:(?:approximately|about|exactly)\s)?(?:[A-Za-z]\s?=\s?)?{_SUM}?{_BRACKETS}")
_GOES_ON = re.compile(r"[ ]?[-+*/×÷^=][ ]?[0-9(]")
_ANSWER_IS = re.compile(r"\banswer\b(?:[^.\n]{0,60}?\b(?:is|be)\b|[\s*]{0,4}[:=])[\s:*]{0,4}|####", re.IGNORECASE)
_COMPUTED = re.compile(r"[0-9)}%]\s?=\s?")


@dataclass(frozen=True)
class Number:
    """A number read out of text."""

    text: str
    #: None where it is too large to compute with, or a division by zero.
    value: Fraction | None
    percent: bool = False


def _respelled(text: str) -> str:
    plain = text.translate(_SPELLINGS).replace("{,}", ",").replace("\\,", "").replace("\\!", "")
    return _THIN_SPACE.sub("", plain.replace("\\$", "$").replace("\\left", "").replace("\\right", ""))


def _integer(digits: str) -> int:
    if len(digits) > _LARGEST_DIGITS:
        raise ValueError("too long")
    return int(digits)


def _magnitude(match: re.Match[str]) -> Fraction:
    found = match.groupdict()
    if found["top"]:
        return Fraction(_integer(found["top"]), _integer(found["bottom"]))
    if found["whole"]:
        return _integer(found["whole"]) + Fraction(_integer(found["part"]), _integer(found["parts"]))
    decimals = (found["decimals"] or found["bare_decimals"] or ".")[1:]
    digits = (found["integer"] or "").replace(",", "") + decimals
    shift = found["exponent"] or found["power"] or "0"
    if len(shift) > 6 or abs(int(shift)) > _LARGEST_EXPONENT:
        raise ValueError("too large")
    exponent = int(shift) - len(decimals)
    scale = Fraction(10) ** exponent if abs(exponent) <= 2 * _LARGEST_EXPONENT else Fraction(0)
    return _integer(digits) * scale / _integer(found["divisor"] or "1")


def _number(match: re.Match[str]) -> Number:
    text = match.group().strip()
    try:
        value = _magnitude(match)
    except (ValueError, ZeroDivisionError):
        return Number(text, None)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _LARGEST_BITS:
        return Number(text, None)
    negative = (match["sign"] == "-") != (match["inner_sign"] == "-")
    return Number(text, -value if negative else value, percent=match["percent"] is not None)


def parse(text: str) -> Number | None:
    """The number that `text` is, give or take currency, emphasis, brackets and a full stop; None if it says more.

    >>> parse("$1,000.50"), parse("about 3")
    (Number(text='$1,000.50', value=Fraction(2001, 2), percent=False), None)
    """
    bare = _respelled(text[: 4 * _LARGEST_DIGITS]).strip(" \t\r\n*`'\"").rstrip(".,;:!?").strip(" *`'\"")
    if bare[:1] + bare[-1:] in ("()", "[]", "{}"):
        bare = bare[1:-1]
    bare = re.sub(r"^([-+])\s+", r"\1", bare.strip()).removesuffix("$").rstrip("€£ ")
    match = _NUMBER.fullmatch(bare)
    return _number(match) if match else None


def _after(marker: re.Match[str], text: str) -> Number | None:
    leading = _LEADING.match(text, marker.end())
    match = _NUMBER.match(text, leading.end()) if leading else None
    # The brackets before a number may have swallowed its currency; a sign is never among them.
    match = match or _NUMBER.match(text, marker.end())
    return _number(match) if match and not _GOES_ON.match(text, match.end()) else None


def _last_said(marker: re.Pattern[str], text: str) -> Number | None:
    numbers = (_after(found, text) for found in reversed(list(marker.finditer(text))))
    return next((number for number in numbers if number), None)


def last_in(text: str) -> Number | None:
    """The number that a reply ends in: the one called the answer, else the last result or number of the last line.

    >>> last_in("The answer is 5 + 7 = 12, for 5 apples and 7 pears.").text
    '12'
    >>> last_in("x = 5, so 3x is -15.").text
    '-15'
    """
    plain = _respelled(text)
    if said := _last_said(_ANSWER_IS, plain):
        return said
    for line in reversed(plain.splitlines()):
        if matches := list(_NUMBER.finditer(line)):
            return _last_said(_COMPUTED, line) or _number(matches[-1])
    return None


def same(left: Number, right: Number) -> bool:
    """Whether both are one number; a sign of per cent on one side only may be a hundredth or nothing."""
    if left.value is None or right.value is None:
        return left.text == right.text
    if left.value == right.value:
        return True
    if left.percent == right.percent:
        return False
    return left.value / (100 if left.percent else 1) == right.value / (100 if right.percent else 1)


def canonical(value: Fraction) -> str:
    """One spelling per number: an integer, a short decimal, else a fraction in lowest terms.

    >>> canonical(Fraction("42.0")), canonical(Fraction(-1, 2)), canonical(Fraction(1, 3))
    ('42', '-0.5', '1/3')
    """
    if value.denominator == 1:
        return str(value.numerator)
    for places in range(1, _LONGEST_DECIMAL):
        scaled = value * 10**places
        if scaled.denominator == 1 and abs(scaled.numerator).bit_length() < 3 * _LONGEST_DECIMAL:
            digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
            return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
    return f"{value.numerator}/{value.denominator}"
