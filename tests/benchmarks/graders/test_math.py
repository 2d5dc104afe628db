"""The math grader, with the real math-verify in real processes."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.benchmarks.graders.grading import grade

from costpass.benchmarks.graders import math_equivalence
from costpass.benchmarks.graders.registry import build_grader
from costpass.benchmarks.problem import Problem

HANGING = "9^{9^{9^{9}}}"
PROGRAM = f"""
import asyncio, signal
from costpass.benchmarks.graders.registry import build_grader
from costpass.benchmarks.problem import Problem
signal.signal(signal.SIGINT, signal.default_int_handler)
async def main():
    grader = build_grader({{"math": {{"timeout_s": 600}}}})
    await grader.grade("1+x", Problem("p", "?", "x+1"))
    print("warm", flush=True)
    await grader.grade("{HANGING}", Problem("p", "?", "10"))
asyncio.run(main())
"""


@pytest.fixture(scope="module", autouse=True)
def _workers() -> Iterator[None]:
    yield
    math_equivalence.WORKERS.close()


def workers_of(parent: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-ww", "-o", "pid,args", "--ppid", str(parent)], capture_output=True, text=True, check=False
    )
    return [int(line.split()[0]) for line in listed.stdout.splitlines() if "math_comparison" in line]


def is_running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


@pytest.mark.parametrize(
    ("answer", "target", "passed"),
    [
        ("42.0", "42", True),
        ("042", "42", True),
        ("0.5", r"\frac{1}{2}", True),
        ("50%", "0.5", True),
        ("1,000", "1000", True),
        ("x=5", "5", True),
        ("<answer>5 apples</answer>", "5", True),
        ("The answer is 42.", "42", True),
        (r"so \boxed{\sqrt{8}}", r"2\sqrt{2}", True),
        ("$(x-1)(x+1)$", "x^2-1", True),
        (r"\{2,1\}", r"\{1,2\}", True),
        ("43", "42", False),
        ("-5", "5", False),
        ("314", "3.14", False),
        ("[0,1]", "[0,1)", False),
        (r"\frac{", "5", False),
    ],
)
def test_math_compares_values(answer: str, target: str, passed: bool) -> None:
    verdict = grade("math", answer, target)
    assert (verdict.passed, verdict.failure) == (passed, None if passed else "wrong_answer")


def test_the_usual_case_needs_no_process() -> None:
    math_equivalence.WORKERS.close()
    assert grade("math", r"\boxed{\dfrac{1}{2}}", "0.5").passed
    assert workers_of(os.getpid()) == []


def test_a_hanging_comparison_is_ended_and_the_next_one_works() -> None:
    verdict = grade({"math": {"timeout_s": 0.5}}, HANGING, "10")
    assert (verdict.passed, verdict.failure) == (False, "grader_timeout")
    assert grade("math", "1+x", "x+1").passed


def test_a_crashed_worker_is_replaced() -> None:
    assert grade("math", "1+x", "x+1").passed
    crashed = workers_of(os.getpid())
    assert crashed
    for pid in crashed:
        os.kill(pid, signal.SIGKILL)
    while any(map(is_running, crashed)):
        time.sleep(0.01)
    assert grade("math", "2+x", "x+2").failure == "grader_timeout"
    assert grade("math", "3+x", "x+3").passed


def test_answers_are_compared_side_by_side_and_the_loop_goes_on() -> None:
    async def run() -> tuple[list[bool], int]:
        grader, ticks = build_grader("math"), 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.005)
                ticks += 1

        ticking = asyncio.create_task(tick())
        problems = [Problem(f"p{i}", "?", f"x^2+{2 * i}x+{i * i}") for i in range(1, 9)]
        grades = await asyncio.gather(*(grader.grade(f"(x+{i})^2", p) for i, p in enumerate(problems, 1)))
        ticking.cancel()
        return [verdict.passed for verdict in grades], ticks

    passed, ticks = asyncio.run(run())
    assert all(passed)
    assert ticks > 5


def test_a_cancelled_comparison_ends_its_process() -> None:
    async def run() -> float:
        grader = build_grader({"math": {"timeout_s": 600}})
        await grader.grade("1+x", Problem("p", "?", "x+1"))
        task = asyncio.create_task(grader.grade(HANGING, Problem("p", "?", "10")))
        await asyncio.sleep(0.3)
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return started

    started = asyncio.run(run())
    math_equivalence.WORKERS.close()
    assert time.monotonic() - started < 5
    assert workers_of(os.getpid()) == []


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_when_the_run_is_stopped(sent: signal.Signals) -> None:
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"warm\n"
            time.sleep(0.3)
            workers = workers_of(process.pid)
            assert workers
            process.send_signal(sent)
            process.wait(timeout=10)
        finally:
            process.kill()
    deadline = time.monotonic() + 10
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, workers))
