"""mini-swe-agent's trajectories: one `.traj.json` per attempt.

- The cost is 0 where cost tracking is off or the model has no price: with calls made, that is not known.
- The verdict is not in the file; it comes from `--outcomes`.
- `LimitsExceeded` is the cost limit or the step limit; the configuration tells which.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from costpass.attempt import Attempt, Status, strategy_name
from costpass.ledger.importers.protocol import Row, Settings, Skip
from costpass.ledger.importers.source import Source
from costpass.ledger.importers.trajectory import above_zero, document_row, graded, repository, words
from costpass.ledger.importers.usage import provider_and_model, total_token_classes
from costpass.ledger.importers.values import fault_category, moment

_ENDING = ".traj.json"
_MESSAGE_LIST = "a mini-swe-agent message list without costs or usage"
_PREDICTIONS = "SWE-bench predictions: patches, not attempts"


class MiniSweAgent:
    name = "mini-swe-agent"
    about = "mini-swe-agent trajectories (.traj.json)"

    def recognises(self, source: Source) -> bool:
        if source.name.endswith(_ENDING):
            return source.head.lstrip()[:1] in (b"{", b"[")
        if b'"model_stats"' not in source.head and b'"model_patch"' not in source.head:
            return False
        document = source.document_or_none
        return _is_trajectory(document) or _is_predictions(document)

    def rows(self, source: Source) -> Iterable[Row]:
        yield document_row(source)

    def attempts(self, row: Row, settings: Settings) -> Iterable[Attempt]:
        info, messages = _parts(row.content)
        config = info.get("config") or {}
        limits, model_config = config.get("agent") or {}, config.get("model") or {}
        stats = info["model_stats"]
        problem = _problem(row)
        provider, model = provider_and_model(model_config["model_name"])
        passed, status, failure = graded(problem, *_ending(info, limits), settings)
        replies = [reply for message in messages if (reply := _reply(message))]
        cost = _cost(stats)
        yield Attempt(
            problem=problem,
            group=repository(problem),
            strategy=strategy_name(self.name, model),
            model=model,
            provider=provider,
            runner=self.name,
            passed=passed,
            status=status,
            failure=failure,
            **total_token_classes(reply["usage"] for reply in replies),
            requests=stats["api_calls"],
            turns=stats["api_calls"],
            tool_calls=_tool_calls(messages),
            # Some versions throw the reply of a badly formatted turn away, which was paid for all the same.
            usage_complete=len(replies) >= stats["api_calls"] if replies else None,
            cost_usd=cost,
            cost_source=None if cost is None else "imported",
            imported_usd=cost,
            budget_usd=above_zero(limits.get("cost_limit")),
            cost_killed_at_usd=cost if status == "cost_killed" else None,
            started_at=_started_at(messages),
            runner_version=info.get("mini_version"),
            model_reported=next((reply.get("model") for reply in replies), None),
        )


def _parts(content: Any) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    if _is_predictions(content):
        raise Skip(_PREDICTIONS)
    if isinstance(content, list) and all(isinstance(item, dict) and "role" in item for item in content):
        raise Skip(_MESSAGE_LIST)
    if not _is_trajectory(content):
        raise ValueError("not a mini-swe-agent trajectory: no info.model_stats")
    return content["info"], content.get("messages") or []


def _is_trajectory(document: Any) -> bool:
    info = document.get("info") if isinstance(document, dict) else None
    stats = info.get("model_stats") if isinstance(info, dict) else None
    # SWE-agent's statistics have these two as well, but also count tokens.
    return isinstance(stats, dict) and {"instance_cost", "api_calls"} <= stats.keys() and "tokens_sent" not in stats


def _is_predictions(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and bool(document)
        and all(isinstance(item, dict) and "model_patch" in item for item in document.values())
    )


def _problem(row: Row) -> str:
    document = row.content
    named: str | None = document.get("instance_id") or document["info"].get("instance_id")
    return named or row.where.removesuffix(_ENDING).removesuffix(".json")


def _ending(info: Mapping[str, Any], limits: Mapping[str, Any]) -> tuple[Status, str | None]:
    ending = info.get("exit_status") or ""
    if ending.casefold() == "submitted":
        return "completed", None
    if not ending or ending in ("UserInterruption", "KeyboardInterrupt"):
        # The file is saved after every step, so one without an ending was stopped from outside.
        return "interrupted", "interrupted"
    if ending == "TimeExceeded":
        return "timeout", "wall_clock"
    if ending == "LimitsExceeded" or "cost" in ending.casefold():
        return ("completed", "turn_limit") if _ran_out_of_steps(info, limits) else ("cost_killed", "budget")
    # Of the traceback only its last line: the line numbers in it look like HTTP codes.
    last_line = (info.get("traceback") or "").strip().rpartition("\n")[2]
    category = fault_category(f"{words(ending)} {info.get('exception_str') or ''} {words(last_line)}")
    return ("fault", category) if category else ("completed", "agent_error")


def _ran_out_of_steps(info: Mapping[str, Any], limits: Mapping[str, Any]) -> bool:
    steps, dollars = above_zero(limits.get("step_limit")), above_zero(limits.get("cost_limit"))
    stats = info["model_stats"]
    spent_all = dollars is not None and stats["instance_cost"] >= dollars
    return steps is not None and stats["api_calls"] >= steps and not spent_all


def _cost(stats: Mapping[str, Any]) -> Any:
    cost = stats["instance_cost"]
    return None if cost == 0 and stats["api_calls"] > 0 else cost


def _reply(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The provider's reply behind a message: within it, or the message itself where the Responses API was called."""
    within = (message.get("extra") or {}).get("response")
    return next((reply for reply in (within, message) if isinstance(reply, dict) and reply.get("usage")), None)


def _tool_calls(messages: Iterable[Mapping[str, Any]]) -> int | None:
    actions = [message["extra"]["actions"] for message in messages if "actions" in (message.get("extra") or {})]
    return sum(map(len, actions)) if actions else None


def _started_at(messages: Iterable[Mapping[str, Any]]) -> Any:
    """The first moment the file knows of, which is when the first reply came."""
    for message in messages:
        extra = message.get("extra") or {}
        stamp = extra.get("timestamp") or (extra.get("response") or {}).get("created")
        if stamp:
            return moment(stamp)
    return None


IMPORTER = MiniSweAgent()
