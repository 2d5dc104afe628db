"""What did a correct answer cost? Attempts, passes, spend and pooled cost of pass, by strategy or any other field."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from costpass.ledger.queries import Figure, Sums, sums
from costpass.ledger.scan import Scan


@dataclass(frozen=True)
class Estimate:
    """A figure. `value` is None where it cannot be said, and where it is infinite."""

    value: float | None
    infinite: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"value": self.value, "infinite": self.infinite}


@dataclass(frozen=True)
class SummaryRow:
    """One strategy, or whatever the rows were grouped by."""

    by: Mapping[str, Any]
    #: Attempts at problems; faults are apart.
    attempts: int
    passed: int
    graded: int
    faults: int
    #: All that was spent and is known, faults included.
    spend_usd: Decimal
    fault_spend_usd: Decimal
    #: Of attempts and faults together, how many have a known cost.
    cost_known: int
    success_rate: Estimate
    mean_cost_usd: Estimate
    cost_of_pass_usd: Estimate

    @property
    def records(self) -> int:
        return self.attempts + self.faults

    @property
    def outcome_unknown(self) -> int:
        return self.attempts - self.graded


@dataclass(frozen=True)
class Summary:
    """The answer, row by row and in all."""

    by: Sequence[str]
    figure: Figure
    rows: Sequence[SummaryRow]
    total: SummaryRow
    notes: Sequence[str] = field(default_factory=tuple)


def summary(
    scan: Scan, by: Sequence[str] = ("strategy",), *, figure: Figure = "cost", where: Mapping[str, str] | None = None
) -> Summary:
    """Summarises the attempts of a scan."""
    cells = sums(scan, by, figure=figure, where=where)
    total = Sums({})
    for cell in cells:
        _add(total, cell)
    rows = [_row(cell) for cell in cells]
    whole = _row(total)
    return Summary(tuple(by), figure, rows, whole, _notes(rows, whole))


def cost_of_pass(cell: Sums) -> Estimate:
    """Dollars per pass: what was spent on attempts whose cost and outcome are both known, faults included, over the
    passes among them. Infinite where nothing passed, and not known where no cost is."""
    spend = cell.scored_spend_usd + cell.fault_spend_usd
    if not cell.scored:
        return Estimate(None)
    if not cell.scored_passed:
        # Nobody passed; where the spend is zero too there is nothing to divide, and no pass was ever bought.
        return Estimate(None, infinite=True)
    return Estimate(float(spend / cell.scored_passed))


def _row(cell: Sums) -> SummaryRow:
    return SummaryRow(
        by=cell.by,
        attempts=cell.attempts,
        passed=cell.passed,
        graded=cell.graded,
        faults=cell.faults,
        spend_usd=cell.spend_usd,
        fault_spend_usd=cell.fault_spend_usd,
        cost_known=cell.cost_known + cell.fault_cost_known,
        success_rate=Estimate(cell.passed / cell.graded if cell.graded else None),
        mean_cost_usd=Estimate(
            float((cell.spend_usd - cell.fault_spend_usd) / cell.cost_known) if cell.cost_known else None
        ),
        cost_of_pass_usd=cost_of_pass(cell),
    )


def _add(total: Sums, cell: Sums) -> None:
    for name in vars(total):
        if name != "by":
            setattr(total, name, getattr(total, name) + getattr(cell, name))


def _notes(rows: Sequence[SummaryRow], total: SummaryRow) -> list[str]:
    notes = []
    if total.cost_known < total.records:
        notes.append(
            f"cost known for {total.cost_known} of {total.records} attempts; "
            "cost of pass covers only those, and says nothing of the others"
        )
    if total.outcome_unknown:
        notes.append(f"outcome not known for {total.outcome_unknown} of {total.attempts} attempts")
    if total.faults:
        notes.append(
            f"{total.faults} fault{'s' if total.faults > 1 else ''} cost ${float(total.fault_spend_usd):.6g}: "
            "counted in spend and cost of pass, not as failures"
        )
    never = sum(row.cost_of_pass_usd.infinite for row in rows)
    if never and len(rows) > 1:
        notes.append(f"{never} of {len(rows)} rows never passed: their cost of pass is infinite")
    return notes
