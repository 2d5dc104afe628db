"""Anthropic Messages: the input's usage opens the stream, the output's comes before its last event."""

from typing import Any

from tests.loopback.dialects.dialect import ERROR_TYPES, Frames, text_of
from tests.loopback.reply import Asked, Billed, Reply
from tests.loopback.wire import HOLE, event, events

_STOPS = {"stop": "end_turn", "length": "max_tokens"}


def parse(path: str, body: dict[str, Any]) -> Asked:  # noqa: ARG001
    system = [("system", text_of(body["system"]))] if body.get("system") else []
    return Asked(
        dialect="messages",
        model=str(body["model"]),
        messages=system + [(said["role"], text_of(said["content"])) for said in body["messages"]],
        stream=bool(body.get("stream")),
        max_tokens=body["max_tokens"],
    )


def usage(billed: Billed) -> dict[str, Any]:
    return {
        "input_tokens": billed.input,
        "cache_creation_input_tokens": billed.cache_write,
        "cache_read_input_tokens": billed.cache_read,
        "output_tokens": billed.output,
        "output_tokens_details": {"thinking_tokens": billed.reasoning},
    }


def whole(reply: Reply) -> dict[str, Any]:
    thinking = {"type": "thinking", "thinking": reply.thinking, "signature": "bG9vcGJhY2s="}
    text = {"type": "text", "text": reply.text, "citations": None}
    content = [thinking] * bool(reply.thoughts) + [text] * bool(reply.words)
    return {**_envelope(reply, reply.billed()), "content": content, "stop_reason": _STOPS[reply.finish]}


def frames(reply: Reply) -> Frames:
    tokens = _block(0, "thinking", reply.thoughts)
    tokens += _block(1 if tokens else 0, "text", reply.words)
    delta = {"stop_reason": _STOPS[reply.finish], "stop_sequence": None}
    return Frames(
        head=_named("message_start", message=_envelope(reply, reply.billed(0))) + _named("ping"),
        tokens=tokens,
        usage=_named("message_delta", delta=delta, usage=usage(reply.billed())),
        end=_named("message_stop"),
    )


def error(status: int, message: str) -> dict[str, Any]:
    kind = "overloaded_error" if status == 529 else ERROR_TYPES.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def _block(index: int, kind: str, pieces: list[str]) -> list[bytes]:
    """A content block as one frame per token: the first opens it, the last closes it."""
    if not pieces:
        return []
    name = "content_block_delta"
    delta = {"type": name, "index": index, "delta": {"type": f"{kind}_delta", kind: HOLE}}
    frames = events(delta, zip(pieces, strict=True), name)
    block = {"type": kind, kind: ""}
    if kind == "thinking":
        block["signature"] = ""
        signature = {"type": "signature_delta", "signature": "bG9vcGJhY2s="}
        frames[-1] += _named(name, index=index, delta=signature)
    frames[0] = _named("content_block_start", index=index, content_block=block) + frames[0]
    frames[-1] += _named("content_block_stop", index=index)
    return frames


def _envelope(reply: Reply, billed: Billed) -> dict[str, Any]:
    written = {"ephemeral_5m_input_tokens": billed.cache_write, "ephemeral_1h_input_tokens": 0}
    return {
        "id": f"msg_{reply.asked.number}",
        "type": "message",
        "role": "assistant",
        "model": reply.asked.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage(billed), "cache_creation": written, "service_tier": "standard"},
    }


def _named(name: str, **fields: Any) -> bytes:
    return event({"type": name, **fields}, name)
