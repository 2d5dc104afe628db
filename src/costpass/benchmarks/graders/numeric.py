"""`numeric`: the answer is the target's number."""

from decimal import Decimal
from fractions import Fraction

from pydantic import Field

from costpass.benchmarks import answers
from costpass.benchmarks.graders import number_text
from costpass.benchmarks.graders.number_text import Number
from costpass.benchmarks.graders.options import NO_ANSWER, Options, bad_target, targets, verdict
from costpass.benchmarks.graders.protocol import Grade, Judge
from costpass.benchmarks.problem import Problem


class Tolerance(Options):
    absolute: Decimal = Field(default=Decimal(0), ge=0, allow_inf_nan=False)
    #: As a share of the target.
    relative: Decimal = Field(default=Decimal(0), ge=0, allow_inf_nan=False)


class NumericOptions(Options):
    tolerance: Tolerance = Tolerance()
    #: The tagged answer, or the whole reply, must be the number and nothing else.
    strict: bool = False


class NumericGrader:
    """Compares exactly, as fractions, within the tolerance."""

    name = "numeric"
    judge_model: str | None = None

    def __init__(self, options: NumericOptions | None = None) -> None:
        self._options = options or NumericOptions()

    def check(self, problem: Problem) -> None:
        self._wanted(problem)

    async def grade(self, answer: str, problem: Problem, judge: Judge | None = None) -> Grade:  # noqa: ARG002
        wanted = self._wanted(problem)
        extracted = answers.read_as("text" if self._options.strict else "number", answer)
        if extracted is None:
            return NO_ANSWER
        number = number_text.parse(extracted)
        return verdict(number is not None and any(self._near(number, target) for target in wanted), extracted)

    def _wanted(self, problem: Problem) -> list[Number]:
        numbers = [number_text.parse(text) for text in targets(problem, self.name)]
        found = [number for number in numbers if number is not None]
        if len(found) < len(numbers):
            raise bad_target(problem, self.name, "a number")
        return found

    def _near(self, number: Number, target: Number) -> bool:
        if number_text.same(number, target):
            return True
        if number.value is None or target.value is None:
            return False
        allowed = self._options.tolerance
        distance = abs(number.value - target.value)
        return distance <= max(Fraction(allowed.absolute), Fraction(allowed.relative) * abs(target.value))
