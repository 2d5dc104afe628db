"""The provider: connections on the loopback interface, and what becomes of each request on them."""

import asyncio
import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from tests.loopback.answers import Answer, load_answer
from tests.loopback.dialects import chat, route
from tests.loopback.dialects.dialect import Dialect
from tests.loopback.exchange import Exchange, beats
from tests.loopback.faults import plan, refusal
from tests.loopback.log import Log
from tests.loopback.options import Options
from tests.loopback.reply import make_reply
from tests.loopback.wire import BadRequestError, HttpRequest, json_reply, take_request

MODELS = ("sim-p100", "sim-p70", "sim-p70-r")


class Provider:
    """A provider in this process: `async with Provider(Options(cut=0.1)) as provider: … provider.url`."""

    def __init__(
        self, options: Options | None = None, log: Path | None = None, answer: Answer | None = None, port: int = 0
    ) -> None:
        self.options = options or Options()
        self.log = Log(log)
        self.answer = answer or load_answer(self.options)
        self.port = port
        self.received = 0
        self.in_flight = 0
        self.connections: set[Connection] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def requests(self) -> list[dict[str, Any]]:
        """The rows of all requests that have ended."""
        return self.log.rows()

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self), "127.0.0.1", self.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for connection in tuple(self.connections):
            connection.stop()
        await self._server.wait_closed()
        # Transports call connection_lost in the loop's next turn; the log is written before, by stop().
        await asyncio.sleep(0)
        self.log.close()


class Connection(asyncio.Protocol):
    """One client, one request at a time."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._buffer = bytearray()
        self._exchange: Exchange | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._provider.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._provider.connections.discard(self)
        self._abandon("client_gone")

    def data_received(self, content: bytes) -> None:
        self._buffer += content
        self._serve_next()

    def stop(self) -> None:
        """Close, and log a reply that is on its way."""
        self._abandon("server_stopped")
        self._transport.close()

    def _serve_next(self) -> None:
        try:
            while self._exchange is None and (request := take_request(self._buffer)) is not None:
                self._serve(request)
        except BadRequestError as error:
            self._transport.write(json_reply(400, {"error": {"message": str(error)}}))
            self._transport.close()

    def _serve(self, request: HttpRequest) -> None:
        if request.method == "POST":
            self._exchange = self._open(request)
            self._reply(request, self._exchange)
        elif request.path.endswith("/health"):
            self._provider.log.flush()
            health = {"ok": True, "requests": self._provider.received, "in_flight": self._provider.in_flight}
            self._transport.write(json_reply(200, health))
        elif not self._admits(request):
            self._transport.write(json_reply(401, chat.error(401, "unknown API key")))
        elif request.path.endswith("/models"):
            models = [{"id": name, "object": "model", "created": 0, "owned_by": "loopback"} for name in MODELS]
            self._transport.write(json_reply(200, {"object": "list", "data": models}))
        else:
            self._transport.write(json_reply(404, chat.error(404, f"nothing at {request.path}")))

    def _open(self, request: HttpRequest) -> Exchange:
        self._provider.received += 1
        self._provider.in_flight += 1
        return Exchange(self._provider.received, request.headers.get("x-costpass-request"))

    def _admits(self, request: HttpRequest) -> bool:
        key = self._provider.options.auth
        return key is None or request.key == key or f"key={key}" in request.query.split("&")

    def _reply(self, request: HttpRequest, exchange: Exchange) -> None:
        dialect = route(request.path)
        if dialect is None:
            self._refuse(chat, 404, "not_found", f"nothing at {request.path}")
            return
        try:
            asked = exchange.asked = dialect.parse(request.path, json.loads(request.body))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._refuse(dialect, 400, "bad_request", f"not a request of this dialect: {error!r}")
            return
        asked.number = exchange.number
        options = self._provider.options
        if not self._admits(request):
            self._refuse(dialect, 401, "auth", "unknown API key")
            return
        if refused := refusal(exchange.number, self._provider.in_flight, options):
            self._refuse(dialect, refused.status, refused.fault, f"loopback says {refused.status}")
            return
        planned = plan(exchange.number, options)
        reply = make_reply(asked, self._provider.answer(asked), options)
        exchange.begin(reply, planned)
        sequence = list(beats(reply, dialect, planned, options.latency, self._id_headers(exchange)))
        if any(beat.delay_s for beat in sequence):
            exchange.task = asyncio.get_running_loop().create_task(exchange.send(sequence, self._transport.write))
            exchange.task.add_done_callback(self._sent)
        else:
            exchange.send_now(sequence, self._transport.write)
            self._end(close=planned.cut is not None)

    def _refuse(self, dialect: Dialect, status: int, fault: str, message: str) -> None:
        exchange = self._exchange
        assert exchange is not None
        exchange.status, exchange.fault = status, fault
        headers = self._id_headers(exchange)
        if status == 429:
            headers += f"retry-after: {self._provider.options.retry_after:g}\r\n".encode()
        self._transport.write(json_reply(status, dialect.error(status, message), headers))
        self._end()

    def _sent(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or self._exchange is None:
            return
        task.result()
        self._end(close=self._exchange.fault is not None)
        self._serve_next()

    def _abandon(self, fault: str) -> None:
        if self._exchange is None:
            return
        if self._exchange.task is not None:
            self._exchange.task.cancel()
        self._exchange.fault = fault
        self._end()

    def _end(self, close: bool = False) -> None:
        exchange, self._exchange = self._exchange, None
        assert exchange is not None
        self._provider.in_flight -= 1
        self._provider.log.write(exchange.row())
        if close:
            self._transport.close()

    @staticmethod
    def _id_headers(exchange: Exchange) -> bytes:
        return b"x-request-id: req_%d\r\nrequest-id: req_%d\r\n" % (exchange.number, exchange.number)


async def serve_until(stopped: asyncio.Event, provider: Provider) -> None:
    """Serve, say the port on the first line of the output, and end with `stopped`."""
    async with provider:
        print(json.dumps({"port": provider.port}), flush=True)
        await stopped.wait()
        # Clients that died with whoever held our input have closed their connections: let the loop see it first.
        await asyncio.sleep(0.02)
