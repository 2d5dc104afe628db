"""One attempt: a technique is let loose on a problem, its answer is graded, and records are made of what happened."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from costpass.attempt import Attempt, Status
from costpass.benchmarks.graders.protocol import Grade, GraderError
from costpass.budget.purse import ExhaustedError, Purse
from costpass.ledger.requests import Requests
from costpass.runs.plan import Plan, Try
from costpass.strategies.lm.asking import Asking, Attempting
from costpass.strategies.lm.call import Call
from costpass.strategies.lm.endpoint import Endpoint
from costpass.strategies.lm.faults import Broken, CapReachedError, FaultError
from costpass.strategies.lm.stopwatch import Stopwatch
from costpass.strategies.lm.usage import total
from costpass.version import __version__

#: Gives the endpoint of a grader's judge by the model's name.
JudgeEndpoint = Callable[[str], Awaitable[Endpoint]]

_LONGEST_MESSAGE = 500


@dataclass
class Ending:
    """How an attempt ended."""

    status: Status = "completed"
    failure: str | None = None
    answer: str | None = None
    grade: Grade | None = None
    #: In words, for the trace and for the person who watches.
    message: str | None = None
    #: What the provider said where the attempt is a fault.
    broken: Broken | None = None
    #: The cap that cannot carry the run on, where that is why it ended.
    exhausted: Purse | None = None


@dataclass
class Outcome:
    """What an attempt leaves: its records, faults first, and its trace. One that was stopped unspent leaves none."""

    records: list[Attempt]
    trace: dict[str, Any]
    ending: Ending


async def attempt(
    one: Try,
    plan: Plan,
    endpoint: Endpoint,
    *,
    retry: int,
    parent: Purse,
    requests: Requests,
    judge_endpoint: JudgeEndpoint,
) -> Outcome:
    """Makes one try. A cancelled one is booked as interrupted; the canceller is told by the ending alone."""
    started_at = datetime.now(UTC)
    purse = Purse("attempt's", one.strategy.cap_usd, parent)
    watch = Stopwatch()
    shared = Attempting(
        cell=one.cell,
        retry=retry,
        seed=plan.seed(one),
        purse=purse,
        requests=requests,
        watch=watch,
        retries=plan.experiment.retries,
        calls=one.strategy.technique.calls[0],
    )
    asking = Asking(endpoint, shared, one.strategy.settings)
    ending = await _answer(one, asking, watch, plan.experiment.budgets.wall_clock_s)
    await asking.close()
    if ending.status == "cost_killed" and not asking.calls and asking.broken:
        # Broken requests alone have used the cap up: that says nothing of the strategy.
        ending = Ending("fault", "budget", message=ending.message)
    duration_ms = watch.elapsed_ms
    grading = await _grade(one, ending, shared, parent, judge_endpoint)
    asking.backfill()
    if ending.status == "fault" and ending.failure != "grading" and asking.broken:
        # The request that ended the attempt is the attempt's own, and no record beside it.
        asking.calls.append(asking.broken.pop())
    if ending.status in ("interrupted", "cost_killed") and not asking.calls and not asking.broken:
        # Nothing was sent, so nothing was attempted.
        return Outcome([], {}, ending)
    common = _identity(one, plan, endpoint, shared.seed)
    records = [
        *(_fault(call, common, retry + number) for number, call in enumerate(asking.broken)),
        _record(
            asking.calls,
            ending,
            {
                **common,
                "retry": retry + len(asking.broken),
                "started_at": started_at,
                "duration_ms": duration_ms,
                "budget_usd": one.strategy.cap_usd,
                "grading_usd": _spent(grading) if grading else None,
                "cost_killed_at_usd": _spent(asking.calls) if ending.status == "cost_killed" else None,
            },
        ),
    ]
    return Outcome(records, _trace(records[-1], ending, asking, grading), ending)


async def _answer(one: Try, asking: Asking, watch: Stopwatch, wall_clock_s: float) -> Ending:
    """Runs the technique under the attempt's wall clock, which stands still while the attempt waits its turn."""
    deadline = asyncio.timeout(wall_clock_s)
    try:
        async with deadline:
            watch.on_idle = _standing_still(deadline)
            answer = await one.strategy.technique(one.problem, asking)
    except asyncio.CancelledError:
        return Ending("interrupted", "stopped", message="stopped by the user")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a technique is the user's own code and may raise anything
        if isinstance(error, TimeoutError) and deadline.expired():
            return Ending("timeout", "wall_clock", message=f"took over {wall_clock_s:g} s", answer=_last_reply(asking))
        if asking.fatal is not None:
            return _cut_short(asking.fatal, _last_reply(asking))
        message = f"{type(error).__name__}: {error}"[:_LONGEST_MESSAGE]
        return Ending(failure="technique_error", message=message, grade=Grade(False, failure="technique_error"))
    finally:
        watch.on_idle = lambda _: None
    if asking.fatal is not None:
        return _cut_short(asking.fatal, answer)
    if any(call.stopped_by_cap for call in asking.calls):
        return Ending("cost_killed", "budget", answer=answer, message="the reply was cut off at the attempt's cap")
    return Ending(answer=answer)


def _standing_still(deadline: asyncio.Timeout) -> Callable[[bool], None]:
    """Stops a deadline while the attempt is idle, and starts it again with what was left."""
    loop = asyncio.get_running_loop()
    left_s: list[float] = []

    def switch(idle: bool) -> None:
        when = deadline.when()
        if idle and when is not None:
            left_s[:] = [when - loop.time()]
            deadline.reschedule(None)
        elif not idle and left_s and not deadline.expired():
            deadline.reschedule(loop.time() + left_s.pop())

    return switch


def _cut_short(error: FaultError | CapReachedError | ExhaustedError, answer: str | None) -> Ending:
    """How an attempt ended that could not go on, whatever its technique made of that."""
    if isinstance(error, CapReachedError):
        return Ending("cost_killed", "budget", message=str(error), answer=answer)
    if isinstance(error, ExhaustedError):
        return Ending("interrupted", "budget", message=str(error), exhausted=error.purse)
    return Ending("fault", error.broken.failure, message=str(error), broken=error.broken)


async def _grade(
    one: Try, ending: Ending, shared: Attempting, parent: Purse, judge_endpoint: JudgeEndpoint
) -> Sequence[Call]:
    """Grades what was produced; gives the judge's calls, if it took any."""
    if ending.status in ("fault", "interrupted") or ending.grade is not None:
        return ()
    grader = one.graded.grader_of(one.problem)
    judging: Asking | None = None
    try:
        if grader.judge_model is not None:
            judging = Asking(
                await judge_endpoint(grader.judge_model),
                Attempting(
                    cell=shared.cell,
                    retry=shared.retry,
                    seed=shared.seed,
                    purse=Purse("grading", None, parent),
                    requests=shared.requests,
                    retries=shared.retries,
                    grading=True,
                ),
                {"temperature": 0, "max_tokens": 1024},
            )
        ending.grade = await grader.grade(ending.answer or "", one.problem, judging)
    except GraderError as error:
        ending.failure = ending.failure or "ungraded"
        ending.message = f"not graded: {error}"[:_LONGEST_MESSAGE]
    except (FaultError, ExhaustedError) as error:
        # Without a verdict the attempt says nothing of its strategy; it is made again once the judge can be asked.
        ending.status, ending.failure = "fault", "grading"
        ending.message = f"not graded: {error}"[:_LONGEST_MESSAGE]
        ending.broken = error.broken if isinstance(error, FaultError) else None
        ending.exhausted = error.purse if isinstance(error, ExhaustedError) else None
    except asyncio.CancelledError:
        ending.status, ending.failure, ending.message = "interrupted", "stopped", "stopped by the user"
    return [*judging.calls, *judging.broken] if judging else ()


def _last_reply(asking: Asking) -> str | None:
    return asking.calls[-1].text if asking.calls else None


def _identity(one: Try, plan: Plan, endpoint: Endpoint, seed: int) -> dict[str, Any]:
    spec, problem = one.strategy.spec, one.problem
    return {
        "experiment": plan.experiment.experiment,
        "benchmark": one.graded.benchmark.name,
        "problem": problem.id,
        "group": problem.group,
        "capability": problem.capability,
        "control": problem.control,
        "strategy": spec.id,
        "model": one.strategy.address.model,
        "provider": spec.provider or one.strategy.address.provider,
        "technique": one.strategy.technique.name,
        "family": spec.family,
        "released": spec.released or one.strategy.quote.released,
        "repetition": one.repetition,
        "seed": seed,
        "price_book": plan.book.digest,
        "priced_at": endpoint.quote.at,
        "costpass_version": __version__,
        "config_digest": one.strategy.digest,
    }


def _spent(calls: Sequence[Call]) -> Decimal:
    return sum((call.usd for call in calls), Decimal(0))


def _money(calls: Sequence[Call]) -> dict[str, Any]:
    billed = [call.billed_usd for call in calls]
    metered = [call.metered_usd for call in calls]
    is_billed = bool(calls) and None not in billed
    is_metered = bool(calls) and None not in metered
    return {
        "cost_usd": _spent(calls),
        "cost_source": "metered" if is_metered else "billed" if is_billed else "priced",
        "priced_usd": sum((call.priced_usd for call in calls), Decimal(0)),
        "billed_usd": sum(filter(None, billed), Decimal(0)) if is_billed else None,
        "metered_usd": sum(filter(None, metered), Decimal(0)) if is_metered else None,
    }


def _used(calls: Sequence[Call]) -> dict[str, Any]:
    usage = total([call.usage for call in calls])
    spoke = [call for call in calls if call.generation_ms]
    generation_ms = sum(call.generation_ms or 0 for call in spoke)
    output = sum(call.usage.output_tokens or 0 for call in spoke)
    return {
        **dict(usage),
        "input_tokens": usage.input_tokens or 0,
        "output_tokens": usage.output_tokens or 0,
        "requests": len(calls),
        "turns": len(calls),
        "tool_calls": sum(call.tool_calls for call in calls),
        "usage_complete": not any(call.estimated for call in calls),
        "first_token_ms": next((call.first_token_ms for call in calls if call.first_token_ms is not None), None),
        "generation_ms": generation_ms or None,
        "tokens_per_sec": output / generation_ms * 1000 if generation_ms else None,
        "model_reported": next((call.model_reported for call in calls if call.model_reported), None),
    }


def _record(calls: Sequence[Call], ending: Ending, rest: dict[str, Any]) -> Attempt:
    grade = ending.grade
    graded = grade is not None and ending.status not in ("fault", "interrupted")
    return Attempt(
        **{
            **_money(calls),
            **_used(calls),
            **rest,
            "status": ending.status,
            "passed": grade.passed if graded and grade else None,
            "score": grade.score if graded and grade else None,
            "scores": dict(grade.scores) if graded and grade else {},
            "failure": ending.failure or (grade.failure if grade else None),
            "flags": ["spend_estimated"] if any(call.estimated for call in calls) else [],
        }
    )


def _fault(call: Call, common: dict[str, Any], retry: int) -> Attempt:
    """The record of a request that was broken and sent again: what it cost is a fault's, not the strategy's."""
    failure = call.broken.failure if call.broken else "provider_error"
    duration_ms = (call.ended_s - call.started) * 1000 if call.ended_s else None
    return _record([call], Ending("fault", failure), {**common, "retry": retry, "duration_ms": duration_ms})


def _trace(record: Attempt, ending: Ending, asking: Asking, grading: Sequence[Call]) -> dict[str, Any]:
    trace: dict[str, Any] = {
        "attempt": record.id,
        "answer": ending.answer,
        "extracted": ending.grade.extracted if ending.grade else None,
        "calls": [call.trace() for call in asking.calls],
    }
    if ending.message:
        trace["message"] = ending.message
    if asking.broken:
        trace["broken"] = [call.trace() for call in asking.broken]
    if grading:
        trace["grading"] = [call.trace() for call in grading]
    return trace
