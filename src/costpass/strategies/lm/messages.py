"""Prompts as the model layer sends them, and replies as techniques read them."""

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from costpass.strategies.lm.ask import Reply, Tool, ToolCall, ToolResult

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponse, ModelResponseStreamEvent
    from pydantic_ai.models import ModelRequestParameters


def conversation(
    prompt: str | Sequence[ToolResult], system: str | None, history: Sequence[Any]
) -> tuple[list["ModelMessage"], list[dict[str, Any]]]:
    """The messages to send, and the new ones among them as a trace keeps them."""
    from pydantic_ai.messages import ModelRequest, SystemPromptPart, ToolReturnPart, UserPromptPart

    parts: list[ModelRequestPart] = []
    kept: list[dict[str, Any]] = []
    if system and not history:
        parts.append(SystemPromptPart(system))
        kept.append({"role": "system", "content": system})
    if isinstance(prompt, str):
        parts.append(UserPromptPart(prompt))
        kept.append({"role": "user", "content": prompt})
    else:
        for result in prompt:
            parts.append(ToolReturnPart(result.call.name, result.content, tool_call_id=result.call.id))
            kept.append({"role": "tool", "name": result.call.name, "content": result.content})
    return [*history, ModelRequest(parts=parts)], kept


def parameters(tools: Sequence[Tool]) -> "ModelRequestParameters":
    """The tools that the model may call."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters))
            for tool in tools
        ]
    )


def measure(messages: Sequence["ModelMessage"], tools: Sequence[Tool]) -> tuple[int, bytes]:
    """How many bytes the conversation has, and a digest that is the same for the same conversation."""
    texts = [_content(part) for message in messages for part in message.parts]
    texts += [json.dumps([tool.name, tool.description, dict(tool.parameters)]) for tool in tools]
    encoded = [text.encode("utf-8", "replace") for text in texts]
    digest = hashlib.blake2b(b"\x1f".join(encoded), digest_size=16).digest()
    return sum(map(len, encoded)), digest


def reply(response: "ModelResponse", messages: Sequence["ModelMessage"]) -> Reply:
    """What a technique gets back."""
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    return Reply(
        text="".join(part.content for part in response.parts if isinstance(part, TextPart)),
        finish_reason=response.finish_reason,
        tool_calls=[ToolCall(part.tool_call_id, part.tool_name, part.args_as_dict()) for part in calls],
        thinking="".join(part.content for part in response.parts if isinstance(part, ThinkingPart)),
        messages=[*messages, response],
    )


def has_content(event: "ModelResponseStreamEvent") -> bool:
    """Whether something that the model wrote has arrived; a signature, or a part that is still empty, is not that."""
    if event.event_kind == "part_start":
        return bool(getattr(event.part, "content", None) or getattr(event.part, "args", None))
    if event.event_kind == "part_delta":
        return bool(getattr(event.delta, "content_delta", None) or getattr(event.delta, "args_delta", None))
    return False


def _content(part: Any) -> str:
    content = getattr(part, "content", None)
    if isinstance(content, str):
        return content
    arguments = getattr(part, "args", None)
    return json.dumps([content, arguments, getattr(part, "tool_name", None)], default=str)
