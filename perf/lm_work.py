"""What perf.lm_runs runs: experiments of sums, and the processes that make them."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.runs.experiments import experiment, strategy

from costpass.runs.experiment import Experiment
from costpass.runs.preparing import Overrides, prepare
from perf.ledger_scan import COSTPASS

MODEL = "sim-p70"
MAX_TOKENS = 64
REPETITIONS = 5


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    attempts: int
    concurrency: int
    rounds: int


@dataclass(frozen=True)
class Took:
    """What one process took: all of it with its start, and its calls alone."""

    whole_s: float
    whole_cpu_s: float
    calls_s: float | None = None
    calls_cpu_s: float | None = None
    peak_mib: float | None = None
    #: What kept it from doing its work.
    trouble: str | None = None


def sums(url: str, size: Size, dialects: Collection[str], **changes: Any) -> dict[str, Any]:
    """An experiment of so many attempts, shared out among the dialects."""
    settings = {"settings": {"max_tokens": MAX_TOKENS}}
    by_dialect = {
        "chat": strategy(url, **settings),
        "anthropic": strategy(url, id="anthropic", model=f"anthropic:{MODEL}", base_url=url, **settings),
    }
    problems = size.attempts // REPETITIONS // len(dialects)
    return experiment(
        url,
        benchmarks=[{"name": "two-digit-addition", "sample": {"n": problems}}],
        strategies=[by_dialect[dialect] for dialect in dialects],
        repetitions=REPETITIONS,
        concurrency=size.concurrency,
        **changes,
    )


def price_list(prices: Mapping[str, str]) -> dict[str, Any]:
    return {"models": {MODEL: {"usd_per_million": {name: float(usd) for name, usd in prices.items()}}}}


def costpass_work(place: Path, document: Mapping[str, Any]) -> Path:
    write(place / "experiment.yaml", document)
    where = {"experiment": str(place / "experiment.yaml"), "ledger": str(place / "ledger")}
    return write(place / "costpass.json", where)


def bare_work(place: Path, document: Mapping[str, Any], url: str, dialect: str) -> Path:
    """The prompts and seeds that costpass will send, in its order."""
    plan = prepare(Experiment.model_validate(document), place, Overrides())
    tries = map(plan.try_, plan.order(plan.strategies))
    return write(
        place / "bare.json",
        {
            "url": url,
            "dialect": dialect,
            "model": MODEL,
            "max_tokens": MAX_TOKENS,
            "concurrency": plan.experiment.concurrency,
            "calls": [(one.problem.question, plan.seed(one)) for one in tries],
        },
    )


def inspect_work(place: Path, document: Mapping[str, Any], url: str) -> Path:
    plan = prepare(Experiment.model_validate(document), place, Overrides())
    problems = [problem for graded in plan.benchmarks for problem in graded.benchmark.problems]
    return write(
        place / "inspect.json",
        {
            "url": url,
            "model": MODEL,
            "max_tokens": MAX_TOKENS,
            "concurrency": plan.experiment.concurrency,
            "repetitions": REPETITIONS,
            "problems": [(problem.question, problem.target) for problem in problems],
            "log_dir": str(place / "logs"),
        },
    )


def write(path: Path, document: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), "utf-8")
    return path


def child(name: str, work: Path) -> Took:
    """One of perf.lm_children."""
    done, took = process([sys.executable, "-m", "perf.lm_children", name, str(work)])
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr}")
    told = json.loads(done.stdout.splitlines()[-1])
    return Took(
        took.whole_s, took.whole_cpu_s, told.get("wall_s"), told.get("cpu_s"), told["peak_mib"], told.get("trouble")
    )


def command(experiment_file: Path, ledger: Path, *, exits: Sequence[int] = (0,)) -> Took:
    """`costpass run` as it is installed."""
    done, took = process([str(COSTPASS), "run", str(experiment_file), "-o", str(ledger)])
    if done.returncode not in exits:
        raise SystemExit(f"costpass run ended with {done.returncode}:\n{done.stderr}")
    return took


def process(arguments: list[str]) -> tuple[subprocess.CompletedProcess[str], Took]:
    """Runs a process to its end; what it used is all that the ended children of this one have used since."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, Took(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
