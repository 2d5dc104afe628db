"""What an estimate takes from attempts that were made already: which are done, and what they cost."""

from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from costpass.ledger.opening import open_sources
from costpass.ledger.queries import FAULTS
from costpass.ledger.store import Ledger
from costpass.runs.plan import Plan
from costpass.runs.recording import require_ledger_of
from costpass.runs.resuming import require_same_strategy

_CELL = "strategy, benchmark, problem, repetition"
_SPENT = "coalesce(cost_usd, 0) + coalesce(grading_usd, 0)"


@dataclass
class Past:
    """The attempts of one strategy at one benchmark."""

    #: Those that the plan holds, and need not be made again.
    done: int = 0
    #: Those whose cost is known, and that cost.
    priced: int = 0
    usd: Decimal = Decimal(0)

    @property
    def mean_usd(self) -> Decimal | None:
        return self.usd / self.priced if self.priced else None


@dataclass
class History:
    """What a ledger holds."""

    #: By strategy and benchmark.
    parts: dict[tuple[str, str], Past] = field(default_factory=dict)
    spent_by_strategy: dict[str, Decimal] = field(default_factory=dict)

    @property
    def spent_usd(self) -> Decimal:
        return sum(self.spent_by_strategy.values(), Decimal(0))


def read_history(path: Path | None, plan: Plan, *, unsure: Collection[str] = ()) -> History:
    """The ledger's attempts, in one pass; what `unsure` strategies are is not wholly known, and not compared."""
    history = History()
    if path is None or not Ledger.is_ledger(path):
        return history
    require_ledger_of(plan, Ledger(path))
    digests = {strategy.id: strategy.digest for strategy in plan.strategies if strategy.id not in unsure}
    for strategy, benchmark, problem, repetition, digest, done, priced, usd, spent in _cells(path):
        require_same_strategy(strategy, digest, digests)
        history.spent_by_strategy[strategy] = history.spent_by_strategy.get(strategy, Decimal(0)) + (spent or 0)
        past = history.parts.setdefault((strategy, benchmark or ""), Past())
        past.done += bool(done) and _is_planned(plan, benchmark, problem, strategy, repetition)
        past.priced += priced
        past.usd += usd or 0
    return history


def _cells(path: Path) -> list[tuple[str, str | None, str, int | None, str | None, bool, int, Decimal, Decimal]]:
    columns = ["strategy", "benchmark", "problem", "repetition", "config_digest", "status", "cost_usd", "grading_usd"]
    counted = f"FILTER (WHERE status NOT IN {FAULTS})"
    with ExitStack() as stack:
        return open_sources([str(path)], stack).scan.query(
            columns,
            f"SELECT {_CELL}, max(config_digest), bool_or(status NOT IN {FAULTS}), count(cost_usd) {counted}, "
            f"sum({_SPENT}) {counted}, sum({_SPENT}) FROM {{attempts}} GROUP BY {_CELL} ORDER BY {_CELL}",
        )


def _is_planned(plan: Plan, benchmark: str | None, problem: str, strategy: str, repetition: int | None) -> bool:
    graded = next((graded for graded in plan.benchmarks if graded.benchmark.name == benchmark), None)
    if graded is not None and not graded.benchmark.problems:
        # Its problems could not be loaded, so all that is there is taken to be of them.
        repetitions = next((one.repetitions for one in plan.strategies if one.id == strategy), 0)
        return repetition is not None and repetition < repetitions
    return plan.number((benchmark, problem, strategy, repetition)) is not None
