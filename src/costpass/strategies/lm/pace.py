"""How many requests an endpoint bears: found by trying, and by listening to its 429s."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

_LEAST_WAIT_S = 0.125
_MOST_WAIT_S = 60.0


class Pace:
    """A limit on concurrent requests that starts at one, doubles while all goes well and halves on a 429.

    The first request goes alone, so that a wrong key or a wrong guess about size shows before many are under way.
    """

    def __init__(self, most: int, *, seed: int = 0) -> None:
        self.most = most
        self.limit = 1.0
        self.under_way = 0
        self.refusals = 0
        self._refusals_in_a_row = 0
        #: Called whenever more may be sent than before.
        self.on_change: Callable[[], None] = lambda: None
        self._not_before = 0.0
        self._chance = random.Random(seed)
        self._waiting: list[asyncio.Future[None]] = []
        self._steady = False

    @property
    def held_back_s(self) -> float:
        """Seconds until the endpoint wants to be asked again."""
        return max(0.0, self._not_before - time.monotonic())

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """One request's place; waits while the endpoint bears no more."""
        while (held_s := self.held_back_s) or self.under_way >= int(self.limit):
            await self._wait(held_s or None)
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1
            self._wake()

    def went_well(self) -> None:
        """A reply arrived: more may be tried; doubling at first, and by small steps once a limit was met."""
        self._refusals_in_a_row = 0
        self.limit = min(float(self.most), self.limit + (1 / self.limit if self._steady else 1))
        self._wake()

    def refused(self, retry_after_s: float | None) -> None:
        """A 429 arrived: fewer at a time, and none before the moment that the endpoint named."""
        self.refusals += 1
        self._steady = True
        if not self.held_back_s:
            # Requests that were under way together are refused together; that is one piece of news, not many.
            self._refusals_in_a_row += 1
            self.limit = max(1.0, self.limit / 2)
        wait = retry_after_s if retry_after_s is not None else _LEAST_WAIT_S * 2 ** min(self._refusals_in_a_row, 7)
        # The endpoint is believed, and not all come back in the same instant.
        until = time.monotonic() + min(wait, _MOST_WAIT_S) + self._chance.uniform(0, max(0.05, 0.1 * wait))
        self._not_before = max(self._not_before, until)

    def jitter(self, wait_s: float) -> float:
        """A wait somewhere between half of this and all of it, so that what broke together is not retried together."""
        return self._chance.uniform(wait_s / 2, wait_s)

    async def _wait(self, most_s: float | None) -> None:
        change = asyncio.get_running_loop().create_future()
        self._waiting.append(change)
        await asyncio.wait([change], timeout=most_s)

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for change in waiting:
            if not change.done():
                change.set_result(None)
        self.on_change()
