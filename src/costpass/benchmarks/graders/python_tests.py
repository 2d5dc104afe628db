"""`python-tests`: the code in the answer passes the problem's tests."""

import ast
import asyncio
import contextlib
import json
import math
import os
import secrets
import shutil
import signal
import sys
import tempfile
import warnings
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from costpass.benchmarks import answers
from costpass.benchmarks.graders.fences import blocks
from costpass.benchmarks.graders.isolation import best_isolation, prefix
from costpass.benchmarks.graders.options import NO_ANSWER, Options, bad_target
from costpass.benchmarks.graders.protocol import Grade, Judge
from costpass.benchmarks.problem import Problem

_HARNESS = Path(__file__).with_name("python_harness.py")
_OUTCOMES = ("passed", "compile_error", "runtime_error", "wrong_answer")
_LARGEST_CODE_CHARS = 500_000
_KEPT_BYTES = 4096
_OUT_OF_CPU_TIME = {-signal.SIGXCPU, 128 + signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGKILL}


class PythonTestsOptions(Options):
    #: Seconds of the wall clock and of the processor for one answer.
    timeout_s: float = Field(default=10.0, gt=0, le=3600)
    memory_mb: int = Field(default=1024, ge=64)
    #: The largest file that the code may write.
    file_mb: int = Field(default=16, ge=1)
    #: How many processes and threads it may start.
    processes: int = Field(default=64, ge=1)


@dataclass(frozen=True)
class _Tests:
    source: str
    entry_point: str | None


def code_in(reply: str) -> str | None:
    """The last fenced block of Python, else the last block, else the tagged answer or the whole reply."""
    fenced = blocks(reply)
    python = [content for language, content in fenced if language in ("python", "py", "python3")]
    code = (python or [content for _, content in fenced] or [answers.read_as("text", reply) or ""])[-1]
    return code if code.strip() else None


class PythonTestsGrader:
    """Runs code and tests in a process of their own, with limits, without network where the machine allows that."""

    name = "python-tests"
    judge_model: str | None = None

    def __init__(self, options: PythonTestsOptions | None = None) -> None:
        self._options = options or PythonTestsOptions()
        self._turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            weakref.WeakKeyDictionary()
        )

    def check(self, problem: Problem) -> None:
        self._tests(problem)

    async def grade(self, answer: str, problem: Problem, judge: Judge | None = None) -> Grade:  # noqa: ARG002
        tests = self._tests(problem)
        code = code_in(answer)
        if code is None:
            return NO_ANSWER
        if len(code) > _LARGEST_CODE_CHARS:
            return Grade(passed=False, failure="compile_error")
        # More at a time than processors would make the wall clock unfair.
        turn = self._turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(os.cpu_count() or 1))
        async with turn:
            outcome = await self._run(code, tests)
        return Grade(passed=outcome == "passed", failure=None if outcome == "passed" else outcome, extracted=code)

    def _tests(self, problem: Problem) -> _Tests:
        given = problem.target if isinstance(problem.target, Mapping) else {"tests": problem.target}
        source, entry_point = given.get("tests"), given.get("entry_point")
        if isinstance(source, list) and all(isinstance(line, str) for line in source):
            source = "\n".join(source)
        known = given.keys() <= {"tests", "entry_point"} and isinstance(entry_point, str | None)
        if not isinstance(source, str) or not source.strip() or not known:
            raise bad_target(problem, self.name, "the tests, as text or {tests, entry_point},")
        try:
            with warnings.catch_warnings(action="ignore"):
                ast.parse(source)
        except (SyntaxError, ValueError) as error:
            raise bad_target(problem, self.name, f"tests that are Python ({error})") from error
        return _Tests(source, entry_point)

    def _request(self, code: str, tests: _Tests, token: str) -> bytes:
        options = self._options
        limits = {
            "cpu_s": math.ceil(options.timeout_s),
            "memory_bytes": options.memory_mb * 1024**2,
            "file_bytes": options.file_mb * 1024**2,
            "processes": options.processes,
        }
        request: dict[str, Any] = {"token": token, "deadline_s": options.timeout_s + 5, "limits": limits}
        return json.dumps(request | {"code": code, "tests": tests.source, "entry_point": tests.entry_point}).encode()

    async def _run(self, code: str, tests: _Tests) -> str:
        token = secrets.token_hex(32)
        isolation = await asyncio.to_thread(best_isolation)
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="costpass-tests-")).resolve()
        try:
            process = await asyncio.create_subprocess_exec(
                *prefix(isolation, folder),
                *(sys.executable, "-I", str(_HARNESS)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                cwd=folder,
                env={"HOME": str(folder), "TMPDIR": str(folder)},
                start_new_session=True,
            )
            try:
                async with asyncio.timeout(self._options.timeout_s):
                    return await _outcome(process, self._request(code, tests, token), token)
            except TimeoutError:
                return "timeout"
            finally:
                await asyncio.shield(_end(process))
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _outcome(process: asyncio.subprocess.Process, request: bytes, token: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(request)
        await process.stdin.drain()
        process.stdin.close()
    tail = b""
    while chunk := await process.stdout.read(65536):
        tail = (tail + chunk)[-_KEPT_BYTES:]
        for outcome in _OUTCOMES:
            if f"\n{token} {outcome}\n".encode() in tail:
                return outcome
    return "timeout" if await process.wait() in _OUT_OF_CPU_TIME else "runtime_error"


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kills whatever is left of the group, and waits until it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
    assert process.stdout is not None
    # A process that left the group may hold the pipe; it is not waited for.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(1):
            while await process.stdout.read(65536):
                pass
