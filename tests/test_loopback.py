"""The loopback provider's log says what it billed, whatever happened to the reply."""

import asyncio
import http.client
import json
import re
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import Loopback, Options, Provider, provider
from tests.loopback.answers import SENTENCE
from tests.loopback.options import add_flags, from_flags

QUESTION = "What is 37 + 45? Answer between <answer> and </answer>."
NOTHING = {"input": 0, "cache_read": 0, "cache_write": 0, "output": 0, "reasoning": 0}


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loopback]:
    """A provider whose prompts are half cached."""
    with provider(tmp_path_factory.mktemp("cached"), cache_read=0.5, cache_write=0.25) as loopback:
        yield loopback


class Chat:
    """A kept connection that asks in the chat dialect and returns what came, as far as it came."""

    def __init__(self, loopback: Loopback, **headers: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", loopback.port, timeout=10)
        self._headers = headers

    def send(self, text: str = QUESTION, **fields: Any) -> None:
        body = {"model": "sim-w10", "stream": True, "messages": [{"role": "user", "content": text}], **fields}
        self._connection.request("POST", "/v1/chat/completions", json.dumps(body), self._headers)

    def ask(self, text: str = QUESTION, **fields: Any) -> tuple[int, str]:
        self.send(text, **fields)
        reply = self._connection.getresponse()
        self.headers = reply.headers
        try:
            return reply.status, reply.read().decode()
        except http.client.IncompleteRead as error:
            self.close()  # the next request opens it again
            return reply.status, error.partial.decode()

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def chat() -> Iterator[Callable[..., Chat]]:
    """Connections that are closed with the test."""
    opened: list[Chat] = []

    def connect(loopback: Loopback, **headers: str) -> Chat:
        opened.append(Chat(loopback, **headers))
        return opened[-1]

    yield connect
    for each in opened:
        each.close()


Connect = Callable[..., Chat]


def content_events(stream: str) -> int:
    return len(re.findall(r'"delta":\{"content":"[^"]', stream))


def test_a_stream_has_one_token_per_event_and_says_its_usage_on_request(cached: Loopback, chat: Connect) -> None:
    connection = chat(cached)
    _, silent = connection.ask()
    _, telling = connection.ask(stream_options={"include_usage": True})
    assert content_events(silent) == content_events(telling) == 10
    assert ('"usage":' in silent, '"usage":' in telling) == (False, True)
    assert telling.endswith("data: [DONE]\n\n")


def test_a_cut_stream_is_billed_its_input_and_the_tokens_that_were_sent(tmp_path: Path, chat: Connect) -> None:
    with provider(tmp_path, cut=0.6, seed=1) as loopback:
        connection = chat(loopback)
        streams = [connection.ask()[1] for _ in range(30)]
        rows = loopback.requests()
    assert [row["billed"]["output"] for row in rows] == list(map(content_events, streams))
    assert [row["fault"] == "cut" for row in rows] == ["[DONE]" not in stream for stream in streams]
    assert {row["billed"]["input"] for row in rows} == {len(QUESTION) // 4 + 7}
    cuts = {row["billed"]["output"] for row in rows if row["fault"] == "cut"}
    assert len(cuts) > 4, "cuts come at different tokens"
    assert max(cuts) < 10


def test_a_whole_reply_that_is_cut_is_billed_in_full(tmp_path: Path, chat: Connect) -> None:
    with provider(tmp_path, cut=1.0) as loopback:
        _, partial = chat(loopback).ask(stream=False)
        (row,) = loopback.requests()
    with pytest.raises(json.JSONDecodeError):
        json.loads(partial)
    assert (row["fault"], row["billed"]["output"]) == ("cut", 10)


@pytest.mark.parametrize(
    ("options", "statuses", "faults"),
    [
        ({"rate_limit": 1.0}, {429}, {"rate_limit"}),
        ({"error": 1.0}, {500, 503, 529}, {"error"}),
        ({"auth": "right"}, {401}, {"auth"}),
        ({"limit_concurrency": 0}, {429}, {"concurrency"}),
    ],
)
def test_a_refused_request_is_billed_nothing(
    tmp_path: Path, chat: Connect, options: dict[str, Any], statuses: set[int], faults: set[str]
) -> None:
    with provider(tmp_path, retry_after=0.5, **options) as loopback:
        connection = chat(loopback, authorization="Bearer wrong")
        seen = [connection.ask()[0] for _ in range(20)]
        rows = loopback.requests()
    assert set(seen) == statuses
    assert seen == [row["status"] for row in rows]
    assert {row["fault"] for row in rows} == faults
    assert connection.headers["retry-after"] == ("0.5" if statuses == {429} else None)
    assert all(row["billed"] == NOTHING for row in rows)


def test_the_right_key_is_let_in(tmp_path: Path, chat: Connect) -> None:
    with provider(tmp_path, auth="right") as loopback:
        keys = ({"authorization": "Bearer right"}, {"x-api-key": "right"}, {"x-goog-api-key": "right"})
        assert [chat(loopback, **key).ask()[0] for key in keys] == [200, 200, 200]


def test_a_storm_refuses_the_last_requests_of_each_round(tmp_path: Path, chat: Connect) -> None:
    with provider(tmp_path, storm=(5, 2)) as loopback:
        connection = chat(loopback)
        assert [connection.ask()[0] for _ in range(10)] == [200, 200, 200, 429, 429] * 2


def test_faults_depend_on_the_seed_and_the_number_of_the_request(tmp_path: Path, chat: Connect) -> None:
    def faults(seed: int) -> list[tuple[int, str]]:
        with provider(tmp_path, seed=seed, rate_limit=0.2, error=0.2, cut=0.3, cut_late=0.5) as loopback:
            connection = chat(loopback)
            for _ in range(40):
                connection.ask()
            return [(row["status"], row["fault"]) for row in loopback.requests()]

    first = faults(1)
    assert first == faults(1) != faults(2)
    assert {fault for _, fault in first} == {None, "rate_limit", "error", "cut", "cut_late"}


def test_requests_beyond_the_limit_on_concurrency_are_refused(tmp_path: Path, chat: Connect) -> None:
    with provider(tmp_path, limit_concurrency=2, latency=0.2) as loopback:
        for _ in range(5):
            chat(loopback).send()
        time.sleep(0.3)
        assert sorted(row["status"] for row in loopback.requests()) == [200, 200, 429, 429, 429]


def test_a_killed_client_is_billed_what_had_been_generated(tmp_path: Path) -> None:
    client = """
import http.client, json, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
body = {"model": "sim-w200", "stream": True, "messages": [{"role": "user", "content": "1 + 1"}]}
connection.request("POST", "/v1/chat/completions", json.dumps(body), {"x-costpass-request": "attempt-7"})
reply = connection.getresponse()
while b"work" not in reply.readline():
    pass
print("reading", flush=True)
reply.read()
"""
    with provider(tmp_path, slow=(1.0, 0.02)) as loopback:
        with subprocess.Popen([sys.executable, "-c", client, str(loopback.port)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.kill()
        (row,) = loopback.requests(timeout_s=1)
    assert (row["status"], row["fault"], row["slow"], row["request_id"]) == (200, "client_gone", True, "attempt-7")
    assert row["billed"]["input"] == 1 + 7
    assert 3 <= row["billed"]["output"] < 100


@pytest.mark.parametrize(("stream", "output"), [(True, 0), (False, 10)])
def test_a_client_that_leaves_before_the_first_byte_is_billed_the_input_and_a_whole_reply(
    tmp_path: Path, chat: Connect, stream: bool, output: int
) -> None:
    with provider(tmp_path, latency=30) as loopback:
        connection = chat(loopback)
        connection.send(stream=stream)
        time.sleep(0.1)
        connection.close()
        (row,) = loopback.requests(timeout_s=1)
    assert (row["status"], row["fault"]) == (None, "client_gone")
    assert row["billed"] == {**NOTHING, "input": len(QUESTION) // 4 + 7, "output": output}


@pytest.mark.parametrize("how", ["SIGTERM", "end of input"])
def test_a_provider_that_is_stopped_logs_the_replies_on_their_way(tmp_path: Path, chat: Connect, how: str) -> None:
    with provider(tmp_path, slow=(1.0, 0.05)) as loopback:
        chat(loopback).send(model="sim-w200")
        time.sleep(0.3)
        if how == "SIGTERM":
            loopback.process.send_signal(signal.SIGTERM)
        loopback.stop()
        (row,) = loopback.requests()
    assert loopback.process.returncode == 0
    assert row["fault"] == "server_stopped"
    assert 0 < row["billed"]["output"] < 100


def test_the_log_is_on_disk_soon_without_being_asked_for(cached: Loopback, chat: Connect) -> None:
    before = cached.log.read_bytes()
    chat(cached).ask()
    time.sleep(0.25)
    added = cached.log.read_bytes().removeprefix(before)
    assert added.count(b"\n") == 1
    assert added.endswith(b"\n")


def test_replies_take_the_time_they_were_told_to(tmp_path: Path, chat: Connect) -> None:
    with provider(tmp_path, latency=0.1, slow=(1.0, 0.02)) as loopback:
        started = time.monotonic()
        chat(loopback).ask()
        elapsed_s = time.monotonic() - started
        (row,) = loopback.requests()
    assert elapsed_s >= row["ended"] - row["started"] - 0.05
    assert row["ended"] - row["started"] >= 0.1 + 10 * 0.02
    assert started <= row["started"]


def test_dollars_are_the_logs_tokens_at_exact_prices(tmp_path: Path, chat: Connect) -> None:
    with provider(tmp_path, cache_read=0.5) as loopback:
        chat(loopback).ask("12345678" * 10, model="sim-r6")
        prices = {"input": "0.15", "cache_read": "0.075", "output": "0.60"}
        words = len(SENTENCE.split())
        prompt = 14 * Decimal("0.15") + 13 * Decimal("0.075")
        assert loopback.billed(prices) == (prompt + (6 + words) * Decimal("0.60")) / 1_000_000
        assert loopback.billed({**prices, "reasoning": 3}) == (prompt + 18 + words * Decimal("0.60")) / 1_000_000
        assert loopback.billed(prices, model="another") == 0
        with pytest.raises(KeyError, match="cache_read"):
            loopback.billed({"input": 1, "output": 1})


def test_the_answer_can_be_anybodys_function(tmp_path: Path, chat: Connect) -> None:
    with provider(tmp_path, answer="tests.loopback.answers:echo") as loopback:
        _, reply = chat(loopback).ask("hello there", stream=False)
    assert json.loads(reply)["choices"][0]["message"]["content"] == "hello there"


def test_every_option_has_a_flag_that_says_the_same() -> None:
    options = Options(
        seed=3, accuracy_of={"a=b": 0.5, "c": 1.0}, style="plain", storm=(9, 2), slow=(0.5, 0.1), auth="k", answer="m:f"
    )
    parser = ArgumentParser()
    add_flags(parser)
    assert from_flags(parser.parse_args(options.arguments())) == options
    assert from_flags(parser.parse_args([])) == Options()


def test_the_provider_also_runs_inside_a_process() -> None:
    async def serve() -> list[dict[str, Any]]:
        async with Provider(answer=lambda asked: asked.model) as loopback:
            reader, writer = await asyncio.open_connection("127.0.0.1", loopback.port)
            body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]})
            request = f"POST /chat/completions HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n{body}"
            writer.write(request.encode() * 2 + b"nonsense\r\n\r\n")
            replies = await reader.read()
            writer.close()
            await writer.wait_closed()
            assert replies.count(b'"content":"m"') == 2
            assert b"400 Bad Request" in replies
            return loopback.requests()

    assert [row["billed"]["output"] for row in asyncio.run(serve())] == [1, 1]


def test_models_are_listed_and_other_paths_are_not_found(cached: Loopback) -> None:
    def status(method: str, path: str, body: str | None = None) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", cached.port)
        connection.request(method, path, body)
        reply = connection.getresponse()
        reply.read()
        connection.close()
        return reply.status

    assert (status("GET", "/v1/models"), status("GET", "/health"), status("GET", "/v1/files")) == (200, 200, 404)
    assert (status("POST", "/v1/files", "{}"), status("POST", "/v1/messages", "{}")) == (404, 400)
    assert [row["fault"] for row in cached.requests()[-2:]] == ["not_found", "bad_request"]
