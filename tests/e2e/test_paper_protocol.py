"""The Cost-of-Pass paper's protocol, run at reduced size against a loopback provider, through the installed command."""

import csv
import json
import random
from pathlib import Path

from tests.conftest import Run
from tests.loopback import provider

SOLVED = {  # how often a model is right here; the figures mean nothing beside their order
    "meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo": 0.4,
    "gpt-4o-mini-2024-07-18": 0.6,
    "gpt-4o-2024-05-13": 0.7,
    "o1-2024-12-17": 0.95,
}


def write_benchmarks(folder: Path, problems: int = 5) -> Path:
    """Files with the columns of the five benchmarks that are otherwise downloaded, full of sums."""
    folder.mkdir()
    chance = random.Random(0)
    sums = [(chance.randint(10, 99), chance.randint(10, 99)) for _ in range(problems)]
    texts = [(f"What is {a} + {b}?", a + b) for a, b in sums]
    lines: dict[str, list[dict[str, object]]] = {
        "gsm8k": [{"question": question, "answer": f"Add them. #### {total}"} for question, total in texts],
        "math-500": [
            {"problem": question, "answer": str(total), "subject": "Algebra", "level": 1, "unique_id": f"m{number}"}
            for number, (question, total) in enumerate(texts)
        ],
        "aime-2024": [{"problem": question, "answer": str(total)} for question, total in texts],
        "bbq": [
            {
                "context": "Two people met.",
                "question": question,
                "ans0": str(total),
                "ans1": "Unknown",
                "ans2": str(total + 1),
                "answer_label": 0,
                "category": "Age",
                "example_id": number,
            }
            for number, (question, total) in enumerate(texts)
        ],
    }
    for name, rows in lines.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    with (folder / "gpqa-diamond.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        wrong = [f"Incorrect Answer {number}" for number in (1, 2, 3)]
        writer.writerow(["Question", "Correct Answer", *wrong])
        writer.writerows([question, total, total + 1, total + 2, total + 3] for question, total in texts)
    return folder


def test_the_whole_protocol_runs_at_reduced_size_and_gives_every_table(costpass: Run, tmp_path: Path) -> None:
    data = write_benchmarks(tmp_path / "data")
    with provider(tmp_path, accuracy=0.8, accuracy_of=SOLVED, words=10) as loopback:
        small = ("--sample", 5, "--repetitions", 2, "--data", data, "--base-url", f"{loopback.url}/v1")
        done = costpass("run", "cost-of-pass", *small, "--concurrency", 32)
        assert done.returncode == 0, done.stderr
        assert "All done: 600 attempts" in done.stdout
        assert {row["dialect"] for row in loopback.requests()} == {"chat", "messages"}
    ledger = tmp_path / "ledgers" / "cost-of-pass"
    frontier = json.loads(costpass("frontier", ledger, "--format", "json").stdout)
    assert {row["benchmark"] for row in frontier["benchmarks"]} == {
        "two-digit-addition",
        "gsm8k",
        "bbq",
        "gpqa-diamond",
        "math-500",
        "aime-2024",
    }
    for row in frontier["benchmarks"]:
        assert row["expert_usd"] is not None
        assert len(row["single"]) == 10
        assert {entry["kind"] for entry in row["essentialness"]} >= {"family", "expert"}
        assert len(row["trend"]) >= 8
    text = costpass("frontier", ledger).stdout
    for heading in ("alone", "without it", "released"):
        assert heading in text


def test_a_dry_run_of_it_states_the_bill(costpass: Run) -> None:
    done = costpass("run", "cost-of-pass", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "53,600 attempts" in done.stdout or "53600" in done.stdout
