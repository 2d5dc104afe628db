"""Whatever is thrown at it: one clear sentence on stderr, a non-zero exit, nothing half-written, bounded memory."""

import gzip
import json
import os
import resource
import subprocess
import zipfile
from pathlib import Path

import pytest
from tests.conftest import Run, write_lines

GOOD = {"problem": "p", "model": "m", "repetition": 0, "passed": True, "cost_usd": 0.5}


def assert_refused(done: subprocess.CompletedProcess[str], words: str, place: Path) -> None:
    """One sentence, a code, and no trace on disk."""
    assert done.returncode != 0
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (place / "out").exists()
    assert not list(place.glob(".costpass*"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b'{"rows": [{"a": 1}, ', "not a whole JSON document"),
        (b"\x00\x01\x02\x03" * 100, "not a log that costpass knows"),
        (b"[" * 100_000, "nested too deeply"),
        (b"PAR1 but not really", "not a readable Parquet file"),
    ],
)
def test_a_file_that_is_no_log(costpass: Run, tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "x.json").write_bytes(content)
    assert_refused(costpass("import", "x.json", "-o", "out"), words, tmp_path)


def test_a_missing_file_and_an_unreadable_one(costpass: Run, tmp_path: Path) -> None:
    assert_refused(costpass("import", "nowhere.jsonl", "-o", "out"), "no such file", tmp_path)
    secret = write_lines(tmp_path / "x.jsonl", [GOOD])
    secret.chmod(0)
    if os.access(secret, os.R_OK):
        # Root reads anything; a directory in a file's place cannot be read by anyone.
        assert_refused(costpass("import", tmp_path / "x.jsonl" / "y", "-o", "out"), "x.jsonl", tmp_path)
    else:
        assert_refused(costpass("import", "x.jsonl", "-o", "out"), "Permission denied", tmp_path)


def test_a_directory_of_unrelated_files(costpass: Run, tmp_path: Path) -> None:
    folder = tmp_path / "stuff"
    folder.mkdir()
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0" * 50)
    (folder / "notes.txt").write_text("hello")
    assert_refused(costpass("import", folder, "-o", "out"), "none of the 2 files is a log", tmp_path)


def test_a_truncated_gzip(costpass: Run, tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(json.dumps({**GOOD, "repetition": i}).encode() + b"\n" for i in range(2000)))
    (tmp_path / "x.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    assert_refused(costpass("import", "x.jsonl.gz", "-o", "out"), "cut short", tmp_path)


def test_a_line_of_gigabytes_is_refused_in_bounded_memory(tmp_path: Path, costpass: Run) -> None:
    # Sparse: the file claims 5 GB and takes no room.
    with (tmp_path / "x.jsonl").open("wb") as file:
        file.write(b'{"problem": "p", "passed": true, "cost_usd": 1, "x": "')
        file.truncate(5_000_000_000)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    assert_refused(costpass("import", "x.jsonl", "-o", "out", preexec_fn=limit), "over 256 MiB", tmp_path)
    assert_refused(
        costpass("import", "x.jsonl", "--format", "table", "-o", "out", preexec_fn=limit), "over 64 MiB", tmp_path
    )


def test_a_gzip_bomb_is_refused_in_bounded_memory(costpass: Run, tmp_path: Path) -> None:
    with gzip.open(tmp_path / "x.jsonl.gz", "wb", compresslevel=1) as file:
        file.write(json.dumps(GOOD).encode() + b'\n{"problem": "')
        for _ in range(200):
            file.write(b"a" * 1_000_000)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    assert_refused(costpass("import", "x.jsonl.gz", "-o", "out", preexec_fn=limit), "over 64 MiB", tmp_path)


def test_a_zip_bomb_posing_as_an_inspect_log(costpass: Run, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.eval", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("_journal/start.json", "{}")
        with bomb.open("header.json", "w", force_zip64=True) as member:
            for _ in range(1200):
                member.write(b"0" * 1_000_000)
    assert_refused(costpass("import", "x.eval", "-o", "out"), "x.eval", tmp_path)


@pytest.mark.parametrize("name", ["x.eval", "x.zip"])
def test_a_broken_zip(costpass: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04" + os.urandom(500))
    assert_refused(costpass("import", name, "-o", "out"), name, tmp_path)


def bad_rows_are_rejected(costpass: Run, tmp_path: Path, bad: str, words: str) -> None:
    """The good rows are imported, the bad one is counted, named and kept, and the exit code says so."""
    good = "".join(json.dumps({**GOOD, "repetition": i}) + "\n" for i in range(2))
    (tmp_path / "x.jsonl").write_text(good + bad + "\n")
    done = costpass("import", "x.jsonl", "-o", "out")
    assert done.returncode == 3
    assert "1 rows were rejected" in done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    [rejected] = [json.loads(line) for line in (tmp_path / "out" / "rejected.jsonl").read_text().splitlines()]
    assert rejected["where"] == "x.jsonl:3"
    assert words in rejected["reason"]
    assert len((tmp_path / "out" / "attempts.jsonl").read_text().splitlines()) == 2
    on_the_fly = costpass("report", "x.jsonl")
    assert on_the_fly.returncode == 3
    assert "1 rows were rejected" in on_the_fly.stderr


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ('{"problem": "p", "model": "m", "passed": true, "cost_usd": NaN}', "cost_usd: must be finite"),
        ('{"problem": "p", "model": "m", "passed": true, "cost_usd": -1}', "cost_usd: must not be negative"),
        ('{"problem": "p", "model": "m", "passed": true, "cost_usd": 1e400}', "cost_usd: must be finite"),
        ('{"problem": "p", "model": "m", "passed": "maybe", "cost_usd": 1}', "cannot read 'maybe'"),
        ('{"problem": "p", "model": "m", "passed": true, "cost_usd": 0.', "not JSON"),
        ("[1, 2]", "not an object"),
        ('{"task": "t", "mode": "baseline", "correct": true}', "not a row of this table"),
        (json.dumps(GOOD), "the same attempt as at x.jsonl:1"),
    ],
    ids=["nan", "negative", "overflow", "verdict", "truncated", "list", "other-schema", "duplicate"],
)
def test_a_bad_row_is_rejected_and_named(costpass: Run, tmp_path: Path, bad: str, words: str) -> None:
    bad_rows_are_rejected(costpass, tmp_path, bad, words)


def test_only_bad_rows_make_no_ledger(costpass: Run, tmp_path: Path) -> None:
    write_lines(tmp_path / "x.jsonl", [{**GOOD, "cost_usd": -1}])
    assert_refused(costpass("import", "x.jsonl", "-o", "out"), "must not be negative", tmp_path)


def test_two_schemas_in_one_file(costpass: Run, data: Path, tmp_path: Path) -> None:
    copeca = (data / "copeca" / "sample_report_records.jsonl").read_text()
    ailang = '{"id": "a", "lang": "python", "model": "gpt5", "compile_ok": true, "stdout_ok": true}\n'
    (tmp_path / "x.jsonl").write_text(copeca + ailang)
    done = costpass("import", "x.jsonl", "-o", "out")
    assert done.returncode == 3
    assert "x.jsonl:9: not a copeca record: no correct, mode, task" in done.stderr


def test_a_full_disk_leaves_nothing(costpass: Run, tmp_path: Path) -> None:
    write_lines(tmp_path / "x.jsonl", ({**GOOD, "repetition": i} for i in range(2000)))

    def limit() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    done = costpass("import", "x.jsonl", "-o", "out", preexec_fn=limit)
    assert_refused(done, "nothing was written", tmp_path)


def test_a_ledger_of_a_later_version_is_named(costpass: Run, tmp_path: Path) -> None:
    (tmp_path / "l").mkdir()
    (tmp_path / "l" / "ledger.json").write_text('{"format": "costpass.ledger/9"}')
    done = costpass("report", "l")
    assert done.returncode == 1
    assert "costpass.ledger/9" in done.stderr


def test_a_corrupt_line_inside_a_ledger_is_said(costpass: Run, tmp_path: Path) -> None:
    write_lines(tmp_path / "x.jsonl", [{**GOOD, "repetition": i} for i in range(3)])
    costpass("import", "x.jsonl", "-o", "l")
    journal = tmp_path / "l" / "attempts.jsonl"
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join([lines[0], '{"problem": ', lines[2]]) + "\n")
    done = costpass("report", "l")
    assert done.returncode == 1
    assert "costpass ledger check" in done.stderr
    assert "attempts.jsonl:2" in costpass("ledger", "check", "l").stderr


def test_a_pipe_is_refused_rather_than_waited_for(costpass: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.jsonl")
    assert_refused(costpass("import", "x.jsonl", "-o", "out"), "x.jsonl: a pipe or device", tmp_path)
    assert "a pipe or device" in costpass("report", "x.jsonl").stderr


def test_a_pipe_or_folder_in_the_journals_place_is_named(costpass: Run, tmp_path: Path) -> None:
    write_lines(tmp_path / "x.jsonl", [GOOD])
    costpass("import", "x.jsonl", "-o", "l")
    journal = tmp_path / "l" / "attempts.jsonl"
    journal.unlink()
    os.mkfifo(journal)
    assert "l/attempts.jsonl: not a file" in costpass("show", "l").stderr
    journal.unlink()
    journal.mkdir()
    assert "l/attempts.jsonl: not a file" in costpass("show", "l").stderr


def test_a_heap_of_tiny_values_is_refused_in_bounded_memory(costpass: Run, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b"[" + b"[]," * 20_000_000 + b"[]]")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    assert_refused(costpass("import", "x.json", "-o", "out", preexec_fn=limit), "over 10,000,000 values", tmp_path)


def test_a_rejected_row_is_kept_as_the_log_has_it(costpass: Run, tmp_path: Path) -> None:
    bad = {**GOOD, "repetition": 1, "cost_usd": -1}
    write_lines(tmp_path / "x.jsonl", [GOOD, bad])
    costpass("import", "x.jsonl", "-o", "out")
    [rejected] = map(json.loads, (tmp_path / "out" / "rejected.jsonl").read_text().splitlines())
    assert rejected["row"] == bad


def test_a_rejected_row_may_hold_half_of_a_surrogate_pair(costpass: Run, tmp_path: Path) -> None:
    good = {"task": "t", "mode": "baseline", "model": "m", "correct": True}
    write_lines(tmp_path / "x.jsonl", [good, {**good, "task": "\ud800"}])
    done = costpass("import", "x.jsonl", "-o", "out")
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    [rejected] = map(json.loads, (tmp_path / "out" / "rejected.jsonl").read_text().splitlines())
    assert rejected["row"]["task"] == "\ud800"


def test_a_reason_is_short_however_long_the_value(costpass: Run, tmp_path: Path) -> None:
    write_lines(tmp_path / "x.jsonl", [GOOD, {**GOOD, "repetition": 1, "cost_usd": 10**4000}])
    done = costpass("import", "x.jsonl", "-o", "out")
    assert done.returncode == 3
    assert len(done.stderr) < 1000
