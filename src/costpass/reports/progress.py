"""Where a run stands, in words and cells: what the live view, the progress lines and the closing summary share."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from decimal import Decimal

from costpass.reports.figures import dollars, percent
from costpass.runs.standing import Standing, Tally

#: The rate is that of the last minute, or of longer where attempts are slow.
_RATE_SPAN_S = 60
_RATE_ATTEMPTS = 20
_STEP_S = 1.0

_SHORTEST_NAME = 10


class Rate:
    """Attempts per second of late, so that a resumed or held-back run is not judged by its past."""

    def __init__(self, done: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._samples = deque([(clock(), done)])

    def per_s(self, done: int) -> float | None:
        """The rate now, or None where nothing was done yet."""
        now = self._clock()
        last_at, last_done = self._samples[-1]
        if done != last_done and now - last_at >= _STEP_S:
            self._samples.append((now, done))
        while len(self._samples) > 2 and self._covers_enough(*self._samples[1], now, done):
            self._samples.popleft()
        since, before = self._samples[0]
        return (done - before) / (now - since) if done > before and now > since else None

    @staticmethod
    def _covers_enough(since: float, before: int, now: float, done: int) -> bool:
        return now - since >= _RATE_SPAN_S and done - before >= _RATE_ATTEMPTS


def time_left(standing: Standing, per_s: float | None) -> str | None:
    """How long the attempts still to be made will take, or None where that cannot be said."""
    left = sum(tally.planned - tally.done for tally in standing.tallies.values() if tally.planned and not tally.halted)
    if not per_s or left <= 0:
        return None
    return f"about {duration(left / per_s)} left"


def duration(seconds: float) -> str:
    """A time in the unit that suits it.

    >>> duration(0.2), duration(48), duration(200), duration(8000), duration(90_000)
    ('1 s', '48 s', '3 min', '2.2 h', '25 h')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 10 else f"{hours:,.0f} h"


def rate(per_s: float) -> str:
    """A rate that a person can picture, however slow.

    >>> rate(120.4), rate(2.13), rate(0.05)
    ('120/s', '2.1/s', '3.0/min')
    """
    if per_s < 0.1:
        return f"{60 * per_s:.1f}/min"
    return f"{per_s:.0f}/s" if per_s >= 10 else f"{per_s:.1f}/s"


def cap(usd: Decimal) -> str:
    """A cap as people write one.

    >>> cap(Decimal("5")), cap(Decimal("0.0025"))
    ('$5.00', '$0.0025')
    """
    exponent = usd.normalize().as_tuple().exponent
    return f"${usd:,.{max(2, -exponent if isinstance(exponent, int) else 2)}f}"


def spend(standing: Standing) -> str:
    """What was spent, against the total cap where there is one."""
    spent = dollars(standing.spent_usd)
    return spent if standing.total_cap_usd is None else f"{spent} of {cap(standing.total_cap_usd)}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def printable(message: str) -> str:
    """A provider's words, without what would move the cursor or colour the screen."""
    return "".join(character if character.isprintable() else " " for character in message)


def halting(strategies: Sequence[str], reason: str) -> str:
    """That strategies were halted, and why."""
    shown = ", ".join(strategies[:3]) + (f" and {len(strategies) - 3} more" if len(strategies) > 3 else "")
    return printable(f"halted {shown}: {reason}")


def clipped(name: str, width: int) -> str:
    """A name cut in the middle, where names differ least.

    >>> clipped("claude-sonnet-4-5+baseline", 12)
    'claude…eline'
    """
    if len(name) <= width:
        return name
    tail = (width - 1) // 2
    return f"{name[: width - 1 - tail]}…{name[len(name) - tail :]}"


def figures(tally: Tally) -> list[str]:
    """Pass rate and cost of pass so far."""
    if not tally.graded:
        return ["–", "–"]
    return [percent(tally.pass_rate), dollars(tally.cost_of_pass_usd) if tally.passed else "∞"]


def room_for_names(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> int:
    """What a table of this width, with two spaces between columns, leaves for its first column."""
    return width - sum(2 + max(len(row[column]) for row in (header, *rows)) for column in range(1, len(header)))


def fitted(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """Rows whose names are cut so that the table keeps within the width."""
    room = max(_SHORTEST_NAME, room_for_names(header, rows, width))
    return [[clipped(row[0], room), *row[1:]] for row in rows]
