"""Code in answers is run with real processes, and cannot talk its way to a pass."""

import asyncio
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from costpass.benchmarks.graders.isolation import best_isolation
from costpass.benchmarks.graders.python_tests import code_in
from costpass.benchmarks.graders.registry import build_grader
from costpass.benchmarks.problem import Problem
from costpass.errors import BadInputError

SQUARE = {"tests": "assert f(2) == 4\nassert f(3) == 9", "entry_point": "f"}


def run(code: str, target: Any = SQUARE, **options: Any) -> tuple[bool, str | None]:
    grader = build_grader({"python-tests": options})
    verdict = asyncio.run(grader.grade(f"Here:\n```python\n{code}\n```\nDone.", Problem("p1", "?", target)))
    return verdict.passed, verdict.failure


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("def f(x): return x * x", None),
        ("def f(x): return x + x", "wrong_answer"),
        ("def f(x) return x", "compile_error"),
        ("def f(x): return 1 / 0", "runtime_error"),
        ("1 / 0", "runtime_error"),
        ("def g(x): return x * x", "runtime_error"),
        ("def f(x): return 'x' * 10**10", "runtime_error"),
    ],
)
def test_code_is_graded_by_its_tests(code: str, failure: str | None) -> None:
    assert run(code) == (failure is None, failure)


@pytest.mark.parametrize(
    ("tests", "passes", "fails"),
    [
        ("assert f(3) == 9", "x * x", "x"),
        (["assert f(3) == 9", "assert f(4) == 16"], "x * x", "x * 3"),
        ({"tests": "def check(candidate):\n    assert candidate(3) == 9", "entry_point": "f"}, "x * x", "x"),
        ("def test_it():\n    assert f(3) == 9", "x * x", "x"),
        ("from solution import f as g\nassert g(3) == 9", "x * x", "x"),
        (
            "import unittest\nclass T(unittest.TestCase):\n    def test_it(self): self.assertEqual(f(3), 9)\n"
            "if __name__ == '__main__': unittest.main()",
            "x * x",
            "x",
        ),
    ],
)
def test_tests_come_in_the_usual_forms(tests: Any, passes: str, fails: str) -> None:
    assert run(f"def f(x): return {passes}", tests) == (True, None)
    assert run(f"def f(x): return {fails}", tests) == (False, "wrong_answer")


@pytest.mark.parametrize(
    "code",
    [
        "print('passed')",
        "import sys; sys.exit(0)",
        "import os; os._exit(0)",
        "def f(x):\n    import os; os._exit(0)",
        "def f(x):\n    raise SystemExit(0)",
        "def f(x):\n    import _thread; _thread.exit()",
        "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'\\npassed\\n' * 9999)\n    except OSError: pass",
        "import os, sys\nfound = sys.argv + list(os.environ.values()) + [sys.stdin.read()]\n"
        "for fd in range(1, 64):\n    for word in found:\n        try: os.write(fd, f'\\n{word} passed\\n'.encode())\n"
        "        except OSError: pass\nos._exit(0)",
        "import sys, os\ndef f(x):\n    frame, words = sys._getframe(), []\n    while frame:\n"
        "        words += [v for v in {**frame.f_locals, **frame.f_globals}.values() if isinstance(v, (str, bytes))]\n"
        "        frame = frame.f_back\n    for word in words:\n"
        "        word = word if isinstance(word, bytes) else word.encode()\n"
        "        for fd in range(1, 64):\n            try: os.write(fd, b'\\n' + word + b' passed\\n')\n"
        "            except OSError: pass\n    os._exit(0)",
        "import gc\ndef f(x):\n    gc.get_objects()\n    return x * x",
        "import sys\ndef f(x):\n    sys._current_frames()\n    return x * x",
        "import ctypes\nf = lambda x: x * x",
        "def f(x):\n    open('/proc/self/mem')\n    return x * x",
        "import builtins\nbuiltins.AssertionError = builtins.BaseException = KeyError\ndef f(x): return 5",
        "import os, atexit\natexit.register(os._exit, 0)\nos.write = os._exit = print\ndef f(x): return 5",
        "import signal, os\ndef f(x): os.kill(os.getpid(), 9)",
    ],
)
def test_a_pass_cannot_be_forged(code: str) -> None:
    passed, failure = run(code)
    assert not passed
    assert failure in ("runtime_error", "wrong_answer")


@pytest.mark.parametrize("code", ["while True: pass", "import time; time.sleep(60)", "10 ** 10 ** 10"])
def test_code_that_does_not_end_is_ended(code: str) -> None:
    started = time.monotonic()
    assert run(code, timeout_s=1) == (False, "timeout")
    assert time.monotonic() - started < 5


def test_nothing_is_left_behind() -> None:
    marker = f"left-{os.getpid()}"
    escaping = (
        "import _posixsubprocess, os, sys, time\n"
        f"argv = [b'{marker}', b'-I', b'-c', b'import os, time; os.setsid(); time.sleep(60)']\n"
        "_posixsubprocess.fork_exec(argv, [sys.executable.encode()], True, (), None, None, -1, -1, -1, -1, -1, -1,"
        " *os.pipe(), False, True, -1, None, None, None, -1, None, True)\n"
        "time.sleep(60)"
    )
    before = set(Path(tempfile.gettempdir()).glob("costpass-tests-*"))
    assert run(escaping, timeout_s=1) == (False, "timeout")
    listed = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    if best_isolation() != "none":
        assert marker not in listed
    assert set(Path(tempfile.gettempdir()).glob("costpass-tests-*")) <= before


def test_code_sees_neither_our_environment_nor_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_API_KEY", "sk-123")
    tests = "import os, socket\nassert set(os.environ) <= {'HOME', 'TMPDIR', 'LC_CTYPE', 'PWD'}, os.environ"
    if best_isolation() != "none":
        tests += "\nassert [name for _, name in socket.if_nameindex()] == ['lo']"
    assert run("x = 1", tests) == (True, None)


def test_files_and_folders_are_limited_to_a_fresh_one() -> None:
    tests = "import os\nassert os.listdir() == []\nopen('small', 'w').write('x')"
    assert run("x = 1", tests) == (True, None)
    assert run("open('large', 'wb').write(bytes(3 * 1024**2))", tests, file_mb=1)[0] is False


def test_many_answers_are_graded_at_a_time() -> None:
    async def grade_all() -> list[bool]:
        grader = build_grader("python-tests")
        answers = [f"def f(x): return x * x + {i % 2}" for i in range(6)]
        grades = await asyncio.gather(*(grader.grade(code, Problem("p", "?", SQUARE)) for code in answers))
        return [verdict.passed for verdict in grades]

    assert asyncio.run(grade_all()) == [True, False] * 3


def test_a_cancelled_grading_ends_its_process() -> None:
    async def cancelled() -> None:
        grader = build_grader({"python-tests": {"timeout_s": 60}})
        task = asyncio.create_task(grader.grade("import time; time.sleep(60)", Problem("p", "?", SQUARE)))
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    started = time.monotonic()
    asyncio.run(cancelled())
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("```python\na\n```\n```python\nb\n```", "b\n"),
        ("```python\na\n```\nprints\n```\n5\n```", "a\n"),
        ("```\na\n```", "a\n"),
        ("```python\na", "a"),
        ("a = 1", "a = 1"),
        ("<answer>a = 1</answer>", "a = 1"),
        (" ", None),
    ],
)
def test_code_is_the_last_block_of_python(reply: str, code: str | None) -> None:
    assert code_in(reply) == code


def test_no_code_is_no_answer() -> None:
    assert run("") == (False, "no_answer")


@pytest.mark.parametrize(
    "target", [None, "", {"tests": ""}, {"test": "x"}, "assert (", {"tests": "1", "entry_point": 5}]
)
def test_tests_that_cannot_run_are_named_before_anything_runs(target: Any) -> None:
    with pytest.raises(BadInputError, match="problem 'p1'"):
        run("x = 1", target)
