"""One request and its reply: what is sent when, what is billed so far, and the row that the log gets of it."""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

from tests.loopback.dialects.dialect import Dialect
from tests.loopback.faults import Plan
from tests.loopback.reply import Asked, Billed, Reply
from tests.loopback.wire import LAST_CHUNK, json_reply, sse_head


class Beat(NamedTuple):
    """Bytes to send, the wait before them, and how many output tokens have been generated with them."""

    delay_s: float
    content: bytes
    generated: int


def beats(reply: Reply, dialect: Dialect, plan: Plan, latency_s: float, headers: bytes) -> Iterator[Beat]:
    """A reply as it is sent, up to where the plan cuts it."""
    if reply.asked.stream:
        yield from _stream(reply, dialect, plan, latency_s, headers)
        return
    content = json_reply(200, dialect.whole(reply), headers)
    kept = content if plan.cut is None else content[: len(content) - 20]
    yield Beat(latency_s + plan.between_s * reply.tokens, kept, reply.tokens)


def _stream(reply: Reply, dialect: Dialect, plan: Plan, latency_s: float, headers: bytes) -> Iterator[Beat]:
    frames = dialect.frames(reply)
    head = sse_head(headers) + frames.head
    if plan.cut is None:
        sent, tail = reply.tokens, frames.usage + frames.end + LAST_CHUNK
    else:
        sent, tail = int(plan.cut * reply.tokens), frames.usage if plan.cut == 1 else b""
    if not plan.between_s:
        yield Beat(latency_s, b"".join([head, *frames.tokens[:sent], tail]), sent)
        return
    yield Beat(latency_s, head, 0)
    for i, frame in enumerate(frames.tokens[:sent], start=1):
        yield Beat(plan.between_s, frame, i)
    yield Beat(plan.between_s, tail, sent)


@dataclass(slots=True)
class Exchange:
    """The account of one request. It is logged once, when its reply ended or failed."""

    number: int
    request_id: str | None
    started: float = field(default_factory=time.monotonic)
    asked: Asked | None = None
    reply: Reply | None = None
    status: int | None = None
    fault: str | None = None
    slow: bool = False
    generated: int = 0
    task: asyncio.Task[None] | None = None

    def begin(self, reply: Reply, plan: Plan) -> None:
        """Bill the input from here on, and all of a reply that is not streamed: it is generated before it is sent."""
        self.reply = reply
        self.fault = plan.fault
        self.slow = plan.between_s > 0
        self.generated = 0 if reply.asked.stream else reply.tokens

    async def send(self, sequence: list[Beat], write: Callable[[bytes], None]) -> None:
        """Send beats in their time, those without a wait between them in one write."""
        pending: list[bytes] = []
        for beat in sequence:
            if beat.delay_s:
                if pending:
                    write(b"".join(pending))
                    pending.clear()
                await asyncio.sleep(beat.delay_s)
            pending.append(beat.content)
            self.status = 200
            self.generated = max(self.generated, beat.generated)
        write(b"".join(pending))

    def send_now(self, sequence: list[Beat], write: Callable[[bytes], None]) -> None:
        """Send beats that have no waits."""
        self.status = 200
        self.generated = max(self.generated, sequence[-1].generated)
        write(b"".join(beat.content for beat in sequence))

    def row(self) -> dict[str, Any]:
        """What the log says of this request."""
        asked = self.asked
        billed = Billed() if self.reply is None else self.reply.billed(self.generated)
        return {
            "n": self.number,
            "dialect": asked and asked.dialect,
            "model": asked and asked.model,
            "stream": asked and asked.stream,
            "status": self.status,
            "fault": self.fault,
            "slow": self.slow,
            "billed": billed._asdict(),
            "finish": self.reply and self.reply.finish,
            "max_tokens": asked and asked.max_tokens,
            "prompt_hash": asked and blake2b(asked.prompt.encode(), digest_size=8).hexdigest(),
            "request_id": self.request_id,
            "started": self.started,
            "ended": time.monotonic(),
        }
