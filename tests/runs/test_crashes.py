"""Runs that are killed or stopped, as a user's runs are: nothing is lost, and nothing finished is paid for again."""

import json
import signal
import subprocess
import sysconfig
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.loopback import provider
from tests.runs.experiments import PRICES, cells, experiment, finished, records, spent

COMMAND = Path(sysconfig.get_path("scripts")) / "costpass"


def start(folder: Path, document: dict[str, Any], *options: str) -> subprocess.Popen[str]:
    (folder / "sums.yaml").write_text(json.dumps(document), "utf-8")
    return subprocess.Popen(
        [COMMAND, "run", "sums.yaml", "-o", "ledger", *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def finished_spend(ledger: Path) -> Decimal:
    return sum((record.cost_usd or Decimal(0) for record in finished(ledger)), Decimal(0))


def test_killed_twice_the_run_ends_with_the_same_tries_as_one_that_was_not(tmp_path: Path) -> None:
    with provider(tmp_path, latency=0.1, words=6) as loopback:
        document = experiment(loopback.url, repetitions=8, concurrency=16)
        journal = tmp_path / "ledger" / "attempts.jsonl"
        for enough in (15, 40):
            run = start(tmp_path, document)
            wait_for(lambda enough=enough: lines(journal) >= enough)  # type: ignore[misc]
            run.kill()
            run.communicate()
        run = start(tmp_path, document)
        _, errors = run.communicate(timeout=120)
        assert run.returncode == 0, errors
        rows = loopback.requests(timeout_s=10)
    assert len(cells(tmp_path / "ledger")) == 80
    assert set(cells(tmp_path / "ledger").values()) == {1}
    interrupted = [record for record in records(tmp_path / "ledger") if record.status == "interrupted"]
    # Whatever was paid for and is not among the finished was under way when the run was killed, and is booked.
    assert 0 < len(interrupted) <= 2 * 16
    assert 80 <= len(rows) <= 80 + len(interrupted)
    assert all(record.cost_usd and record.passed is None for record in interrupted)
    assert {row["fault"] for row in rows} <= {None, "client_gone"}
    # What the requests under way had come to cost nobody told us: they are booked at what their like had cost.
    one_request = max(record.cost_usd or Decimal(0) for record in records(tmp_path / "ledger"))
    assert abs(spent(tmp_path / "ledger") - loopback.billed(PRICES)) <= len(interrupted) * one_request
    assert finished_spend(tmp_path / "ledger") <= loopback.billed(PRICES)


def test_ctrl_c_books_what_was_under_way_and_says_so_with_its_exit_code(tmp_path: Path) -> None:
    with provider(tmp_path, latency=0.05, words=50, slow=(1, 0.02)) as loopback:
        document = experiment(loopback.url, repetitions=8, concurrency=8)
        run = start(tmp_path, document)
        wait_for(lambda: lines(tmp_path / "ledger" / "attempts.jsonl") >= 4)
        run.send_signal(signal.SIGINT)
        output, errors = run.communicate(timeout=30)
        assert run.returncode == 130, errors
        assert "same command goes on" in output
        done = len(cells(tmp_path / "ledger"))
        assert 4 <= done < 80
        stopped = [record for record in records(tmp_path / "ledger") if record.status == "interrupted"]
        assert stopped
        assert all(record.failure == "stopped" and record.cost_usd for record in stopped)
        rows = loopback.requests(timeout_s=10)
        assert done <= len(rows) <= done + len(stopped)


def test_two_runs_of_one_ledger_do_not_meet(tmp_path: Path) -> None:
    with provider(tmp_path, latency=0.2) as loopback:
        document = experiment(loopback.url, repetitions=8, concurrency=2)
        first = start(tmp_path, document)
        wait_for(lambda: lines(tmp_path / "ledger" / "attempts.jsonl") >= 2)
        second = start(tmp_path, document)
        _, errors = second.communicate(timeout=60)
        assert second.returncode == 1
        assert "another run is at work on this ledger" in errors
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=30)
        assert first.returncode == 130


def test_a_disk_that_fills_up_stops_the_run_before_more_is_paid_for(tmp_path: Path) -> None:
    with provider(tmp_path) as loopback:
        document = experiment(loopback.url, repetitions=40, concurrency=2)
        (tmp_path / "sums.yaml").write_text(json.dumps(document), "utf-8")
        limited = f"ulimit -f 24; exec {COMMAND} run sums.yaml -o ledger -q"
        done = subprocess.run(["bash", "-c", limited], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 1
        assert "not journalled" in done.stderr or "not written" in done.stderr or "disk" in done.stderr
        assert "Traceback" not in done.stderr
        assert len(loopback.requests()) < 400
        run = start(tmp_path, document)
        run.communicate(timeout=120)
        assert run.returncode == 0
    assert set(cells(tmp_path / "ledger").values()) == {1}
    assert len(cells(tmp_path / "ledger")) == 400
