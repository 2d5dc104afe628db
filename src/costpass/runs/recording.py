"""What a run writes: the ledger's attempts, its traces, its requests and its problems."""

import asyncio
import fcntl
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from costpass.attempt import Attempt
from costpass.errors import CostpassError
from costpass.ledger.requests import Requests, mend
from costpass.ledger.store import Ledger
from costpass.runs.plan import Plan

TRACES = "traces.jsonl"
PROBLEMS = "problems.jsonl"
_LOCK = ".run.lock"
_SHORTEST_SECRET = 6


class Recorder:
    """The one writer of a ledger while a run is at work on it."""

    def __init__(self, ledger: Ledger, *, secrets: Iterable[str] = ()) -> None:
        self.ledger = ledger
        self._lock = _locked(ledger.path)
        self.requests = Requests(ledger.path)
        self._journal = ledger.journal()
        mend(ledger.path / TRACES)
        self._traces = os.open(ledger.path / TRACES, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._secrets = [secret for secret in secrets if len(secret) >= _SHORTEST_SECRET]
        self._unsynced: list[asyncio.Future[None]] = []
        self._syncing: asyncio.Task[None] | None = None

    def scrub(self, text: str) -> str:
        """The text without any key that the run knows, in case a provider or a model repeats one."""
        for secret in self._secrets:
            text = text.replace(secret, "[secret]").replace(json.dumps(secret)[1:-1], "[secret]")
        return text

    def write(self, records: Sequence[Attempt], trace: Mapping[str, Any] | None = None) -> None:
        """Adds an attempt's records and its trace; both outlive this process at once."""
        if trace is not None:
            self._write_trace(trace)
        self._journal.write(records)

    async def record(self, records: Sequence[Attempt], trace: Mapping[str, Any] | None = None) -> None:
        """The same, and returns once they are on disk; attempts that end together are brought there together."""
        if trace is not None:
            self._write_trace(trace)
        if not self._journal.write(records, wait=False):
            # A report is being made of the ledger just now; other attempts need not stand still for it.
            await asyncio.to_thread(self._journal.write, records)
        synced = asyncio.get_running_loop().create_future()
        self._unsynced.append(synced)
        if self._syncing is None or self._syncing.done():
            self._syncing = asyncio.create_task(self._sync())
        await synced

    def close(self) -> None:
        self._journal.sync()
        self._journal.close()
        self.requests.close()
        os.close(self._traces)
        os.close(self._lock)

    async def _sync(self) -> None:
        while self._unsynced:
            waiting, self._unsynced = self._unsynced, []
            await asyncio.to_thread(self._journal.sync)
            for synced in waiting:
                if not synced.done():
                    synced.set_result(None)

    def _write_trace(self, trace: Mapping[str, Any]) -> None:
        line = self.scrub(json.dumps(trace, ensure_ascii=False, separators=(",", ":")))
        content = line.encode("utf-8", "replace") + b"\n"
        start = os.fstat(self._traces).st_size
        if os.write(self._traces, content) != len(content):
            os.ftruncate(self._traces, start)
            raise CostpassError(f"{self.ledger.path / TRACES}: the disk took only part of a trace")


def open_ledger(path: Path, plan: Plan) -> Ledger:
    """The experiment's ledger, made where there is none; what it needs for a later grading is put beside it."""
    if Ledger.is_ledger(path):
        ledger = Ledger(path)
        require_ledger_of(plan, ledger)
    else:
        ledger = Ledger.create(path, name=plan.experiment.experiment, price_book=plan.book.digest)
    experts = {**ledger.manifest.get("context", {}).get("experts", {}), **_experts(plan)}
    ledger.update_manifest(price_book=plan.book.digest, context={"experts": experts})
    _write_problems(ledger.path / PROBLEMS, plan)
    return ledger


def require_ledger_of(plan: Plan, ledger: Ledger) -> None:
    """Refuses the ledger of another experiment."""
    if ledger.name != plan.experiment.experiment:
        raise CostpassError(
            f"{ledger.path} is the ledger of {ledger.name!r}, not of {plan.experiment.experiment!r}; -o names another"
        )


def _experts(plan: Plan) -> dict[str, Any]:
    """What reports of the ledger need beside its attempts."""
    return {
        graded.benchmark.name: {"usd": graded.benchmark.expert_usd}
        for graded in plan.benchmarks
        if graded.benchmark.expert_usd is not None
    }


def _write_problems(path: Path, plan: Plan) -> None:
    """Keeps the problems of every plan that the ledger has seen, so that its answers can be graded anew."""
    kept = read_problems(path)
    before = dict(kept)
    for graded in plan.benchmarks:
        for problem in graded.benchmark.problems:
            grader = problem.grader if problem.grader is not None else graded.benchmark.grader
            line = {**asdict(problem), "benchmark": graded.benchmark.name, "grader": grader}
            key = (graded.benchmark.name, problem.id)
            kept[key] = json.loads(json.dumps(line))
            if key in before and before[key]["question"] != problem.question:
                raise CostpassError(
                    f"the problem {problem.id!r} of {graded.benchmark.name} is not what it was when attempts were made "
                    "at it; give it another id, or write to another ledger with -o"
                )
    if kept == before:
        return
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in kept.values()), "utf-8")
    partial.replace(path)


def read_problems(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The problems that a ledger keeps, by benchmark and id."""
    if not path.exists():
        return {}
    try:
        # Only at line feeds: texts may hold other characters that end lines.
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        return {(line["benchmark"], line["id"]): line for line in lines}
    except (ValueError, KeyError, TypeError) as error:
        raise CostpassError(f"{path}: damaged ({error})") from error


def _locked(ledger: Path) -> int:
    descriptor = os.open(ledger / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise CostpassError(
            f"{ledger}: another run is at work on this ledger; wait for it, or write elsewhere with -o"
        ) from None
    return descriptor
