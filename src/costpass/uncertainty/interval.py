"""A figure with its bounds: Interval, and Intervals for a row of them."""

from collections.abc import Iterator
from dataclasses import dataclass

from costpass.uncertainty.arrays import Bools, Floats


@dataclass(frozen=True)
class Interval:
    """A figure and its bounds. `nan` means that it cannot be said, `inf` is infinite.

    >>> Interval(-0.31, -0.42, -0.18).excludes(0)
    True
    """

    value: float
    low: float
    high: float
    method: str = ""

    def excludes(self, point: float) -> bool:
        """Whether a bound that can be said leaves the point outside."""
        return self.low > point or self.high < point


@dataclass(frozen=True)
class Intervals:
    """The same for many figures at once, as arrays."""

    value: Floats
    low: Floats
    high: Floats
    method: str = ""

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, index: int) -> Interval:
        return Interval(float(self.value[index]), float(self.low[index]), float(self.high[index]), self.method)

    def __iter__(self) -> Iterator[Interval]:
        return (self[index] for index in range(len(self)))

    def excludes(self, point: float) -> Bools:
        """Which of them leave the point outside."""
        return (self.low > point) | (self.high < point)
