"""What tests of graders share."""

import asyncio
from typing import Any

from costpass.benchmarks.graders.protocol import Grade, Judge
from costpass.benchmarks.graders.registry import build_grader
from costpass.benchmarks.problem import GraderSpec, Problem


def grade(spec: GraderSpec, answer: str, target: Any, judge: Judge | None = None, **about: Any) -> Grade:
    """The verdict on `answer` to a problem with this target."""
    return asyncio.run(build_grader(spec).grade(answer, Problem("p1", "What?", target, **about), judge))
