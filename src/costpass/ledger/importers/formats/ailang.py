"""AILANG's eval results: one JSON file per run, or JSON lines of them.

What such a row leaves out or calls by another name:
- `cost_usd` is the first call's; a self-repair is a second call that nobody billed. Its price is added here.
- A run that broke or was stopped is written with 0 tokens, $0 and 0 ms: nothing was banked, so nothing is known.
- `cost_usd` is also 0 for a model without a price. Only tokens and a price make a cost.
- `duration_ms` without an executor is how long the written program ran, not how long the model took.
- `timestamp` is when the row was made, at or after the end of the run; it is taken as the start as it stands.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from costpass.attempt import Attempt, Status, Usage, strategy_name, usd
from costpass.errors import BadInputError
from costpass.ledger.importers.protocol import Row, Settings, Skip
from costpass.ledger.importers.source import Source
from costpass.ledger.importers.values import fault_category, moment, positive, tells_of_timeout
from costpass.pricing import PriceBook, PriceError

_VERDICTS = ("compile_ok", "runtime_ok", "stdout_ok")
_KEYS = {"id", "lang", "model", *_VERDICTS}
#: What the harness writes beside its results: a baseline's description, and matrices and dashboards of many runs.
_SUMMARY_KEYS = {"total_runs", "totalRuns", "aggregates", "git_describe"}
_SUMMARY_LINES = "summary.jsonl"
#: Folders that sort results by kind, below the one that names the baseline.
_KIND_FOLDERS = {"standard", "agent"}
_GO_ZERO_YEAR = 1

_FAILURES: dict[str, str | None] = {"none": None, "logic_error": "wrong_answer"}
#: Categories that say how a run ended rather than what was wrong with the answer.
_ENDINGS: dict[str, tuple[Status, str]] = {
    "timeout": ("timeout", "wall_clock"),
    "cost_killed": ("cost_killed", "budget"),
    "quota_exhausted": ("fault", "rate_limit"),
    "rate_limit": ("fault", "rate_limit"),
    "non_agentic": ("fault", "agent_error"),
    "wire_drift": ("fault", "harness_error"),
}


class Ailang:
    name = "ailang"
    about = "AILANG eval results (JSON files or JSON lines)"

    def recognises(self, source: Source) -> bool:
        # Not by parsing: a row may hold a transcript longer than the head, which comes after all of these.
        return source.head.lstrip()[:1] == b"{" and all(f'"{key}"'.encode() in source.head for key in _KEYS)

    def rows(self, source: Source) -> Iterable[Row]:
        if source.name == _SUMMARY_LINES:
            return _summary_rows(source)
        return [_document_row(source)] if source.suffix == ".json" else source.json_rows()

    def attempts(self, row: Row, settings: Settings) -> Iterable[Attempt]:
        record = _result(row.content)
        agent = bool(record.get("executor")) or record.get("eval_mode") == "agent"
        banked = bool(record["input_tokens"] or record["output_tokens"] or record["cost_usd"])
        at = _timestamp(record)
        repair = _repair(record, at, settings)
        logged_usd = usd(record["cost_usd"]) if record["cost_usd"] != 0 else None
        passed, status, failure = _outcome(record)
        runner, mode = record.get("executor") or None, record.get("condition") or None
        yield Attempt(
            experiment=record.get("_group"),
            benchmark="ailang",
            problem=f"{record['id']}/{record['lang']}",
            group=record["id"],
            strategy=strategy_name(runner, record["model"], mode),
            model=record["model"],
            runner=runner,
            mode=mode,
            family=record.get("model_family") or None,
            repetition=_repetition(record),
            seed=record.get("seed"),
            passed=passed,
            status=status,
            failure=failure,
            flags=[*record.get("_caveats", []), *([] if agent else ["program_time_only"]), *repair.flags],
            input_tokens=record["input_tokens"] + repair.input_tokens if banked else None,
            output_tokens=record["output_tokens"] + repair.output_tokens if banked else None,
            requests=None if agent or not banked else repair.requests,
            turns=positive(record, "agent_turns"),
            tool_calls=positive(record, "agent_tool_calls"),
            usage_complete=False
            if agent or not banked or repair.unknown or _hides_reasoning(record["model"])
            else None,
            cost_usd=None if logged_usd is None else logged_usd + (repair.usd or 0),
            cost_source=None if logged_usd is None else "imported",
            imported_usd=logged_usd,
            cost_killed_at_usd=positive(record, "cost_killed_at"),
            price_book=None if repair.usd is None else settings.book.digest,
            priced_at=None if repair.usd is None else at,
            started_at=at,
            duration_ms=record.get("duration_ms") if banked and not agent else positive(record, "duration_ms"),
            first_attempt_ms=positive(record, "first_attempt_ms"),
            success_at_ms=positive(record, "success_at_ms"),
            tokens_per_sec=positive(record, "tokens_per_sec"),
        )


def _summary_rows(source: Source) -> Iterator[Row]:
    """summary.jsonl repeats the files of its folder in brief, so it counts only where it stands alone."""
    if any(source.path.parent.glob("*_*_*_[0-9]*.json")) or any(
        source.sibling(kind).is_dir() for kind in _KIND_FOLDERS
    ):
        yield Row(source.name, Skip(f"{_SUMMARY_LINES} repeats the result files beside it; import the folder"))
        return
    for row in source.json_rows():
        yield row if row.error else Row(row.where, _in_folder(row.content, source))


def _document_row(source: Source) -> Row:
    try:
        return Row(source.name, _in_folder(source.document, source))
    except BadInputError as error:
        return Row(source.name, source.head.decode(errors="replace")[:2000], error=str(error))


def _in_folder(content: Any, source: Source) -> Any:
    """The row, with the folder of its baseline as its group where it names none."""
    if not isinstance(content, dict):
        return content
    sorting = {*_KIND_FOLDERS, content.get("condition")}
    folders = (parent.name for parent in source.path.absolute().parents if parent.name not in sorting)
    return {"_group": next(folders, None) or None, **content}


def _result(content: Any) -> dict[str, Any]:
    if isinstance(content, Skip):
        raise content
    if not isinstance(content, dict):
        raise ValueError("not an AILANG result: not a JSON object")
    missing = sorted(_KEYS - content.keys())
    if missing and _SUMMARY_KEYS & content.keys():
        raise Skip("a baseline's description or a table over many runs, not a result")
    if missing:
        raise ValueError(f"not an AILANG result: no {', '.join(missing)}")
    return content


def _outcome(record: Mapping[str, Any]) -> tuple[bool | None, Status, str | None]:
    """AILANG grades every row; here a fault of the infrastructure has no grade."""
    verdicts = [record[key] for key in _VERDICTS]
    if not all(isinstance(verdict, bool) for verdict in verdicts):
        raise ValueError(f"{', '.join(_VERDICTS)} must be true or false, not {verdicts}")
    passed = all(verdicts)
    if positive(record, "cost_killed_at"):
        return passed, "cost_killed", None if passed else "budget"
    if passed:
        # After a successful repair the category is still that of the first failure.
        return True, "completed", None
    category = record.get("error_category") or "none"
    ending = _broken(record) if category == "api_error" else _ENDINGS.get(category)
    if ending is None:
        return False, "completed", _FAILURES.get(category, category)
    status, failure = ending
    return None if status == "fault" else False, status, failure


def _broken(record: Mapping[str, Any]) -> tuple[Status, str]:
    """What an `api_error` was: before v0.19 it is also what a timeout or a kill was called."""
    message = str(record.get("stderr") or record.get("stderr_head") or "").casefold()
    category = fault_category(message)
    if "cost budget" in message:
        return "cost_killed", "budget"
    if "hard timeout" in message or "hard ceiling" in message or (category is None and tells_of_timeout(message)):
        return "timeout", "wall_clock"
    if "non-agentic" in message:
        return "fault", "agent_error"
    return "fault", category or "provider_error"


@dataclass(frozen=True)
class _Repair:
    """The second call of a self-repair: what it adds to the row's own figures."""

    input_tokens: int = 0
    output_tokens: int = 0
    requests: int | None = 1
    usd: Decimal | None = None
    flags: tuple[str, ...] = ()
    #: True where there was a repair and its tokens are not said, as in summary.jsonl.
    unknown: bool = False


def _repair(record: Mapping[str, Any], at: datetime | None, settings: Settings) -> _Repair:
    spent_in, spent_out = record.get("repair_tokens_in") or 0, record.get("repair_tokens_out") or 0
    if not spent_in and not spent_out:
        if not record.get("repair_used"):
            return _Repair()
        return _Repair(requests=None, flags=("repair_unpriced",), unknown=True)
    usage = Usage(input_tokens=spent_in, output_tokens=spent_out, requests=1)
    price = _price(settings.book, usage, record["model"], at) if settings.price and at and record["cost_usd"] else None
    flags = ("repair_unpriced" if price is None else "repair_priced",) if record["cost_usd"] else ()
    # A successful repair's tokens are already in the row's own; a failed one's are not.
    if record.get("repair_ok"):
        return _Repair(0, 0, 2, price, flags)
    return _Repair(spent_in, spent_out, 2, price, flags)


def _price(book: PriceBook, usage: Usage, model: str, at: datetime | None) -> Decimal | None:
    """The price under AILANG's own name, which a models.yml may know, else under the API's: gpt5-mini is gpt-5-mini."""
    for name in (model, re.sub(r"^gpt(?=\d)", "gpt-", model)):
        try:
            return book.price(usage, name, at=at).usd
        except PriceError:
            continue
    return None


def _hides_reasoning(model: str) -> bool:
    """The harness takes OpenAI's reasoning tokens off the output and does not read Gemini's, which both bill."""
    return model.startswith(("gpt", "gemini"))


def _repetition(record: Mapping[str, Any]) -> int | None:
    """Trials count from 1, and 1 is also what a run without trials says, every time it is run again."""
    trial = record.get("trial") or 1
    return trial - 1 if trial > 1 else None


def _timestamp(record: Mapping[str, Any]) -> datetime | None:
    stamped = moment(record.get("timestamp"))
    return None if stamped is None or stamped.year == _GO_ZERO_YEAR else stamped


IMPORTER = Ailang()
