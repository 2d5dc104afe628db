"""Replicates of a frontier: problems drawn anew, and attempts within them, and every figure computed on each draw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from costpass.analysis.market import Techniques
from costpass.economics import frontier as economics
from costpass.economics.cost_of_pass import cost_of_pass, success, tries
from costpass.ledger.cells import Array, Cells
from costpass.uncertainty.resampling import two_level


class _Options(Protocol):
    @property
    def measure(self) -> str: ...
    @property
    def resamples(self) -> int: ...
    @property
    def seed(self) -> int: ...


@dataclass(frozen=True)
class Replicates:
    """Figures by replicate: arrays whose first axis is the replicate."""

    value: Array
    lm: Array
    single: Array
    essential: Array
    family: Array
    expert: Array
    path: Array
    technique: Array


def replicates(
    part: Cells,
    expert: float | None,
    options: _Options,
    families: Mapping[str, Sequence[int]],
    order: Sequence[Sequence[int]],
    techniques: Techniques,
) -> Replicates:
    """Draws replicates chunk by chunk, so that memory stays bounded."""
    drawn = two_level(
        part.attempts,
        part.passes,
        part.pass_cost,
        part.pass_cost_sq,
        part.fail_cost,
        part.fail_cost_sq,
        resamples=options.resamples,
        rng=np.random.default_rng(options.seed),
        group=part.cluster,
    )
    chunks = [
        _figures(each.mean_cost, each.success, part, expert, options.measure, families, order, techniques)
        for each in drawn
    ]
    return Replicates(*(np.concatenate(figures) for figures in zip(*chunks, strict=True)))


def _figures(
    mean_cost: Array,
    rate: Array,
    part: Cells,
    expert: float | None,
    measure: str,
    families: Mapping[str, Sequence[int]],
    order: Sequence[Sequence[int]],
    techniques: Techniques,
) -> tuple[Array, ...]:
    if measure != "pass":
        tried = np.broadcast_to(np.median(part.attempts, axis=1)[None, :, None], rate.shape)
        rate = success(tried, np.rint(rate * tried), measure=measure)
    v = cost_of_pass(tries(measure) * mean_cost, rate)
    size = v.shape[0]
    lm = economics.frontier(v)
    value = economics.value(lm if expert is None else np.minimum(lm, expert))
    single = v if expert is None else np.minimum(v, expert)
    family = [economics.essentialness(v, list(members), expert) for members in families.values()]
    technique = [economics.technique_gain(v[:, base], v[:, using], expert) for base, using in techniques.values()]
    return (
        value,
        economics.value(lm),
        _mean_of_tried(single),
        economics.single_essentialness(v, expert),
        np.stack(family, axis=-1) if family else np.zeros((size, 0)),
        np.full(size, np.nan) if expert is None else economics.expert_essentialness(v, expert),
        economics.over_time(v, [list(rows) for rows in order], expert)[:, 1:] if order else np.zeros((size, 0)),
        np.stack(technique, axis=-1) if technique else np.zeros((size, 0)),
    )


def _mean_of_tried(single: Array) -> Array:
    """The mean over the problems that a strategy was tried on; nan where a draw holds none of them."""
    tried = ~np.isnan(single)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(tried, single, 0.0).sum(axis=-1) / tried.sum(axis=-1), dtype=np.float64)


def quantiles(sample: Array, level: float = 0.95) -> tuple[float | None, float | None]:
    """The middle part of a sample; None where there is none, or a bound is infinite."""
    known = sample[~np.isnan(sample)]
    if known.size < 20:
        return None, None
    tail = (1 - level) / 2
    low, high = np.quantile(known, [tail, 1 - tail], method="nearest")
    return (float(low) if np.isfinite(low) else None), (float(high) if np.isfinite(high) else None)
