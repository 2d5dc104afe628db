"""`math`: the answer is mathematically what the target is."""

import importlib.util

from pydantic import Field

from costpass.benchmarks import answers
from costpass.benchmarks.graders import number_text
from costpass.benchmarks.graders.options import NO_ANSWER, Options, targets, verdict
from costpass.benchmarks.graders.protocol import Grade, Judge
from costpass.benchmarks.graders.workers import WorkerLostError, WorkerPool
from costpass.benchmarks.problem import Problem
from costpass.errors import MissingExtraError

#: Longer expressions are compared as they are written: sympy would take minutes to read them.
_LONGEST_EXPRESSION = 4_000
#: Shared by all graders of this kind, as each process takes a second to start.
WORKERS = WorkerPool("costpass.benchmarks.graders.math_comparison:equal")


class MathOptions(Options):
    #: For one comparison; after it the answer has not passed.
    timeout_s: float = Field(default=10.0, gt=0, le=3600)


class MathGrader:
    """Compares spellings first, then asks math-verify, in a process of its own as it relies on signals."""

    name = "math"
    judge_model: str | None = None

    def __init__(self, options: MathOptions | None = None) -> None:
        self._options = options or MathOptions()
        if importlib.util.find_spec("math_verify") is None:
            raise MissingExtraError("the grader 'math'", "math")

    def check(self, problem: Problem) -> None:
        targets(problem, self.name)

    async def grade(self, answer: str, problem: Problem, judge: Judge | None = None) -> Grade:  # noqa: ARG002
        wanted = [answers.read_as("math", target) or target for target in targets(problem, self.name)]
        extracted = answers.read_as("math", answer)
        if extracted is None:
            return NO_ANSWER
        at_a_glance = {target: _at_a_glance(target, extracted) for target in wanted}
        if any(at_a_glance.values()):
            return verdict(True, extracted)
        try:
            for target in (target for target, equal in at_a_glance.items() if equal is None):
                if await WORKERS.call(target, extracted, timeout_s=self._options.timeout_s):
                    return verdict(True, extracted)
        except WorkerLostError:
            return Grade(passed=False, failure="grader_timeout", extracted=extracted)
        return verdict(False, extracted)


def _at_a_glance(target: str, answer: str) -> bool | None:
    """Whether both are equal, where their spelling alone tells."""
    wanted, given = number_text.parse(target), number_text.parse(answer)
    if wanted and given and number_text.same(wanted, given):
        return True
    if answers.canonical_math(target) == answers.canonical_math(answer):
        return True
    if max(len(target), len(answer)) > _LONGEST_EXPRESSION:
        return False
    if wanted and given and wanted.text.isdigit() and given.text.isdigit():
        return False
    return None
