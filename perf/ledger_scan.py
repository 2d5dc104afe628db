"""How much costpass adds to DuckDB: a million attempts to the per-strategy table, beside the bare GROUP BY.

    python -m perf.ledger_scan [--attempts 1000000] [--rounds 5]

Prints ratios measured side by side in one run, the peak memory of `costpass report` on each file, and the CPU time
of `costpass --help` and of `costpass report` on ten attempts.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb

from costpass.analysis.summary import summary
from costpass.ledger.cells import groups
from costpass.ledger.columns import literal, quoted, sql_types
from costpass.ledger.scan import Scan, Table
from costpass.ledger.store import Ledger

STRATEGIES = 20
REPETITIONS = 8
COSTPASS = Path(sysconfig.get_path("scripts")) / "costpass"

GIVEN = {
    "experiment": "'perf'",
    "benchmark": "'synthetic'",
    "problem": f"'problem-' || lpad(CAST(i // {STRATEGIES * REPETITIONS} AS VARCHAR), 6, '0')",
    "strategy": f"'strategy-' || lpad(CAST(i % {STRATEGIES} AS VARCHAR), 2, '0')",
    "repetition": f"(i // {STRATEGIES}) % {REPETITIONS}",
    "retry": "0",
    "passed": "CASE WHEN i % 97 = 0 THEN NULL ELSE hash(i) % 10 < 6 END",
    "status": "CASE WHEN i % 97 = 0 THEN 'fault' ELSE 'completed' END",
    "input_tokens": "hash(i, 1) % 20000",
    "output_tokens": "hash(i, 2) % 4000",
    "cost_usd": "CAST((hash(i, 3) % 1000000) / 1e7 AS DECIMAL(18, 12))",
    "cost_source": "'priced'",
    "started_at": "TIMESTAMP '2026-01-01' + to_seconds(i)",
    "scores": "MAP {}",
    "flags": "[]",
    "quantities": "MAP {}",
    "schema_version": "1",
}
BARE = "SELECT strategy, status, passed, count(*), count(cost_usd), sum(cost_usd) FROM {table} GROUP BY ALL"
CELLS = (
    "SELECT strategy, problem, status, passed, count(*), count(cost_usd), sum(cost_usd), "
    "sum(CAST(cost_usd AS DOUBLE) ** 2) FROM {table} GROUP BY ALL"
)
READ = ("strategy", "problem", "status", "passed", "cost_usd")


def make_files(folder: Path, attempts: int) -> tuple[Path, Path]:
    """The same synthetic attempts as Parquet and as JSON lines."""
    columns = ", ".join(
        f"CAST({GIVEN.get(name, 'NULL')} AS {kind}) AS {quoted(name)}" for name, kind in sql_types().items()
    )
    parquet, jsonl = folder / "attempts.parquet", folder / "attempts.jsonl"
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT {columns} FROM range({attempts}) AS numbers(i)) TO {literal(str(parquet))} "
            "(FORMAT parquet, COMPRESSION zstd)"
        )
        connection.execute(f"COPY (FROM {literal(str(parquet))}) TO {literal(str(jsonl))} (FORMAT json)")
    return parquet, jsonl


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(table: Table, bare_table: str, rounds: int) -> Iterator[tuple[str, float, float]]:
    """Median seconds of a bare query and of costpass, taken in turns, connections open beforehand."""
    with Scan([table]) as scan, duckdb.connect() as bare:
        for what, bare_work, our_work in (
            (
                "the per-strategy table (report --interval none)",
                lambda: bare.execute(BARE.format(table=bare_table)).fetchall(),
                lambda: summary(scan, interval="none"),
            ),
            (
                "statistics of strategy × problem",
                lambda: bare.execute(CELLS.format(table=bare_table)).fetchnumpy(),
                lambda: groups(scan),
            ),
            (
                "the report with intervals and speeds",
                lambda: bare.execute(CELLS.format(table=bare_table)).fetchnumpy(),
                lambda: report(table),
            ),
        ):
            turns = [(seconds(bare_work), seconds(our_work)) for _ in range(rounds + 1)][1:]
            yield what, statistics.median(turn[0] for turn in turns), statistics.median(turn[1] for turn in turns)


def report(table: Table) -> None:
    """The report on a scan of its own, as what one scan has parsed would serve the next turn too."""
    with Scan([table]) as scan:
        summary(scan)


def used(arguments: list[str]) -> tuple[float, float]:
    """CPU seconds and peak MiB of a command."""
    script = (
        "import resource, subprocess, sys, json\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "u = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([u.ru_utime + u.ru_stime, u.ru_maxrss / 1024]))"
    )
    done = subprocess.run([sys.executable, "-c", script, *arguments], check=True, capture_output=True, text=True)
    cpu, peak = json.loads(done.stdout)
    return cpu, peak


def ten_attempts(folder: Path, jsonl: Path) -> Path:
    ledger = Ledger.create(folder / "ten", name="ten")
    with jsonl.open() as lines:
        ledger.journal_path.write_text("".join(next(lines) for _ in range(10)))
    return ledger.path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attempts", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parquet, jsonl = make_files(folder, options.attempts)
        ledger = Ledger.create(folder / "ledger", name="perf")
        jsonl = jsonl.rename(ledger.journal_path)
        spec = ", ".join(f"{name}: {literal(sql_types()[name])}" for name in READ)
        scan_json = f"read_json({literal(str(jsonl))}, format='newline_delimited', columns={{{spec}}})"
        print(f"{options.attempts:,} attempts: Parquet {parquet.stat().st_size:,} bytes, JSON {jsonl.stat().st_size:,}")
        for label, table, bare in (
            ("parquet", Table(parquet, "parquet"), f"read_parquet({literal(str(parquet))})"),
            ("jsonl", Table(jsonl, "jsonl"), scan_json),
        ):
            for what, their, our in compare(table, bare, options.rounds):
                print(f"{label}, {what}: bare DuckDB {their:.3f} s, costpass {our:.3f} s, ratio {our / their:.2f}")
        for label, source in (("parquet", parquet), ("jsonl", ledger.path)):
            cpu, peak = used([str(COSTPASS), "report", str(source)])
            print(f"costpass report on {label}: {cpu:.2f} s CPU, peak {peak:.0f} MiB")
        for label, arguments in (
            ("costpass --help", ["--help"]),
            ("costpass report, 10 attempts", ["report", str(ten_attempts(folder, jsonl))]),
        ):
            cpu = min(used([str(COSTPASS), *arguments])[0] for _ in range(options.rounds))
            print(f"{label}: {cpu:.2f} s CPU")
    print(f"peak of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
