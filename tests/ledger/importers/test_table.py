"""Any table becomes attempts: columns guessed or mapped, cells read as their field's type."""

import gzip
import json
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from tests.conftest import write_lines

from costpass.attempt import Attempt
from costpass.errors import CostpassError
from costpass.ledger.importers.formats.table import IMPORTER
from costpass.ledger.importers.importing import Import
from costpass.ledger.importers.protocol import Settings
from costpass.ledger.importers.registry import recognise
from costpass.ledger.importers.source import Source


def read(path: Path, settings: Settings | None = None) -> list[Attempt]:
    return list(Import([path], settings or Settings(), importer=IMPORTER).attempts())


def test_csv_columns_are_guessed_by_their_usual_names(tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    table.write_text(
        "Task ID,Model Name,resolved,Total Cost,prompt_tokens,completion_tokens,timestamp\n"
        "t1,gpt-5,True,$1.25,100,20,2026-01-02T03:04:05\n"
        't2,gpt-5,no,"1,000.5",7,,\n'
    )
    first, second = read(table)
    assert (first.problem, first.model, first.strategy, first.passed) == ("t1", "gpt-5", "gpt-5", True)
    assert (first.cost_usd, first.cost_source, first.imported_usd) == (Decimal("1.25"), "imported", Decimal("1.25"))
    assert (first.input_tokens, first.output_tokens) == (100, 20)
    assert first.started_at is not None and first.started_at.isoformat() == "2026-01-02T03:04:05+00:00"
    assert (second.passed, second.cost_usd, second.output_tokens, second.started_at) == (
        False,
        Decimal("1000.5"),
        None,
        None,
    )


def test_mapping_wins_over_guesses_and_is_checked(tmp_path: Path) -> None:
    table = write_lines(tmp_path / "x.jsonl", [{"id": "a", "cost": 9, "real_cost": 1, "ok": 1}])
    [attempt] = read(table, Settings(columns={"cost_usd": "real_cost", "problem": "id"}))
    assert (attempt.cost_usd, attempt.problem) == (Decimal(1), "a")
    with pytest.raises(CostpassError, match="did you mean 'cost_usd'"):
        read(table, Settings(columns={"costusd": "cost"}))


def test_what_was_guessed_and_left_out_is_told(tmp_path: Path) -> None:
    settings = Settings()
    read(write_lines(tmp_path / "x.jsonl", [{"task_id": "a", "ok": True, "shoe_size": 43}]), settings)
    assert settings.notes == ["guessed columns: passed=ok, problem=task_id", "columns not used: shoe_size"]


def test_repetitions_are_numbered_in_order_of_appearance(tmp_path: Path) -> None:
    rows = [{"task_id": task, "model": "m", "passed": True} for task in ("a", "b", "a", "a")]
    assert [attempt.repetition for attempt in read(write_lines(tmp_path / "x.jsonl", rows))] == [0, 0, 1, 2]


def test_a_score_passes_at_the_threshold(tmp_path: Path) -> None:
    table = write_lines(tmp_path / "x.jsonl", [{"task_id": i, "score": i / 10} for i in (5, 7, 10)])
    assert [attempt.passed for attempt in read(table)] == [False, False, True]
    assert [attempt.passed for attempt in read(table, Settings(threshold=0.7))] == [False, True, True]


def test_a_file_without_model_or_strategy_is_named_after_itself(tmp_path: Path) -> None:
    [attempt] = read(write_lines(tmp_path / "gpt4-run.jsonl", [{"task_id": "a", "passed": True}]))
    assert attempt.strategy == "gpt4-run"


def test_the_same_rows_read_alike_from_every_container(tmp_path: Path) -> None:
    rows = [{"task_id": f"t{i}", "model": "m", "passed": i % 2 == 0, "cost_usd": i / 4} for i in range(4)]
    jsonl = write_lines(tmp_path / "x.jsonl", rows)
    (tmp_path / "x.json").write_text(json.dumps(rows))
    (tmp_path / "y.jsonl.gz").write_bytes(gzip.compress(jsonl.read_bytes()))
    duckdb.execute(f"COPY (FROM '{jsonl}') TO '{tmp_path / 'x.parquet'}'")
    duckdb.execute(f"COPY (FROM '{jsonl}') TO '{tmp_path / 'x.tsv'}' (DELIMITER '\t', HEADER)")
    wanted = [(a.problem, a.passed, a.cost_usd) for a in read(jsonl)]
    for name in ("x.json", "y.jsonl.gz", "x.parquet", "x.tsv"):
        assert IMPORTER.recognises(Source(tmp_path / name)), name
        assert [(a.problem, a.passed, a.cost_usd) for a in read(tmp_path / name)] == wanted, name


@pytest.mark.parametrize("content", ["a,b\n1,2\n", '{"hello": "world"}\n', "plain words\n", '{"passed": true}\n'])
def test_a_table_without_outcomes_or_costs_is_not_claimed(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.csv").write_text(content)
    (tmp_path / "x.jsonl").write_text(content)
    assert not IMPORTER.recognises(Source(tmp_path / "x.csv"))
    assert not IMPORTER.recognises(Source(tmp_path / "x.jsonl"))


def test_a_row_longer_than_the_head_is_still_recognised(tmp_path: Path) -> None:
    transcript = "x" * 200_000
    row = {"problem": "p", "model": "m", "passed": True, "cost_usd": 1, "transcript": transcript}
    lines = write_lines(tmp_path / "t.jsonl", [row, {**row, "problem": "q"}])
    cells = tmp_path / "t.csv"
    cells.write_text(f"problem,model,passed,cost_usd,transcript\np,m,yes,1,{transcript}\nq,m,yes,1,\n")
    for file in (lines, cells):
        assert IMPORTER.recognises(Source(file))
        assert [attempt.problem for attempt in read(file)] == ["p", "q"]
    copeca = write_lines(
        tmp_path / "c.jsonl", [{"task": "t", "mode": "a", "model": "m", "correct": True, "answer": transcript}]
    )
    importer = recognise(Source(copeca))
    assert importer is not None
    assert importer.name == "copeca"


def test_a_csv_may_have_very_many_columns(tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    more = ",".join(f"c{number}" for number in range(65_536))
    wide.write_text(f"problem,passed,cost_usd,{more}\np,yes,1\n")
    assert IMPORTER.recognises(Source(wide))
    settings = Settings()
    assert len(read(wide, settings)) == 1
    assert "and 65506 more" in settings.notes[0]


def test_a_quote_that_is_never_closed_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('problem,model,passed,cost_usd\n"a,m,yes,1\nb,m,yes,1\n')
    with pytest.raises(CostpassError, match="line 3: not CSV text"):
        read(tmp_path / "t.csv")


def test_a_quoted_cell_keeps_its_blank_lines(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('problem,model,passed,cost_usd\n"a\n\nb",m,yes,1\n\n"a\nb",m,yes,1\n')
    assert [attempt.problem for attempt in read(tmp_path / "t.csv")] == ["a\n\nb", "a\nb"]


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("problem,model,passed,passed,cost_usd\na,m,yes,no,1\n")
    assert IMPORTER.recognises(Source(tmp_path / "t.csv"))
    with pytest.raises(CostpassError, match="two columns are called 'passed'"):
        read(tmp_path / "t.csv")


def test_text_in_another_encoding_is_named_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("problem,passed,cost_usd\né,yes,1\n".encode("latin-1"))
    with pytest.raises(CostpassError, match="line 2: not CSV text"):
        read(tmp_path / "t.csv")


def test_a_comma_parts_thousands_or_is_not_guessed_at(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('problem,passed,cost_usd\na,yes,"$1,234.50"\n')
    assert [attempt.cost_usd for attempt in read(tmp_path / "t.csv")] == [Decimal("1234.50")]
    (tmp_path / "t.csv").write_text('problem,passed,cost_usd\na,yes,"0,5"\n')
    with pytest.raises(CostpassError, match="cost_usd: cannot read '0,5'"):
        read(tmp_path / "t.csv")


def test_a_long_whole_number_keeps_all_its_digits(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("problem,passed,cost_usd,seed\na,yes,1,1234567890123456789\n")
    assert [attempt.seed for attempt in read(tmp_path / "t.csv")] == [1234567890123456789]
