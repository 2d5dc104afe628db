"""What is asked of a scan: sufficient statistics, duplicates, single attempts. Always DuckDB, never row by row."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Literal

from pydantic import ValidationError

from costpass.attempt import FAULT_STATUSES, ID_LENGTH, KEY_FIELDS, KEY_SEPARATOR, Attempt
from costpass.errors import BadInputError, CostpassError
from costpass.ledger.columns import literal, quoted, require_fields, sql_types
from costpass.ledger.scan import Scan
from costpass.strict_yaml import complaint

Figure = Literal["cost", "billed", "metered", "priced", "imported"]

_ID = (
    f"left(sha256(concat_ws({literal(KEY_SEPARATOR)}, "
    + ", ".join(f"coalesce(CAST({quoted(name)} AS VARCHAR), '')" for name in KEY_FIELDS)
    + f")), {ID_LENGTH})"
)
#: What medians are made of, beside cost and outcome.
SPEED_COLUMNS = ("first_attempt_ms", "success_at_ms", "duration_ms", "turns", "tokens_per_sec")
FAULTS = "(" + ", ".join(literal(status) for status in FAULT_STATUSES) + ")"


@dataclass
class Sums:
    """Sufficient statistics of one cell: the attempts that share the values they were grouped by.

    An attempt is graded where its outcome is known, and scored where its cost is known too. Faults are apart: they
    are no attempts at the problem, but what they cost was spent.
    """

    by: dict[str, Any]
    attempts: int = 0
    passed: int = 0
    graded: int = 0
    faults: int = 0
    cost_known: int = 0
    spend_usd: Decimal = Decimal(0)
    fault_cost_known: int = 0
    fault_spend_usd: Decimal = Decimal(0)
    scored: int = 0
    scored_passed: int = 0
    scored_spend_usd: Decimal = Decimal(0)

    def add(self, *, fault: bool, passed: bool | None, rows: int, known: int, usd: Decimal) -> None:
        """Counts in rows that agree in what they are."""
        self.spend_usd += usd
        if fault:
            self.faults += rows
            self.fault_cost_known += known
            self.fault_spend_usd += usd
            return
        self.attempts += rows
        self.cost_known += known
        if passed is None:
            return
        self.graded += rows
        self.scored += known
        self.scored_spend_usd += usd
        if passed:
            self.passed += rows
            self.scored_passed += known


def sums(
    scan: Scan, by: Sequence[str], *, figure: Figure = "cost", where: Mapping[str, str] | None = None
) -> list[Sums]:
    """The cells of a scan, sorted by what they are grouped by, in one pass over the attempts."""
    names = require_fields(by)
    cost = f"{figure}_usd"
    needed = list(dict.fromkeys([*names, "status", "passed", cost, *(where or {})]))
    keys = ", ".join(quoted(name) for name in names)
    # Grouping by the kind of row as well keeps it to two aggregates; the few kinds are put together afterwards.
    rows = scan.query(
        needed,
        f"SELECT {keys}, status IN {FAULTS} AS fault, passed, count(*), count({cost}), sum({cost}) "
        f"FROM {{attempts}} {condition(where)} GROUP BY ALL ORDER BY {keys} NULLS FIRST",
    )
    cells: dict[tuple[Any, ...], Sums] = {}
    for *values, fault, passed, count, known, usd in rows:
        cell = cells.setdefault(tuple(values), Sums(dict(zip(names, values, strict=True))))
        cell.add(fault=fault, passed=passed, rows=count, known=known, usd=usd or Decimal(0))
    return list(cells.values())


def duplicate_keys(scan: Scan, most: int = 3) -> list[str]:
    """Attempts that stand more than once, in words."""
    keys = ", ".join(quoted(name) for name in KEY_FIELDS)
    rows = scan.query(
        KEY_FIELDS,
        f"SELECT {keys}, count(*) FROM {{attempts}} GROUP BY ALL HAVING count(*) > 1 ORDER BY {keys} LIMIT {most}",
    )
    return [
        f"problem {problem!r}, strategy {strategy!r}, repetition {repetition}, retry {retry} {count} times"
        for _, _, problem, strategy, repetition, retry, count in rows
    ]


def count(scan: Scan) -> int:
    """How many records there are, faults included."""
    return int(scan.query(["problem"], "SELECT count(*) FROM {attempts}")[0][0])


def attempts(
    scan: Scan, *, where: Mapping[str, str] | None = None, last: int | None = None, id_prefix: str = ""
) -> Iterator[Attempt]:
    """The attempts themselves, in the order they were written."""
    columns = list(sql_types())
    chosen = condition(where) or "WHERE true"
    if id_prefix:
        chosen += f" AND starts_with({_ID}, {literal(_checked(id_prefix))})"
    offset = 0
    if last is not None:
        total = scan.query(columns, f"SELECT count(*) FROM {{attempts}} {chosen}")[0][0]
        offset = max(0, int(total) - last)
    for rows in scan.batches(columns, f"SELECT * FROM {{attempts}} {chosen} OFFSET {offset}"):
        for row in rows:
            yield _attempt(dict(zip(columns, row, strict=True)))


def _attempt(values: dict[str, Any]) -> Attempt:
    for name, value in values.items():
        if isinstance(value, datetime):
            values[name] = value.replace(tzinfo=UTC)
    try:
        return Attempt(**{name: value for name, value in values.items() if value is not None})
    except ValidationError as error:
        raise BadInputError(
            f"the ledger holds an attempt at {values.get('problem')!r} that is not valid: {complaint(error, Attempt)}; "
            "`costpass ledger check` says which lines are bad"
        ) from None


def condition(where: Mapping[str, str] | None) -> str:
    """FIELD=VALUE pairs as a condition; an empty value asks for what is not known."""
    if not where:
        return ""
    require_fields(where)
    parts = []
    for name, value in where.items():
        if value == "":
            parts.append(f"{quoted(name)} IS NULL")
        else:
            _must_read_as(name, value)
            parts.append(f"{quoted(name)} = CAST({literal(_checked(value))} AS {sql_types()[name]})")
    return "WHERE " + " AND ".join(parts)


def _must_read_as(name: str, value: str) -> None:
    """An error where a filter's value is not of its field's type."""
    kind = sql_types()[name]
    readers: dict[str, Callable[[str], object]] = {
        "BIGINT": int,
        "DOUBLE": float,
        "DATE": date.fromisoformat,
        "TIMESTAMP": datetime.fromisoformat,
        "BOOLEAN": {"true": True, "false": False}.__getitem__,
    }
    try:
        Decimal(value) if kind.startswith("DECIMAL") else readers.get(kind, str)(value)
    except (ValueError, ArithmeticError, KeyError):
        expected = {"BOOLEAN": "true or false", "DATE": "a date", "TIMESTAMP": "a time"}.get(kind, "a number")
        raise CostpassError(f"--where {name}={value}: {name} is {expected}") from None


def _checked(value: str) -> str:
    if "\x00" in value:
        raise CostpassError("a filter's value cannot hold a NUL character")
    # The scan fills in {attempts} by name, so braces in a value are doubled.
    return value.replace("{", "{{").replace("}", "}}")


@dataclass(frozen=True)
class Medians:
    """Speed and cost of the attempts that passed, for one group."""

    time_to_first_attempt_ms: float | None
    time_to_success_ms: float | None
    turns_to_success: float | None
    tokens_per_sec: float | None
    p90_cost: float | None
    cost_killed: int


def medians(
    scan: Scan, by: Sequence[str], *, figure: Figure = "cost", where: Mapping[str, str] | None = None
) -> dict[tuple[Any, ...], Medians]:
    """Medians over passed attempts, by group; the 90th percentile of cost is by nearest rank."""
    names = require_fields(by)
    cost = f"{figure}_usd"
    needed = list(dict.fromkeys([*names, "passed", "status", cost, *SPEED_COLUMNS, *(where or {})]))
    keys = ", ".join(quoted(name) for name in names)
    rows = scan.query(
        needed,
        f"""SELECT {keys}, median(first_attempt_ms) FILTER (passed),
        median(coalesce(success_at_ms, duration_ms)) FILTER (passed), median(turns) FILTER (passed),
        median(tokens_per_sec) FILTER (passed), quantile_disc({cost}, 0.9) FILTER (passed),
        count(*) FILTER (status = 'cost_killed') FROM {{attempts}} {condition(where)} GROUP BY {keys}""",
    )
    found = {}
    for *values, first, success, turns, speed, p90, killed in rows:
        figures = [None if figure is None else float(figure) for figure in (first, success, turns, speed, p90)]
        found[tuple(values)] = Medians(figures[0], figures[1], figures[2], figures[3], figures[4], int(killed))
    return found
