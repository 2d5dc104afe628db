"""A streamed chat request to a local server, with plain HTTP."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx


@dataclass(frozen=True)
class Said:
    """An answer, and what the server reported of it."""

    text: str
    model: str
    usage: dict[str, Any]


# The server ends a connection after a streamed answer although it offers to keep it, so none is used again.
_ONE_USE = httpx.Limits(max_keepalive_connections=0)


async def say(
    base_url: str,
    prompt: str,
    *,
    seed: int = 1,
    max_tokens: int = 16,
    heard: Callable[[str], Awaitable[None]] | None = None,
) -> Said:
    """A streamed chat request at temperature 0.7; `heard` is told of each piece as it comes."""
    body = {
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": max_tokens,
        "temperature": 0.7,
        "seed": seed,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    text = ""
    last: dict[str, Any] = {}
    url = f"{base_url}/chat/completions"
    async with httpx.AsyncClient(timeout=60, limits=_ONE_USE) as http, http.stream("POST", url, json=body) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                last = json.loads(line.removeprefix("data: "))
                piece = "".join(choice["delta"].get("content") or "" for choice in last["choices"])
                text += piece
                if piece and heard:
                    await heard(piece)
    return Said(text, last["model"], last["usage"])
