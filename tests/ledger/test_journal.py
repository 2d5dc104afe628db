"""The journal: lines are whole or absent, whatever dies or runs out while they are written."""

import os
import signal
import subprocess
import sys
import threading
import time
from decimal import Decimal
from pathlib import Path

import pytest

from costpass.attempt import Attempt
from costpass.errors import BadInputError
from costpass.ledger import Journal
from costpass.ledger.journal import reading, repair, whole_bytes
from costpass.ledger.scan import Scan, Table


def attempt(problem: str = "p1") -> Attempt:
    return Attempt(problem=problem, strategy="small", cost_usd=Decimal("0.25"), cost_source="billed")


def problems(path: Path) -> list[str]:
    """The problems of every line; fails on a line that is not whole."""
    return [Attempt.model_validate_json(line).problem for line in path.read_bytes().splitlines()]


def journal_of(path: Path, *names: str) -> Path:
    with Journal(path) as journal:
        for name in names:
            journal.append(attempt(name))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "attempts.jsonl"


def child(code: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True)


APPEND_AND_SAY = """
import itertools, sys
from pathlib import Path
from costpass.attempt import Attempt
from costpass.ledger import Journal
path, name, limit = sys.argv[1:]
with Journal(Path(path)) as journal:
    for number in itertools.islice(itertools.count(), int(limit) or None):
        problem = f"{name}-{number}"
        journal.append(Attempt(problem=problem, strategy="small"))
        print(problem, flush=True)
"""


def test_what_was_appended_is_there_in_order(path: Path) -> None:
    journal_of(path, "a", "b")
    journal_of(path, "c")
    assert problems(path) == ["a", "b", "c"]
    assert path.read_bytes() == b"".join(attempt(name).to_line() for name in "abc")


def test_a_torn_last_line_is_seen_by_the_reader_and_left_alone(path: Path) -> None:
    journal_of(path, "a", "b")
    whole = path.read_bytes()
    path.write_bytes(whole + attempt("torn").to_line()[:100])
    assert whole_bytes(path) == (len(whole), 100)
    with Scan([Table(path, "jsonl")]) as scan:
        assert scan.query(["problem"], "SELECT problem FROM {attempts}") == [("a",), ("b",)]
        (note,) = scan.notes
    assert "a torn last line of 100 bytes is left out" in note
    assert "--repair" in note
    assert path.stat().st_size == len(whole) + 100


def test_a_torn_last_line_is_repaired_on_demand(path: Path) -> None:
    journal_of(path, "a", "b")
    whole = path.read_bytes()
    path.write_bytes(whole + attempt("torn").to_line()[:100])
    done = repair(path)
    assert done is not None
    assert (done.kept, done.bytes_removed) == (False, 100)
    assert "removed a torn last line of 100 bytes" in str(done)
    assert path.read_bytes() == whole
    assert repair(path) is None


def test_the_next_writer_repairs_a_torn_last_line_and_says_so(path: Path) -> None:
    journal_of(path, "a")
    path.write_bytes(path.read_bytes() + b'{"problem": "torn')
    with Journal(path) as journal:
        journal.append(attempt("b"))
        journal.append(attempt("c"))
        assert journal.repaired is not None
        assert journal.repaired.bytes_removed == len(b'{"problem": "torn')
    assert problems(path) == ["a", "b", "c"]


def test_a_sound_journal_is_not_said_to_be_repaired(path: Path) -> None:
    with Journal(path) as journal:
        journal.append(attempt())
        assert journal.repaired is None


@pytest.mark.parametrize("before", [[], ["a"]])
def test_a_whole_line_that_only_lacks_its_end_is_kept(path: Path, before: list[str]) -> None:
    journal_of(path, *before)
    path.write_bytes(path.read_bytes() + attempt("unended").to_line().rstrip(b"\n"))
    done = repair(path)
    assert done is not None
    assert done.kept
    assert problems(path) == [*before, "unended"]


def test_a_writer_keeps_a_whole_line_that_only_lacks_its_end(path: Path) -> None:
    path.write_bytes(attempt("unended").to_line().rstrip(b"\n"))
    journal_of(path, "b")
    assert problems(path) == ["unended", "b"]


def test_a_torn_line_longer_than_one_read_is_removed_whole(path: Path) -> None:
    journal_of(path, "a")
    whole = path.read_bytes()
    for length in (65_535 - len(whole), 65_536, 300_000):
        path.write_bytes(whole + b"x" * length)
        assert whole_bytes(path) == (len(whole), length)
    journal_of(path, "b")
    assert problems(path) == ["a", "b"]


def test_a_file_without_line_ends_is_no_journal_and_is_not_cut(path: Path) -> None:
    path.touch()
    os.truncate(path, 70 * 1024 * 1024)
    started = time.monotonic()
    with pytest.raises(BadInputError, match="not a journal"):
        repair(path)
    assert path.stat().st_size == 70 * 1024 * 1024
    assert time.monotonic() - started < 5


def test_lines_of_two_processes_all_survive(path: Path) -> None:
    writers = [child(APPEND_AND_SAY, str(path), name, "150") for name in ("left", "right")]
    said = [problem for writer in writers for problem in writer.communicate(timeout=60)[0].split()]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(said) == 300
    assert sorted(problems(path)) == sorted(said)


def test_killed_writers_lose_no_line_that_was_acknowledged(path: Path) -> None:
    acknowledged: set[str] = set()
    for turn in range(6):
        writers = [child(APPEND_AND_SAY, str(path), f"{turn}-{name}", "0") for name in ("left", "right")]
        first = [writer.stdout.readline().strip() for writer in writers if writer.stdout]
        time.sleep(0.03 * turn)
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
        # The last line of a killed child may be cut short in the pipe; then it was not acknowledged.
        heard = [line for writer in writers for line in writer.communicate()[0].splitlines(keepends=True)]
        acknowledged.update(first, (line.strip() for line in heard if line.endswith("\n")))
        assert [writer.returncode for writer in writers] == [-signal.SIGKILL] * 2
    repair(path)
    written = problems(path)
    assert len(acknowledged) > 12
    assert acknowledged <= set(written)
    assert len(written) == len(set(written))


FILL_DISK = """
import resource, signal, sys
from pathlib import Path
from costpass.attempt import Attempt
from costpass.errors import CostpassError
from costpass.ledger import Journal
path, room = Path(sys.argv[1]), int(sys.argv[2])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Journal(path) as journal:
    journal.append(Attempt(problem="a", strategy="small"))
    whole = path.read_bytes()
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + room, resource.RLIM_INFINITY))
    try:
        journal.append(Attempt(problem="b", strategy="small"))
    except CostpassError as error:
        print(error)
    assert path.read_bytes() == whole, "a part of the line remained"
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    journal.append(Attempt(problem="c", strategy="small"))
"""


@pytest.mark.parametrize(("room", "reason"), [("0", "File too large"), ("40", "the disk took only part of the line")])
def test_a_full_disk_is_an_error_in_words_and_leaves_no_part_of_a_line(path: Path, room: str, reason: str) -> None:
    writer = child(FILL_DISK, str(path), room)
    said = writer.communicate(timeout=60)[0]
    assert writer.returncode == 0
    assert said == f"{path}: the attempt was not written: {reason}\n"
    assert problems(path) == ["a", "c"]


def test_a_reader_holds_writers_off(path: Path) -> None:
    journal_of(path, "a")
    writer = threading.Thread(target=journal_of, args=(path, "b"))
    with reading(path) as whole:
        writer.start()
        writer.join(0.2)
        assert writer.is_alive()
        assert path.stat().st_size == whole
    writer.join(10)
    assert problems(path) == ["a", "b"]


def test_readers_do_not_hold_each_other_off(path: Path) -> None:
    journal_of(path, "a")
    with reading(path) as first, reading(path) as second:
        assert first == second
