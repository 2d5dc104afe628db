"""OpenAI Responses: the last event repeats the whole reply and holds its only usage."""

from itertools import count
from typing import Any, NamedTuple

from tests.loopback.dialects import chat
from tests.loopback.dialects.dialect import Frames, text_of
from tests.loopback.reply import Asked, Billed, Reply
from tests.loopback.wire import HOLE, event, events

error = chat.error


class _Shape(NamedTuple):
    """How an output item is called in events: its parts, one part, the part's text, the index of a part."""

    parts: str
    part: str
    text: str
    place: str
    extra: dict[str, Any]


_SHAPES = {
    "message": _Shape("content", "content_part", "output_text", "content_index", {"logprobs": []}),
    "reasoning": _Shape("summary", "reasoning_summary_part", "reasoning_summary_text", "summary_index", {}),
}


def parse(path: str, body: dict[str, Any]) -> Asked:  # noqa: ARG001
    said = body["input"]
    items = [{"role": "user", "content": said}] if isinstance(said, str) else said
    system = [("system", str(body["instructions"]))] if body.get("instructions") else []
    roles = {"developer": "system", "system": "system", "assistant": "assistant"}
    return Asked(
        dialect="responses",
        model=str(body["model"]),
        messages=system
        + [(roles.get(item["role"], "user"), text_of(item.get("content"))) for item in items if "role" in item],
        stream=bool(body.get("stream")),
        max_tokens=body.get("max_output_tokens"),
    )


def usage(billed: Billed) -> dict[str, Any]:
    return {
        "input_tokens": billed.prompt,
        "input_tokens_details": {"cached_tokens": billed.cache_read, "cache_write_tokens": billed.cache_write},
        "output_tokens": billed.output,
        "output_tokens_details": {"reasoning_tokens": billed.reasoning},
        "total_tokens": billed.prompt + billed.output,
    }


def whole(reply: Reply) -> dict[str, Any]:
    full = reply.finish == "stop"
    return {
        **_envelope(reply),
        "status": "completed" if full else "incomplete",
        "incomplete_details": None if full else {"reason": "max_output_tokens"},
        "output": [_item(reply, kind, text) for kind, text in _outputs(reply)],
        "usage": usage(reply.billed()),
    }


def frames(reply: Reply) -> Frames:
    sequence = count()

    def named(name: str, **fields: Any) -> bytes:
        kind = f"response.{name}"
        return event({"type": kind, "sequence_number": next(sequence), **fields}, kind)

    def block(index: int, kind: str, text: str, pieces: list[str]) -> list[bytes]:
        """An output item as one frame per token: the first opens it, the last closes it."""
        item, shape = _item(reply, kind, text), _SHAPES[kind]
        at = {"item_id": item["id"], "output_index": index, shape.place: 0}
        part = item[shape.parts][0]
        opened = named("output_item.added", output_index=index, item={**item, "status": "in_progress", shape.parts: []})
        opened += named(f"{shape.part}.added", part={**part, "text": ""}, **at)
        name = f"response.{shape.text}.delta"
        delta = {"type": name, "delta": HOLE, "sequence_number": HOLE, **at, **shape.extra}
        tokens = events(delta, zip(pieces, sequence, strict=False), name)
        tokens[0] = opened + tokens[0]
        tokens[-1] += named(f"{shape.text}.done", text=text, **at, **shape.extra)
        tokens[-1] += named(f"{shape.part}.done", part=part, **at)
        tokens[-1] += named("output_item.done", output_index=index, item=item)
        return tokens

    started = {**_envelope(reply), "status": "in_progress", "output": [], "usage": None}
    head = named("created", response=started) + named("in_progress", response=started)
    tokens: list[bytes] = []
    for index, (kind, text) in enumerate(_outputs(reply)):
        tokens += block(index, kind, text, reply.words if kind == "message" else reply.thoughts)
    final = whole(reply)
    return Frames(head, tokens, named(final["status"], response=final))


def _outputs(reply: Reply) -> list[tuple[str, str]]:
    return [("reasoning", reply.thinking)] * bool(reply.thoughts) + [("message", reply.text)] * bool(reply.words)


def _item(reply: Reply, kind: str, text: str) -> dict[str, Any]:
    if kind == "reasoning":
        summary = [{"type": "summary_text", "text": text}]
        return {"type": kind, "id": f"rs_{reply.asked.number}", "summary": summary, "status": "completed"}
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
    role = {"role": "assistant", "status": "completed", "content": content}
    return {"type": kind, "id": f"msg_{reply.asked.number}", **role}


def _envelope(reply: Reply) -> dict[str, Any]:
    return {
        "id": f"resp_{reply.asked.number}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": reply.asked.model,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
