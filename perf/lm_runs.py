"""What `costpass run` adds to the calls that it makes, and whether its books agree with the provider's.

    python -m perf.lm_runs [--attempts 2000] [--concurrency 64] [--rounds 3] [--only rate,kill] [--skip-inspect]

The provider is the loopback one of the tests, in a process of its own that keeps its own account. Whatever is compared
runs in processes of its own too, taken in turns; figures are medians, and a ratio is the median of the turns' ratios.
"""

import argparse
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.loopback import Loopback, provider
from tests.runs.experiments import PRICES, cells, finished, records, spent

from perf.ledger_scan import COSTPASS
from perf.lm_work import (
    REPETITIONS,
    Size,
    Took,
    bare_work,
    child,
    command,
    costpass_work,
    inspect_work,
    price_list,
    sums,
    write,
)

WORDS = 10
DIALECTS = {"chat": "OpenAI-compatible", "anthropic": "Anthropic"}
#: A provider on a bad day. What it asks to wait is short, or the run would mostly do that.
TROUBLE: Mapping[str, Any] = {
    "rate_limit": 0.05,
    "storm": (200, 20),
    "error": 0.05,
    "cut": 0.05,
    "cut_late": 0.4,
    "slow": (0.02, 0.02),
    "retry_after": 0.1,
}
CAP_USD = Decimal(1)
DEAR = {"input": "200", "output": "400"}


def main() -> None:
    sections: dict[str, Callable[[Path, Size], None]] = {
        "rate": rate,
        "memory": memory,
        "inspect": inspect,
        "spend": spend,
        "cap": cap,
        "kill": kill,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attempts", type=int, default=2000, help="rounded to a multiple of ten")
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join(sections), help=f"some of {', '.join(sections)}")
    parser.add_argument("--skip-inspect", action="store_true", help="all but inspect_ai")
    options = parser.parse_args()
    chosen = options.only.split(",")
    if unknown := set(chosen) - set(sections):
        parser.error(f"--only {', '.join(sorted(unknown))}: there are {', '.join(sections)}")
    size = Size(max(10, options.attempts // 10 * 10), options.concurrency, options.rounds)
    print(f"Sums of two digits, replies of {WORDS} words, {size.concurrency} requests at once")
    for name, section in sections.items():
        if name in chosen and not (name == "inspect" and options.skip_inspect):
            with tempfile.TemporaryDirectory() as folder:
                section(Path(folder), size)


# Rates


def rate(folder: Path, size: Size) -> None:
    """costpass beside a loop that does nothing but the same calls."""
    for dialect, name in DIALECTS.items():
        with provider(folder, words=WORDS) as loopback:
            document = sums(loopback.url, size, [dialect])
            turns: dict[str, list[Took]] = {"bare": [], "costpass": [], "command": []}
            for number in range(size.rounds):
                place = folder / f"{dialect}-{number}"
                work = bare_work(place, document, loopback.url, dialect)
                turns["bare"].append(child("bare", work))
                turns["costpass"].append(child("costpass", costpass_work(place, document)))
                turns["command"].append(command(place / "experiment.yaml", place / "ledger-of-command"))
            same_calls(loopback, len(turns) * size.rounds)
        print(f"\n{name}: {size.attempts:,} attempts, medians of {size.rounds} rounds")
        print_rates("pydantic-ai in a bare loop", turns["bare"], size)
        print_rates("costpass, run_plan in a process", turns["costpass"], size)
        print_rates("costpass run, the command", turns["command"], size)
        print_ratio("the calls alone", turns["costpass"], turns["bare"], calls_s, calls_cpu_s)
        print_ratio("whole processes", turns["command"], turns["bare"], whole_s, whole_cpu_s)


def inspect(folder: Path, size: Size) -> None:
    """costpass beside inspect_ai, at the same problems."""
    turns: dict[str, list[Took]] = {"inspect": [], "costpass": []}
    print(f"\ninspect_ai beside costpass, OpenAI-compatible: {size.attempts:,} attempts")
    with provider(folder, words=WORDS) as loopback:
        document = sums(loopback.url, size, ["chat"])
        for number in range(size.rounds):
            place = folder / str(number)
            took = child("inspect", inspect_work(place, document, loopback.url))
            if took.trouble is not None:
                print(f"  inspect_ai: could not run: {took.trouble}")
                return
            turns["inspect"].append(took)
            turns["costpass"].append(child("costpass", costpass_work(place, document)))
        rows = loopback.requests()
    streamed = {row["stream"] for row in rows if row["n"] <= size.attempts}
    print_rates(f"inspect_ai, eval ({'streamed' if streamed == {True} else 'not streamed'})", turns["inspect"], size)
    print_rates("costpass, run_plan in a process", turns["costpass"], size)
    print_ratio("the calls alone", turns["costpass"], turns["inspect"], calls_s, calls_cpu_s)


def print_rates(name: str, turns: Sequence[Took], size: Size) -> None:
    whole = f"whole process {median(turns, whole_s):.2f} s, {median(turns, whole_cpu_s):.2f} s CPU"
    if turns[0].calls_s is None:
        print(f"  {name:38} {size.attempts / median(turns, whole_s):6.0f} attempts/s; {whole}")
        return
    calls_per_s = size.attempts / median(turns, calls_s)
    each_ms = median(turns, calls_cpu_s) / size.attempts * 1000
    print(f"  {name:38} {calls_per_s:6.0f} attempts/s, {each_ms:.2f} ms CPU each; {whole}")


def print_ratio(
    name: str, ours: Sequence[Took], theirs: Sequence[Took], wall: Callable[[Took], float], cpu: Callable[[Took], float]
) -> None:
    print(f"  {name}: costpass has {ratio(ours, theirs, wall)} of the other's rate, {ratio(ours, theirs, cpu)} by CPU")


def calls_s(took: Took) -> float:
    return took.calls_s or 0.0


def calls_cpu_s(took: Took) -> float:
    return took.calls_cpu_s or 0.0


def whole_s(took: Took) -> float:
    return took.whole_s


def whole_cpu_s(took: Took) -> float:
    return took.whole_cpu_s


def median(turns: Sequence[Took], figure: Callable[[Took], float]) -> float:
    return statistics.median(map(figure, turns))


def ratio(ours: Sequence[Took], theirs: Sequence[Took], figure: Callable[[Took], float]) -> str:
    """How many of our calls go into the time of one of theirs, in per cent."""
    each = [100 * figure(other) / figure(our) for our, other in zip(ours, theirs, strict=True)]
    return f"{statistics.median(each):.0f} % ({min(each):.0f} to {max(each):.0f})"


def same_calls(loopback: Loopback, runs: int) -> None:
    """Holds that every run sent the same prompts with the same limit: each was seen as often as there were runs."""
    seen = Counter((row["prompt_hash"], row["max_tokens"], row["stream"], row["status"]) for row in loopback.requests())
    uneven = [call for call, times in seen.items() if times != runs * REPETITIONS]
    if uneven:
        raise SystemExit(f"the loop and costpass did not send the same calls: {uneven[:3]} …")


# Memory


def memory(folder: Path, size: Size) -> None:
    """Peak memory by number of attempts."""
    print("\nPeak memory of costpass, run_plan in a process")
    with provider(folder, words=WORDS) as loopback:
        for attempts in (size.attempts // 4, size.attempts, size.attempts * 4):
            some = Size(attempts, size.concurrency, 1)
            work = costpass_work(folder / str(attempts), sums(loopback.url, some, ["chat"]))
            print(f"  {attempts // REPETITIONS * REPETITIONS:6,} attempts: {child('costpass', work).peak_mib:.1f} MiB")


# Books


def spend(folder: Path, size: Size) -> None:
    """The ledger's spend beside the provider's bill when much goes wrong."""
    with provider(folder, words=WORDS, **TROUBLE) as loopback:
        work = costpass_work(folder / "run", sums(loopback.url, size, DIALECTS))
        took = child("costpass", work)
        billed, rows = loopback.billed(PRICES), loopback.requests()
    booked = spent(folder / "run" / "ledger")
    print(f"\n{size.attempts:,} attempts at both dialects while the provider fails, in {took.calls_s:.1f} s")
    print(f"  {troubles(rows)}")
    print(f"  the ledger says     ${booked.normalize():f}")
    print(f"  the provider billed ${billed.normalize():f}")
    print(f"  the difference is   ${(booked - billed).normalize():f}")


def cap(folder: Path, size: Size) -> None:
    """A cap on the total, of which the experiment would spend many times."""
    for name, faults in (("while all goes well", {}), ("while the provider fails", TROUBLE)):
        place = folder / name
        place.mkdir()
        with provider(place, words=40, **faults) as loopback:
            document = sums(
                loopback.url,
                size,
                DIALECTS,
                budgets={"attempt_usd": 0.1, "total_usd": float(CAP_USD)},
                prices=price_list(DEAR),
            )
            file = write(place / "experiment.yaml", document)
            took = command(file, place / "ledger", exits=(4,))
            billed, rows = loopback.billed(DEAR), loopback.requests()
        made = len(finished(place / "ledger"))
        paid = [row for row in rows if row["billed"]["input"]]
        print(f"\nA cap of ${CAP_USD}, {name}: {size.attempts:,} attempts at ${billed / len(paid):.4f} each")
        print(f"  the provider billed ${billed.normalize():f}, ${(CAP_USD - billed).normalize():f} is left unspent")
        print(f"  {made:,} attempts were made in {took.whole_s:.1f} s; {troubles(rows)}")


def troubles(rows: Sequence[Mapping[str, Any]]) -> str:
    faults = Counter(row["fault"] for row in rows)
    seen = {
        "got a 429": sum(row["status"] == 429 for row in rows),
        "got a 5xx": faults["error"],
        "were cut": faults["cut"],
        "were cut once the usage was sent": faults["cut_late"],
        "were slow": sum(row["slow"] for row in rows),
    }
    told = [f"{count:,} {what}" for what, count in seen.items() if count]
    return ", ".join([f"{len(rows):,} requests", *told])


# Crashes


def kill(folder: Path, size: Size) -> None:
    """A run that is killed twice beside one that is not."""
    whole, torn = folder / "whole", folder / "torn"
    with provider(folder, words=WORDS, latency=0.05) as loopback:
        command(write(whole / "experiment.yaml", sums(loopback.url, size, DIALECTS)), whole / "ledger")
    with provider(folder, words=WORDS, latency=0.05) as loopback:
        file = write(torn / "experiment.yaml", sums(loopback.url, size, DIALECTS))
        recorded = [killed(file, torn / "ledger", after=size.attempts * share // 3) for share in (1, 2)]
        command(file, torn / "ledger")
        rows, billed = loopback.requests(), loopback.billed(PRICES)
    keys, expected = cells(torn / "ledger"), cells(whole / "ledger")
    lost = [record for record in records(torn / "ledger") if record.status == "interrupted"]
    booked = sum((record.cost_usd or Decimal(0) for record in lost), Decimal(0))
    print(f"\n{size.attempts:,} attempts, killed with -9 once {recorded[0]:,} and once {recorded[1]:,} were recorded")
    same = "the same keys as" if set(keys) == set(expected) else "NOT THE KEYS OF"
    twice = sum(times > 1 for times in keys.values())
    print(f"  {len(keys):,} keys are finished, {same} an uninterrupted run; {twice} of them more than once")
    print(f"  the provider saw {len(rows):,} requests, {len(rows) - len(keys):,} more than one for each key")
    print(f"  {len(lost)} records are interrupted, booked at ${booked.normalize():f}")
    beside = spent(torn / "ledger") - billed
    more_or_less = "more" if beside >= 0 else "less"
    print(f"  the provider billed ${billed.normalize():f}, the ledger says ${abs(beside).normalize():f} {more_or_less}")


def killed(experiment_file: Path, ledger: Path, *, after: int) -> int:
    """Starts the command and kills it once so many attempts are in the journal; gives how many there were."""
    journal = ledger / "attempts.jsonl"
    process = subprocess.Popen([COSTPASS, "run", experiment_file, "-o", ledger, "-q"])
    while lines(journal) < after:
        if process.poll() is not None:
            raise SystemExit("the run ended before it was killed")
        time.sleep(0.005)
    process.kill()
    process.wait()
    return lines(journal)


def lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


if __name__ == "__main__":
    main()
