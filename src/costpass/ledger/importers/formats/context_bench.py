"""context-bench's results: the document that `EvalResult.to_json()` and `context-bench --output json` write.

- A row's `input_tokens` and `output_tokens` count every text field of the example and of what the system returned,
  not what a model read and wrote. They are kept as quantities, so that nothing prices them as a model's tokens.
- The model's own usage is in the metadata where the system reported it, with 0 for what it left out.
- There is no verdict: a row passes if its main score reaches the threshold, 0.7 as in context-bench.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from costpass.attempt import Attempt
from costpass.errors import BadInputError
from costpass.ledger.importers.protocol import Row, Settings, Skip
from costpass.ledger.importers.source import Source
from costpass.ledger.importers.usage import token_classes
from costpass.ledger.importers.values import positive

_THRESHOLD = 0.7
#: Which score is the main one. f1 and its kin are computed for every dataset, so a score made for the dataset's kind
#: of answer comes before them; f1 is what the command line takes by default.
_MAIN_SCORES = (
    "score",
    "mc_accuracy",
    "math_equiv",
    "pass_at_1",
    "nli_accuracy",
    "ifeval_strict",
    "judge_score",
    "f1",
    "exact_match",
)


class ContextBench:
    name = "context-bench"
    about = "context-bench results (JSON)"

    def recognises(self, source: Source) -> bool:
        if b'"rows"' not in source.head or not (b'"example_id"' in source.head or b'"summary"' in source.head):
            return False
        return _is_result(source.document_or_none)

    def rows(self, source: Source) -> Iterable[Row]:
        if not _is_result(source.document):
            raise BadInputError(f"{source.path}: not a context-bench result: it needs rows and a summary")
        items = source.document["rows"]
        if not items:
            return [Row(source.name, Skip("a context-bench result without rows"))]
        return [Row(f"{source.name}:{number}", item) for number, item in enumerate(items, start=1)]

    def attempts(self, row: Row, settings: Settings) -> Iterable[Attempt]:
        if isinstance(row.content, Skip):
            raise row.content
        result: Mapping[str, Any] = row.content
        scores = result["scores"]
        if not isinstance(scores, dict):
            raise ValueError("scores must be an object of named numbers")
        score, passed = _judged(scores, _main_score(scores), settings)
        latency_s = positive(result, "latency")
        yield Attempt(
            benchmark=result.get("dataset") or None,
            problem=str(result["example_id"]),
            strategy=result["system"],
            passed=passed,
            score=score,
            scores={name: value for name, value in scores.items() if math.isfinite(value)},
            failure="wrong_answer" if passed is False else None,
            **_usage(result),
            duration_ms=None if latency_s is None else latency_s * 1000,
        )


def _is_result(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("rows"), list) and "summary" in document


def _main_score(scores: Mapping[str, float]) -> str | None:
    if len(scores) == 1:
        return next(iter(scores))
    return next((name for name in _MAIN_SCORES if name in scores), None)


def _judged(scores: Mapping[str, float], main: str | None, settings: Settings) -> tuple[float | None, bool | None]:
    if main is None:
        return None, None
    threshold = _THRESHOLD if settings.threshold is None else settings.threshold
    note = f"context-bench gives scores and no verdict: passed means {main} ≥ {threshold:g}"
    if note not in settings.notes:
        settings.notes.append(note)
    # A score that is not a number does not pass there either.
    value = scores[main]
    return value if math.isfinite(value) else None, value >= threshold


def _usage(result: Mapping[str, Any]) -> dict[str, Any]:
    metadata = result.get("metadata") or {}
    reported: Mapping[str, Any] = metadata.get("usage") or metadata
    if positive(reported, "prompt_tokens"):
        return token_classes(reported)
    counted = {f"context_bench_{side}_tokens": result.get(f"{side}_tokens") for side in ("input", "output")}
    return {"quantities": {name: count for name, count in counted.items() if count is not None}}


IMPORTER = ContextBench()
