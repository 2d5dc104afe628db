"""Did it help? Two arms on the same problems: the change in what a correct answer costs, and how sure that is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from costpass.analysis.arms import Arms, Change, Coverage, Measure, Method, Pair, ProblemChange, Slice, in_turn
from costpass.analysis.estimate import Estimate, Result, plain
from costpass.analysis.headline import Verdict, headline, remarks
from costpass.errors import CostpassError, did_you_mean
from costpass.ledger.cells import Cells, Unit, cells
from costpass.ledger.scan import Scan
from costpass.uncertainty import paired
from costpass.uncertainty.jackknife import t_quantile

_LEVEL = 0.95
_FEW_TO_RESAMPLE = 20


@dataclass(frozen=True)
class Against:
    """One arm against the baseline."""

    by: Mapping[str, Any]
    delta: Estimate
    p_value: float | None
    #: After Holm's correction for the number of arms.
    p_adjusted: float | None
    verdict: Verdict
    sentence: str
    success_rate_delta: Estimate
    spend_ratio: Estimate
    #: More attempts for each arm that would decide it four times out of five, if the change is what it seems.
    more_attempts: int | None
    overall: Change
    by_model: Sequence[Slice]
    by_capability: Sequence[Slice]
    by_problem: Sequence[ProblemChange]
    control: Change | None
    coverage: Coverage


@dataclass(frozen=True)
class Comparison(Result):
    """Every arm against the baseline."""

    baseline: str
    compared_by: str
    unit: str
    against: Sequence[Against]
    notes: Sequence[str] = field(default_factory=tuple)

    schema = "costpass.compare/1"

    def records(self) -> list[dict[str, Any]]:
        skipped = ("by_model", "by_capability", "by_problem", "overall", "control", "coverage")
        return [{key: value for key, value in plain(row).items() if key not in skipped} for row in self.against]


def compare(
    scan: Scan,
    *,
    baseline: str,
    against: Sequence[str] | None = None,
    by: str = "mode",
    cost: Unit | None = None,
    where: Mapping[str, str] | None = None,
    interval: Method = "linearised",
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compares arms, the values of field `by`, with the one named as the baseline.

    Control problems, on which nothing should change, are kept apart from the headline.
    """
    table = cells(scan, [by, "model"], cost=cost, where=where)
    arms = [str(arm) for arm in dict.fromkeys(arm for arm, _ in table.strategies) if arm is not None]
    others = _others(arms, baseline, against, by)
    measure = Measure(interval, resamples, seed)
    found = [_against(table, baseline, other, by, measure) for other in others]
    adjusted = _holm([arm.p_value for arm in found])
    found = [_corrected(arm, p, baseline, len(found)) for arm, p in zip(found, adjusted, strict=True)]
    return Comparison(baseline, by, cost.name if cost else "usd", found, _notes(found, interval))


def _others(arms: Sequence[str], baseline: str, against: Sequence[str] | None, by: str) -> list[str]:
    for name in (baseline, *(against or ())):
        if name not in arms:
            known = ", ".join(arms[:8]) or "none"
            raise CostpassError(f"no attempt has {by} {name!r}{did_you_mean(name, arms)} (there are: {known})")
    others = [arm for arm in (against or arms) if arm != baseline]
    if not others:
        raise CostpassError(f"there is nothing to compare {baseline!r} with: no attempt has another {by}")
    return others


def _against(table: Cells, baseline: str, other: str, by: str, measure: Measure) -> Against:
    pair = Pair(table, baseline, other, measure)
    main = ~table.control
    arms, overall = pair.change(main)
    if not arms.clusters:
        raise CostpassError(
            f"{baseline!r} and {other!r} have no problem in common, so they cannot be compared (what counts are "
            "attempts with a known cost and outcome, faults and control problems apart)"
        )
    verdict = _verdict(overall.delta)
    more = _more_attempts(overall, arms)
    return Against(
        by={by: other},
        delta=overall.delta,
        p_value=measure.p_value(arms),
        p_adjusted=None,
        verdict=verdict,
        sentence=headline(other, baseline, overall, verdict, more),
        success_rate_delta=overall.success_rate_delta,
        spend_ratio=overall.spend_ratio,
        more_attempts=more,
        overall=overall,
        by_model=_by_model(pair, main, overall),
        by_capability=pair.slices(main, table.capability),
        by_problem=pair.problems(),
        control=pair.change(table.control)[1] if table.control.any() else None,
        coverage=pair.coverage(),
    )


def _by_model(pair: Pair, problems: Any, overall: Change) -> list[Slice]:
    """The change on each model; with one model there is nothing more to work out."""
    if len(pair.models) == 1:
        return [Slice(pair.models[0], overall)]
    return [Slice(model, pair.change(problems, model)[1]) for model in pair.models]


def _corrected(arm: Against, p_adjusted: float | None, baseline: str, arms: int) -> Against:
    """Of several arms, one is called cheaper or dearer only if that stands after the correction for their number."""
    stands = arms == 1 or p_adjusted is None or p_adjusted <= 1 - _LEVEL
    if stands or arm.verdict == "not decided":
        return replace(arm, p_adjusted=p_adjusted)
    name = str(next(iter(arm.by.values())))
    sentence = headline(name, baseline, arm.overall, "not decided", None, corrected_for=arms)
    return replace(arm, p_adjusted=p_adjusted, verdict="not decided", sentence=sentence)


def _verdict(delta: Estimate) -> Verdict:
    if delta.high is not None and delta.high < 0:
        return "cheaper"
    if delta.low is not None and delta.low > 0:
        return "dearer"
    return "not decided"


def _more_attempts(overall: Change, arms: Arms) -> int | None:
    """More attempts of each arm that would decide it, if the change is what it seems."""
    if _verdict(overall.delta) != "not decided" or overall.delta.value is None or arms.clusters < 2:
        return None
    needed = paired.clusters_needed(*paired.paired_log_ratio(*in_turn(arms.cost, arms.passes)), level=_LEVEL)
    # Few clusters need more than a normal distribution says, by the square of how much wider their t quantile is.
    wider = float(t_quantile(np.array(arms.clusters), _LEVEL)) / 1.959964
    if not math.isfinite(needed * wider):
        return None
    return max(1, math.ceil(max(overall.attempts) * (needed * wider**2 / arms.clusters - 1)))


def _holm(p_values: Sequence[float | None]) -> list[float | None]:
    known = [p for p in p_values if p is not None]
    adjusted = iter(paired.holm(np.array(known, dtype=np.float64))) if known else iter(())
    return [None if p is None else float(next(adjusted)) for p in p_values]


def _notes(found: Sequence[Against], interval: Method) -> list[str]:
    notes = []
    if interval == "bootstrap" and min(arm.overall.problems for arm in found) < _FEW_TO_RESAMPLE:
        notes.append("resampling so few problems gives intervals that are too narrow; the linearised ones hold")
    for arm in found:
        notes += remarks(str(next(iter(arm.by.values()))), arm.overall, arm.coverage)
    return notes
