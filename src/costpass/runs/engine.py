"""The run: tries are started as endpoints and purses can bear them, and recorded as they end."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from costpass.budget.purse import Purse
from costpass.runs.attempting import Outcome, attempt
from costpass.runs.endpoints import Endpoints
from costpass.runs.events import Watcher
from costpass.runs.plan import Plan, Strategy, Try
from costpass.runs.recording import Recorder
from costpass.runs.resuming import Before
from costpass.strategies.lm.endpoint import Endpoint

#: So many attempts in a row that an endpoint broke for good, and it is taken to be down.
_FAULTS_UNTIL_DOWN = 8
#: What an endpoint asked us to wait may have run out by the time we do.
_LONGEST_WAIT_S = 0.5


class Ended(StrEnum):
    """Why a run ended."""

    complete = "complete"
    budget = "budget"
    faults = "faults"
    stopped = "stopped"


@dataclass
class Queue:
    """The tries that one endpoint has before it."""

    endpoint: Endpoint
    strategies: Sequence[Strategy]
    numbers: Sequence[int]
    next: int = 0
    under_way: int = 0
    faults_in_a_row: int = 0

    @property
    def bears_more(self) -> bool:
        pace = self.endpoint.pace
        return not pace.held_back_s and self.under_way < int(pace.limit)


@dataclass
class Run:
    """One run of a plan into a ledger."""

    plan: Plan
    before: Before
    recorder: Recorder
    endpoints: Endpoints
    watcher: Watcher
    _halted: dict[str, str] = field(default_factory=dict)
    _tasks: dict[asyncio.Task[None], Try] = field(default_factory=dict)
    #: Attempts that have not come to their record yet.
    _cancellable: set[asyncio.Task[None] | None] = field(default_factory=set)
    _out_of_money: bool = False
    _stopping: bool = False
    _trouble: BaseException | None = None

    def __post_init__(self) -> None:
        budgets = self.plan.experiment.budgets
        self.total = Purse("total", budgets.total_usd)
        self.purses = {
            strategy.id: Purse(f"strategy {strategy.id}'s", budgets.strategy_usd, self.total)
            for strategy in self.plan.strategies
        }
        self._change = asyncio.Event()

    async def run(self) -> Ended:
        """Makes every try that is not done yet; returns when all are, or nothing more can be."""
        standing = self.before.standing
        for name, tally in standing.tallies.items():
            (self.purses.get(name) or self.total).book(tally.spent_usd + tally.grading_usd)
        self.recorder.write(self.before.interrupted)
        queues = self._queues()
        self.watcher.started(standing)
        try:
            while not self._stopping and (self._start_what_can_be(queues) or self._tasks):
                await self._wait(queues)
        finally:
            await self._wind_up()
        if self._trouble is not None:
            raise self._trouble
        ended = self._ended()
        self.watcher.finished(standing, None if ended is Ended.complete else ended.value)
        return ended

    def stop(self) -> None:
        """Ends the run soon: no try is started any more, and those under way are cut short and booked."""
        self._stopping = True
        self._change.set()

    def _queues(self) -> list[Queue]:
        by_endpoint: dict[Endpoint, list[Strategy]] = {}
        for strategy in self.plan.strategies:
            by_endpoint.setdefault(self.endpoints.of(strategy), []).append(strategy)
        for endpoint in by_endpoint:
            endpoint.pace.on_change = self._change.set
        return [Queue(endpoint, those, self.plan.order(those)) for endpoint, those in by_endpoint.items()]

    def _start_what_can_be(self, queues: list[Queue]) -> bool:
        """Starts tries, one of each endpoint in turn; says whether any are left to be made."""
        room = self.plan.experiment.concurrency - len(self._tasks)
        left = [queue for queue in queues if self._upcoming(queue) is not None]
        bearing = left
        while room > 0 and (bearing := [queue for queue in bearing if queue.bears_more]):
            for queue in bearing[:room]:
                self._start(queue)
                room -= 1
            bearing = left = [queue for queue in left if self._upcoming(queue) is not None]
        return bool(left)

    def _upcoming(self, queue: Queue) -> int | None:
        """The number of the next try, past those that are done and those of halted strategies."""
        while queue.next < len(queue.numbers):
            number = queue.numbers[queue.next]
            if not self.before.done[number] and not (
                self._halted and self.plan.try_(number).strategy.id in self._halted
            ):
                return number
            queue.next += 1
        return None

    def _start(self, queue: Queue) -> None:
        one = self.plan.try_(queue.numbers[queue.next])
        queue.next += 1
        queue.under_way += 1
        task = asyncio.create_task(self._make(queue, one))
        self._tasks[task] = one
        self._cancellable.add(task)
        self.before.standing.under_way = len(self._tasks)
        task.add_done_callback(lambda done: self._made(queue, done))

    async def _make(self, queue: Queue, one: Try) -> None:
        outcome = await attempt(
            one,
            self.plan,
            queue.endpoint,
            retry=self.before.next_retry[one.index],
            parent=self.purses[one.strategy.id],
            requests=self.recorder.requests,
            judge_endpoint=self.endpoints.of_judge,
        )
        # From here on it is booked, whoever wants the run to stop.
        self._cancellable.discard(asyncio.current_task())
        if outcome.records:
            await self.recorder.record(outcome.records, outcome.trace)
        self._note(queue, one, outcome)

    def _note(self, queue: Queue, one: Try, outcome: Outcome) -> None:
        standing = self.before.standing
        self.before.next_retry[one.index] += len(outcome.records)
        for record in outcome.records:
            standing.tallies[one.strategy.id].add(record)
        ending = outcome.ending
        message = self.recorder.scrub(ending.message or "")
        for record in outcome.records:
            self.watcher.recorded(record, standing, message or None if record is outcome.records[-1] else None)
        if ending.status == "fault":
            standing.tallies[one.strategy.id].last_fault = message
        queue.faults_in_a_row = queue.faults_in_a_row + 1 if ending.status == "fault" else 0
        if ending.exhausted is not None or (ending.status == "cost_killed" and not outcome.records):
            # A cheaper strategy may still find room in what the total has left.
            self._out_of_money = True
            self._halt([one.strategy], message)
        elif ending.broken is not None and ending.broken.hopeless:
            self._halt(queue.strategies, message)
        elif queue.faults_in_a_row >= _FAULTS_UNTIL_DOWN:
            reason = f"{_FAULTS_UNTIL_DOWN} attempts in a row failed, the last one with: {message}"
            self._halt(queue.strategies, reason)

    def _halt(self, strategies: Sequence[Strategy], reason: str) -> None:
        fresh = [strategy.id for strategy in strategies if strategy.id not in self._halted]
        for name in fresh:
            self._halted[name] = reason
            self.before.standing.tallies[name].halted = reason
        if fresh:
            self.watcher.halted(fresh, reason)

    def _made(self, queue: Queue, task: asyncio.Task[None]) -> None:
        queue.under_way -= 1
        self._tasks.pop(task)
        self._cancellable.discard(task)
        self.before.standing.under_way = len(self._tasks)
        if not task.cancelled() and (error := task.exception()) is not None:
            # A record that cannot be written, or a mistake of ours: nothing more is paid for.
            self._trouble = self._trouble or error
            self._stopping = True
        self._change.set()

    async def _wait(self, queues: list[Queue]) -> None:
        self.before.standing.rate_limited = self.endpoints.rate_limited
        held_back = [queue.endpoint.pace.held_back_s for queue in queues]
        soonest = min([_LONGEST_WAIT_S, *(seconds for seconds in held_back if seconds)])
        self._change.clear()
        waiting = asyncio.create_task(self._change.wait())
        await asyncio.wait([waiting], timeout=soonest)
        waiting.cancel()

    async def _wind_up(self) -> None:
        """Cuts short what is under way, and waits until it is booked."""
        while self._tasks:
            if self._stopping:
                for task in self._cancellable:
                    if task is not None:
                        task.cancel()
                self._cancellable.clear()
            await asyncio.wait(list(self._tasks))
            await asyncio.sleep(0)

    def _ended(self) -> Ended:
        standing = self.before.standing
        if self._stopping:
            return Ended.stopped
        if standing.done >= standing.planned:
            return Ended.complete
        return Ended.budget if self._out_of_money else Ended.faults
