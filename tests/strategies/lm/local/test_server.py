"""Local servers answer alike whatever ran before, charge each request its own CPU, and never outlive their parent."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.strategies.lm.local.chat import Said, say
from tests.strategies.lm.local.conftest import Wait

from costpass.errors import CostpassError, MissingExtraError
from costpass.strategies.lm.local.server import Lease, LocalPool, LocalServer

LONG_TALE = "Tell me a very long story about the sea."


async def said_by(pool: LocalPool, prompt: str, *, seed: int = 1, max_tokens: int = 8) -> tuple[Said, float]:
    """The answer, and the CPU seconds that its lease was charged."""
    async with pool.lease() as lease:
        answer = await say(lease.base_url, prompt, seed=seed, max_tokens=max_tokens)
        return answer, await lease.cpu_seconds()


def is_running(pid: int) -> bool:
    try:
        # A zombie has ended: only its parent has not looked yet.
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def servers_of(pid: int) -> set[int]:
    """The server processes among a process's children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {int(child) for child in children if b"lm.local.serve" in Path(f"/proc/{child}/cmdline").read_bytes()}


def gone_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_running(pid)


def test_same_seed_says_the_same_whatever_ran_before(pool: LocalPool, weights: Path, wait: Wait) -> None:
    async def ask_around() -> list[str]:
        answers = []
        async with pool.lease() as lease:
            for before in ["What is 3 + 5", "Name a colour."]:
                await say(lease.base_url, before, seed=9, max_tokens=1)
                answers.append((await say(lease.base_url, "What is 3 + 5?", max_tokens=10)).text)
        async with LocalServer(weights) as fresh:
            answers.append((await say(fresh.base_url, "What is 3 + 5?", max_tokens=10)).text)
        return answers

    first, *others = wait(ask_around())
    assert first
    assert others == [first, first]


def test_another_seed_says_something_else(pool: LocalPool, wait: Wait) -> None:
    texts = {wait(said_by(pool, "Name a colour.", seed=seed))[0].text for seed in range(3)}
    assert len(texts) > 1


def test_no_prompt_is_read_from_a_cache(pool: LocalPool, wait: Wait) -> None:
    async def twice() -> list[Said]:
        async with pool.lease() as lease:
            return [await say(lease.base_url, "What is 3 + 5?", max_tokens=2) for _ in range(2)]

    for answer in wait(twice()):
        assert answer.usage["prompt_tokens"] > 20
        assert answer.usage["prompt_tokens_details"]["cached_tokens"] == 0
        assert answer.usage["completion_tokens"] == 2


def test_the_model_is_named_without_its_path(pool: LocalPool, weights: Path, wait: Wait) -> None:
    answer, _ = wait(said_by(pool, "Hi", max_tokens=1))
    assert answer.model == weights.stem


def test_requests_side_by_side_are_charged_each_its_own(pool: LocalPool, wait: Wait) -> None:
    async def side_by_side() -> tuple[tuple[Said, float], ...]:
        return await asyncio.gather(
            said_by(pool, LONG_TALE, max_tokens=32),
            said_by(pool, "Hi", max_tokens=1),
            said_by(pool, "Hi", max_tokens=1),
        )

    (_, long_s), (_, short_s), (_, again_s) = wait(side_by_side())
    (_, alone_s) = wait(said_by(pool, "Hi", max_tokens=1))
    assert short_s == pytest.approx(alone_s, rel=0.5)
    assert again_s == pytest.approx(alone_s, rel=0.5)
    assert long_s > 1.5 * alone_s > 0


def test_an_idle_lease_is_charged_nothing(pool: LocalPool, wait: Wait) -> None:
    async def idle() -> float:
        async with pool.lease() as lease:
            await asyncio.sleep(0.2)
            return await lease.cpu_seconds()

    assert 0 <= wait(idle()) < 0.05


def test_a_lease_waits_for_its_turn(pool: LocalPool, wait: Wait) -> None:
    async def third() -> None:
        async with pool.lease() as one, pool.lease() as other:
            assert one.base_url != other.base_url
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1), pool.lease():
                    pytest.fail("a third lease of two servers")
        async with pool.lease() as again:
            assert again.base_url in {one.base_url, other.base_url}

    wait(third())


def test_an_abandoned_request_is_charged_and_then_stops(pool: LocalPool, wait: Wait) -> None:
    async def abandon(lease: Lease) -> None:
        heard = asyncio.Event()

        async def hear(_: str) -> None:
            heard.set()

        talking = asyncio.create_task(say(lease.base_url, LONG_TALE, max_tokens=2000, heard=hear))
        await heard.wait()
        talking.cancel()
        await asyncio.wait([talking])

    async def story() -> tuple[float, float]:
        async with pool.lease() as lease:
            await abandon(lease)
            charged = await lease.cpu_seconds()
            await asyncio.sleep(0.3)
            return charged, await lease.cpu_seconds() - charged

    charged, afterwards = wait(story())
    assert charged > 0.2
    assert afterwards < 0.05


def test_a_cancelled_reading_does_not_shift_the_next(weights: Path, wait: Wait) -> None:
    async def readings() -> tuple[float, float]:
        async with LocalServer(weights) as server:
            asking = asyncio.create_task(server.cpu_seconds())
            await asyncio.sleep(0)
            asking.cancel()
            await asyncio.wait([asking])
            before = await server.cpu_seconds()
            await say(server.base_url, "Hi", max_tokens=4)
            return before, await server.settled_cpu_seconds()

    before, after = wait(readings())
    assert after > before + 0.1


def test_a_server_that_died_is_replaced(weights: Path, wait: Wait) -> None:
    async def outlive() -> None:
        async with LocalPool(weights, size=1) as pool:
            async with pool.lease() as lease:
                (first,) = servers_of(os.getpid()) - before
                os.kill(first, signal.SIGKILL)
                with pytest.raises(CostpassError, match=r"SmolLM2.* died \(exit code -9\)"):
                    await lease.cpu_seconds()
            async with pool.lease() as lease:
                assert (await say(lease.base_url, "Hi", max_tokens=1)).usage["completion_tokens"] == 1

    before = servers_of(os.getpid())
    wait(outlive())
    assert servers_of(os.getpid()) == before


def test_weights_that_cannot_be_loaded_are_an_error_with_the_reason(tmp_path: Path, wait: Wait) -> None:
    before = servers_of(os.getpid())
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(CostpassError, match=r"cannot serve the local model .*broken\.gguf: \w*gguf\w*: ") as failure:
        wait(LocalServer(tmp_path / "broken.gguf").start())
    assert "\n" not in str(failure.value)
    assert servers_of(os.getpid()) == before


def test_a_server_that_is_not_ready_in_time_is_ended(weights: Path, wait: Wait) -> None:
    before = servers_of(os.getpid())
    with pytest.raises(CostpassError, match=r"SmolLM2.* was not ready after 0\.2 s"):
        wait(LocalServer(weights, ready_timeout_s=0.2).start())
    assert servers_of(os.getpid()) == before


def test_cancelling_the_start_ends_the_child(weights: Path, wait: Wait) -> None:
    async def cancel_a_start() -> None:
        starting = asyncio.create_task(LocalServer(weights).start())
        await asyncio.sleep(0.3)
        assert len(servers_of(os.getpid())) == len(before) + 1
        starting.cancel()
        await asyncio.wait([starting])

    before = servers_of(os.getpid())
    wait(cancel_a_start())
    assert servers_of(os.getpid()) == before


def test_a_closed_pool_lends_nothing(weights: Path, wait: Wait) -> None:
    async def lease_late() -> None:
        async with LocalPool(weights, size=1) as pool:
            pass
        async with pool.lease():
            pytest.fail("a lease of a closed pool")

    with pytest.raises(RuntimeError, match="closed"):
        wait(lease_late())


PARENT = """
import asyncio, sys
from pathlib import Path
from costpass.strategies.lm.local.server import LocalServer

async def main():
    async with LocalServer(Path(sys.argv[1])) as server:
        print(server.pid, flush=True)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.3)
            print("booked", await server.cpu_seconds() > 0, flush=True)
            raise

try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def parent_of_a_server(weights: Path) -> tuple["subprocess.Popen[str]", int]:
    """A process of its own that runs a server, and the server's process id."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, weights], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert parent.stdout is not None
    return parent, int(parent.stdout.readline())


def test_no_server_survives_a_parent_that_was_killed(weights: Path) -> None:
    parent, server = parent_of_a_server(weights)
    with parent:
        assert is_running(server)
        parent.kill()
    assert gone_within(server, seconds=5)


def test_ctrl_c_leaves_the_server_until_the_parent_has_booked(weights: Path) -> None:
    parent, server = parent_of_a_server(weights)
    with parent:
        os.killpg(parent.pid, signal.SIGINT)
        output, _ = parent.communicate(timeout=20)
    assert output.split("\n")[:2] == ["booked True", "interrupted"]
    assert gone_within(server, seconds=5)


def test_without_xllamacpp_the_extra_is_named(weights: Path, wait: Wait, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtraError, match=r"local models .*costpass\[local\]"):
        wait(LocalServer(weights).start())


def test_importing_the_server_loads_nothing_heavy() -> None:
    script = (
        "import sys, costpass.strategies.lm.local.server, costpass.strategies.lm.local.weights\n"
        "print({'xllamacpp', 'httpx', 'numpy', 'pydantic_ai'} & set(sys.modules))"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "set()"
