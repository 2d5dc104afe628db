"""A figure with its interval, and how results become JSON and data frames."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from typing import Any

from costpass.uncertainty.interval import Interval


@dataclass(frozen=True)
class Estimate:
    """A figure and its interval.

    `value` is None where it cannot be said, and where it is infinite. A bound is None where it cannot be said; an
    upper bound beside a known lower one is None where there is no upper limit.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    infinite: bool = False

    @classmethod
    def of(cls, interval: Interval) -> "Estimate":
        """The estimate that an interval of arrays stands for."""
        return cls(
            _finite(interval.value), _finite(interval.low), _finite(interval.high), infinite=interval.value == math.inf
        )

    @classmethod
    def point(cls, value: float | None) -> "Estimate":
        """A figure without an interval."""
        return cls(None if value is None else _finite(value), infinite=value == math.inf)

    def __format__(self, spec: str) -> str:
        return "infinite" if self.infinite else "unknown" if self.value is None else format(self.value, spec)


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


class Result(ABC):
    """What every answer can do: become JSON, and become a data frame of its rows."""

    schema: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries and lists, as the command prints with --format json."""
        content = plain(self)
        return {"schema": self.schema, **content} if self.schema else content

    def to_json(self) -> str:
        """Strict JSON: nothing that is not a number stands for one."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    @abstractmethod
    def records(self) -> list[dict[str, Any]]:
        """The rows of the answer, flat: what a data frame is made of."""

    def to_frame(self) -> Any:
        """The rows as a Polars or pandas data frame, whichever is installed."""
        return frame(self.records())


def plain(value: Any) -> Any:
    """Dataclasses as dictionaries; numbers that JSON does not have as null."""
    if is_dataclass(value) and not isinstance(value, type):
        shown = {
            field.name: plain(getattr(value, field.name)) for field in fields(value) if not field.name.startswith("_")
        }
        by = shown.pop("by", None) if isinstance(getattr(value, "by", None), Mapping) else None
        return {**by, **shown} if by is not None else shown
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """One level of columns: an estimate becomes its value and bounds."""
    columns: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            columns.update({name if part == "value" else f"{name}_{part}": item for part, item in value.items()})
        elif not isinstance(value, list):
            columns[name] = value
    return columns


def frame(records: Iterable[Mapping[str, Any]]) -> Any:
    """A Polars or pandas data frame."""
    from costpass.errors import CostpassError

    rows = [flat(record) for record in records]
    try:
        import polars
    except ImportError:
        try:
            import pandas
        except ImportError:
            raise CostpassError("a data frame needs polars or pandas: pip install polars") from None
        return pandas.DataFrame(rows)
    return polars.DataFrame(rows, infer_schema_length=None)
