"""Where a run stands: counts and spend for each strategy, kept up as attempts end."""

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal

from costpass.attempt import FAULT_STATUSES, Attempt


@dataclass
class Tally:
    """One strategy so far."""

    planned: int
    done: int = 0
    #: Done in an earlier run of the same experiment.
    done_before: int = 0
    passed: int = 0
    graded: int = 0
    spent_usd: Decimal = Decimal(0)
    grading_usd: Decimal = Decimal(0)
    failures: Counter[str] = field(default_factory=Counter)
    faults: int = 0
    #: What the provider said of the last attempt that ended in a fault.
    last_fault: str | None = None
    #: Why no more of its attempts are made.
    halted: str | None = None

    @property
    def pass_rate(self) -> float | None:
        return self.passed / self.graded if self.graded else None

    @property
    def cost_of_pass_usd(self) -> Decimal | None:
        return self.spent_usd / self.passed if self.passed else None

    def add(self, record: Attempt) -> None:
        self.spent_usd += record.cost_usd or Decimal(0)
        self.grading_usd += record.grading_usd or Decimal(0)
        if record.status in FAULT_STATUSES:
            self.faults += 1
            return
        self.done += 1
        self.graded += record.passed is not None
        self.passed += record.passed is True
        if record.failure:
            self.failures[record.failure] += 1


@dataclass
class Standing:
    """The whole run so far."""

    tallies: dict[str, Tally]
    total_cap_usd: Decimal | None = None
    under_way: int = 0
    rate_limited: int = 0

    @property
    def planned(self) -> int:
        return sum(tally.planned for tally in self.tallies.values())

    @property
    def done(self) -> int:
        return sum(tally.done for tally in self.tallies.values())

    @property
    def done_before(self) -> int:
        return sum(tally.done_before for tally in self.tallies.values())

    @property
    def faults(self) -> int:
        return sum(tally.faults for tally in self.tallies.values())

    @property
    def spent_usd(self) -> Decimal:
        return sum((tally.spent_usd + tally.grading_usd for tally in self.tallies.values()), Decimal(0))
