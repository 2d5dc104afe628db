"""Local model servers from the parent's side: one child process, and a pool of them that is leased out."""

import asyncio
import importlib.util
import json
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from costpass.errors import CostpassError, MissingExtraError

_CHILD = "costpass.strategies.lm.local.serve"
_LOG_ERROR = re.compile(r"^[\d.]+ E (?P<what>.+)$")


class LocalServer:
    """One GGUF file served by one process of ours, one request at a time."""

    def __init__(
        self,
        gguf: Path,
        *,
        threads: int = 1,
        context: int = 4096,
        ready_timeout_s: float = 120,
        answer_timeout_s: float = 60,
    ) -> None:
        self.gguf = gguf
        self._options = ["--threads", str(threads), "--context", str(context)]
        self._ready_timeout_s = ready_timeout_s
        self._answer_timeout_s = answer_timeout_s
        self._process: asyncio.subprocess.Process | None = None
        self._log: IO[bytes] | None = None
        self._port: int | None = None
        self._turn = asyncio.Lock()
        self._unread = 0

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def base_url(self) -> str:
        """Where the OpenAI chat API is served."""
        if self._port is None:
            raise RuntimeError("the server has not been started")
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def pid(self) -> int | None:
        """The child's process id, while there is one."""
        return self._process.pid if self._process and self._process.returncode is None else None

    async def start(self) -> None:
        """Starts the child and waits until it answers; whatever ran before is ended first."""
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingExtraError("local models", "local")
        await self.close()
        try:
            await self._spawn()
            first = await self._first_answer()
        except BaseException:
            await self.close()
            raise
        self._port = first["port"]

    async def cpu_seconds(self) -> float:
        """CPU seconds that the child has used in all, loading included."""
        return await self._ask("cpu")

    async def settled_cpu_seconds(self) -> float:
        """The same, once no request is under way: an abandoned one goes on until the server notices."""
        return await self._ask("settle")

    async def close(self) -> None:
        """Ends the child. Nothing in it is worth a farewell, so it is killed."""
        process, self._process, self._port, self._unread = self._process, None, None, 0
        if process is not None:
            if process.returncode is None:
                process.kill()
            assert process.stdin is not None
            process.stdin.close()
            await process.wait()
        if self._log is not None:
            self._log.close()
            self._log = None

    async def _spawn(self) -> None:
        try:
            self._log = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the child.
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                # Without -P, a module in the user's folder could take the place of one that the child imports.
                *["-P", "-m", _CHILD, str(self.gguf), *self._options],
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=self._log,
                # Ctrl-C reaches the whole foreground group: the child must live until its last request is booked.
                start_new_session=True,
            )
        except OSError as error:
            raise CostpassError(
                f"cannot start a server for the local model {self.gguf}: {error.strerror or error}"
            ) from error

    async def _first_answer(self) -> dict[str, Any]:
        try:
            async with asyncio.timeout(self._ready_timeout_s):
                first = await self._read_answer()
        except TimeoutError as error:
            raise CostpassError(
                f"the local model {self.gguf} was not ready after {self._ready_timeout_s:g} s{self._last_words()}"
            ) from error
        if "error" in first:
            # The first error is the cause, and those after it are consequences.
            reason = (self._logged() or [first["error"]])[0]
            raise CostpassError(f"cannot serve the local model {self.gguf}: {reason}")
        return first

    async def _ask(self, order: str) -> float:
        async with self._turn:
            if self._process is None:
                raise CostpassError(f"the local model {self.gguf} is not being served")
            assert self._process.stdin is not None
            self._process.stdin.write(f"{order}\n".encode())
            self._unread += 1
            try:
                async with asyncio.timeout(self._answer_timeout_s):
                    # An asker that was cancelled has left its answer in the pipe: ours is the last.
                    while self._unread:
                        answer = await self._read_answer()
                        self._unread -= 1
            except TimeoutError as error:
                raise CostpassError(
                    f"the local model {self.gguf} is still busy after {self._answer_timeout_s:g} s"
                ) from error
            return float(answer["cpu_s"])

    async def _read_answer(self) -> dict[str, Any]:
        process = self._process
        assert process is not None and process.stdout is not None
        line = await process.stdout.readline()
        if not line:
            code = await process.wait()
            raise CostpassError(f"the local model {self.gguf} died (exit code {code}){self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        words = self._logged()[-1:]
        return f": {words[0]}" if words else ""

    def _logged(self) -> list[str]:
        """What the child's log says went wrong, or all that it says."""
        if self._log is None:
            return []
        self._log.seek(0)
        lines = [" ".join(line.split()) for line in self._log.read().decode(errors="replace").splitlines()]
        return [found["what"] for line in lines if (found := _LOG_ERROR.match(line))] or [
            line for line in lines if line
        ]


class Lease:
    """A server for one request at a time, and what it has spent since the lease began."""

    def __init__(self, server: LocalServer, cpu_s_at_start: float) -> None:
        self.base_url = server.base_url
        self._server = server
        self._cpu_s_at_start = cpu_s_at_start

    async def cpu_seconds(self) -> float:
        """CPU seconds of this lease's requests, an abandoned one's last batch included: it waits for that."""
        return await self._server.settled_cpu_seconds() - self._cpu_s_at_start


class LocalPool:
    """Servers of one GGUF file, each started by the first lease that finds the others busy."""

    def __init__(self, gguf: Path, *, size: int | None = None, threads: int = 1, context: int = 4096) -> None:
        self.size = size or min(2, os.cpu_count() or 1)
        self._servers = [LocalServer(gguf, threads=threads, context=context) for _ in range(self.size)]
        # Last in, first out, so that requests one after the other need one server.
        self._idle: asyncio.LifoQueue[LocalServer] = asyncio.LifoQueue()
        for server in self._servers:
            self._idle.put_nowait(server)
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @asynccontextmanager
    async def lease(self) -> AsyncIterator[Lease]:
        """An idle server for the caller alone, once there is one; a server that died is started anew."""
        server = await self._idle.get()
        try:
            cpu_s = await self._ready(server)
            yield Lease(server, cpu_s)
        finally:
            self._idle.put_nowait(server)

    async def close(self) -> None:
        """Ends every server, whatever it is doing."""
        self._closed = True
        await asyncio.gather(*(server.close() for server in self._servers))

    async def _ready(self, server: LocalServer) -> float:
        if self._closed:
            raise RuntimeError("the pool is closed")
        if server.pid is not None:
            try:
                # This also outwaits a request that the lease before abandoned.
                return await server.settled_cpu_seconds()
            except CostpassError:
                pass
        await server.start()
        if self._closed:
            await server.close()
            raise RuntimeError("the pool was closed while a server started")
        return await server.settled_cpu_seconds()
