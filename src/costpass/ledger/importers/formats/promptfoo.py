"""promptfoo's output: the JSON document of versions 1 to 3, or JSON lines of results.

- An answer out of promptfoo's cache cost nothing in that run, yet its row has a cost. That cost is kept, as it is what
  the answer costs whoever has no cache, and the row is flagged `served_from_cache`. Its latency is the disk's.
- `error` is also the reason of a failed assertion; `failureReason` 2, or the want of an output, makes it an error.
- The row's own `tokenUsage` may include the graders' tokens; the response's does not.
- A test without assertions is a success there. It stays one here, flagged `no_assertions`.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from costpass.attempt import Attempt, Status, strategy_name
from costpass.ledger.importers import promptfoo_output
from costpass.ledger.importers.promptfoo_output import Result
from costpass.ledger.importers.protocol import Row, Settings, Skip
from costpass.ledger.importers.source import Source
from costpass.ledger.importers.usage import token_classes
from costpass.ledger.importers.values import fault_category, moment, positive, tells_of_timeout

#: Parts of a provider's id that name an endpoint: openai:chat:gpt-4.1
_ENDPOINTS = ("chat", "completion", "responses", "messages", "text-generation", "assistant", "realtime")
#: Providers that are a program or a server of the user's.
_CUSTOM = ("file", "http", "https", "ws", "wss", "python", "exec", "javascript", "golang", "ruby", "webhook", "package")
_ERROR = 2
_NO_CONNECTION = re.compile(r"API call error|fetch failed|ECONN", re.IGNORECASE)


class Promptfoo:
    name = "promptfoo"
    about = "promptfoo output (JSON, JSON lines)"

    def recognises(self, source: Source) -> bool:
        return promptfoo_output.is_output(source)

    def rows(self, source: Source) -> Iterable[Row]:
        found = list(promptfoo_output.results(source))
        return found or [Row(source.name, Skip("a promptfoo evaluation saved without its results"))]

    def attempts(self, row: Row, settings: Settings) -> Iterable[Attempt]:  # noqa: ARG002
        if isinstance(row.content, Skip):
            raise row.content
        result: Result = row.content
        item, response = result.item, result.item.get("response") or {}
        usage = response.get("tokenUsage") or item.get("tokenUsage") or {}
        label, provider, model = _provider(item.get("provider") or result.evaluation.provider)
        passed, status, failure = _outcome(item, response)
        cached = _is_cached(response, usage)
        cost = _cost(item, response, usage)
        yield Attempt(
            experiment=result.evaluation.id,
            benchmark=result.evaluation.description,
            problem=result.problem,
            strategy=strategy_name(label, result.prompt, result.column),
            model=model,
            provider=provider,
            technique=result.prompt,
            passed=passed,
            score=item.get("score") if passed is not None else None,
            scores=item.get("namedScores") or {},
            status=status,
            failure=failure,
            flags=_flags(item, cached),
            **_tokens(usage),
            requests=positive(usage, "numRequests"),
            cost_usd=cost,
            cost_source=None if cost is None else "imported",
            imported_usd=cost,
            started_at=moment(result.evaluation.timestamp),
            # Newer versions keep the latency of the call that filled the cache with the response.
            duration_ms=positive(response if cached else item, "latencyMs"),
        )


def _provider(stated: Any) -> tuple[str | None, str | None, str | None]:
    """What a provider is called, who that is, and which model."""
    identity = stated.get("id") if isinstance(stated, Mapping) else stated
    label = (stated.get("label") if isinstance(stated, Mapping) else None) or identity
    vendor, _, rest = (identity or "").partition(":")
    if not rest or vendor in _CUSTOM:
        return label, None, None
    endpoint, _, after = rest.partition(":")
    return label, vendor, (after if endpoint in _ENDPOINTS else rest) or None


def _tokens(usage: Mapping[str, Any]) -> dict[str, Any]:
    if not usage.get("prompt") and not usage.get("completion"):
        return {}
    details = usage.get("completionDetails") or {}
    return token_classes(
        {
            "prompt_tokens": usage.get("prompt"),
            "completion_tokens": usage.get("completion"),
            "total_tokens": usage.get("total"),
            "prompt_tokens_details": {
                "cached_tokens": details.get("cacheReadInputTokens"),
                "cache_creation_tokens": details.get("cacheCreationInputTokens"),
            },
            "completion_tokens_details": {"reasoning_tokens": details.get("reasoning")},
        }
    )


def _is_cached(response: Mapping[str, Any], usage: Mapping[str, Any]) -> bool:
    return bool(response.get("cached") or (usage.get("cached") and not _tokens(usage)))


def _cost(item: Mapping[str, Any], response: Mapping[str, Any], usage: Mapping[str, Any]) -> Any:
    """promptfoo writes 0 for a provider that names no price: that is a cost only where nothing was consumed."""
    cost = response.get("cost", item.get("cost"))
    if cost != 0:
        return cost
    consumed = any(usage.get(kind) for kind in ("total", "prompt", "completion", "cached"))
    answered_at_no_price = response.get("output") is not None and "cost" not in response
    return None if consumed or answered_at_no_price else 0


def _outcome(item: Mapping[str, Any], response: Mapping[str, Any]) -> tuple[bool | None, Status, str | None]:
    if item["success"]:
        return True, "completed", None
    error = str(item.get("error") or response.get("error") or "")
    reason = item.get("failureReason")
    if reason == _ERROR or (not reason and error and response.get("output") is None):
        return _broken(error)
    if _grader_broke(item):
        return None, "completed", "grader_error"
    return False, "completed", "wrong_answer"


def _broken(error: str) -> tuple[bool | None, Status, str | None]:
    category = fault_category(error) or ("provider_error" if _NO_CONNECTION.search(error) else None)
    if category:
        return None, "fault", category
    if tells_of_timeout(error):
        return False, "timeout", "wall_clock"
    return False, "completed", "agent_error"


def _grader_broke(item: Mapping[str, Any]) -> bool:
    components = (item.get("gradingResult") or {}).get("componentResults") or []
    return any((component.get("metadata") or {}).get("graderError") for component in components)


def _flags(item: Mapping[str, Any], cached: bool) -> list[str]:
    unasserted = (item.get("gradingResult") or {}).get("reason") == "No assertions"
    return [*(["served_from_cache"] if cached else []), *(["no_assertions"] if unasserted else [])]


IMPORTER = Promptfoo()
