"""How many requests an endpoint is sent."""

import asyncio
import time

from costpass.strategies.lm.pace import Pace


def test_the_first_request_goes_alone() -> None:
    assert int(Pace(64).limit) == 1


def test_more_are_sent_while_all_goes_well_up_to_the_most() -> None:
    pace = Pace(8)
    limits = []
    for _ in range(10):
        pace.went_well()
        limits.append(pace.limit)
    assert limits[:3] == [2, 3, 4]
    assert limits[-1] == 8


def test_refusals_that_arrive_together_halve_the_limit_once() -> None:
    pace = Pace(64)
    pace.limit = 32
    for _ in range(20):
        pace.refused(0.5)
    assert pace.limit == 16
    assert pace.refusals == 20


def test_nothing_is_sent_before_the_moment_that_the_endpoint_named() -> None:
    async def scene() -> float:
        pace = Pace(4)
        pace.refused(0.3)
        started = time.monotonic()
        async with pace.slot():
            return time.monotonic() - started

    assert asyncio.run(scene()) >= 0.3


def test_the_limit_recovers_by_small_steps_once_it_was_met() -> None:
    pace = Pace(64)
    pace.limit = 16
    pace.refused(0)
    pace.went_well()
    assert 8 < pace.limit < 9


def test_waiting_requests_are_let_in_as_others_leave() -> None:
    async def scene() -> int:
        pace = Pace(4)
        most = 0

        async def one() -> None:
            nonlocal most
            async with pace.slot():
                most = max(most, pace.under_way)
                await asyncio.sleep(0)
                pace.went_well()

        async with asyncio.timeout(5):
            await asyncio.gather(*(one() for _ in range(50)))
        return most

    assert asyncio.run(scene()) == 4
