"""`multiple-choice`: the answer settles on the right letter."""

from costpass.benchmarks import answers
from costpass.benchmarks.graders import choice_letters
from costpass.benchmarks.graders.options import NO_ANSWER, NoOptions, bad_target, targets, verdict
from costpass.benchmarks.graders.protocol import Grade, Judge
from costpass.benchmarks.problem import Problem

_LETTERS_OF_ANY_QUESTION = choice_letters.letters_of(("",) * 26)


class MultipleChoiceGrader:
    """The target is a letter, or the text of a choice."""

    name = "multiple-choice"
    judge_model: str | None = None

    def __init__(self, options: NoOptions | None = None) -> None:
        del options

    def check(self, problem: Problem) -> None:
        self._wanted(problem)

    async def grade(self, answer: str, problem: Problem, judge: Judge | None = None) -> Grade:  # noqa: ARG002
        wanted = self._wanted(problem)
        extracted = answers.read_as("choice", answer, problem.choices)
        return NO_ANSWER if extracted is None else verdict(extracted in wanted, extracted)

    def _wanted(self, problem: Problem) -> list[str]:
        known = choice_letters.letters_of(problem.choices) if problem.choices else _LETTERS_OF_ANY_QUESTION
        return [self._letter(target, known, problem) for target in targets(problem, self.name)]

    def _letter(self, target: str, known: str, problem: Problem) -> str:
        letter = target.strip("().").upper()
        if len(letter) == 1 and letter in known:
            return letter
        if by_text := choice_letters.of_text(target, problem.choices):
            return by_text
        raise bad_target(problem, self.name, f"one of the letters {known[0]}–{known[-1]} or the text of one choice")
