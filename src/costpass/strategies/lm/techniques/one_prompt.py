"""One call with one template: what `direct` and `chain-of-thought` both are."""

from dataclasses import dataclass
from typing import Any

from costpass.benchmarks.problem import Problem
from costpass.strategies.lm.ask import Ask
from costpass.strategies.lm.techniques.template import fill


@dataclass(frozen=True)
class OnePrompt:
    """Sends the filled template once and takes the reply as it comes."""

    name: str
    template: str
    calls: tuple[int, int] = (1, 1)

    async def __call__(self, problem: Problem, ask: Ask) -> str:
        return (await ask(fill(self.template, question=problem.question))).text

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "template": self.template}
