"""HTTP/1.1 by hand: requests out of a buffer, replies and server-sent events as bytes."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from json.encoder import encode_basestring

SSE_HEADERS = b"content-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n"
LAST_CHUNK = b"0\r\n\r\n"
HOLE = "\0"

to_json = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
_ENCODED_HOLE = to_json(HOLE)


class BadRequestError(ValueError):
    """Bytes that are no request this server reads; the connection cannot be used again."""


@dataclass(slots=True)
class HttpRequest:
    """A request, whole."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    @property
    def key(self) -> str | None:
        """The API key, wherever the dialect puts it."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        return self.headers.get("x-api-key") or self.headers.get("x-goog-api-key") or bearer or None


def take_request(buffer: bytearray) -> HttpRequest | None:
    """Take the first request off the buffer, or nothing while it is not whole."""
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        return None
    first, *lines = buffer[:end].decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if "transfer-encoding" in headers:
        raise BadRequestError("send the request with a content-length, not in chunks")
    try:
        method, target, _ = first.split(" ")
        stop = end + 4 + int(headers.get("content-length", 0))
    except ValueError:
        raise BadRequestError(f"not an HTTP request: {first!r}") from None
    if len(buffer) < stop:
        return None
    body = bytes(buffer[end + 4 : stop])
    del buffer[:stop]
    path, _, query = target.partition("?")
    return HttpRequest(method, path, query, headers, body)


def status_line(status: int) -> bytes:
    """The first line of a reply; 529 is Anthropic's own."""
    phrase = "Overloaded" if status == 529 else HTTPStatus(status).phrase
    return f"HTTP/1.1 {status} {phrase}\r\n".encode()


def json_reply(status: int, body: object, headers: bytes = b"") -> bytes:
    """A reply of one JSON value."""
    content = to_json(body).encode()
    length = b"content-type: application/json\r\ncontent-length: %d\r\n" % len(content)
    return b"".join((status_line(status), length, headers, b"\r\n", content))


def sse_head(headers: bytes = b"") -> bytes:
    """What a stream of events begins with."""
    return b"".join((status_line(200), SSE_HEADERS, headers, b"\r\n"))


def event(value: object, name: str | None = None) -> bytes:
    """One server-sent event, in an HTTP chunk of its own as providers send it."""
    return _chunk(_lines(value if isinstance(value, str) else to_json(value), name))


def events(template: object, rows: Iterable[tuple[str | int, ...]], name: str | None = None) -> list[bytes]:
    """Events that differ only in what fills the template's holes, in the order of the holes; the JSON is made once."""
    filled = list(rows)
    if not filled:
        return []
    line = _lines(to_json(template), name).replace("%", "%%").replace(_ENCODED_HOLE, "%s")
    return [
        _chunk(line % tuple([encode_basestring(value) if isinstance(value, str) else value for value in row]))
        for row in filled
    ]


def _lines(line: str, name: str | None) -> str:
    return f"data: {line}\n\n" if name is None else f"event: {name}\ndata: {line}\n\n"


def _chunk(content: str) -> bytes:
    encoded = content.encode()
    return b"%x\r\n%b\r\n" % (len(encoded), encoded)
