"""How many streamed replies of ten content chunks the provider sends in a second: `python -m tests.loopback.load`.

Client and server are processes of their own. The client is raw asyncio: it writes a request made beforehand and reads
until the last chunk, on connections it keeps.
"""

import argparse
import asyncio
import json
import resource
import tempfile
import time
from pathlib import Path

from tests.loopback import provider
from tests.loopback.wire import LAST_CHUNK

PATHS = {
    "chat": "/v1/chat/completions",
    "messages": "/v1/messages",
    "responses": "/v1/responses",
    "gemini": "/v1beta/models/sim-p70-w10:streamGenerateContent?alt=sse",
}


def request(dialect: str) -> bytes:
    """A streamed request for an answer of ten words."""
    question = "What is 37 + 45? Think, then answer between <answer> and </answer>."
    body: dict[str, object] = {"model": "sim-p70-w10", "stream": True}
    if dialect == "gemini":
        body = {"contents": [{"role": "user", "parts": [{"text": question}]}]}
    elif dialect == "responses":
        body |= {"input": question}
    else:
        body |= {"messages": [{"role": "user", "content": question}], "max_tokens": 100}
        body |= {"stream_options": {"include_usage": True}} if dialect == "chat" else {}
    content = json.dumps(body).encode()
    head = f"POST {PATHS[dialect]} HTTP/1.1\r\nhost: loopback\r\ncontent-length: {len(content)}\r\n\r\n"
    return head.encode() + content


class Client(asyncio.Protocol):
    """One connection that asks again as soon as a reply has ended."""

    def __init__(self, asking: bytes, replies: int, done: asyncio.Future[None]) -> None:
        self._asking, self._left, self._done = asking, replies, done

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._asking)

    def data_received(self, content: bytes) -> None:
        if content.endswith(LAST_CHUNK):
            self._left -= 1
            if self._left:
                self._transport.write(self._asking)
            else:
                self._transport.close()
                self._done.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._done.done():
            self._done.set_exception(exc or ConnectionError("the provider closed the connection"))


async def replies_per_second(port: int, dialect: str, replies: int, concurrency: int) -> float:
    """Replies received in a second by so many connections at once."""
    loop = asyncio.get_running_loop()
    each = replies // concurrency
    waiting = [loop.create_future() for _ in range(concurrency)]
    started = time.perf_counter()
    for done in waiting:
        await loop.create_connection(lambda done=done: Client(request(dialect), each, done), "127.0.0.1", port)  # type: ignore[misc]
    await asyncio.gather(*waiting)
    return each * concurrency / (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.loopback.load", description=__doc__)
    parser.add_argument("--replies", type=int, default=20_000)
    parser.add_argument("--concurrency", type=int, default=64)
    flags = parser.parse_args()
    for dialect in PATHS:
        before_s = children_cpu_s()
        with tempfile.TemporaryDirectory() as folder, provider(Path(folder)) as loopback:
            rate = asyncio.run(replies_per_second(loopback.port, dialect, flags.replies, flags.concurrency))
        per_cpu_s = flags.replies / (children_cpu_s() - before_s)
        print(f"{dialect:10} {rate:8,.0f} replies/s, {per_cpu_s:8,.0f} per second of the server's CPU")


def children_cpu_s() -> float:
    """CPU time of the servers that have ended, their start included; a busy machine does not change it much."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
