"""Cells: the sufficient statistics of every strategy at every problem, as arrays, in one pass over the attempts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from costpass.errors import CostpassError, did_you_mean
from costpass.ledger.columns import literal, quoted, require_fields, sql_types
from costpass.ledger.queries import FAULTS, Figure, condition
from costpass.ledger.scan import Scan

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: What cells are made of, beside what they are grouped by and what they cost.
CELL_COLUMNS = ("benchmark", "problem", "group", "capability", "control", "status", "passed")

_MOST_CELLS = 20_000_000

_USAGE = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens", "output_tokens")
_ALL_TOKENS = " + ".join(f"coalesce({name}, 0)" for name in _USAGE)
_NAME = re.compile(r"^[a-z][a-z0-9_]*$")


@dataclass(frozen=True)
class Unit:
    """What an attempt's cost is counted in, as SQL over the record's columns."""

    name: str
    sql: str
    columns: tuple[str, ...]


def unit(name: str = "usd", *, figure: Figure = "cost", weights: Mapping[str, float] | None = None) -> Unit:
    """Dollars, seconds, tokens, any quantity that attempts carry, or a weighted sum of several of these."""
    if weights:
        parts = [(weight, unit(part)) for part, weight in weights.items()]
        sql = " + ".join(f"{float(weight)!r} * ({part.sql})" for weight, part in parts)
        return Unit(name, sql, tuple(dict.fromkeys(column for _, part in parts for column in part.columns)))
    if name == "usd":
        return Unit(name, f"{figure}_usd", (f"{figure}_usd",))
    if name == "seconds":
        return Unit(name, "duration_ms / 1000.0", ("duration_ms",))
    if name == "tokens":
        return Unit(
            name, f"CASE WHEN input_tokens IS NOT NULL AND output_tokens IS NOT NULL THEN {_ALL_TOKENS} END", _USAGE
        )
    if name in sql_types() and sql_types()[name] in ("BIGINT", "DOUBLE", "DECIMAL(18, 12)"):
        return Unit(name, quoted(name), (name,))
    if not _NAME.match(name):
        known = ("usd", "seconds", "tokens")
        raise CostpassError(
            f"there is no unit {name!r}{did_you_mean(name, known)}; a quantity's name is plain words_like_this"
        )
    return Unit(name, f"quantities[{literal(name)}]", ("quantities",))


@dataclass(frozen=True)
class Groups:
    """The cells that have attempts, one entry each, sorted by strategy and then problem.

    Sums are over attempts whose cost and outcome are both known; what faults cost is apart.
    """

    #: The values each strategy was grouped by.
    strategies: tuple[tuple[Any, ...], ...]
    #: Benchmark and problem.
    problems: tuple[tuple[str | None, str], ...]
    #: Which cluster a problem belongs to: its group, or itself.
    cluster: Ints
    capability: tuple[str | None, ...]
    control: npt.NDArray[np.bool_]
    #: The strategy and the problem of each entry.
    row: Ints
    col: Ints
    sums: Mapping[str, Array]

    @property
    def benchmarks(self) -> list[str | None]:
        """The benchmarks, in the order of their names."""
        return _benchmarks(self.problems)

    def entries(self, row: int) -> slice:
        """Where the entries of a strategy are."""
        return slice(*np.searchsorted(self.row, [row, row + 1]).tolist())

    def cells(self) -> "Cells":
        """The same as arrays of strategy × problem."""
        shape = (len(self.strategies), len(self.problems))
        if shape[0] * shape[1] > _MOST_CELLS:
            raise CostpassError(
                f"{shape[0]:,} groups × {shape[1]:,} problems are too many to compare; group by something coarser"
            )
        arrays = {}
        for name, values in self.sums.items():
            arrays[name] = np.zeros(shape)
            arrays[name][self.row, self.col] = values
        return Cells(self.strategies, self.problems, self.cluster, self.capability, self.control, **arrays)


@dataclass(frozen=True)
class Cells:
    """Arrays of strategy × problem over attempts whose cost and outcome are both known; faults' cost is apart."""

    #: The values each strategy was grouped by.
    strategies: tuple[tuple[Any, ...], ...]
    #: Benchmark and problem.
    problems: tuple[tuple[str | None, str], ...]
    #: Which cluster a problem belongs to: its group, or itself.
    cluster: Ints
    capability: tuple[str | None, ...]
    control: npt.NDArray[np.bool_]
    attempts: Array
    passes: Array
    pass_cost: Array
    pass_cost_sq: Array
    fail_cost: Array
    fail_cost_sq: Array
    fault_cost: Array

    @property
    def cost(self) -> Array:
        """All that was spent in a cell."""
        return self.pass_cost + self.fail_cost + self.fault_cost

    @property
    def benchmarks(self) -> list[str | None]:
        """The benchmarks, in the order of their names."""
        return _benchmarks(self.problems)

    def where(self, *, strategies: Sequence[int] | None = None, problems: npt.NDArray[Any] | None = None) -> "Cells":
        """Some of the strategies and problems."""
        rows = np.arange(len(self.strategies)) if strategies is None else np.asarray(strategies, dtype=np.int64)
        columns = np.arange(len(self.problems)) if problems is None else np.arange(len(self.problems))[problems]
        arrays = {name: getattr(self, name)[np.ix_(rows, columns)] for name in _ARRAYS}
        return Cells(
            strategies=tuple(self.strategies[row] for row in rows),
            problems=tuple(self.problems[column] for column in columns),
            cluster=np.unique(self.cluster[columns], return_inverse=True)[1].astype(np.int64),
            capability=tuple(self.capability[column] for column in columns),
            control=self.control[columns],
            **arrays,
        )

    def of_benchmark(self, benchmark: str | None) -> "Cells":
        return self.where(problems=np.array([name == benchmark for name, _ in self.problems], dtype=bool))

    def with_faults_shared(self) -> "Cells":
        """The same, with what faults cost in a cell spread evenly over its attempts."""
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where(self.attempts > 0, self.fault_cost / self.attempts, 0.0)
        fails = self.attempts - self.passes
        return replace(
            self,
            pass_cost=self.pass_cost + each * self.passes,
            pass_cost_sq=self.pass_cost_sq + 2 * each * self.pass_cost + each**2 * self.passes,
            fail_cost=self.fail_cost + each * fails,
            fail_cost_sq=self.fail_cost_sq + 2 * each * self.fail_cost + each**2 * fails,
            fault_cost=np.where(self.attempts > 0, 0.0, self.fault_cost),
        )

    def by_cluster(self, values: Array) -> Array:
        """Sums over the problems of each cluster: [strategy, problem] → [cluster, strategy]."""
        count = int(self.cluster.max()) + 1 if len(self.cluster) else 0
        sums = np.zeros((count, values.shape[0]))
        np.add.at(sums, self.cluster, values.T)
        return sums


_ARRAYS = ("attempts", "passes", "pass_cost", "pass_cost_sq", "fail_cost", "fail_cost_sq", "fault_cost")


def cells(
    scan: Scan, by: Sequence[str] = ("strategy",), *, cost: Unit | None = None, where: Mapping[str, str] | None = None
) -> Cells:
    """The cells of a scan as arrays. Rows and columns are sorted, so the same attempts give the same arrays."""
    return groups(scan, by, cost=cost, where=where).cells()


def groups(
    scan: Scan, by: Sequence[str] = ("strategy",), *, cost: Unit | None = None, where: Mapping[str, str] | None = None
) -> Groups:
    """The cells of a scan that have attempts, in one pass over the attempts."""
    names = require_fields(by)
    _gather(scan, names, cost or unit(), where)
    keys = ", ".join(quoted(name) for name in names)
    strategies = _rows(scan, f"SELECT DISTINCT {keys} FROM cells ORDER BY ALL NULLS FIRST")
    problems = _rows(
        scan,
        "SELECT benchmark, problem, min(cluster), min(capability), bool_or(control) FROM cells "
        "GROUP BY benchmark, problem ORDER BY benchmark NULLS FIRST, problem NULLS FIRST",
    )
    entries = _entries(scan, keys)
    sums = {name: _rounded(np.ma.filled(entries[name], 0.0).astype(np.float64)) for name in _ARRAYS}
    return Groups(
        strategies=tuple(strategies),
        problems=tuple((benchmark, problem) for benchmark, problem, *_ in problems),
        cluster=_clusters(problems),
        capability=tuple(capability for *_, capability, _ in problems),
        control=np.array([control for *_, control in problems], dtype=bool),
        row=np.ma.filled(entries["row"], 0).astype(np.int64),
        col=np.ma.filled(entries["col"], 0).astype(np.int64),
        sums=sums,
    )


def _gather(scan: Scan, names: Sequence[str], cost: Unit, where: Mapping[str, str] | None) -> None:
    """Sums by strategy, problem and kind of attempt, as a temporary table: the one pass over the attempts."""
    needed = list(dict.fromkeys([*names, *CELL_COLUMNS, *cost.columns, *(where or {})]))
    grouped = ", ".join(dict.fromkeys([*map(quoted, names), '"benchmark"', '"problem"']))
    scan.query(
        needed,
        f"""CREATE OR REPLACE TEMP TABLE cells AS
        WITH counted AS (
            SELECT *, {cost.sql} AS spent, status IN {FAULTS} AS fault FROM {{attempts}} {condition(where)}
        )
        SELECT {grouped}, fault, passed AS pass, min("group") AS cluster, min(capability) AS capability,
               coalesce(bool_or(control), false) AS control, count(spent) AS known,
               CAST(coalesce(sum(spent), 0) AS DOUBLE) AS spent,
               fsum(CAST(spent AS DOUBLE) * CAST(spent AS DOUBLE)) AS squares
        FROM counted GROUP BY {grouped}, fault, pass""",
    )


def _entries(scan: Scan, keys: str) -> Mapping[str, Any]:
    """One entry for each strategy and problem, with the places of both."""
    same = " AND ".join(f"cells.{key} IS NOT DISTINCT FROM rows.{key}" for key in keys.split(", "))
    return scan.connection.execute(
        f"""WITH rows AS (
            SELECT {keys}, row_number() OVER (ORDER BY {keys.replace(", ", " NULLS FIRST, ")} NULLS FIRST) - 1 AS row
            FROM (SELECT DISTINCT {keys} FROM cells)
        ), cols AS (
            SELECT benchmark, problem, row_number() OVER (
                ORDER BY benchmark NULLS FIRST, problem NULLS FIRST) - 1 AS col
            FROM (SELECT DISTINCT benchmark, problem FROM cells)
        )
        SELECT row, col,
            coalesce(sum(known) FILTER (NOT fault AND pass IS NOT NULL), 0) AS attempts,
            coalesce(sum(known) FILTER (pass), 0) AS passes,
            coalesce(sum(spent) FILTER (pass), 0) AS pass_cost,
            coalesce(sum(squares) FILTER (pass), 0) AS pass_cost_sq,
            coalesce(sum(spent) FILTER (NOT fault AND NOT pass), 0) AS fail_cost,
            coalesce(sum(squares) FILTER (NOT fault AND NOT pass), 0) AS fail_cost_sq,
            coalesce(sum(spent) FILTER (fault), 0) AS fault_cost
        FROM cells JOIN rows ON {same}
        JOIN cols ON cells.benchmark IS NOT DISTINCT FROM cols.benchmark AND cells.problem = cols.problem
        GROUP BY row, col ORDER BY row, col"""
    ).fetchnumpy()


def _rows(scan: Scan, sql: str) -> list[tuple[Any, ...]]:
    return scan.connection.execute(sql).fetchall()


def _clusters(problems: Sequence[tuple[Any, ...]]) -> Ints:
    numbers: dict[tuple[Any, ...], int] = {}
    return np.array(
        [
            numbers.setdefault((benchmark, "group", group) if group else (benchmark, "problem", problem), len(numbers))
            for benchmark, problem, group, _, _ in problems
        ],
        dtype=np.int64,
    )


def _benchmarks(problems: Sequence[tuple[str | None, str]]) -> list[str | None]:
    return sorted({benchmark for benchmark, _ in problems}, key=lambda name: (name is not None, name or ""))


def _rounded(values: Array, digits: int = 12) -> Array:
    """Values to so many significant digits."""
    with np.errstate(divide="ignore"):
        scale = np.where(values == 0, 0.0, np.floor(np.log10(np.abs(values))))
    step = 10.0 ** (digits - 1 - scale)
    return np.asarray(np.rint(values * step) / step, dtype=np.float64)
