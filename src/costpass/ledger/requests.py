"""The requests journal: a line before each request is sent and one when it has ended.

After a crash it says what had been spent for attempts that never came to be recorded.
"""

import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

from costpass.attempt import Usage
from costpass.errors import CostpassError

REQUESTS = "requests.jsonl"

#: Benchmark, problem, strategy, repetition: what an attempt tries, whichever retry it is.
Cell = tuple[str | None, str, str, int | None]


@dataclass(frozen=True)
class Begun:
    """A request about to be sent."""

    request: str
    cell: Cell
    retry: int
    model: str
    #: What it will use and cost as far as can be foreseen, for when its end never comes to be known.
    expected: Usage
    expected_usd: Decimal
    grading: bool = False


@dataclass(frozen=True)
class Ended:
    """A request that has ended, one way or another."""

    request: str
    #: `ok`, or what broke it.
    outcome: str
    usage: Usage
    usd: Decimal
    estimated: bool


class Requests:
    """Appends to the journal of one run. A line is in the kernel's hands, whole, when a call returns."""

    def __init__(self, ledger: Path) -> None:
        self.path = ledger / REQUESTS
        mend(self.path)
        self._run = secrets.token_hex(4)
        self._numbers = count(1)
        self.descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def new_name(self) -> str:
        """A name for a request that no other request of the ledger has."""
        return f"{self._run}-{next(self._numbers)}"

    def begin(self, begun: Begun) -> None:
        benchmark, problem, strategy, repetition = begun.cell
        self._write(
            {
                "begin": begun.request,
                "benchmark": benchmark,
                "problem": problem,
                "strategy": strategy,
                "repetition": repetition,
                "retry": begun.retry,
                "model": begun.model,
                "expected_usd": str(begun.expected_usd),
                "expected": begun.expected.model_dump(exclude_none=True, exclude_defaults=True),
                **({"grading": True} if begun.grading else {}),
            }
        )

    def end(self, ended: Ended) -> None:
        self._write(
            {
                "end": ended.request,
                "outcome": ended.outcome,
                "usd": str(ended.usd),
                **({"estimated": True} if ended.estimated else {}),
                "usage": ended.usage.model_dump(exclude_none=True, exclude_defaults=True),
            }
        )

    def close(self) -> None:
        os.close(self.descriptor)

    def _write(self, line: dict[str, Any]) -> None:
        content = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        try:
            written = os.write(self.descriptor, content)
        except OSError as error:
            raise CostpassError(f"{self.path}: the request was not journalled: {error.strerror}") from error
        if written != len(content):
            raise CostpassError(f"{self.path}: the request was not journalled: the disk took only part of the line")


@dataclass(frozen=True)
class Known:
    """What the journal knows of one request; `ended` is None where it was still under way."""

    begun: Begun
    ended: Ended | None


def known(ledger: Path) -> Iterator[Known]:
    """Every request of the journal: those that ended in the order of their ends, then those that never did."""
    under_way: dict[str, Begun] = {}
    for number, line in _lines(ledger / REQUESTS):
        try:
            if "begin" in line:
                begun = _begun(line)
                under_way[begun.request] = begun
            elif line["end"] in under_way:
                yield Known(under_way.pop(line["end"]), _ended(line))
        except (KeyError, TypeError, ValueError, ArithmeticError):
            raise _damaged(ledger / REQUESTS, number) from None
    for begun in under_way.values():
        yield Known(begun, None)


def _begun(line: dict[str, Any]) -> Begun:
    return Begun(
        request=line["begin"],
        cell=(line["benchmark"], line["problem"], line["strategy"], line["repetition"]),
        retry=line["retry"],
        model=line["model"],
        expected=Usage.model_validate(line["expected"]),
        expected_usd=Decimal(line["expected_usd"]),
        grading=line.get("grading", False),
    )


def _ended(line: dict[str, Any]) -> Ended:
    return Ended(
        request=line["end"],
        outcome=line["outcome"],
        usage=Usage.model_validate(line["usage"]),
        usd=Decimal(line["usd"]),
        estimated=line.get("estimated", False),
    )


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if not raw.endswith(b"\n"):
                return
            try:
                yield number, json.loads(raw)
            except ValueError:
                raise _damaged(path, number) from None


def _damaged(path: Path, number: int) -> CostpassError:
    return CostpassError(f"{path}: line {number} is damaged; without that line, what it says is not booked")


def mend(path: Path) -> None:
    """Cuts off a last line that has no end: its author died in the middle of it."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        start = max(0, size - (1 << 20))
        file.seek(start)
        tail = file.read()
        if tail and not tail.endswith(b"\n"):
            file.truncate(start + tail.rfind(b"\n") + 1)
