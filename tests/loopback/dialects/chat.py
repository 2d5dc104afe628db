"""OpenAI chat completions: usage comes in a chunk of its own, and in a stream only when asked for."""

from typing import Any

from tests.loopback.dialects.dialect import ERROR_TYPES, Frames, text_of
from tests.loopback.reply import Asked, Billed, Reply
from tests.loopback.wire import HOLE, event, events

_ROLES = {"developer": "system", "system": "system", "assistant": "assistant"}


def parse(path: str, body: dict[str, Any]) -> Asked:  # noqa: ARG001
    limit = body.get("max_completion_tokens")
    return Asked(
        dialect="chat",
        model=str(body["model"]),
        messages=[(_ROLES.get(said["role"], "user"), text_of(said.get("content"))) for said in body["messages"]],
        stream=bool(body.get("stream")),
        stream_usage=bool((body.get("stream_options") or {}).get("include_usage")),
        max_tokens=body.get("max_tokens") if limit is None else limit,
        seed=body.get("seed"),
    )


def usage(billed: Billed) -> dict[str, Any]:
    return {
        "prompt_tokens": billed.prompt,
        "completion_tokens": billed.output,
        "total_tokens": billed.prompt + billed.output,
        "prompt_tokens_details": {"cached_tokens": billed.cache_read, "cache_write_tokens": billed.cache_write},
        "completion_tokens_details": {"reasoning_tokens": billed.reasoning},
    }


def whole(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None}
    if reply.thoughts:
        message["reasoning_content"] = reply.thinking
    choice = {"index": 0, "message": message, "finish_reason": reply.finish, "logprobs": None}
    return {**_envelope(reply, "chat.completion"), "choices": [choice], "usage": usage(reply.billed())}


def frames(reply: Reply) -> Frames:
    envelope = _envelope(reply, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**envelope, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    last = event(chunk({}, reply.finish))
    if reply.asked.stream_usage:
        last += event({**envelope, "choices": [], "usage": usage(reply.billed())})
    return Frames(
        head=event(chunk({"role": "assistant", "content": ""})),
        tokens=events(chunk({"reasoning_content": HOLE}), zip(reply.thoughts, strict=True))
        + events(chunk({"content": HOLE}), zip(reply.words, strict=True)),
        usage=last,
        end=event("[DONE]"),
    )


def error(status: int, message: str) -> dict[str, Any]:
    codes = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
    kind = ERROR_TYPES.get(status, "server_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": codes.get(status)}}


def _envelope(reply: Reply, kind: str) -> dict[str, Any]:
    asked = reply.asked
    return {"id": f"chatcmpl-{asked.number}", "object": kind, "created": 1_700_000_000, "model": asked.model}
