"""The Python API: load attempts from anywhere, ask the questions that the command asks, get typed answers.

import costpass

ledger = costpass.load("ledgers/mine")
ledger.summary().strategies[0].cost_of_pass_usd.value
ledger.compare(baseline="baseline", by="mode").against[0].delta.low
"""

import json
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from costpass.analysis import compare as compare_arms
from costpass.analysis import frontier as frontier_of
from costpass.analysis import pareto as pareto_of
from costpass.analysis import risk as risk_of
from costpass.analysis import summary as summary_of
from costpass.analysis.compare import Comparison
from costpass.analysis.context import Context, load_context
from costpass.analysis.frontier import Essentialness, Frontier, HalfLife, Options, Release
from costpass.analysis.pareto import Pareto
from costpass.analysis.risk import RiskReport
from costpass.analysis.summary import Summary
from costpass.attempt import Attempt
from costpass.errors import CostpassError
from costpass.ledger.cells import Unit, unit
from costpass.ledger.importers.importing import Tally
from costpass.ledger.importers.protocol import Settings
from costpass.ledger.opening import Opened, open_sources
from costpass.pricing import PriceBook


def load(source: Any, *, prices: Sequence[str | Path] = (), threshold: float | None = None) -> "Attempts":
    """Attempts from a path, a glob or a list of these (ledgers or logs of other tools), from records, or from a frame.

    Records are mappings with the record's field names, or names that are guessed as in a CSV; `Attempt`s are taken as
    they are. A frame is a Polars or pandas one.

    >>> rows = [{"problem": "p", "model": "m", "passed": True, "cost_usd": 0.5},
    ...         {"problem": "q", "model": "m", "passed": False, "cost_usd": 0.25}]
    >>> load(rows).summary().total.cost_of_pass_usd.value
    0.75
    """
    settings = Settings(book=PriceBook.load(*map(Path, prices)), threshold=threshold)
    stack = ExitStack()
    try:
        names = _names(source, stack)
        opened = open_sources(names, stack, settings=settings)
    except BaseException:
        stack.close()
        raise
    return Attempts(opened, stack, settings.book)


def run(experiment: str | Path, *, output: str | Path | None = None, **overrides: Any) -> "Attempts":
    """Runs an experiment, or what of it is not in its ledger yet, and opens the ledger.

    `overrides` are those of the command: sample, repetitions, concurrency, base_url, data, prices.
    """
    from costpass.runs.events import Unwatched
    from costpass.runs.experiment import load_experiment
    from costpass.runs.preparing import Overrides, prepare
    from costpass.runs.running import LEDGERS, run_plan

    document, folder = load_experiment(experiment)
    place = Path(output) if output is not None else LEDGERS / document.experiment
    run_plan(prepare(document, folder, Overrides(**overrides)), place, Unwatched())
    return load(place)


class Attempts:
    """Attempts, open to be asked about. Nothing is held in memory; files that were made to read them go with this."""

    def __init__(self, opened: Opened, stack: ExitStack, book: PriceBook) -> None:
        self._scan = opened.scan
        self._contexts = opened.contexts
        self._book = book
        self._close = weakref.finalize(self, stack.close)
        #: What came of reading a log: how many rows, how many rejected, and why. None for a ledger.
        self.imported: Tally | None = opened.imported
        self.notes = list(opened.notes)

    def close(self) -> None:
        """Lets go of the files. Also done when this is garbage."""
        self._close()

    def __enter__(self) -> "Attempts":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Any:
        from costpass.ledger.queries import attempts

        return attempts(self._scan)

    def summary(self, by: str | Sequence[str] = "strategy", *, context: Any = None, **options: Any) -> Summary:
        """What a correct answer cost: attempts, passes, spend, cost of pass with intervals, efficiency."""
        return summary_of.summary(self._scan, _fields(by), context=self._told(context), **options)

    def compare(
        self,
        *,
        baseline: str,
        against: Sequence[str] | None = None,
        by: str = "mode",
        cost: str | Unit = "usd",
        **options: Any,
    ) -> Comparison:
        """Did it help? Every arm against the one named as the baseline.

        >>> rows = [{"problem": f"p{i}", "model": "m", "mode": mode, "passed": True, "cost_usd": usd + i / 100}
        ...         for i in range(6) for mode, usd in (("a", 1.0), ("b", 0.5))]
        >>> result = load(rows).compare(baseline="a", against=["b"], by="mode").against[0]
        >>> result.verdict, round(result.delta.value, 2)
        ('cheaper', -0.49)
        """
        return compare_arms.compare(self._scan, baseline=baseline, against=against, by=by, cost=_unit(cost), **options)

    def frontier(
        self,
        *,
        experts: Mapping[str, float] | None = None,
        context: Any = None,
        by: str = "strategy",
        cost: str | Unit = "usd",
        where: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Frontier:
        """The least cost of pass over strategies and the expert, what it rests on, and what of it can be deployed."""
        chosen = _unit(cost)
        told = self._told(context).in_unit(chosen.name).with_experts(experts or {})
        return frontier_of.frontier(
            self._scan, by=by, context=told, book=self._book, cost=chosen, where=where, options=Options(**options)
        )

    def essentialness(self, **options: Any) -> dict[str | None, Sequence[Essentialness]]:
        """By benchmark: how much the frontier needs each strategy, family, technique and the expert."""
        return {row.benchmark: row.essentialness for row in self.frontier(**options).benchmarks}

    def trend(self, **options: Any) -> dict[str | None, tuple[Sequence[Release], HalfLife | None]]:
        """By benchmark: the frontier over release dates, and how long it takes to halve."""
        return {row.benchmark: (row.trend, row.half_life_months) for row in self.frontier(**options).benchmarks}

    def risk(
        self,
        by: str | Sequence[str] = "strategy",
        *,
        budgets: Sequence[float] = (),
        cost: str | Unit = "usd",
        **options: Any,
    ) -> RiskReport:
        """The distribution of spend until the first pass."""
        return risk_of.risk(self._scan, by=_fields(by), budgets=budgets, cost=_unit(cost), **options)

    def pareto(self, axes: Sequence[str] = ("cost", "time", "success"), **options: Any) -> Pareto:
        """Which strategies no other beats on every axis."""
        return pareto_of.pareto(self.summary(**options), axes)

    def _told(self, context: Any) -> Context:
        told = context if isinstance(context, Context) else load_context(context)
        return told.before(self._contexts)


def _names(source: Any, stack: ExitStack) -> list[str]:
    if isinstance(source, str | Path):
        return [str(source)]
    rows = _rows(source)
    if all(isinstance(row, str | Path) for row in rows):
        return [str(row) for row in rows]
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="costpass-")))
    place = folder / "records.jsonl"
    with place.open("wb") as file:
        for row in rows:
            file.write(
                row.to_line() if isinstance(row, Attempt) else json.dumps(dict(row), default=str).encode() + b"\n"
            )
    return [str(place)]


def _rows(source: Any) -> list[Any]:
    """Records of a list or of a frame, Polars or pandas."""
    if hasattr(source, "to_dicts"):
        return list(source.to_dicts())
    if hasattr(source, "to_dict") and hasattr(source, "columns"):
        # pandas writes NaN for what is not there.
        return [{k: v for k, v in row.items() if v == v and v is not None} for row in source.to_dict("records")]
    if isinstance(source, Iterable):
        rows = list(source)
        if rows and all(isinstance(row, str | Path | Attempt | Mapping) for row in rows):
            return rows
    raise CostpassError("load takes a path, paths, records with at least one row, attempts, or a data frame")


def _fields(by: str | Sequence[str]) -> list[str]:
    return [part.strip() for part in by.split(",")] if isinstance(by, str) else list(by)


def _unit(cost: str | Unit) -> Unit:
    return cost if isinstance(cost, Unit) else unit(cost)
