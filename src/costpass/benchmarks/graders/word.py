"""`word`: one of the targets stands in the answer as a whole word."""

import re
import unicodedata

from costpass.benchmarks import answers
from costpass.benchmarks.graders.options import NO_ANSWER, Options, targets, verdict
from costpass.benchmarks.graders.protocol import Grade, Judge
from costpass.benchmarks.problem import Problem

#: Letters that Unicode does not take apart into a base letter and a mark.
_BASE_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʻ": "'", "`": "'"})
_MUCH_TEXT_CHARS = 200_000


class WordOptions(Options):
    #: The answer must be the word and nothing else, punctuation around it aside.
    strict: bool = False


def folded(text: str) -> str:
    """Text without regard to case, diacritics, hyphens and spacing.

    >>> folded("São  Tomé"), folded("Port-au-Prince")
    ('sao tome', 'port au prince')
    """
    apart = unicodedata.normalize("NFKD", text.casefold().translate(_APOSTROPHES))
    bare = "".join(character for character in apart if not unicodedata.combining(character))
    return " ".join(re.sub(r"[-‐‑–—]", " ", bare.translate(_BASE_LETTERS)).split())


class WordGrader:
    """Looks for any of the targets."""

    name = "word"
    judge_model: str | None = None

    def __init__(self, options: WordOptions | None = None) -> None:
        self._options = options or WordOptions()

    def check(self, problem: Problem) -> None:
        targets(problem, self.name)

    async def grade(self, answer: str, problem: Problem, judge: Judge | None = None) -> Grade:  # noqa: ARG002
        wanted = [folded(target) for target in targets(problem, self.name)]
        extracted = answers.read_as("text", answer)
        if extracted is None:
            return NO_ANSWER
        said = folded(extracted[-_MUCH_TEXT_CHARS:])
        if self._options.strict:
            return verdict(said.strip(" .,;:!?*\"'`()[]") in wanted, extracted)
        return verdict(any(_stands_in(word, said) for word in wanted), extracted)


def _stands_in(word: str, said: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said) is not None
