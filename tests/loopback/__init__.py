"""A language-model provider on the loopback interface that keeps its own account of what it billed.

    with provider(tmp_path, cut=0.1, seed=3) as loopback:      # a process of its own
        ask(f"{loopback.url}/v1", model="sim-p70-r")
        assert booked_usd == loopback.billed({"input": "0.15", "output": "0.60"})

    async with Provider(Options(latency=0.2)) as loopback:     # in this process

It speaks OpenAI chat completions and Responses, Anthropic Messages and Gemini, streamed and whole, without tools.
`Options` says all that it can be told. Model names may start with `sim` and then say what the model is like:
`sim-p70-r6-w10` is right 70 % of the time, after 6 tokens of reasoning, in 10 words.

What is billed, in `billed` of a request's row:
- Input is a token per four bytes of all text in the request, and seven more, whatever the dialect. `cache_read` and
  `cache_write` are shares of it; Gemini has no class for cache writes, there it is all input. `input` is the rest.
- Output is a token per word, reasoning included, and a streamed event with content holds exactly one token. A reply
  ends at the request's limit of output tokens, and says that it was cut for length.
- A refused request (4xx, 5xx) is billed nothing.
- A stream that is cut, by us or by the client going away, is billed its input in full and the output tokens that had
  been sent. A client that leaves before the first byte is billed the input.
- A reply that is not streamed is generated before it is sent: it is billed in full even if it is cut or nobody waits.
- A late cut comes after the usage and before what ends the stream, so client and provider agree on the bill. Where the
  event with the usage is the last one (Responses, Gemini), what is missing is the end of the HTTP body.
- A streamed reply without waits is written at once. A client that leaves while it reads that is billed in full.

The log has one line per POST, written when its reply ended: `n` (the number of the request, in order of arrival),
`dialect`, `model`, `stream`, `status` (null if no byte was sent), `fault` (null, auth, concurrency, storm, rate_limit,
error, cut, cut_late, client_gone, server_stopped, bad_request, not_found), `slow`, `billed`, `finish`, `max_tokens`,
`prompt_hash`, `request_id` (the header x-costpass-request), `started` and `ended` (seconds of the monotonic clock,
which on Linux all processes share). Faults depend on the seed and `n` only.
"""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.loopback.log import read_rows
from tests.loopback.options import Options
from tests.loopback.server import Provider

__all__ = ["Loopback", "Options", "Provider", "provider"]

ROOT = Path(__file__).resolve().parents[2]
MILLION = 1_000_000


@dataclass
class Loopback:
    """A provider that runs as a process of its own."""

    process: subprocess.Popen[str]
    port: int
    log: Path

    @property
    def url(self) -> str:
        """Where it listens; OpenAI's clients want `/v1` after it."""
        return f"http://127.0.0.1:{self.port}"

    def requests(self, timeout_s: float = 5.0) -> list[dict[str, Any]]:
        """The rows of all requests so far, once those in flight have ended."""
        deadline = time.monotonic() + timeout_s
        while self.process.poll() is None and (in_flight := self._health()["in_flight"]):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{in_flight} requests are still in flight after {timeout_s} s")
            time.sleep(0.005)
        return read_rows(self.log.read_text())

    def billed(self, prices: Mapping[str, Decimal | str | int], model: str | None = None) -> Decimal:
        """Dollars for all that was billed, or for one model, given dollars per million tokens of each class.

        Reasoning is part of the output, and has its price unless `prices` has one for it. A class that was used
        and has no price is a KeyError.
        """
        usd_per_million = {name: Decimal(price) for name, price in prices.items()}
        total = Decimal(0)
        for row in self.requests():
            if model is None or row["model"] == model:
                total += _dollars(row["billed"], usd_per_million)
        return total

    def stop(self) -> None:
        """End the process by the end of its input; its log is whole when this returns."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(timeout=10)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _health(self) -> dict[str, int]:
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as client:
            client.sendall(b"GET /health HTTP/1.1\r\n\r\n")
            reply = client.recv(4096)
        health: dict[str, int] = json.loads(reply.partition(b"\r\n\r\n")[2])
        return health


def _dollars(billed: Mapping[str, int], usd_per_million: Mapping[str, Decimal]) -> Decimal:
    tokens = dict(billed)
    if "reasoning" in usd_per_million:
        tokens["output"] -= tokens["reasoning"]
    else:
        del tokens["reasoning"]
    return sum((usd_per_million[name] * count / MILLION for name, count in tokens.items() if count), Decimal(0))


@contextmanager
def provider(tmp_path: Path, **options: Any) -> Iterator[Loopback]:
    """A provider in a process of its own, with these `Options`, that ends with the block."""
    number = len(list(tmp_path.glob("loopback-*.jsonl")))
    log = tmp_path / f"loopback-{number}.jsonl"
    log.touch()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.loopback", "--log", str(log), *Options(**options).arguments()],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"the loopback provider did not start: exit status {process.wait()}")
    loopback = Loopback(process, int(json.loads(line)["port"]), log)
    try:
        yield loopback
    finally:
        loopback.stop()
