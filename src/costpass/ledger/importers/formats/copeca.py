"""copeca's results: one JSON line per run, crash records of nine keys included."""

from collections.abc import Iterable, Mapping
from typing import Any

from costpass.attempt import Attempt, Status, strategy_name
from costpass.ledger.importers.protocol import Row, Settings
from costpass.ledger.importers.source import Source
from costpass.ledger.importers.values import fault_category, moment, tells_of_timeout

#: What every record has, a crash record too.
_KEYS = {"task", "mode", "model", "correct"}


class Copeca:
    name = "copeca"
    about = "copeca results (JSON lines)"

    def recognises(self, source: Source) -> bool:
        return source.first.keys() >= _KEYS

    def rows(self, source: Source) -> Iterable[Row]:
        return source.json_rows()

    def attempts(self, row: Row, settings: Settings) -> Iterable[Attempt]:  # noqa: ARG002
        record: dict[str, Any] = row.content
        missing = sorted(_KEYS - record.keys())
        if missing:
            raise ValueError(f"not a copeca record: no {', '.join(missing)}")
        passed, status, failure = _outcome(record)
        cost = record.get("total_cost_usd")
        runner = record.get("runner")
        yield Attempt(
            benchmark="copeca",
            problem=record["task"],
            group=record.get("repo"),
            capability=record.get("category"),
            control=record.get("control"),
            strategy=strategy_name(record["model"], record["mode"]),
            model=record["model"],
            runner=None if runner == "unknown" else runner,
            mode=record["mode"],
            repetition=record.get("repetition"),
            passed=passed,
            status=status,
            failure=failure,
            flags=[name for name, raised in (record.get("adversarial_flags") or {}).items() if raised],
            input_tokens=record.get("input_tokens"),
            output_tokens=record.get("output_tokens"),
            cache_write_tokens=record.get("cache_creation_tokens"),
            cache_read_tokens=record.get("cache_read_tokens"),
            turns=record.get("num_turns"),
            tool_calls=record.get("num_tool_calls"),
            cost_usd=cost,
            cost_source="imported" if cost is not None else None,
            imported_usd=cost,
            billed_usd=record.get("vendor_cost_usd"),
            priced_usd=record.get("computed_cost_usd"),
            started_at=_started_at(record),
            duration_ms=record.get("duration_ms"),
            runner_version=record.get("cli_version"),
        )


def _outcome(record: Mapping[str, Any]) -> tuple[bool | None, Status, str | None]:
    """copeca says `correct: false` of every error; here a fault of the infrastructure is no wrong answer."""
    error = record.get("error")
    flags = record.get("adversarial_flags") or {}
    if not error:
        return record["correct"], "completed", None if record["correct"] else "wrong_answer"
    if flags.get("timeout") or tells_of_timeout(error):
        return False, "timeout", "wall_clock"
    if flags.get("budget_exhausted") or "budget" in error.casefold():
        return False, "cost_killed", "budget"
    category = fault_category(error)
    if category is None and record.get("total_cost_usd"):
        return False, "completed", "agent_error"
    status: Status = "interrupted" if "interrupted" in error else "fault"
    return None, status, category or ("interrupted" if status == "interrupted" else "harness_error")


def _started_at(record: Mapping[str, Any]) -> Any:
    """copeca stamps the end of a run."""
    from datetime import timedelta

    ended = moment(record.get("timestamp"))
    return None if ended is None else ended - timedelta(milliseconds=record.get("duration_ms") or 0)


IMPORTER = Copeca()
