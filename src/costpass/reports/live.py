"""A run as it goes: a display that is drawn anew on a terminal, and calm lines anywhere else."""

import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Self

from costpass.attempt import Attempt
from costpass.reports import table
from costpass.reports.figures import dollars
from costpass.reports.progress import (
    Rate,
    cap,
    clipped,
    counted,
    duration,
    figures,
    fitted,
    halting,
    printable,
    rate,
    room_for_names,
    spend,
    time_left,
)
from costpass.runs.standing import Standing, Tally

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_MOST_ROWS = 15
_REDRAWN_PER_S = 4
_BAR = 8
#: A bar gives way where names would have less room than this.
_NAME_BESIDE_BAR = 16
_LINE_EVERY_S = 10.0


class LiveView:
    """The run on a terminal. Events only set fields; drawing is Rich's own thread's, and gone when the run ends."""

    def __init__(
        self,
        experiment: str,
        console: "Console",
        *,
        strategy_cap_usd: Decimal | None = None,
        redirect_stdout: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from rich.live import Live

        self._experiment = experiment
        self._console = console
        self._strategy_cap_usd = strategy_cap_usd
        self._clock = clock
        self._standing = Standing({})
        self._rate = Rate(0, clock)
        self._last_halt: str | None = None
        self._last_trouble: str | None = None
        self._rate_limited_shown = 0
        self._live = Live(
            get_renderable=self.drawn,
            console=console,
            refresh_per_second=_REDRAWN_PER_S,
            transient=True,
            redirect_stdout=redirect_stdout,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def started(self, standing: Standing) -> None:
        self._standing = standing
        self._rate = Rate(standing.done, self._clock)
        if standing.done < standing.planned:
            self._live.start()

    def recorded(self, record: Attempt, standing: Standing, message: str | None) -> None:  # noqa: ARG002
        if record.status == "fault":
            self._last_trouble = f"fault of {record.strategy}: {message or record.failure}"

    def halted(self, strategies: list[str], reason: str) -> None:
        self._last_halt = halting(strategies, reason)

    def finished(self, standing: Standing, reason: str | None) -> None:  # noqa: ARG002
        self._live.stop()

    def drawn(self) -> "Text":
        """The display as it is now."""
        from rich.text import Text

        width = self._console.width
        text = Text(no_wrap=True, overflow="ellipsis", end="")
        first, second = self._header(width)
        text.append(first + "\n", "bold")
        text.append("\n".join([second, "", self._table(width), *self._footer()]))
        return text

    def _header(self, width: int) -> tuple[str, str]:
        standing = self._standing
        done, planned = standing.done, standing.planned
        resumed = f" (resumed: {standing.done_before:,} done before)" if standing.done_before else ""
        counts = f": {done:,}/{planned:,} attempts, {100 * done // max(1, planned)} %{resumed}"
        per_s = self._rate.per_s(done)
        parts = [
            f"{spend(standing)} spent",
            f"{standing.under_way} under way",
            rate(per_s) if per_s else None,
            time_left(standing, per_s),
        ]
        name = clipped(self._experiment, max(_NAME_BESIDE_BAR, width - len(counts)))
        return name + counts, ", ".join(part for part in parts if part)

    def _table(self, width: int) -> str:
        tallies = [(name, tally) for name, tally in self._standing.tallies.items() if tally.planned]
        shown = tallies if len(tallies) <= _MOST_ROWS else tallies[: _MOST_ROWS - 1]
        header = ["strategy", "done", "", "passed", "cost of pass", "spend", "faults"]
        rows = [self._cells(name, tally) for name, tally in shown]
        if rest := [tally for _, tally in tallies[len(shown) :]]:
            rows.append(_folded(rest))
        wanted = min(_NAME_BESIDE_BAR, max((len(row[0]) for row in rows), default=0))
        if room_for_names(header, rows, width) < wanted:
            header, rows = _without_bar(header), [_without_bar(row) for row in rows]
        return table.text(header, fitted(header, rows, width))

    def _cells(self, name: str, tally: Tally) -> list[str]:
        spent = dollars(_spent(tally))
        if self._strategy_cap_usd is not None:
            spent = f"{spent}/{cap(self._strategy_cap_usd)}"
        return [name, f"{tally.done}/{tally.planned}", _bar(tally), *figures(tally), spent, str(tally.faults)]

    def _footer(self) -> list[str]:
        limited = self._standing.rate_limited
        if limited > self._rate_limited_shown:
            self._rate_limited_shown = limited
            self._last_trouble = f"rate limited {counted(limited, 'time')}: waiting as the provider asks"
        lines = [printable(line) for line in (self._last_halt, self._last_trouble) if line]
        return ["", *lines] if lines else []


class LineView:
    """The run in a log: a line when it starts, when strategies are halted, when it ends, and now and then between."""

    def __init__(
        self, experiment: str, say: Callable[[str], None], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._experiment = experiment
        self._say = say
        self._clock = clock
        self._started_at = self._said_at = clock()
        self._rate = Rate(0, clock)

    def started(self, standing: Standing) -> None:
        self._started_at = self._said_at = self._clock()
        self._rate = Rate(standing.done, self._clock)
        if standing.done < standing.planned:
            strategies = sum(bool(tally.planned) for tally in standing.tallies.values())
            resumed = f", resumed: {standing.done_before:,} done before" if standing.done_before else ""
            limit = f", at most {cap(standing.total_cap_usd)}" if standing.total_cap_usd is not None else ""
            whole = f"{counted(standing.planned, 'attempt')} of {counted(strategies, 'strategy', 'strategies')}"
            self._say(f"{self._experiment}: {whole}{limit}{resumed}")

    def recorded(self, record: Attempt, standing: Standing, message: str | None) -> None:  # noqa: ARG002
        now = self._clock()
        if now - self._said_at >= _LINE_EVERY_S:
            self._said_at = now
            self._say(self._line(standing))

    def halted(self, strategies: list[str], reason: str) -> None:
        self._say(halting(strategies, reason))

    def finished(self, standing: Standing, reason: str | None) -> None:
        if standing.done > standing.done_before or reason is not None:
            took = duration(self._clock() - self._started_at)
            self._say(f"{_counts(standing)}, {'complete' if reason is None else 'ended'} after {took}")

    def _line(self, standing: Standing) -> str:
        per_s = self._rate.per_s(standing.done)
        parts = [_counts(standing), rate(per_s) if per_s else None, time_left(standing, per_s)]
        return ", ".join(part for part in parts if part)


def _counts(standing: Standing) -> str:
    faults = f", {counted(standing.faults, 'fault')}" if standing.faults else ""
    refused = f", told to wait {standing.rate_limited:,} times" if standing.rate_limited else ""
    return f"{standing.done:,}/{standing.planned:,} attempts, {spend(standing)}{faults}{refused}"


def _spent(tally: Tally) -> Decimal:
    return tally.spent_usd + tally.grading_usd


def _bar(tally: Tally) -> str:
    if tally.halted is not None:
        return "halted".ljust(_BAR)
    filled = _BAR * tally.done // max(1, tally.planned)
    return "━" * filled + "╌" * (_BAR - filled)


def _without_bar(cells: Sequence[str]) -> list[str]:
    return [*cells[:2], *cells[3:]]


def _folded(tallies: Sequence[Tally]) -> list[str]:
    """One row for strategies that have no row of their own; a cost of pass of them all would mean nothing."""
    whole = Tally(sum(tally.planned for tally in tallies), done=sum(tally.done for tally in tallies))
    spent = sum((_spent(tally) for tally in tallies), Decimal(0))
    faults = sum(tally.faults for tally in tallies)
    done = f"{whole.done}/{whole.planned}"
    return [f"… and {len(tallies)} more", done, _bar(whole), "", "", dollars(spent), str(faults)]
