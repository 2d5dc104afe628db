"""Small readings that many formats share: times, failures, and what is absent."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

_FAULT_CATEGORIES = (
    ("auth", r"not logged in|unauthori[sz]ed|authenticat|invalid api key|\b401\b|\b403\b|credit balance|/login"),
    ("rate_limit", r"rate.?limit|\b429\b|too many requests|quota|overloaded|\b529\b"),
    ("provider_error", r"internal server error|service unavailable|bad gateway|\b50[0-4]\b|connection (?:error|reset)"),
)
_TIMEOUT = re.compile(r"time(?:d)?[ _-]?out|deadline|hard ceiling", re.IGNORECASE)


def moment(value: Any) -> datetime | None:
    """A point in time from ISO text or Unix seconds or milliseconds; without a zone it is taken as UTC."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        raise ValueError(f"not a time: {value!r}")
    if isinstance(value, int | float):
        seconds = value / 1000 if value > 1e11 else value
        try:
            return datetime.fromtimestamp(seconds, UTC)
        except (OverflowError, OSError):
            raise ValueError(f"not a time: {value!r}") from None
    parsed = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def milliseconds_between(start: datetime | None, end: datetime | None) -> float | None:
    """How long it took, or None where either end is unknown."""
    if start is None or end is None:
        return None
    return (end - start).total_seconds() * 1000


def fault_category(message: str) -> str | None:
    """Which infrastructure fault a message tells of: auth, rate_limit, provider_error; or None."""
    folded = message.casefold()
    return next((name for name, pattern in _FAULT_CATEGORIES if re.search(pattern, folded)), None)


def tells_of_timeout(message: str) -> bool:
    return bool(_TIMEOUT.search(message))


def positive(row: Mapping[str, Any], key: str) -> Any:
    """A figure of a format that writes 0 or -1 for "not measured": null unless it is above zero."""
    value = row.get(key)
    return value if isinstance(value, int | float) and value > 0 else None
