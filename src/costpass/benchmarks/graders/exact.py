"""`exact`: the answer is the target, character for character."""

from costpass.benchmarks import answers
from costpass.benchmarks.graders.options import NO_ANSWER, Options, targets, verdict
from costpass.benchmarks.graders.protocol import Grade, Judge
from costpass.benchmarks.problem import Problem

# Only what surrounds an answer: a minus sign, a decimal point and a per cent sign belong to it.
_OPENING = "\"'“‘«([{`*_ "
_CLOSING = "\"'”’»)]}`*_.,;:!? "


class ExactOptions(Options):
    ignore_case: bool = False
    #: Runs of white space count as one space.
    ignore_whitespace: bool = False
    #: Quotes, brackets, emphasis and closing punctuation around the answer do not count.
    ignore_punctuation: bool = False


class ExactGrader:
    """Compares the answer, read as the problem says, with each of the targets."""

    name = "exact"
    judge_model: str | None = None

    def __init__(self, options: ExactOptions | None = None) -> None:
        self._options = options or ExactOptions()

    def check(self, problem: Problem) -> None:
        targets(problem, self.name)

    async def grade(self, answer: str, problem: Problem, judge: Judge | None = None) -> Grade:  # noqa: ARG002
        wanted = targets(problem, self.name)
        extracted = answers.read(answer, problem)
        if extracted is None:
            return NO_ANSWER
        return verdict(self._form(extracted) in map(self._form, wanted), extracted)

    def _form(self, text: str) -> str:
        if self._options.ignore_punctuation:
            text = text.strip().lstrip(_OPENING).rstrip(_CLOSING)
        if self._options.ignore_whitespace:
            text = " ".join(text.split())
        return text.casefold() if self._options.ignore_case else text
