"""Purses: caps that hold because money is set aside before it is spent."""

import asyncio
from decimal import Decimal

from costpass.errors import CostpassError

_NOTHING = Decimal(0)


class ExhaustedError(CostpassError):
    """A cap that cannot carry the next request, whatever comes back of what is set aside."""

    def __init__(self, purse: "Purse", needed_usd: Decimal) -> None:
        super().__init__(
            f"the {purse.name} cap of ${purse.cap_usd} has ${purse.left_usd} left, and the next request may cost up to "
            f"${float(needed_usd):.2g}"
        )
        self.purse = purse


class Hold:
    """Money set aside in a purse and in every purse that it belongs to, until it is settled."""

    def __init__(self, purse: "Purse", usd: Decimal) -> None:
        self._purse: Purse | None = purse
        self.usd = usd

    def settle(self, spent_usd: Decimal) -> None:
        """Books what was really spent, and gives back the rest. A second call changes nothing."""
        purse, self._purse = self._purse, None
        while purse is not None:
            purse.held_usd -= self.usd
            purse.spent_usd += spent_usd
            purse._wake()
            purse = purse.parent


class Purse:
    """A cap in dollars, within the cap of a parent. No cap means no limit, and spend is still summed."""

    def __init__(self, name: str, cap_usd: Decimal | None = None, parent: "Purse | None" = None) -> None:
        self.name = name
        self.cap_usd = cap_usd
        self.parent = parent
        self.spent_usd = _NOTHING
        self.held_usd = _NOTHING
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def left_usd(self) -> Decimal | None:
        """What is not yet spent; what is set aside counts as unspent."""
        return None if self.cap_usd is None else max(_NOTHING, self.cap_usd - self.spent_usd)

    def book(self, usd: Decimal) -> None:
        """Adds spend that was not held beforehand, as of an earlier run."""
        Hold(self, _NOTHING).settle(usd)

    async def hold(self, usd: Decimal) -> Hold:
        """Sets money aside, waiting while what others hold may still come back; raises where it cannot."""
        while (full := self._full(usd)) is not None:
            if full.spent_usd + usd > (full.cap_usd or _NOTHING):
                raise ExhaustedError(full, usd)
            await full.change()
        purse: Purse | None = self
        while purse is not None:
            purse.held_usd += usd
            purse = purse.parent
        return Hold(self, usd)

    def _full(self, usd: Decimal) -> "Purse | None":
        """The first purse, from this one up, that cannot hold so much now."""
        purse: Purse | None = self
        while purse is not None:
            if purse.cap_usd is not None and purse.spent_usd + purse.held_usd + usd > purse.cap_usd:
                return purse
            purse = purse.parent
        return None

    async def change(self) -> None:
        """Returns once something that was held has been settled."""
        change = asyncio.get_running_loop().create_future()
        self._waiting.append(change)
        await change

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for change in waiting:
            if not change.done():
                change.set_result(None)
