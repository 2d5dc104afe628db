"""The four dialects, and which of them is spoken at a path."""

from tests.loopback.dialects import chat, gemini, messages, responses
from tests.loopback.dialects.dialect import Dialect


def route(path: str) -> Dialect | None:
    """The dialect of requests to a path."""
    if path.endswith("/chat/completions"):
        return chat
    if path.endswith("/messages"):
        return messages
    if path.endswith("/responses"):
        return responses
    if path.endswith((":streamGenerateContent", ":generateContent")):
        return gemini
    return None
