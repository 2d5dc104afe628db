"""Runs code and its tests in a sandboxed interpreter. A script of its own: it imports nothing of costpass.

The verdict leaves with a token that came in on stdin and lives in the main thread's frame only. The code under test
runs in another thread, where neither its frames, nor the modules, nor a file descriptor lead to the token.
"""

import _thread
import contextlib
import json
import os
import resource
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

_DENIED = (
    "os.fork",
    "os.forkpty",
    "os.exec",
    "os.posix_spawn",
    "os.system",
    "os.kill",
    "os.killpg",
    "subprocess.Popen",
    "pty.spawn",
    "ctypes.",
    "gc.get_objects",
    "gc.get_referrers",
    "gc.get_referents",
    "sys._current_frames",
    "cpython.PyInterpreterState_Clear",
    "socket.connect",
    "socket.bind",
)


def _deny(event: str, arguments: tuple[Any, ...]) -> None:
    if event.startswith(_DENIED):
        raise PermissionError(f"{event} is not allowed here")
    if event == "open" and str(arguments[0]).startswith("/proc"):
        raise PermissionError("/proc is not allowed here")


def _set_limits(limits: dict[str, int]) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (limits["cpu_s"], limits["cpu_s"] + 1))
    resource.setrlimit(resource.RLIMIT_AS, (limits["memory_bytes"],) * 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits["file_bytes"],) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError, IndexError):
        # The limit is on all processes and threads of the user, so it counts from those that there are.
        running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
        resource.setrlimit(resource.RLIMIT_NPROC, (running + limits["processes"],) * 2)


def _run_unittest(names: dict[str, Any]) -> str:
    unittest = sys.modules.get("unittest")
    if unittest is None:
        return "passed"
    cases = [value for value in names.values() if isinstance(value, type) and issubclass(value, unittest.TestCase)]
    loader, result = unittest.TestLoader(), unittest.TestResult()
    for case in cases:
        loader.loadTestsFromTestCase(case).run(result)
    if result.errors:
        return "runtime_error"
    return "passed" if result.wasSuccessful() else "wrong_answer"


def _test_functions(names: dict[str, Any]) -> list[Callable[[], object]]:
    return [
        value
        for name, value in names.items()
        if name.startswith("test") and isinstance(value, types.FunctionType) and value.__code__.co_filename == "<tests>"
    ]


def _attempt(code: str, tests: str, entry_point: str | None) -> str:
    try:
        compiled = compile(code, "<answer>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return "compile_error"
    solution = types.ModuleType("solution")
    sys.modules["solution"] = solution
    try:
        exec(compiled, solution.__dict__)
        names = {**vars(solution), "__name__": "tests"}
        if entry_point is not None:
            names["candidate"] = names[entry_point]
        exec(compile(tests, "<tests>", "exec"), names)
        if entry_point is not None and getattr(names.get("check"), "__code__", compiled).co_filename == "<tests>":
            names["check"](names["candidate"])
        for function in _test_functions(names):
            function()
        return _run_unittest(names)
    except AssertionError:
        return "wrong_answer"
    except BaseException:  # noqa: BLE001
        return "runtime_error"


def main() -> None:
    request = json.loads(sys.stdin.buffer.read())
    token, deadline_s = request["token"].encode(), request["deadline_s"]
    output, null = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    _set_limits(request["limits"])
    # What comes after the tests is looked up before them: the code under test may replace anything.
    write, leave = os.write, os._exit
    ended, outcome = _thread.allocate_lock(), ["runtime_error"]
    ended.acquire()

    def work(code: str, tests: str, entry_point: str | None) -> None:
        try:
            outcome[0] = _attempt(code, tests, entry_point)
        finally:
            ended.release()

    _thread.stack_size(64 * 1024 * 1024)
    sys.modules.pop("__main__")
    sys.addaudithook(_deny)
    _thread.start_new_thread(work, (request["code"], request["tests"], request["entry_point"]))
    del request
    # The parent has a clock too; this one is for the case that the parent is gone.
    if ended.acquire(timeout=deadline_s):
        write(output, b"\n" + token + b" " + outcome[0].encode() + b"\n")
    leave(0)


if __name__ == "__main__":
    main()
