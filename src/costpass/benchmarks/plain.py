"""Values as JSON has them, whatever they were read from."""

import math
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any


def plain(value: Any) -> Any:
    """The value with JSON's types only; what JSON cannot say, such as NaN or raw bytes, is not known."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | Decimal):
        return _number(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    return None if isinstance(value, bytes | bytearray | memoryview) else str(value)


def _number(value: float | Decimal) -> float | int | None:
    if not math.isfinite(value):
        return None
    return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else float(value)
