"""The plan of a run: what an experiment comes to once its benchmarks are read and its strategies are priced."""

import hashlib
import json
import random
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from costpass.benchmarks.graders.protocol import Grader
from costpass.benchmarks.problem import Benchmark, Problem
from costpass.ledger.requests import Cell
from costpass.pricing import PriceBook, Quote
from costpass.runs.experiment import Experiment, StrategySpec
from costpass.strategies.lm.endpoint import Address
from costpass.strategies.lm.techniques.registry import BuiltTechnique

_SEED_BITS = 31


@dataclass(frozen=True)
class Strategy:
    """One way to attempt a problem, ready to be run."""

    spec: StrategySpec
    address: Address
    technique: BuiltTechnique
    quote: Quote
    #: The cap of one attempt; None where there is none.
    cap_usd: Decimal | None
    repetitions: int

    @property
    def id(self) -> str:
        return self.spec.id

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.spec.settings

    @cached_property
    def digest(self) -> str:
        """What the strategy is: changes with anything that changes what is sent, and with nothing else."""
        parts = {
            "model": str(self.address),
            "base_url": self.spec.base_url,
            "technique": self.technique.describe(),
            "settings": self.settings,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Graded:
    """A benchmark with the graders of its problems."""

    benchmark: Benchmark
    grader: Grader
    #: Graders of problems that are graded unlike the rest.
    own: Mapping[str, Grader]

    def grader_of(self, problem: Problem) -> Grader:
        return self.own.get(problem.id, self.grader)


@dataclass(frozen=True)
class Try:
    """One cell of the plan: a strategy, a problem, a repetition."""

    index: int
    strategy: Strategy
    graded: Graded
    problem: Problem
    repetition: int

    @property
    def cell(self) -> Cell:
        return (self.graded.benchmark.name, self.problem.id, self.strategy.id, self.repetition)


class Plan:
    """Every try of an experiment, numbered, and the order in which they are made."""

    def __init__(
        self,
        experiment: Experiment,
        book: PriceBook,
        benchmarks: Sequence[Graded],
        strategies: Sequence[Strategy],
        *,
        base_url: str | None = None,
    ) -> None:
        self.experiment = experiment
        #: Where every request goes, whatever its provider.
        self.base_url = base_url
        self.book = book
        self.benchmarks = benchmarks
        self.strategies = strategies
        self._problems = [(graded, problem) for graded in benchmarks for problem in graded.benchmark.problems]
        self._problem_numbers = {
            (graded.benchmark.name, problem.id): number for number, (graded, problem) in enumerate(self._problems)
        }
        self._starts: dict[str, int] = {}
        start = 0
        for strategy in strategies:
            self._starts[strategy.id] = start
            start += len(self._problems) * strategy.repetitions
        self.size = start
        self._by_id = {strategy.id: strategy for strategy in strategies}

    def number(self, cell: Cell) -> int | None:
        """The number of a cell, or None where the plan does not hold it."""
        benchmark, problem, strategy_id, repetition = cell
        strategy = self._by_id.get(strategy_id)
        position = self._problem_numbers.get((benchmark or "", problem))
        if strategy is None or position is None or repetition is None or repetition >= strategy.repetitions:
            return None
        return self._starts[strategy_id] + position * strategy.repetitions + repetition

    def order(self, strategies: Sequence[Strategy]) -> "array[int]":
        """The numbers of these strategies' tries in an order by chance, the same for the same seed."""
        numbers = array("L")
        for strategy in strategies:
            start = self._starts[strategy.id]
            numbers.extend(range(start, start + len(self._problems) * strategy.repetitions))
        random.Random(self.experiment.seed).shuffle(numbers)
        return numbers

    def try_(self, number: int) -> Try:
        """The try of this number."""
        strategy = next(s for s in reversed(self.strategies) if self._starts[s.id] <= number)
        position, repetition = divmod(number - self._starts[strategy.id], strategy.repetitions)
        graded, problem = self._problems[position]
        return Try(number, strategy, graded, problem, repetition)

    def seed(self, one: Try) -> int:
        """The try's own seed, which does not depend on what else the experiment holds."""
        benchmark, problem, strategy, repetition = one.cell
        text = f"{self.experiment.seed}\x1f{benchmark}\x1f{problem}\x1f{strategy}\x1f{repetition}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> (64 - _SEED_BITS)
