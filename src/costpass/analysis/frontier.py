"""Where does the next dollar buy most? The frontier cost of pass of every benchmark, what it rests on, and what of it
can be deployed."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np

from costpass.analysis.context import Context
from costpass.analysis.deployable import Deployable, best_cascade, best_single
from costpass.analysis.estimate import Estimate, Result, plain
from costpass.analysis.market import Market, Techniques, market
from costpass.analysis.replicates import Replicates, quantiles, replicates
from costpass.analysis.wording import label
from costpass.economics import frontier as economics
from costpass.economics.cost_of_pass import cost_of_pass, success, tries
from costpass.economics.optimism import frontier_interval
from costpass.economics.trend import fit_decay, fit_decay_many
from costpass.ledger.cells import Array, Cells, Unit, cells
from costpass.ledger.scan import Scan
from costpass.pricing import PriceBook

_DAYS_PER_MONTH = 30.4375


@dataclass(frozen=True)
class Single:
    """What a benchmark would cost with one strategy and the expert, over the problems it was tried on."""

    strategy: str
    frontier_usd: Estimate
    solved: int
    tried: int


@dataclass(frozen=True)
class Essentialness:
    """By how much of a hundred percent the frontier would rise without a subset, measured on that higher frontier."""

    subset: str
    kind: str
    percent: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Release:
    """The frontier once the strategies of a date have joined."""

    date: date | None
    added: Sequence[str]
    frontier_usd: Estimate
    relative_gain: float | None


@dataclass(frozen=True)
class HalfLife:
    """How long the frontier takes to halve on its way to where it levels off; or why that cannot be said."""

    value: float | None
    low: float | None
    high: float | None
    identified: bool
    reason: str
    a: float | None
    b: float | None
    c: float | None


@dataclass(frozen=True)
class BenchmarkFrontier:
    """One benchmark."""

    benchmark: str | None
    problems: int
    expert_usd: float | None
    frontier_usd: Estimate
    lm_frontier_usd: Estimate
    #: By how much the frontier is estimated to be too low: the least of noisy figures is optimistic.
    optimism_usd: float | None
    unsolved: Sequence[str]
    single: Sequence[Single]
    essentialness: Sequence[Essentialness]
    trend: Sequence[Release]
    half_life_months: HalfLife | None
    best_single: Deployable | None
    best_cascade: Deployable | None


@dataclass(frozen=True)
class Frontier(Result):
    """Every benchmark."""

    unit: str
    success_measure: str
    resamples: int
    benchmarks: Sequence[BenchmarkFrontier]
    notes: Sequence[str] = field(default_factory=tuple)

    schema = "costpass.frontier/1"

    def records(self) -> list[dict[str, Any]]:
        skipped = ("single", "essentialness", "trend", "half_life_months", "best_single", "best_cascade", "unsolved")
        return [{key: value for key, value in plain(row).items() if key not in skipped} for row in self.benchmarks]


@dataclass(frozen=True)
class Options:
    """How a frontier is estimated."""

    measure: str = "pass"
    resamples: int = 1000
    seed: int = 0
    verification: float = 0.0
    base_technique: str | None = None


def frontier(
    scan: Scan,
    *,
    by: str = "strategy",
    context: Context | None = None,
    book: PriceBook | None = None,
    cost: Unit | None = None,
    where: Mapping[str, str] | None = None,
    options: Options | None = None,
) -> Frontier:
    """The frontier of every benchmark in a scan."""
    chosen = options or Options()
    told = context or Context()
    table = cells(scan, [by], cost=cost, where=where)
    about = market(scan, by, table, told, book or PriceBook(), where=where)
    found, short = [], 0
    for name in table.benchmarks:
        part = table.of_benchmark(name)
        part = part.where(problems=part.attempts.sum(axis=0) > 0)
        enough = part.attempts.max(axis=0, initial=0) >= tries(chosen.measure)
        short += int((~enough).sum())
        part = part.where(problems=enough)
        part = part.where(strategies=np.flatnonzero(part.attempts.sum(axis=1) > 0).tolist())
        part = part.with_faults_shared()
        if part.problems:
            found.append(_benchmark(name, part, about, told.expert_usd(name), chosen))
    return Frontier(
        cost.name if cost else "usd",
        chosen.measure,
        chosen.resamples,
        found,
        _notes(found, about, short, chosen.measure),
    )


def _benchmark(
    name: str | None, part: Cells, about: Market, expert: float | None, options: Options
) -> BenchmarkFrontier:
    v = _table(part, options.measure)
    lm = economics.frontier(v)
    names = [label(strategy) for (strategy,) in part.strategies]
    families = about.families(names)
    releases = about.releases(names)
    techniques = about.techniques(names, options.base_technique)
    sample = replicates(part, expert, options, families, [rows for _, rows in releases], techniques)
    with_expert, too_low = _with_expert(v, part, expert, sample, options)
    return BenchmarkFrontier(
        benchmark=name,
        problems=len(part.problems),
        expert_usd=expert,
        frontier_usd=with_expert,
        lm_frontier_usd=_estimate(float(economics.value(lm)), sample.lm),
        optimism_usd=too_low,
        unsolved=[problem for (_, problem), never in zip(part.problems, np.isinf(lm), strict=True) if never],
        single=_singles(v, names, expert, sample),
        essentialness=_essentialness(v, names, families, techniques, expert, sample),
        trend=_trend(v, releases, names, expert, sample),
        half_life_months=_half_life(v, releases, expert, sample),
        best_single=best_single(part, expert, options.verification, options.seed),
        best_cascade=best_cascade(part, expert, options.verification, options.seed),
    )


def _with_expert(
    v: Array, part: Cells, expert: float | None, sample: Replicates, options: Options
) -> tuple[Estimate, float | None]:
    """The headline with the interval of the true frontier, and by how much the headline seems too low."""
    value = float(economics.value(economics.frontier(v, expert)))
    if options.measure != "pass":
        return _estimate(value, sample.value), None
    bounds = frontier_interval(
        part.attempts,
        part.passes,
        part.pass_cost,
        part.pass_cost_sq,
        part.fail_cost,
        part.fail_cost_sq,
        expert=expert,
        rng=np.random.default_rng(options.seed),
        resamples=options.resamples,
        group=part.cluster,
    )
    return _within(value, bounds.low, bounds.high), _known(bounds.optimism)


def _table(part: Cells, measure: str) -> Array:
    """Cost of pass of every strategy at every problem."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(part.attempts > 0, part.cost / part.attempts, np.nan)
    return cost_of_pass(tries(measure) * mean, success(part.attempts, part.passes, measure=measure))


def _singles(v: Array, names: Sequence[str], expert: float | None, sample: Replicates) -> list[Single]:
    rows = []
    for row, name in enumerate(names):
        tried = ~np.isnan(v[row])
        value = float(economics.value(economics.frontier(v[[row]][:, tried], expert))) if tried.any() else math.nan
        solved = int((np.isfinite(v[row])).sum())
        rows.append(Single(name, _estimate(value, sample.single[:, row]), solved, int(tried.sum())))
    return sorted(rows, key=lambda row: (row.frontier_usd.value is None, row.frontier_usd.value or 0.0, row.strategy))


def _essentialness(
    v: Array,
    names: Sequence[str],
    families: Mapping[str, Sequence[int]],
    techniques: Techniques,
    expert: float | None,
    sample: Replicates,
) -> list[Essentialness]:
    singles = economics.single_essentialness(v, expert)
    rows = [_share(name, "strategy", singles[row], sample.essential[:, row]) for row, name in enumerate(names)]
    for place, (family, members) in enumerate(families.items()):
        share = economics.essentialness(v, list(members), expert)
        rows.append(_share(family, "family", float(share), sample.family[:, place]))
    if expert is not None:
        rows.append(_share("expert", "expert", float(economics.expert_essentialness(v, expert)), sample.expert))
    for place, (technique, (base, using)) in enumerate(techniques.items()):
        share = economics.technique_gain(v[list(base)], v[list(using)], expert)
        rows.append(_share(technique, "technique", float(share), sample.technique[:, place]))
    return rows


def _share(subset: str, kind: str, share: float, sample: Array) -> Essentialness:
    low, high = quantiles(sample)
    return Essentialness(
        subset,
        kind,
        _known(100 * float(share)),
        None if low is None else min(100 * low, 100 * float(share)),
        None if high is None else max(100 * high, 100 * float(share)),
    )


def _trend(
    v: Array,
    releases: Sequence[tuple[date, Sequence[int]]],
    names: Sequence[str],
    expert: float | None,
    sample: Replicates,
) -> list[Release]:
    if not releases:
        return []
    values = economics.over_time(v, [rows for _, rows in releases], expert)
    gains = economics.relative_gain(values)
    rows = [] if expert is None else [Release(None, ["expert"], Estimate.point(float(values[0])), None)]
    for place, (day, joining) in enumerate(releases):
        estimate = _estimate(float(values[place + 1]), sample.path[:, place])
        rows.append(Release(day, [names[row] for row in joining], estimate, _known(float(gains[place]))))
    return rows


def _half_life(
    v: Array, releases: Sequence[tuple[date, Sequence[int]]], expert: float | None, sample: Replicates
) -> HalfLife | None:
    if not releases:
        return None
    months = np.array([(day - releases[0][0]).days / _DAYS_PER_MONTH for day, _ in releases])
    values = economics.over_time(v, [rows for _, rows in releases], expert)[1:]
    if not np.isfinite(values).all():
        return HalfLife(
            None, None, None, False, "the frontier is infinite at first: no expert's price is known", *[None] * 3
        )
    fit = fit_decay(months, values)
    if not fit.identified:
        return HalfLife(None, None, None, False, fit.reason, *[None] * 3)
    drawn = fit_decay_many(months, sample.path)
    found = drawn[np.isfinite(drawn)]
    if len(found) < 0.9 * len(drawn):
        share = 1 - len(found) / len(drawn)
        reason = f"in {share:.0%} of the resamples no half-life could be told"
        return HalfLife(None, None, None, False, reason, _known(fit.a), _known(fit.b), _known(fit.c))
    low, high = quantiles(found)
    known = (_known(fit.a), _known(fit.b), _known(fit.c))
    return HalfLife(_known(fit.half_life_months), low, high, True, "", *known)


def _estimate(value: float, sample: Array) -> Estimate:
    low, high = quantiles(sample)
    return _within(value, math.nan if low is None else low, math.nan if high is None else high)


def _within(value: float, low: float, high: float) -> Estimate:
    """A figure and its bounds. The headline is the plug-in, which may lie below what resampling says of it."""
    if not math.isfinite(value):
        return Estimate(None, _known(low), None, infinite=math.isinf(value))
    if math.isnan(low) or math.isnan(high):
        return Estimate(value)
    return Estimate(value, min(value, low), _known(max(value, high)))


def _known(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def _notes(found: Sequence[BenchmarkFrontier], about: Market, short: int, measure: str) -> list[str]:
    notes = []
    if short:
        notes.append(f"{short} problems are left out: no strategy has the attempts there that {measure} takes")
    elif not found:
        notes.append("nothing can be said: no attempt has both a known cost and a known outcome")
    undated = sorted(name for name, trait in about.traits.items() if trait.released is None)
    if 0 < len(undated) < len(about.traits):
        few = f"{', '.join(undated[:3])}{' …' if len(undated) > 3 else ''}"
        notes.append(f"no trend where a strategy has no release date: {few}")
    for row in found:
        if row.expert_usd is None and row.unsolved:
            name, option = (row.benchmark, row.benchmark) if row.benchmark else ("all problems", "'*'")
            notes.append(
                f"{name}: infinite, as nobody solved {len(row.unsolved)} of {row.problems} problems "
                f"({', '.join(row.unsolved[:3])}{' …' if len(row.unsolved) > 3 else ''}) and no expert's price "
                f"is known (--expert {option}=USD)"
            )
    return notes
