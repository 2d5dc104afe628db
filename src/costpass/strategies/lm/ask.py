"""`ask`: the metered model call that a technique is given, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from costpass.benchmarks.problem import Problem


@dataclass(frozen=True)
class Tool:
    """A tool that the model may call; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """A call that the model asks for."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class ToolResult:
    """What a tool gave back, for the next `ask`."""

    call: ToolCall
    content: str


@dataclass(frozen=True)
class Reply:
    """What the model said."""

    text: str
    #: stop, length, content_filter, tool_call or error, where the provider said so.
    finish_reason: str | None = None
    tool_calls: Sequence[ToolCall] = ()
    thinking: str = ""
    #: The conversation up to and with this reply; hand it back as `history` to go on.
    messages: Sequence[Any] = ()


class Ask(Protocol):
    """The metered model call. Every call's tokens and dollars are booked on the attempt, whatever becomes of it."""

    #: The attempt's own seed, for choices that a technique makes by chance.
    seed: int

    async def __call__(
        self,
        prompt: str | Sequence[ToolResult],
        *,
        system: str | None = None,
        history: Sequence[Any] = (),
        tools: Sequence[Tool] = (),
        **settings: Any,
    ) -> Reply: ...


class Technique(Protocol):
    """One way to get an answer out of a model: any `async (problem, ask) -> answer`."""

    async def __call__(self, problem: Problem, ask: Ask) -> str: ...
