"""How long a technique's prompts are, found by letting it ask a model that is not there."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from costpass.benchmarks.problem import Problem
from costpass.strategies.lm.ask import Reply, Tool, ToolResult
from costpass.strategies.lm.techniques import own_python
from costpass.strategies.lm.techniques.registry import BuiltTechnique

BYTES_PER_TOKEN = 4
#: A text of one token.
FILLER = "w" * BYTES_PER_TOKEN
_PROBLEMS_MEASURED = 20


@dataclass(frozen=True)
class Prompts:
    """The prompts of one attempt."""

    #: All of them together, on average over problems.
    mean_bytes: float
    #: The longest single one.
    longest_bytes: int

    @property
    def tokens(self) -> int:
        return round(self.mean_bytes / BYTES_PER_TOKEN)


class _Listener:
    """`ask`, which answers everything with the same plain words and notes how much it was sent."""

    def __init__(self, reply_tokens: int) -> None:
        self.seed = 0
        self.sizes: list[int] = []
        self._reply = Reply(FILLER * reply_tokens)

    async def __call__(
        self,
        prompt: str | Sequence[ToolResult],
        *,
        system: str | None = None,
        history: Sequence[Any] = (),  # noqa: ARG002 - no technique of ours goes on with a conversation
        tools: Sequence[Tool] = (),  # noqa: ARG002
        **settings: Any,  # noqa: ARG002
    ) -> Reply:
        text = prompt if isinstance(prompt, str) else "".join(result.content for result in prompt)
        self.sizes.append(_bytes(text + (system or "")))
        return self._reply


def measure(technique: BuiltTechnique, problems: Sequence[Problem], reply_tokens: int) -> Prompts:
    """The prompts of an attempt at these problems, of which some are looked at: replies are taken to be so long."""
    every = -(-len(problems) // _PROBLEMS_MEASURED)
    chosen = [*problems[::every], max(problems, key=lambda problem: len(problem.question))]
    sizes = (
        [_unheard(technique, problem) for problem in chosen]
        if runs_own_code(technique)
        else asyncio.run(_heard(technique, chosen, reply_tokens))
    )
    # The longest problem is there for the worst case and must not weigh on the mean.
    return Prompts(fmean(map(sum, sizes[:-1])), max(map(max, sizes)))


def runs_own_code(technique: BuiltTechnique) -> bool:
    """Whether the user's own function would be called, which an estimate must not do."""
    return _is_own(technique.describe())


async def _heard(technique: BuiltTechnique, problems: Sequence[Problem], reply_tokens: int) -> list[list[int]]:
    sizes = []
    for problem in problems:
        listener = _Listener(reply_tokens)
        await technique(problem, listener)
        sizes.append(listener.sizes)
    return sizes


def _unheard(technique: BuiltTechnique, problem: Problem) -> list[int]:
    return [_bytes(problem.question)] * max(1, technique.calls[0])


def _is_own(description: Mapping[str, Any]) -> bool:
    inner = description.get("of")
    return description["name"] == own_python.NAME or (isinstance(inner, Mapping) and _is_own(inner))


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
