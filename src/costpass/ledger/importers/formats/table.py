"""Any table: CSV, TSV, JSON lines, a JSON list or Parquet, with columns named by `--map` or guessed."""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import islice, zip_longest
from typing import Any, get_args

from costpass.attempt import Attempt, Status, strategy_name
from costpass.errors import BadInputError, CostpassError, did_you_mean
from costpass.ledger.columns import require_fields, sql_types
from costpass.ledger.importers.protocol import Row, Settings
from costpass.ledger.importers.source import LONGEST_LINE_BYTES, Source
from costpass.ledger.importers.values import moment

#: For each field, the names it goes by elsewhere, likeliest first. A field's own name always counts.
_SYNONYMS: dict[str, tuple[str, ...]] = {
    "problem": (
        "problem_id",
        "task_id",
        "instance_id",
        "question_id",
        "sample_id",
        "example_id",
        "task",
        "question_idx",
    ),
    "benchmark": ("dataset", "suite", "eval_name"),
    "strategy": ("system", "arm", "variant", "config_name"),
    "model": ("model_name", "model_id", "llm"),
    "runner": ("agent", "agent_name", "harness"),
    "repetition": ("rep", "run", "trial", "epoch", "attempt", "run_idx"),
    "passed": ("correct", "success", "resolved", "is_resolved", "is_correct", "solved", "ok", "pass"),
    "score": ("metric_score", "accuracy", "reward"),
    "cost_usd": ("total_cost_usd", "total_cost", "cost", "price_usd", "usd", "instance_cost", "cost_dollars"),
    "input_tokens": ("prompt_tokens", "tokens_in", "n_input_tokens", "num_prompt_tokens"),
    "output_tokens": ("completion_tokens", "tokens_out", "n_output_tokens", "num_completion_tokens"),
    "cache_read_tokens": ("cache_read_input_tokens",),
    "cache_write_tokens": ("cache_creation_input_tokens", "cache_creation_tokens"),
    "duration_ms": ("latency_ms", "elapsed_ms"),
    "started_at": ("timestamp", "created_at", "start_time"),
    "turns": ("num_turns", "steps", "n_turns"),
}
#: Fields that costpass fills itself.
_NOT_GUESSED = {"schema_version", "source_format", "source_ref", "costpass_version", "cost_source", "retry"}
_TRUE = {"true", "t", "1", "1.0", "yes", "y", "pass", "passed", "correct", "resolved", "success"}
_FALSE = {"false", "f", "0", "0.0", "no", "n", "fail", "failed", "incorrect", "unresolved", "failure"}
_MOST_NAMED = 30
_THOUSANDS = re.compile(r"^[1-9]\d{0,2}(,\d{3})+(\.\d*)?$")
_DIGITS = re.compile(r"^[+-]?\d{1,30}$")
_PARQUET_MAGIC = b"PAR1"
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
# A cell may hold a whole transcript; the module's own limit is 128 KiB.
csv.field_size_limit(LONGEST_LINE_BYTES)


class Table:
    name = "table"
    about = "any CSV, TSV, JSON lines, JSON list or Parquet file (columns by --map, or guessed)"

    def recognises(self, source: Source) -> bool:
        try:
            guessed = _guess(_columns(source))
        except (BadInputError, UnicodeDecodeError, csv.Error):
            return False
        return bool({"passed", "score"} & guessed.keys()) and bool(
            {"cost_usd", "problem", "input_tokens", "output_tokens"} & guessed.keys()
        )

    def rows(self, source: Source) -> Iterable[Row]:
        columns = tuple(_columns(source))
        for row in _read(source):
            yield Row(row.where, _Cells(source.stem, columns, row.content), row.error, as_logged=row.content)

    def attempts(self, row: Row, settings: Settings) -> Iterable[Attempt]:
        cells: _Cells = row.content
        values = cells.values
        if not isinstance(values, Mapping):
            raise ValueError("not an object with named values")
        mapping = _mapping(cells.columns, settings)
        present = {field for field, column in mapping.items() if column in values}
        if not present & {"passed", "score", "cost_usd", "input_tokens"} or ("problem" in mapping) > (
            "problem" in present
        ):
            raise ValueError(f"not a row of this table: it has none of {', '.join(sorted(mapping.values()))}"[:300])
        fields = {field: _coerce(field, values[mapping[field]]) for field in present}
        yield Attempt(**_completed(fields, row, settings))


@dataclass(frozen=True)
class _Cells:
    """A row of a table with what is known of the table."""

    stem: str
    columns: tuple[str, ...]
    values: Any


def _completed(fields: dict[str, Any], row: Row, settings: Settings) -> dict[str, Any]:
    """Fills what follows from what the table says."""
    known = {field: value for field, value in fields.items() if value is not None}
    known.setdefault("problem", f"row {row.where.rsplit(':', 1)[-1]}")
    name = strategy_name(*(known.get(part) for part in ("runner", "model", "mode", "technique")))
    known.setdefault("strategy", row.content.stem if name == "unnamed" else name)
    if "passed" not in known and "score" in known:
        known["passed"] = known["score"] >= (1.0 if settings.threshold is None else settings.threshold)
    if "cost_usd" in known:
        known.update(cost_source="imported", imported_usd=known["cost_usd"])
    if known.get("status") in ("fault", "interrupted"):
        known.pop("passed", None)
    return known


def _mapping(columns: tuple[str, ...], settings: Settings) -> dict[str, str]:
    """Field → column: what the user said, and guesses for the rest."""
    mapping, notes = _resolved(columns, tuple(settings.columns.items()))
    for note in notes:
        if note not in settings.notes:
            settings.notes.append(note)
    return mapping


@lru_cache(maxsize=64)
def _resolved(columns: tuple[str, ...], said: tuple[tuple[str, str], ...]) -> tuple[dict[str, str], list[str]]:
    for field, column in said:
        require_fields([field])
        if column not in columns:
            raise CostpassError(
                f"--map {field}={column}: the table has no column {column!r}{did_you_mean(column, columns)}"
            )
    taken = {column for _, column in said}
    guesses = {
        field: column for field, column in _guess(columns).items() if field not in dict(said) and column not in taken
    }
    mapping = {**guesses, **dict(said)}
    read = ", ".join(f"{field}={column}" for field, column in sorted(guesses.items()) if field != column)
    unused = _listed(sorted(set(columns) - set(mapping.values())))
    notes = [f"guessed columns: {read}"] if read else []
    return mapping, [*notes, f"columns not used: {unused}"] if unused else notes


def _listed(names: Sequence[str]) -> str:
    more = f" … and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _guess(columns: Sequence[str]) -> dict[str, str]:
    folded = {column.strip().casefold().replace(" ", "_").replace("-", "_"): column for column in reversed(columns)}
    guesses: dict[str, str] = {}
    for field in sql_types():
        if field in _NOT_GUESSED:
            continue
        for name in (field, *_SYNONYMS.get(field, ())):
            if name in folded and folded[name] not in guesses.values():
                guesses[field] = folded[name]
                break
    return guesses


def _coerce(field: str, value: Any) -> Any:
    """A cell as its field's type; an empty cell is not known."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if field == "status":
        # Other tools have other words in a column of this name; only the record's own are taken.
        return value if value in get_args(Status) else None
    kind = sql_types()[field]
    if kind.startswith("MAP") or kind.endswith("[]"):
        return _several(field, value)
    try:
        if kind == "BOOLEAN":
            return _boolean(value)
        if kind.startswith("DECIMAL"):
            return _dollars(value) if isinstance(value, str) else value
        if kind == "BIGINT":
            return _integer(value)
        if kind == "DOUBLE":
            return float(value)
        if kind in ("TIMESTAMP", "DATE"):
            point = moment(value)
            return point if kind == "TIMESTAMP" or point is None else point.date()
    except (ValueError, ArithmeticError, OverflowError):
        raise ValueError(f"{field}: cannot read {value!r:.60}") from None
    return str(value)


def _several(field: str, value: Any) -> Any:
    """Scores, quantities and flags: objects and lists, or their JSON in a cell."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
        if sql_types()[field].endswith("[]"):
            return [str(item) for item in found] if isinstance(found, list) else None
        # Frames give every row every key; what a row has no value for is not in it.
        return {str(key): float(item) for key, item in found.items() if item is not None and item == item}
    except (ValueError, TypeError, AttributeError):
        raise ValueError(f"{field}: cannot read {value!r:.60}") from None


def _boolean(value: Any) -> bool:
    text = str(value).strip().casefold()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise ValueError


def _dollars(text: str) -> Decimal:
    """A comma parts thousands; one that does not, as in 0,5, is not guessed at."""
    amount = text.strip().lstrip("$")
    return Decimal(amount.replace(",", "") if _THOUSANDS.match(amount) else amount)


def _integer(value: Any) -> int:
    if isinstance(value, str) and _DIGITS.match(value.strip()):
        return int(value)
    number = float(value) if isinstance(value, str) else value
    if int(number) != number:
        raise ValueError
    return int(number)


def _columns(source: Source) -> list[str]:
    """The column names: the header, or every key among the first rows."""
    if source.suffix in _SEPARATORS and not source.head.startswith(_PARQUET_MAGIC):
        return next(_csv_cells(source), (0, []))[1]
    names: dict[str, None] = {}
    try:
        for row in islice(_read(source), 20):
            if isinstance(row.content, Mapping):
                names.update(dict.fromkeys(map(str, row.content)))
    except BadInputError:
        # What is wrong with a later row is said when that row is read.
        if not names:
            raise
    return list(names)


def _read(source: Source) -> Iterator[Row]:
    if source.head.startswith(_PARQUET_MAGIC):
        yield from _parquet_rows(source)
    elif source.suffix in _SEPARATORS:
        yield from _csv_rows(source)
    elif source.head.lstrip().startswith(b"["):
        items = source.document
        for number, item in enumerate(items, start=1):
            yield Row(f"{source.name}:{number}", item)
    elif source.head.lstrip().startswith(b"{"):
        yield from source.json_rows()


def _csv_rows(source: Source) -> Iterator[Row]:
    cells = _csv_cells(source)
    names = next(cells, (0, []))[1]
    doubled = [name for name, times in Counter(names).items() if name and times > 1]
    if doubled:
        raise BadInputError(f"{source.path}: two columns are called {doubled[0]!r}; rename one of them")
    for number, values in cells:
        extra = "more cells than the header names" if len(values) > len(names) else None
        yield Row(f"{source.name}:{number}", dict(zip_longest(names, values[: len(names)])), extra)


def _csv_cells(source: Source) -> Iterator[tuple[int, list[str]]]:
    """The cells of each record that is not blank, with the number of its last line."""
    number = 0

    def text() -> Iterator[str]:
        nonlocal number
        # With blank lines, as a quoted cell may hold some.
        for found, line in source.lines(blank=True):
            number = found
            yield line.decode("utf-8-sig" if found == 1 else "utf-8")

    # Strict, or a quote that is never closed would swallow the rest of the file in silence.
    reader = csv.reader(text(), delimiter=_SEPARATORS[source.suffix], strict=True)
    try:
        yield from ((number, cells) for cells in reader if cells)
    except (csv.Error, UnicodeDecodeError) as error:
        raise BadInputError(f"{source.path}: line {number}: not CSV text ({error})") from error


def _parquet_rows(source: Source) -> Iterator[Row]:
    import duckdb

    try:
        with duckdb.connect(config={"memory_limit": "400MB"}) as connection:
            cursor = connection.execute("SELECT * FROM read_parquet(?)", [str(source.path)])
            names = [column[0] for column in cursor.description or ()]
            number = 0
            while batch := cursor.fetchmany(2000):
                for values in batch:
                    number += 1
                    yield Row(f"{source.name}:{number}", dict(zip(names, values, strict=True)))
    except duckdb.Error as error:
        raise BadInputError(f"{source.path}: not a readable Parquet file ({str(error).splitlines()[0]})") from error


IMPORTER = Table()
