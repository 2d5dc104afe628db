"""What a dialect is: a module that says a request, a reply whole or in events, its usage and an error."""

from dataclasses import dataclass
from typing import Any, Protocol

from tests.loopback.reply import Asked, Reply

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


@dataclass(slots=True)
class Frames:
    """A streamed reply in order: what opens it, one frame per output token, the usage, and what ends it."""

    head: bytes
    tokens: list[bytes]
    usage: bytes
    end: bytes = b""


class Dialect(Protocol):
    """What a dialect's module provides."""

    def parse(self, path: str, body: dict[str, Any]) -> Asked: ...

    def whole(self, reply: Reply) -> dict[str, Any]: ...

    def frames(self, reply: Reply) -> Frames: ...

    def error(self, status: int, message: str) -> dict[str, Any]: ...


def text_of(content: Any) -> str:
    """The text of a message's content: a string, or parts of which some have text."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text_of(content.get("text") or content.get("parts") or "")
    return "\n".join(filter(None, map(text_of, content or ())))
