"""The live view and the progress lines say where a run stands, within the width, and keep out of its way."""

import io
import threading
from decimal import Decimal

import pytest
from rich.console import Console

from costpass.attempt import Attempt, Status
from costpass.reports.live import LineView, LiveView
from costpass.reports.progress import Rate, time_left
from costpass.runs.standing import Standing, Tally


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def attempt(strategy: str = "small", *, status: Status = "completed", passed: bool | None = True) -> Attempt:
    return Attempt(
        benchmark="b",
        problem="p",
        strategy=strategy,
        repetition=0,
        status=status,
        passed=None if status == "fault" else passed,
        failure="provider_error" if status == "fault" else None,
        cost_usd=Decimal("0.001"),
        cost_source="priced",
    )


def terminal(width: int = 80) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, height=50)


def view(console: Console, clock: Clock | None = None, cap_usd: Decimal | None = None) -> LiveView:
    return LiveView("addition", console, strategy_cap_usd=cap_usd, clock=clock or Clock())


def screen(live: LiveView, width: int = 80) -> list[str]:
    lines = terminal(width).render_lines(live.drawn())
    return ["".join(segment.text for segment in line).rstrip() for line in lines]


def standing(*names: str, planned: int = 40, cap_usd: str | None = "5") -> Standing:
    return Standing({name: Tally(planned) for name in names}, Decimal(cap_usd) if cap_usd else None)


def record(live: LiveView | LineView, where: Standing, one: Attempt, message: str | None = None) -> None:
    where.tallies[one.strategy].add(one)
    live.recorded(one, where, message)


def test_the_view_shows_what_each_strategy_came_to() -> None:
    where, clock, console = standing("small", "large"), Clock(), terminal()
    with view(console, clock) as live:
        live.started(where)
        for passed in (True, True, False, False):
            record(live, where, attempt(passed=passed))
        clock.now += 2
        where.under_way = 3
        first, second, _, _, _, small, large = screen(live)
    assert first == "addition: 4/80 attempts, 5 %"
    assert second == "$0.004000 of $5.00 spent, 3 under way, 2.0/s, about 38 s left"
    assert small.split() == ["small", "4/40", "╌╌╌╌╌╌╌╌", "50.0", "%", "$0.002000", "$0.004000", "0"]
    assert large.split() == ["large", "0/40", "╌╌╌╌╌╌╌╌", "–", "–", "$0", "0"]


def test_a_resumed_run_says_what_was_done_before_and_rates_only_what_it_does_itself() -> None:
    where, clock = standing("small"), Clock()
    where.tallies["small"] = Tally(40, done=30, done_before=30, graded=30, passed=30)
    with view(terminal(), clock) as live:
        live.started(where)
        record(live, where, attempt())
        clock.now += 1
        first, second = screen(live)[:2]
    assert first.endswith("(resumed: 30 done before)")
    assert "1.0/s" in second


def test_no_pass_is_an_infinite_cost_of_pass() -> None:
    where = standing("small")
    with view(terminal()) as live:
        live.started(where)
        record(live, where, attempt(passed=False))
        assert "∞" in screen(live)[-1]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_row_is_wider_than_the_terminal(width: int) -> None:
    names = [f"a-strategy-with-quite-a-long-name-and-number-{number}" for number in range(40)]
    where = standing(*names, planned=12_000)
    for tally in where.tallies.values():
        tally.done = tally.graded = 9_999
        tally.passed, tally.spent_usd = 9_000, Decimal("0.0123456")
    with LiveView("an-experiment-" * 9, terminal(width), strategy_cap_usd=Decimal(5), clock=Clock()) as live:
        live.started(where)
        live.halted(names, "a reason that goes on " * 20)
        lines = screen(live, width)
    assert max(map(len, lines)) <= width
    assert len(lines) <= 25


def test_strategies_beyond_fifteen_rows_are_folded_with_their_spend() -> None:
    where = standing(*(f"s{number}" for number in range(40)))
    for tally in where.tallies.values():
        tally.done, tally.spent_usd = 10, Decimal("0.01")
    with view(terminal()) as live:
        live.started(where)
        last = screen(live)[-1]
    assert last.startswith("… and 26 more")
    assert "260/1040" in last
    assert "$0.2600" in last


def test_spend_stands_against_the_strategy_cap() -> None:
    where = standing("small")
    with view(terminal(), cap_usd=Decimal("1.5")) as live:
        live.started(where)
        record(live, where, attempt())
        assert "$0.001000/$1.50" in screen(live)[-1]


def test_a_halt_stays_in_sight_when_faults_follow() -> None:
    where = standing("small", "large")
    with view(terminal(120)) as live:
        live.started(where)
        live.halted(["large"], "HTTP 401: wrong key")
        where.tallies["large"].halted = "HTTP 401: wrong key"
        record(live, where, attempt(status="fault"), "HTTP 503: \x1b[31moverloaded")
        lines = screen(live, 120)
    assert "halted large: HTTP 401: wrong key" in lines
    assert "fault of small: HTTP 503:  [31moverloaded" in lines
    assert any(line.startswith("large") and "halted" in line for line in lines)


def test_waiting_for_a_provider_is_said() -> None:
    where = standing("small")
    with view(terminal()) as live:
        live.started(where)
        where.rate_limited = 3
        assert screen(live)[-1] == "rate limited 3 times: waiting as the provider asks"


def test_the_display_is_gone_when_the_run_ends_or_breaks() -> None:
    where, console = standing("small"), terminal()
    with pytest.raises(ZeroDivisionError), view(console) as live:
        live.started(where)
        drawing = [thread for thread in threading.enumerate() if "Refresh" in type(thread).__name__]
        raise ZeroDivisionError
    for thread in drawing:
        thread.join(5)
    assert [thread.is_alive() for thread in drawing] == [False]
    file = console.file
    assert isinstance(file, io.StringIO)
    erased_line, cursor_shown = "\x1b[2K", "\x1b[?25h"
    assert erased_line in file.getvalue().rpartition("small")[2]
    assert cursor_shown in file.getvalue()


def test_nothing_is_drawn_where_nothing_is_left_to_do() -> None:
    console = terminal()
    where = Standing({"small": Tally(1, done=1, done_before=1)})
    with view(console) as live:
        live.started(where)
        live.finished(where, None)
    file = console.file
    assert isinstance(file, io.StringIO)
    assert file.getvalue() == ""


def test_lines_are_calm() -> None:
    said: list[str] = []
    where, clock = standing("small", "large"), Clock()
    lines = LineView("addition", said.append, clock=clock)
    lines.started(where)
    for _ in range(60):
        record(lines, where, attempt())
        clock.now += 0.5
    lines.halted(["large"], "HTTP 401: wrong key")
    lines.finished(where, "faults")
    assert said == [
        "addition: 80 attempts of 2 strategies, at most $5.00",
        "21/80 attempts, $0.02100 of $5.00, 2.1/s, about 28 s left",
        "41/80 attempts, $0.04100 of $5.00, 2.0/s, about 19 s left",
        "halted large: HTTP 401: wrong key",
        "60/80 attempts, $0.06000 of $5.00, ended after 30 s",
    ]


def test_lines_say_nothing_where_nothing_is_left_to_do() -> None:
    said: list[str] = []
    where = Standing({"small": Tally(1, done=1, done_before=1)})
    lines = LineView("addition", said.append)
    lines.started(where)
    lines.finished(where, None)
    assert said == []


def test_the_rate_forgets_how_fast_it_was() -> None:
    clock = Clock()
    recent = Rate(0, clock)
    done = 0
    for per_s, seconds in ((50, 100), (2, 120)):
        for _ in range(seconds):
            clock.now += 1
            done += per_s
            per_s_now = recent.per_s(done)
    assert per_s_now == pytest.approx(2, rel=0.1)


def test_slow_attempts_still_have_a_rate() -> None:
    clock = Clock()
    recent = Rate(0, clock)
    for done in range(1, 5):
        clock.now += 600
        assert recent.per_s(done) == pytest.approx(1 / 600)
    clock.now += 300
    assert recent.per_s(4) == pytest.approx(4 / 2700)


def test_halted_strategies_take_no_more_time() -> None:
    where = standing("small", "large", planned=100)
    where.tallies["large"].halted = "HTTP 401"
    assert time_left(where, 10.0) == "about 10 s left"
