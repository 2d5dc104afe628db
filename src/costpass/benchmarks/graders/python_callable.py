"""`python`: a function of one's own gives the verdict."""

import asyncio
import inspect
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import Field

from costpass.benchmarks.graders.callables import load_callable
from costpass.benchmarks.graders.options import NO_ANSWER, Options
from costpass.benchmarks.graders.protocol import Grade, GraderError, Judge
from costpass.benchmarks.problem import Problem


class PythonOptions(Options):
    #: `file.py:function` beside the experiment, or `module:function`.
    function: str
    #: The least score that passes, where the function gives a score.
    threshold: float = Field(default=1.0, allow_inf_nan=False)


class PythonGrader:
    """Calls `function(answer, problem)`, which says True or False, a score, or a Grade; it may be async."""

    name = "python"
    judge_model: str | None = None

    def __init__(self, options: PythonOptions, folder: Path | None = None) -> None:
        self._options = options
        self._function: Callable[..., Any] = load_callable(options.function, folder)

    async def grade(self, answer: str, problem: Problem, judge: Judge | None = None) -> Grade:  # noqa: ARG002
        if not answer.strip():
            return NO_ANSWER
        try:
            if inspect.iscoroutinefunction(self._function):
                said = await self._function(answer, problem)
            else:
                said = await asyncio.to_thread(self._function, answer, problem)
                said = await said if inspect.isawaitable(said) else said
        except Exception as error:
            message = f"{self._options.function} raised {type(error).__name__} on problem {problem.id!r}: {error}"
            raise GraderError(message) from error
        return self._grade(said, problem)

    def _grade(self, said: object, problem: Problem) -> Grade:
        if isinstance(said, Grade):
            return said
        if isinstance(said, bool):
            return Grade(passed=said, failure=None if said else "wrong_answer")
        if isinstance(said, int | float) and not math.isnan(said):
            passed = said >= self._options.threshold
            return Grade(passed=passed, score=float(said), failure=None if passed else "wrong_answer")
        raise GraderError(
            f"{self._options.function} said {said!r:.80} of problem {problem.id!r}; it has to say True, False, "
            "a number or a Grade"
        )
