"""Small experiments on a loopback provider, for the tests of runs."""

import json
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from costpass.attempt import Attempt
from costpass.runs.engine import Ended
from costpass.runs.events import Unwatched
from costpass.runs.experiment import Experiment
from costpass.runs.preparing import Overrides, prepare
from costpass.runs.resuming import attempts_of
from costpass.runs.running import run_plan

PRICES = {"input": "1", "output": "2", "cache_read": "0.1", "cache_write": "1.25"}


def experiment(url: str, **changes: Any) -> dict[str, Any]:
    """Two strategies, one in each of two dialects, on a few sums."""
    return {
        "experiment": "sums",
        "benchmarks": [{"name": "two-digit-addition", "sample": {"n": 5}}],
        "strategies": [strategy(url), strategy(url, id="anthropic", model="anthropic:sim-p70", base_url=url)],
        "repetitions": 2,
        "budgets": {"attempt_usd": 0.01},
        "prices": {"models": {"sim-p70": {"usd_per_million": {key: float(usd) for key, usd in PRICES.items()}}}},
        **changes,
    }


def strategy(url: str, **changes: Any) -> dict[str, Any]:
    """A model that is right seven times in ten."""
    return {"id": "chat", "model": "sim-p70", "base_url": f"{url}/v1", **changes}


def run(document: Mapping[str, Any], ledger: Path, **overrides: Any) -> Ended:
    """Runs an experiment in this process."""
    plan = prepare(Experiment.model_validate(document), ledger.parent, Overrides(**overrides))
    return run_plan(plan, ledger, Unwatched())


def records(ledger: Path) -> list[Attempt]:
    return list(attempts_of(ledger / "attempts.jsonl"))


def finished(ledger: Path) -> list[Attempt]:
    return [record for record in records(ledger) if record.status not in ("fault", "interrupted")]


def cells(ledger: Path) -> Counter[tuple[Any, ...]]:
    """How often each try of the experiment was finished."""
    return Counter((r.benchmark, r.problem, r.strategy, r.repetition) for r in finished(ledger))


def spent(ledger: Path) -> Decimal:
    """All that the ledger says was spent, grading included."""
    zero = Decimal(0)
    return sum(((record.cost_usd or zero) + (record.grading_usd or zero) for record in records(ledger)), zero)


def traces(ledger: Path) -> dict[str, dict[str, Any]]:
    lines = (ledger / "traces.jsonl").read_text("utf-8").splitlines()
    return {line["attempt"]: line for line in map(json.loads, lines)}
