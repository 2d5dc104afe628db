"""Caps that hold because money is set aside first."""

import asyncio
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costpass.budget.purse import ExhaustedError, Purse

CENTS = st.integers(0, 300).map(lambda cents: Decimal(cents) / 100)


def test_a_request_waits_while_what_others_hold_may_come_back() -> None:
    async def scene() -> list[str]:
        purse = Purse("total", Decimal(1))
        seen: list[str] = []
        first = await purse.hold(Decimal("0.80"))

        async def second() -> None:
            await purse.hold(Decimal("0.50"))
            seen.append("second holds")

        task = asyncio.create_task(second())
        await asyncio.sleep(0)
        seen.append("first settles")
        first.settle(Decimal("0.10"))
        await task
        return seen

    assert asyncio.run(scene()) == ["first settles", "second holds"]


def test_a_request_that_can_never_be_paid_is_refused_at_once() -> None:
    async def scene() -> None:
        purse = Purse("total", Decimal(1))
        purse.book(Decimal("0.60"))
        await purse.hold(Decimal("0.50"))

    with pytest.raises(ExhaustedError, match=r"the total cap of \$1 has \$0.40 left"):
        asyncio.run(scene())


def test_a_parent_s_cap_binds_its_children_together() -> None:
    async def scene() -> Purse:
        total = Purse("total", Decimal(1))
        one, other = Purse("one", None, total), Purse("other", Decimal(5), total)
        (await one.hold(Decimal("0.70"))).settle(Decimal("0.70"))
        await other.hold(Decimal("0.40"))
        return total

    with pytest.raises(ExhaustedError) as refused:
        asyncio.run(scene())
    assert refused.value.purse.name == "total"


def test_settling_twice_books_once() -> None:
    async def scene() -> Purse:
        purse = Purse("total", Decimal(1))
        hold = await purse.hold(Decimal("0.40"))
        hold.settle(Decimal("0.30"))
        hold.settle(Decimal("0.30"))
        return purse

    purse = asyncio.run(scene())
    assert (purse.spent_usd, purse.held_usd) == (Decimal("0.30"), Decimal(0))


@given(st.lists(st.tuples(CENTS, st.floats(0, 1)), max_size=40), CENTS)
def test_spend_never_passes_the_cap_whatever_runs_side_by_side(
    requests: list[tuple[Decimal, float]], cap: Decimal
) -> None:
    async def scene() -> Purse:
        total = Purse("total", cap)

        async def request(number: int, worst: Decimal, share: float) -> None:
            purse = Purse("attempt", None, total)
            try:
                hold = await purse.hold(worst)
            except ExhaustedError:
                return
            for _ in range(number % 3):
                await asyncio.sleep(0)
            hold.settle((worst * Decimal(share)).quantize(Decimal("0.0001")))
            assert total.spent_usd + total.held_usd <= cap

        async with asyncio.timeout(10):
            await asyncio.gather(*(request(number, *one) for number, one in enumerate(requests)))
        return total

    total = asyncio.run(scene())
    assert total.spent_usd <= cap
    assert total.held_usd == 0
