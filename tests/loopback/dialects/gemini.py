"""Gemini: every event repeats the usage so far, and the stream has no end but the end of its bytes."""

from typing import Any
from urllib.parse import unquote

from tests.loopback.dialects.dialect import Frames, text_of
from tests.loopback.reply import Asked, Billed, Reply
from tests.loopback.wire import HOLE, event, events

_FINISHES = {"stop": "STOP", "length": "MAX_TOKENS"}
_ERRORS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
}


def parse(path: str, body: dict[str, Any]) -> Asked:
    model, _, method = path.rpartition("/")[2].partition(":")
    settings = body.get("generationConfig") or {}
    instruction = body.get("systemInstruction")
    system = [("system", text_of(instruction))] if instruction else []
    said = [("assistant" if turn.get("role") == "model" else "user", text_of(turn)) for turn in body["contents"]]
    return Asked(
        dialect="gemini",
        model=unquote(model),
        messages=system + said,
        stream=method == "streamGenerateContent",
        max_tokens=settings.get("maxOutputTokens"),
        seed=settings.get("seed"),
        can_write_cache=False,
    )


def usage(billed: Billed) -> dict[str, Any]:
    return {
        "promptTokenCount": billed.prompt,
        "cachedContentTokenCount": billed.cache_read,
        "candidatesTokenCount": billed.output - billed.reasoning,
        "thoughtsTokenCount": billed.reasoning,
        "totalTokenCount": billed.prompt + billed.output,
    }


def whole(reply: Reply) -> dict[str, Any]:
    parts = [_thought(reply.thinking)] * bool(reply.thoughts) + [{"text": reply.text}]
    return _said(reply, parts, usage(reply.billed()), _FINISHES[reply.finish])


def frames(reply: Reply) -> Frames:
    so_far = {"candidatesTokenCount": HOLE, "thoughtsTokenCount": HOLE, "totalTokenCount": HOLE}
    counted = {**usage(reply.prompt), **so_far}
    prompt, thought_tokens = reply.prompt.prompt, len(reply.thoughts)
    thoughts = [(text, 0, n, prompt + n) for n, text in enumerate(reply.thoughts, start=1)]
    words = [(text, n, thought_tokens, prompt + thought_tokens + n) for n, text in enumerate(reply.words, start=1)]
    return Frames(
        head=b"",
        tokens=events(_said(reply, [_thought(HOLE)], counted), thoughts)
        + events(_said(reply, [{"text": HOLE}], counted), words),
        usage=event(_said(reply, [{"text": ""}], usage(reply.billed()), _FINISHES[reply.finish])),
    )


def error(status: int, message: str) -> dict[str, Any]:
    return {"error": {"code": status, "message": message, "status": _ERRORS.get(status, "UNAVAILABLE")}}


def _thought(text: str) -> dict[str, Any]:
    return {"text": text, "thought": True}


def _said(
    reply: Reply, parts: list[dict[str, Any]], counted: dict[str, Any], finish: str | None = None
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "usageMetadata": counted,
        "modelVersion": reply.asked.model,
        "responseId": f"r{reply.asked.number}",
    }
