"""Calls that may hang or crash, made in worker processes that can be killed."""

import asyncio
import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from costpass.benchmarks.graders.protocol import GraderError

_START_TIMEOUT_S = 120.0
#: All that a worker sees of our environment: nothing secret, and enough to find the same packages.
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "LD_LIBRARY_PATH")


class WorkerLostError(Exception):
    """The call took too long, or took its process down."""


class _Worker:
    """One process. Used by one thread at a time; `kill` may come from any."""

    def __init__(self, function: str) -> None:
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        environment["PYTHONPATH"] = os.pathsep.join(place for place in sys.path if place)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "costpass.benchmarks.graders.worker_main", function],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            encoding="utf-8",
            # Ctrl-C is for us; the worker goes when we do.
            start_new_session=True,
        )
        self._killed = False
        self._ready = False

    def _line(self, timeout_s: float) -> str:
        timer = threading.Timer(timeout_s, self.kill)
        timer.daemon = True
        timer.start()
        try:
            assert self._process.stdout is not None
            line = self._process.stdout.readline()
        finally:
            timer.cancel()
            timer.join()
        if self._killed or not line.endswith("\n"):
            raise WorkerLostError
        return line

    def start(self) -> None:
        if not self._ready:
            self._line(_START_TIMEOUT_S)
            self._ready = True

    def call(self, arguments: tuple[Any, ...], timeout_s: float) -> Any:
        assert self._process.stdin is not None
        request = json.dumps({"arguments": arguments, "timeout_s": timeout_s})
        try:
            self._process.stdin.write(request + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise WorkerLostError from error
        return json.loads(self._line(timeout_s))

    def kill(self) -> None:
        self._killed = True
        self._process.kill()

    def close(self) -> None:
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()


class _Call:
    """One call on its way, which may be given up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker: _Worker | None = None
        self._given_up = False

    def take(self, worker: _Worker) -> None:
        with self._lock:
            self._worker = worker
            if self._given_up:
                worker.kill()

    def give_up(self) -> None:
        with self._lock:
            self._given_up = True
            if self._worker is not None:
                self._worker.kill()


class WorkerPool:
    """Up to `size` processes that answer calls of `function` (`module:name`), started as they are needed."""

    def __init__(self, function: str, size: int | None = None) -> None:
        self._function = function
        self._size = size or min(4, os.cpu_count() or 1)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._threads: ThreadPoolExecutor | None = None

    async def call(self, *arguments: Any, timeout_s: float) -> Any:
        """What the function says of `arguments`, which have to be JSON; WorkerLostError where it does not."""
        call = _Call()
        future = asyncio.get_running_loop().run_in_executor(self._executor(), self._call, call, arguments, timeout_s)
        try:
            return await future
        except asyncio.CancelledError:
            call.give_up()
            raise

    def _executor(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(self._size, thread_name_prefix="costpass-grader")
                atexit.register(self.close)
            return self._threads

    def _call(self, call: _Call, arguments: tuple[Any, ...], timeout_s: float) -> Any:
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        worker = worker or _Worker(self._function)
        keep = False
        try:
            call.take(worker)
            self._started(worker)
            result = worker.call(arguments, timeout_s)
            keep = True
            return result
        finally:
            if keep:
                with self._lock:
                    self._idle.append(worker)
            else:
                worker.close()

    def _started(self, worker: _Worker) -> None:
        try:
            worker.start()
        except WorkerLostError as error:
            raise GraderError(f"the worker process for {self._function} did not start") from error

    def close(self) -> None:
        """Ends every process. The pool can be used again."""
        atexit.unregister(self.close)
        with self._lock:
            threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close()
