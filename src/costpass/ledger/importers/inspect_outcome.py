"""What Inspect says came of a sample: its scores, and the error or limit that ended it."""

import math
from collections.abc import Mapping
from typing import Any

from costpass.ledger.importers.protocol import Settings
from costpass.ledger.importers.values import fault_category

_KILLED = {"cost": ("cost_killed", "budget"), "time": ("timeout", "wall_clock"), "working": ("timeout", "wall_clock")}
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "YES": 1.0, "NO": 0.0, "TRUE": 1.0, "FALSE": 0.0}


def outcome_of(log: Any, sample: Any, settings: Settings) -> tuple[dict[str, Any], list[str]]:
    """What came of it, and the flag of a limit that ended it without being a matter of money or time."""
    score, scores = _scores(log, sample)
    threshold = 1.0 if settings.threshold is None else settings.threshold
    passed = None if score is None else score >= threshold
    fields: dict[str, Any] = {"score": score, "scores": scores, "passed": passed, "status": "completed"}
    if sample.error is not None:
        failure = fault_category(sample.error.message) or "harness_error"
        return fields | {"passed": None, "status": "fault", "failure": failure}, []
    if getattr(sample, "invalidation", None):
        return fields | {"passed": None, "status": "invalid", "failure": "invalidated"}, []
    if sample.limit is None:
        return fields | {"failure": "wrong_answer" if passed is False else None}, []
    flag = f"{sample.limit.type}_limit"
    status, failure = _KILLED.get(sample.limit.type, ("completed", flag))
    # What a limit stopped before it was scored did not solve its problem.
    fields |= {"passed": bool(passed), "status": status, "failure": None if passed else failure}
    return fields, [] if sample.limit.type in _KILLED else [flag]


def _scores(log: Any, sample: Any) -> tuple[float | None, dict[str, float]]:
    """The score that the log's results name first (else the sample's first), and every score that is a number."""
    values: dict[str, Any] = {}
    for scorer, score in (sample.scores or {}).items():
        parts = score.value.items() if isinstance(score.value, Mapping) else [(None, score.value)]
        values |= {scorer if part is None else f"{scorer}.{part}": value for part, value in parts}
    numbers = {name: number for name, value in values.items() if (number := _number(value)) is not None}
    results = log.results.scores if log.results else []
    names = [f"{results[0].scorer}.{results[0].name}", results[0].name, results[0].scorer] if results else [*values][:1]
    return next((numbers.get(name) for name in names if name in values), None), numbers


def _number(value: Any) -> float | None:
    if isinstance(value, str) and value.upper() in _GRADES:
        return _GRADES[value.upper()]
    try:
        number = float(value)
    except (ValueError, TypeError):
        return None
    return number if math.isfinite(number) else None
