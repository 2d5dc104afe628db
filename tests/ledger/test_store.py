"""A ledger on disk: its manifest, its columnar copy, and scans over one or many files."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from costpass.attempt import Attempt
from costpass.errors import BadInputError, CostpassError
from costpass.ledger import Ledger, queries
from costpass.ledger.columns import sql_types
from costpass.ledger.compact import compact, tables
from costpass.ledger.scan import Scan, Table

TOTALS = "SELECT count(*), sum(cost_usd), sum(input_tokens), count(*) FILTER (passed) FROM {attempts}"
TOTALLED = ["cost_usd", "input_tokens", "passed"]


def attempt(problem: str, usd: str | None = "0.1", **fields: Any) -> Attempt:
    cost: dict[str, Any] = {} if usd is None else {"cost_usd": Decimal(usd), "cost_source": "billed"}
    return Attempt(problem=problem, strategy="small", **cost, **fields)


def fill(ledger: Ledger, attempts: Iterable[Attempt]) -> Ledger:
    with ledger.journal() as journal:
        for written in attempts:
            journal.append(written)
    return ledger


def totals(*files: Table) -> tuple[Any, ...]:
    with Scan(files) as scan:
        (row,) = scan.query(TOTALLED, TOTALS)
    return row


def problems(ledger: Ledger) -> list[str]:
    with Scan(tables(ledger)) as scan:
        return [name for (name,) in scan.query(["problem"], "SELECT problem FROM {attempts} ORDER BY problem")]


def every_value(*files: Table) -> list[tuple[Any, ...]]:
    columns = list(sql_types())
    with Scan(files) as scan:
        return scan.query(columns, "SELECT * FROM {attempts} ORDER BY problem")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "ledger", name="trial")


def test_a_new_ledger_is_empty_and_says_what_it_is(tmp_path: Path) -> None:
    made = Ledger.create(tmp_path / "deep" / "ledger", name="trial", price_book="book:1", experiment="e")
    again = Ledger(made.path)
    assert (again.name, again.manifest["format"], again.manifest["price_book"]) == (
        "trial",
        "costpass.ledger/1",
        "book:1",
    )
    assert again.manifest["experiment"] == "e"
    assert Ledger.is_ledger(made.path)
    assert problems(again) == []


def test_a_place_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CostpassError, match="is not empty"):
        Ledger.create(tmp_path, name="trial")
    with pytest.raises(CostpassError, match="is not empty"):
        Ledger.create(tmp_path / "notes.txt", name="trial")
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize(
    ("manifest", "complaint"),
    [
        (None, "is not a ledger"),
        ("{", "not JSON"),
        ("[]", "the file says None"),
        ('{"format": "costpass.ledger/9"}', "reads costpass.ledger/1, the file says 'costpass.ledger/9'"),
        ("[" * 100_000, "not JSON"),
        ('{"format": "costpass.ledger/1", "attempt_schema": 7}', "attempts of schema 1, the file says 7"),
        ('{"format": "costpass.ledger/1", "columnar": "yes"}', "`columnar` does not name"),
        ('{"format": "costpass.ledger/1", "columnar": {"file": "x.parquet"}}', "`columnar` does not name"),
        ('{"format": "costpass.ledger/1", "columnar": {"file": "../x", "journal_bytes": 1}}', "does not name"),
        ('{"format": "costpass.ledger/1", "columnar": {"file": "x", "journal_bytes": -1}}', "does not name"),
    ],
)
def test_what_is_no_ledger_is_refused_in_words(tmp_path: Path, manifest: str | None, complaint: str) -> None:
    if manifest is not None:
        (tmp_path / "ledger.json").write_text(manifest)
    with pytest.raises(BadInputError, match=complaint):
        Ledger(tmp_path)


def test_a_change_to_the_manifest_keeps_the_rest_and_leaves_nothing_behind(ledger: Ledger) -> None:
    ledger.update_manifest(note="x")
    assert json.loads((ledger.path / "ledger.json").read_text()) == ledger.manifest
    assert (Ledger(ledger.path).manifest["note"], Ledger(ledger.path).name) == ("x", "trial")
    assert sorted(entry.name for entry in ledger.path.iterdir()) == ["attempts.jsonl", "ledger.json"]


def test_the_columnar_copy_holds_what_the_journal_holds(ledger: Ledger) -> None:
    full = attempt(
        "a",
        "12.345678901234",
        passed=True,
        scores={"exact": 1.0, "near": 0.25},
        flags=["first", "second"],
        quantities={"gpu_seconds": 0.1},
        input_tokens=2**53,
        seed=-(2**63),
        started_at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
        commit="line\nend 'quote' \U0001f600 \0",
    )
    fill(ledger, [full, attempt("b", None), attempt("c", "0")])
    compact(ledger)
    copy = ledger.columnar_path
    assert copy is not None
    values = every_value(Table(copy, "parquet"))
    assert values == every_value(Table(ledger.journal_path, "jsonl"))
    assert [row[list(sql_types()).index("cost_usd")] for row in values] == [
        Decimal("12.345678901234"),
        None,
        Decimal(0),
    ]


money = st.decimals(0, Decimal("999.999999999999"), places=12, allow_nan=False, allow_infinity=False)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(st.none() | money, st.none() | st.integers(0, 2**50), st.none() | st.booleans()),
        min_size=1,
        max_size=8,
    )
)
def test_journal_and_copy_give_the_same_exact_sums(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[Decimal | None, int | None, bool | None]]
) -> None:
    ledger = Ledger.create(tmp_path_factory.mktemp("sums") / "ledger", name="sums")
    fill(
        ledger,
        (
            attempt(str(number), None if usd is None else str(usd), input_tokens=tokens, passed=passed)
            for number, (usd, tokens, passed) in enumerate(rows)
        ),
    )
    compact(ledger)
    assert ledger.columnar_path is not None
    costs = [usd for usd, _, _ in rows if usd is not None]
    counts = [tokens for _, tokens, _ in rows if tokens is not None]
    expected = (
        len(rows),
        sum(costs) if costs else None,
        sum(counts) if counts else None,
        sum(passed is True for _, _, passed in rows),
    )
    assert totals(Table(ledger.journal_path, "jsonl")) == expected
    assert totals(Table(ledger.columnar_path, "parquet")) == expected


def test_attempts_added_after_a_compaction_are_read_once(ledger: Ledger) -> None:
    fill(ledger, [attempt("a"), attempt("b")])
    done = compact(ledger)
    assert (done.attempts, done.journal_bytes) == (2, ledger.journal_path.stat().st_size)
    fill(ledger, [attempt("c")])
    assert problems(Ledger(ledger.path)) == ["a", "b", "c"]
    assert totals(*tables(ledger))[:2] == (3, Decimal("0.3"))


def test_compacting_again_takes_in_the_rest_and_drops_the_old_copy(ledger: Ledger) -> None:
    fill(ledger, [attempt("a")])
    compact(ledger)
    fill(ledger, [attempt("b")])
    assert compact(ledger).attempts == 2
    assert compact(ledger).attempts == 2, "and once more, with nothing new"
    assert [file.name for file in ledger.path.glob("*.parquet")] == [ledger.manifest["columnar"]["file"]]
    assert problems(Ledger(ledger.path)) == ["a", "b"]


def test_of_two_compactions_at_once_the_copy_in_force_stays(ledger: Ledger) -> None:
    fill(ledger, [attempt("a")])
    slow = Ledger(ledger.path)
    compact(ledger)
    fill(ledger, [attempt("b")])
    compact(slow)
    assert [file.name for file in ledger.path.glob("*.parquet")] == [slow.manifest["columnar"]["file"]]
    assert problems(Ledger(ledger.path)) == ["a", "b"]


def test_a_scan_says_which_columnar_copy_is_missing(ledger: Ledger) -> None:
    fill(ledger, [attempt("a")])
    compact(ledger)
    copy = next(ledger.path.glob("*.parquet"))
    copy.unlink()
    with pytest.raises(BadInputError, match=rf"{copy.name}: the columnar copy is not there"):
        problems(Ledger(ledger.path))


def test_a_copy_alone_is_a_ledger_still(ledger: Ledger) -> None:
    fill(ledger, [attempt("a")])
    compact(ledger)
    ledger.journal_path.unlink()
    assert problems(Ledger(ledger.path)) == ["a"]


def test_a_torn_line_is_not_compacted_and_not_lost_once_it_is_mended(ledger: Ledger) -> None:
    fill(ledger, [attempt("a")])
    with ledger.journal_path.open("ab") as file:
        file.write(attempt("unended").to_line().rstrip(b"\n"))
    assert compact(ledger).attempts == 1
    fill(ledger, [attempt("z")])
    assert problems(Ledger(ledger.path)) == ["a", "unended", "z"]


DIE_BEFORE_THE_MANIFEST = """
import os, signal, sys
from pathlib import Path
from costpass.ledger import Ledger
from costpass.ledger.compact import compact
Ledger.update_manifest = lambda self, **changes: os.kill(os.getpid(), signal.SIGKILL)
compact(Ledger(Path(sys.argv[1])))
"""


def test_a_crash_before_the_manifest_leaves_the_old_copy_in_force(ledger: Ledger) -> None:
    fill(ledger, [attempt("a")])
    compact(ledger)
    in_force = ledger.columnar_path
    fill(ledger, [attempt("b")])
    crashed = subprocess.run([sys.executable, "-c", DIE_BEFORE_THE_MANIFEST, str(ledger.path)], check=False)
    assert crashed.returncode == -signal.SIGKILL
    assert len(list(ledger.path.glob("*.parquet"))) == 2, "the new copy was already written"

    after = Ledger(ledger.path)
    assert after.columnar_path == in_force
    assert problems(after) == ["a", "b"]
    assert compact(after).attempts == 2
    assert problems(Ledger(ledger.path)) == ["a", "b"]


def test_a_journal_shorter_than_what_was_compacted_is_an_error(ledger: Ledger) -> None:
    fill(ledger, [attempt("a"), attempt("b")])
    compact(ledger)
    os.truncate(ledger.journal_path, ledger.journal_path.stat().st_size - 1)
    with pytest.raises(BadInputError, match="lines have gone missing"):
        tables(Ledger(ledger.path))


def test_a_scan_reads_many_files_of_both_kinds_as_one(tmp_path: Path) -> None:
    first = fill(Ledger.create(tmp_path / "first", name="1"), [attempt("a", passed=True), attempt("b")])
    second = fill(Ledger.create(tmp_path / "second", name="2"), [attempt("c", "0.5")])
    third = fill(Ledger.create(tmp_path / "third", name="3"), [attempt("d", "0.000000000001", input_tokens=7)])
    compact(first)
    fill(first, [attempt("e")])
    files = [table for ledger in (first, second, third) for table in tables(ledger)]
    assert [table.kind for table in files] == ["parquet", "jsonl", "jsonl", "jsonl"]
    assert totals(*files) == (5, Decimal("0.800000000001"), 7, 1)


def test_a_torn_end_in_one_of_many_files_is_named(tmp_path: Path) -> None:
    files = []
    for name in ("sound", "torn"):
        made = fill(Ledger.create(tmp_path / name, name=name), [attempt(name)])
        files += tables(made)
    with files[1].path.open("ab") as file:
        file.write(b'{"problem": "half')
    with Scan(files) as scan:
        assert scan.query(["problem"], "SELECT count(*) FROM {attempts}") == [(2,)]
        (note,) = scan.notes
    assert str(files[1].path) in note


def test_a_scan_of_nothing_has_the_columns_and_no_rows() -> None:
    with Scan([]) as scan:
        assert scan.query(TOTALLED, TOTALS) == [(0, None, None, 0)]


def test_a_bad_line_is_an_error_in_words(ledger: Ledger) -> None:
    ledger.journal_path.write_text('{"problem": "a", "cost_usd": "much"}\n')
    with Scan(tables(ledger)) as scan, pytest.raises(BadInputError, match="costpass ledger check") as raised:
        scan.query(["cost_usd"], "SELECT sum(cost_usd) FROM {attempts}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("folder", ["a [1]*?", "it's", "br{a}ces{}", "ümläut"])
def test_a_folder_may_have_any_name(tmp_path: Path, folder: str) -> None:
    ledger = fill(Ledger.create(tmp_path / folder, name="odd"), [attempt("a")])
    compact(ledger)
    fill(ledger, [attempt("b")])
    assert problems(ledger) == ["a", "b"]


def test_a_scan_leaves_nothing_in_the_temporary_folder(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    fill(ledger, [attempt("a")])
    compact(ledger)
    fill(ledger, [attempt("b")])
    with Scan(tables(ledger)) as scan:
        assert list(scratch.iterdir())
        scan.query(["problem"], "SELECT problem FROM {attempts}")
    assert list(scratch.iterdir()) == []


def test_a_star_in_a_name_does_not_take_in_the_neighbours(tmp_path: Path) -> None:
    starred, neighbour = (fill(Ledger.create(tmp_path / name, name=name), [attempt(name)]) for name in ("run*", "run2"))
    assert problems(starred) == ["run*"]
    compact(starred)
    compact(neighbour)
    assert problems(starred) == ["run*"]


def test_an_open_scan_neither_stops_writers_nor_sees_what_they_add(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "l", name="l")
    with ledger.journal() as journal:
        journal.append(Attempt(problem="p", strategy="s", repetition=0))
        with Scan(tables(ledger)) as scan:
            rows = queries.attempts(scan)
            assert queries.count(scan) == 1
            # Another descriptor, as in another process: a lock that the scan kept would hold this up for ever.
            with ledger.journal() as other:
                other.append(Attempt(problem="q", strategy="s", repetition=0))
            assert queries.count(scan) == 1
            assert [attempt.problem for attempt in rows] == ["p"]
    with Scan(tables(ledger)) as scan:
        assert queries.count(scan) == 2


def test_a_compaction_does_not_take_the_file_from_an_open_scan(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "l", name="l")
    with ledger.journal() as journal:
        journal.append(Attempt(problem="p", strategy="s", repetition=0))
    compact(ledger)
    with Scan(tables(ledger)) as scan:
        with ledger.journal() as journal:
            journal.append(Attempt(problem="q", strategy="s", repetition=0))
        compact(Ledger(ledger.path))
        assert queries.count(scan) == 1
