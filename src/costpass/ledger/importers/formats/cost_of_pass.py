"""Records of the Cost-of-Pass paper's code: Parquet as on its hub, JSON lines, or a JSON list.

- Prices are frozen into each record. A price of -1 means that the code knew none: no cost then.
- The hub keeps the same runs as `full_records` and once per metric; only one of these files counts.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from costpass.attempt import Attempt, Status, strategy_name
from costpass.errors import BadInputError
from costpass.ledger.importers.protocol import Row, Settings, Skip
from costpass.ledger.importers.source import Source
from costpass.ledger.importers.usage import provider_and_model
from costpass.ledger.importers.values import moment

_KEYS = {
    "model_name",
    "task_name",
    "tt_method_name",
    "input_idx",
    "num_prompt_tokens",
    "num_completion_tokens",
    "cost_per_prompt_token",
    "cost_per_completion_token",
}
#: The columns to read: a full record also holds every prompt and response.
_READ = (*sorted(_KEYS), "completed", "metric_name", "metric_score", "timestamp")
_FULL = "full_records"
_PARQUET_MAGIC = b"PAR1"
_BATCH = 2000


class CostOfPass:
    name = "cost-of-pass"
    about = "records of the Cost-of-Pass paper's code (Parquet, JSON lines, JSON list)"

    def recognises(self, source: Source) -> bool:
        if source.head.startswith(_PARQUET_MAGIC):
            return set(_parquet_columns(source)) >= _KEYS
        # Not by parsing: a full record may be longer than the head, and these come before its texts.
        return source.head.lstrip()[:1] in (b"{", b"[") and all(f'"{key}"'.encode() in source.head for key in _KEYS)

    def rows(self, source: Source) -> Iterable[Row]:
        superseding = _superseding(source.path)
        if superseding is not None:
            where = f"{source.path.parent.name}/{source.name}"
            return [Row(where, Skip(f"{where} holds the runs of {superseding}/{source.name} once more"))]
        if source.head.startswith(_PARQUET_MAGIC):
            return _parquet_rows(source)
        if source.head.lstrip().startswith(b"["):
            return [Row(f"{source.name}:{number}", item) for number, item in enumerate(source.document, start=1)]
        return source.json_rows()

    def attempts(self, row: Row, settings: Settings) -> Iterable[Attempt]:
        if isinstance(row.content, Skip):
            raise row.content
        record: Mapping[str, Any] = row.content
        provider, model = provider_and_model(record["model_name"])
        score = _finite(record.get("metric_score"))
        passed, status = _outcome(record, score, settings.threshold)
        cost = _cost(record)
        yield Attempt(
            benchmark=record["task_name"],
            problem=str(record["input_idx"]),
            strategy=strategy_name(model, record["tt_method_name"]),
            model=model,
            provider=provider,
            technique=record["tt_method_name"],
            passed=passed,
            score=score,
            scores={} if score is None else {record.get("metric_name") or "metric_score": score},
            status=status,
            failure="harness_error" if status == "fault" else "wrong_answer" if passed is False else None,
            flags=["no_price_in_log"] if cost is None else [],
            input_tokens=record["num_prompt_tokens"],
            output_tokens=record["num_completion_tokens"],
            cost_usd=cost,
            cost_source=None if cost is None else "imported",
            imported_usd=cost,
            # Stamped when the run was over; its beginning is not recorded.
            started_at=moment(record.get("timestamp")),
        )


def _outcome(record: Mapping[str, Any], score: float | None, threshold: float | None) -> tuple[bool | None, Status]:
    if record.get("completed") is False:
        return None, "fault"
    return None if score is None else score >= (1.0 if threshold is None else threshold), "completed"


def _finite(score: Any) -> float | None:
    return None if score is None or not math.isfinite(score) else float(score)


def _cost(record: Mapping[str, Any]) -> Decimal | None:
    prompt, completion = record["cost_per_prompt_token"], record["cost_per_completion_token"]
    if prompt is None or completion is None or not (prompt >= 0 and completion >= 0):
        return None
    sent, received = record["num_prompt_tokens"], record["num_completion_tokens"]
    return _exact(prompt) * _exact(sent) + _exact(completion) * _exact(received)


def _exact(number: Any) -> Decimal:
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise ValueError(f"prices and tokens must be numbers, not {number!r}")
    return Decimal(repr(number))


def _superseding(path: Path) -> str | None:
    """The folder beside this one that holds the same runs and counts instead: the first metric's."""
    own = path.parent.name
    if not own.endswith("_records"):
        return None
    beside = sorted(file.parent.name for file in path.parent.parent.glob(f"*_records/{path.name}"))
    first = next((folder for folder in beside if folder != _FULL), own)
    return None if first == own else first


def _parquet_columns(source: Source) -> list[str]:
    import duckdb

    try:
        with duckdb.connect() as connection:
            described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(source.path)])
            return [name for name, *_ in described.fetchall()]
    except duckdb.Error:
        return []


def _parquet_rows(source: Source) -> Iterator[Row]:
    import duckdb

    names = [name for name in _parquet_columns(source) if name in _READ]
    if not set(names) >= _KEYS:
        raise BadInputError(f"{source.path}: not Cost-of-Pass records: no {', '.join(sorted(_KEYS - set(names)))}")
    try:
        with duckdb.connect(config={"memory_limit": "400MB"}) as connection:
            cursor = connection.execute(f"SELECT {', '.join(names)} FROM read_parquet(?)", [str(source.path)])
            number = 0
            while batch := cursor.fetchmany(_BATCH):
                for values in batch:
                    number += 1
                    yield Row(f"{source.name}:{number}", dict(zip(names, values, strict=True)))
    except duckdb.Error as error:
        raise BadInputError(f"{source.path}: not a readable Parquet file ({str(error).splitlines()[0]})") from error


IMPORTER = CostOfPass()
