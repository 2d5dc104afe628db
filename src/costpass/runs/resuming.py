"""What an earlier run of the same experiment has left: which tries are done, what was spent, what was cut short."""

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from costpass.attempt import FAULT_STATUSES, Attempt, Usage, usd
from costpass.errors import CostpassError
from costpass.ledger.journal import repair
from costpass.ledger.requests import Cell, Known, known
from costpass.ledger.store import Ledger
from costpass.runs.plan import Plan, Strategy
from costpass.runs.standing import Standing, Tally
from costpass.strategies.lm.usage import total
from costpass.version import __version__


@dataclass
class Before:
    """The state that a run starts from."""

    #: For each try of the plan, 1 where it is done.
    done: bytearray
    #: For each try of the plan, the retry number that its next record will have.
    next_retry: "array[int]"
    standing: Standing
    #: Records of attempts that a crash cut short, to be written before anything else.
    interrupted: list[Attempt]


def look_back(ledger: Ledger, plan: Plan) -> Before:
    """Reads the ledger once, line by line; memory grows with the plan and not with the ledger."""
    repair(ledger.journal_path)
    tallies = {strategy.id: Tally(_planned(plan, strategy)) for strategy in plan.strategies}
    standing = Standing(tallies, plan.experiment.budgets.total_usd)
    before = Before(bytearray(plan.size), array("H", bytes(2 * plan.size)), standing, [])
    digests = {strategy.id: strategy.digest for strategy in plan.strategies}
    #: Records that the plan does not hold, such as those of a strategy since taken out: they are spent all the same.
    elsewhere: dict[Cell, int] = {}
    for record in attempts_of(ledger.journal_path):
        require_same_strategy(record.strategy, record.config_digest, digests)
        cell = (record.benchmark, record.problem, record.strategy, record.repetition)
        number = plan.number(cell)
        if number is None:
            elsewhere[cell] = max(elsewhere.get(cell, 0), record.retry + 1)
            gone = tallies.setdefault(record.strategy, Tally(0))
            gone.spent_usd += record.cost_usd or Decimal(0)
            gone.grading_usd += record.grading_usd or Decimal(0)
            continue
        before.next_retry[number] = max(before.next_retry[number], record.retry + 1)
        tallies[record.strategy].add(record)
        before.done[number] |= record.status not in FAULT_STATUSES
    for tally in tallies.values():
        tally.done_before = tally.done
    before.interrupted = list(_interrupted(ledger, plan, before, elsewhere))
    for record in before.interrupted:
        number = plan.number((record.benchmark, record.problem, record.strategy, record.repetition))
        if number is not None:
            before.next_retry[number] = max(before.next_retry[number], record.retry + 1)
        tallies.setdefault(record.strategy, Tally(0)).add(record)
    return before


def attempts_of(journal: Path) -> Iterator[Attempt]:
    """The attempts of a journal, one by one."""
    with journal.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield Attempt.model_validate_json(line)
            except ValueError:
                raise CostpassError(f"{journal}: line {number} is not an attempt; see costpass ledger check") from None


def _planned(plan: Plan, strategy: Strategy) -> int:
    return strategy.repetitions * sum(len(graded.benchmark.problems) for graded in plan.benchmarks)


def require_same_strategy(name: str, digest: str | None, digests: Mapping[str, str]) -> None:
    """Refuses attempts that were made when the strategy of that name was another one."""
    if digest is not None and digests.get(name, digest) != digest:
        raise CostpassError(
            f"the strategy {name!r} is not what it was when the ledger's attempts were made (its model, "
            "technique, prompt or settings have changed); give it another id, or write to another ledger with -o"
        )


def _interrupted(ledger: Ledger, plan: Plan, before: Before, elsewhere: dict[Cell, int]) -> Iterator[Attempt]:
    """One record for each attempt of which requests are known and no record is."""
    lost: dict[tuple[Cell, int], list[Known]] = {}
    for request in known(ledger.path):
        cell = request.begun.cell
        number = plan.number(cell)
        recorded = elsewhere.get(cell, 0) if number is None else before.next_retry[number]
        if request.begun.retry >= recorded:
            lost.setdefault((cell, request.begun.retry), []).append(request)
    for (cell, retry), requests in lost.items():
        yield _lost_record(plan, cell, retry, requests)


def _lost_record(plan: Plan, cell: Cell, retry: int, requests: list[Known]) -> Attempt:
    benchmark, problem, strategy_id, repetition = cell
    strategy = next((strategy for strategy in plan.strategies if strategy.id == strategy_id), None)
    answering = [request for request in requests if not request.begun.grading]
    grading = [request for request in requests if request.begun.grading]
    return Attempt(
        **{
            **dict(total([_usage(request) for request in answering])),
            "experiment": plan.experiment.experiment,
            "benchmark": benchmark,
            "problem": problem,
            "strategy": strategy_id,
            "repetition": repetition,
            "retry": retry,
            "model": strategy.address.model if strategy else None,
            "provider": (strategy.spec.provider or strategy.address.provider) if strategy else None,
            "technique": strategy.technique.name if strategy else None,
            "family": strategy.spec.family if strategy else None,
            "status": "interrupted",
            "failure": "crash",
            "flags": ["spend_estimated"] if any(_is_guess(request) for request in requests) else [],
            "cost_usd": usd(sum((_spent(request) for request in answering), Decimal(0))),
            "cost_source": "priced",
            "grading_usd": usd(sum((_spent(request) for request in grading), Decimal(0))) if grading else None,
            "requests": len(answering),
            "usage_complete": not any(_is_guess(request) for request in requests),
            "costpass_version": __version__,
            "config_digest": strategy.digest if strategy else None,
        }
    )


def _is_guess(request: Known) -> bool:
    return request.ended is None or request.ended.estimated


def _usage(request: Known) -> Usage:
    return request.ended.usage if request.ended else request.begun.expected


def _spent(request: Known) -> Decimal:
    """What a request cost; one that was under way is booked at what its like had cost until then."""
    return request.ended.usd if request.ended else request.begun.expected_usd
