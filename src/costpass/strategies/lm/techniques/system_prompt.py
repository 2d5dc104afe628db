"""A system prompt on every call of a technique, whichever it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from costpass.benchmarks.problem import Problem
from costpass.strategies.lm.ask import Ask, Reply, Tool, ToolResult
from costpass.strategies.lm.techniques.built import BuiltTechnique


class AskWithSystem:
    """`ask`, with a system prompt unless the call brings its own."""

    def __init__(self, ask: Ask, system: str) -> None:
        self._ask = ask
        self._system = system
        self.seed = ask.seed

    async def __call__(
        self,
        prompt: str | Sequence[ToolResult],
        *,
        system: str | None = None,
        history: Sequence[Any] = (),
        tools: Sequence[Tool] = (),
        **settings: Any,
    ) -> Reply:
        chosen = self._system if system is None else system
        return await self._ask(prompt, system=chosen, history=history, tools=tools, **settings)


@dataclass(frozen=True)
class WithSystem:
    """A technique whose calls carry a system prompt."""

    technique: BuiltTechnique
    system: str

    @property
    def name(self) -> str:
        return self.technique.name

    @property
    def calls(self) -> tuple[int, int]:
        return self.technique.calls

    async def __call__(self, problem: Problem, ask: Ask) -> str:
        return await self.technique(problem, AskWithSystem(ask, self.system))

    def describe(self) -> dict[str, Any]:
        return {**self.technique.describe(), "system": self.system}
