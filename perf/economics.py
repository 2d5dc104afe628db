"""What the answers cost beyond DuckDB's scan, on a million attempts and on the paper's 53,600.

    python -m perf.economics [--attempts 1000000]

CPU seconds of `report`, `compare` (10,000 resamples of the pooled figures) and `frontier` (1,000 two-level resamples),
without the scan that makes their sufficient statistics, which is printed apart; and the peak memory of each command.
Beside them, in the same run: the plain Python loops by which copeca resamples task deltas and the Cost-of-Pass code
walks over records, on the same data.
"""

import argparse
import random
import resource
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import duckdb

from costpass.analysis.compare import compare
from costpass.analysis.context import Context
from costpass.analysis.frontier import frontier
from costpass.analysis.summary import summary
from costpass.ledger.cells import cells
from costpass.ledger.columns import literal
from costpass.ledger.queries import medians, sums
from costpass.ledger.scan import Scan, Table
from perf.ledger_scan import COSTPASS, make_files, used

_ARMS = ["--by", "strategy", "--baseline", "strategy-00", "--against", "strategy-01"]
EXPERT = Context().with_experts({"*": 1.0})


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of this process, all its threads."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def report_lines(parquet: Path) -> None:
    with Scan([Table(parquet, "parquet")]) as scan:
        cells(scan)  # warm
        scanned = cpu(lambda: (cells(scan), sums(scan, ["strategy"]), medians(scan, ["strategy"])))
        whole = cpu(lambda: summary(scan, interval="bootstrap", resamples=10_000))
        print(f"  report, 10,000 resamples: {whole - scanned:.2f} s beyond the scan ({scanned:.2f} s)")
        by_mode = cpu(lambda: cells(scan, ["strategy", "model"]))
        arms = {"baseline": "strategy-00", "against": ["strategy-01"], "by": "strategy"}
        whole = cpu(lambda: compare(scan, interval="bootstrap", resamples=10_000, **arms))  # type: ignore[arg-type]
        print(f"  compare, 10,000 resamples: {whole - by_mode:.2f} s beyond the scan ({by_mode:.2f} s)")
        one = cpu(lambda: cells(scan))
        whole = cpu(lambda: frontier(scan, context=EXPERT))
        print(f"  frontier, 1,000 two-level resamples: {whole - one:.2f} s beyond the scan ({one:.2f} s)")


def their_loops(parquet: Path) -> None:
    """The same figures by loops over records, as the two systems do them."""
    rows = (
        duckdb.connect()
        .execute(f"SELECT strategy, problem, passed, cost_usd FROM {literal(str(parquet))} WHERE passed IS NOT NULL")
        .fetchall()
    )
    records = [
        {"strategy": strategy, "problem": problem, "passed": passed, "cost": float(cost)}
        for strategy, problem, passed, cost in rows
    ]
    walked = cpu(lambda: walk(records))
    print(f"  Cost-of-Pass, frontier by a loop over {len(records):,} records, no resampling: {walked:.2f} s")
    deltas = [random.random() for _ in range(len({record["problem"] for record in records}))]
    few = deltas[:1000]
    spent = cpu(lambda: [sum(random.choices(few, k=len(few))) / len(few) for _ in range(1000)])
    scaled = spent * 10 * len(deltas) / len(few)
    print(f"  copeca, 10,000 resamples of {len(deltas):,} task deltas: {scaled:.1f} s (1,000 of {len(few):,} measured)")


def walk(records: list[dict[str, object]]) -> float:
    grouped: defaultdict[tuple[object, object], list[dict[str, object]]] = defaultdict(list)
    for record in records:
        grouped[record["strategy"], record["problem"]].append(record)
    best: dict[object, float] = {}
    for (_, problem), attempts in grouped.items():
        rate = sum(bool(attempt["passed"]) for attempt in attempts) / len(attempts)
        mean = sum(float(str(attempt["cost"])) for attempt in attempts) / len(attempts)
        best[problem] = min(best.get(problem, 1.0), mean / rate if rate else 1.0)
    return sum(best.values()) / len(best)


def memory_lines(parquet: Path) -> None:
    for name, arguments in (
        ("report", ["--interval", "bootstrap"]),
        ("compare", [*_ARMS, "--interval", "bootstrap", "--format", "json"]),
        ("frontier", ["--expert", "*=1", "--format", "json"]),
    ):
        spent, peak = used([str(COSTPASS), name, str(parquet), *arguments])
        print(f"  costpass {name}: {spent:.1f} s CPU in all, peak {peak:.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attempts", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for attempts in (options.attempts, 53_600):
            folder = Path(name) / str(attempts)
            folder.mkdir()
            parquet, jsonl = make_files(folder, attempts)
            jsonl.unlink()
            print(f"{attempts:,} attempts")
            report_lines(parquet)
            memory_lines(parquet)
            if attempts == options.attempts:
                their_loops(parquet)


if __name__ == "__main__":
    main()
