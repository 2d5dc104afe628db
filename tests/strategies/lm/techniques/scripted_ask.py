"""An `ask` that answers from a script and remembers what it was asked."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from costpass.benchmarks.problem import Problem
from costpass.strategies.lm.ask import Reply, Tool, ToolResult

ADDITION = Problem(id="p1", question="What is 40 + 2?", target="42", reading="number")


@dataclass(frozen=True)
class Call:
    """One call as it arrived."""

    prompt: str | Sequence[ToolResult]
    system: str | None
    history: Sequence[Any]
    tools: Sequence[Tool]
    settings: dict[str, Any]

    @property
    def text(self) -> str:
        assert isinstance(self.prompt, str)
        return self.prompt


class ScriptedAsk:
    """Gives the replies in turn, and raises those that are exceptions; `booked` counts calls that came to an end."""

    def __init__(self, *replies: str | Reply | Exception, seed: int = 0) -> None:
        self.seed = seed
        self.calls: list[Call] = []
        self.booked = 0
        self.running = 0
        self.most_running = 0
        self._replies = list(replies)

    async def __call__(
        self,
        prompt: str | Sequence[ToolResult],
        *,
        system: str | None = None,
        history: Sequence[Any] = (),
        tools: Sequence[Tool] = (),
        **settings: Any,
    ) -> Reply:
        reply = self._replies[len(self.calls)]
        self.calls.append(Call(prompt, system, history, tools, settings))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(0)
            if isinstance(reply, Exception):
                raise reply
        finally:
            self.running -= 1
            self.booked += 1
        return reply if isinstance(reply, Reply) else Reply(text=reply)


def answer(technique: Callable[..., Any], ask: ScriptedAsk, problem: Problem = ADDITION) -> Any:
    """What the technique answers."""

    async def run() -> Any:
        return await technique(problem, ask)

    return asyncio.run(run())
