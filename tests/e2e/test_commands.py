"""Each command does what its help says, and each option has its effect."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import jsonschema
import pytest
from tests.conftest import Run, write_attempts, write_lines

from costpass.attempt import Attempt

COPECA = "copeca/sample_report_records.jsonl"


@pytest.fixture
def ledger(costpass: Run, data: Path, tmp_path: Path) -> Path:
    done = costpass("import", data / COPECA, "-o", "mine")
    assert done.returncode == 0, done.stderr
    return tmp_path / "mine"


def test_import_says_what_it_knows_and_what_comes_next(costpass: Run, data: Path) -> None:
    done = costpass("import", data / COPECA, "-o", "mine")
    assert "8 attempts imported into mine (copeca 8)" in done.stdout
    assert "cost known for 8 of 8, outcome for 8" in done.stdout
    assert "costpass report mine" in done.stdout


def test_import_list_names_every_format(costpass: Run) -> None:
    names = {line.split()[0] for line in costpass("import", "--list").stdout.splitlines()[2:]}
    assert names >= {"copeca", "ailang", "cost-of-pass", "context-bench", "inspect", "harbor", "mini-swe-agent"}
    assert names >= {"swe-agent", "promptfoo", "table", "costpass"}


def test_import_will_not_overwrite_and_append_will_not_double(costpass: Run, data: Path, ledger: Path) -> None:
    again = costpass("import", data / COPECA, "-o", "mine")
    assert again.returncode == 1
    assert "already there" in again.stderr
    before = (ledger / "attempts.jsonl").read_bytes()
    doubled = costpass("import", data / COPECA, "-o", "mine", "--append")
    assert doubled.returncode == 1
    assert "nothing was appended" in doubled.stderr
    assert (ledger / "attempts.jsonl").read_bytes() == before


def test_append_adds_other_attempts(costpass: Run, ledger: Path, tmp_path: Path) -> None:
    other = write_lines(tmp_path / "other.jsonl", [{"problem": "p", "model": "m", "passed": True, "cost_usd": 1}])
    assert costpass("import", other, "-o", "mine", "--append").returncode == 0
    assert json.loads(costpass("report", ledger, "--format", "json").stdout)["total"]["attempts"] == 9


def test_map_and_threshold_read_any_table(costpass: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item,who,usd_total,mark\na,x,$0.50,0.8\nb,x,0.25,0.4\n")
    mapping = "problem=item,model=who,cost_usd=usd_total,score=mark"
    assert costpass("import", "t.csv", "--map", mapping, "--threshold", "0.5", "-o", "t").returncode == 0
    [row] = json.loads(costpass("report", "t", "--format", "json").stdout)["strategies"]
    assert (row["strategy"], row["attempts"], row["passed"], row["spend_usd"]) == ("x", 2, 1, 0.75)


def test_map_names_the_nearest_column(costpass: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item,total_cost,ok\na,1,yes\n")
    done = costpass("import", "t.csv", "--map", "cost_usd=total_csot", "-o", "t")
    assert done.returncode == 1
    assert "did you mean 'total_cost'?" in done.stderr
    assert not (tmp_path / "t").exists()


def test_no_pricing_leaves_the_cost_unknown(costpass: Run, tmp_path: Path) -> None:
    row = {"problem": "p", "model": "gpt-5", "passed": True, "input_tokens": 1_000_000, "output_tokens": 0}
    write_lines(tmp_path / "t.jsonl", [{**row, "started_at": "2026-01-01T00:00:00Z"}])
    costpass("import", "t.jsonl", "-o", "priced")
    costpass("import", "t.jsonl", "-o", "bare", "--no-pricing")
    priced, bare = (json.loads(costpass("show", name, "--format", "jsonl").stdout) for name in ("priced", "bare"))
    assert (priced["cost_usd"], priced["cost_source"]) == (1.25, "priced")
    assert (bare["cost_usd"], bare["cost_source"]) == (None, None)


def test_prices_file_comes_before_the_library(costpass: Run, tmp_path: Path) -> None:
    (tmp_path / "models.yml").write_text("models: {gpt-5: {usd_per_million: {input: 7, output: 9}}}\n")
    done = costpass("prices", "gpt-5", "--prices", "models.yml", "--usage", "input=1000000")
    assert "$7" in done.stdout
    assert "models.yml" in done.stdout


def test_stale_prices_are_called_so(costpass: Run, tmp_path: Path) -> None:
    (tmp_path / "models.yml").write_text("models: {m: {usd_per_million: {input: 1, output: 1}, checked: 2020-01-01}}\n")
    assert "see if they still hold" in costpass("prices", "m", "--prices", "models.yml").stderr


def test_unknown_model_is_an_error_that_names_the_way_out(costpass: Run) -> None:
    done = costpass("prices", "gpt5-mini")
    assert done.returncode == 1
    assert "gpt-5-mini" in done.stderr
    assert "models: {gpt5-mini:" in done.stderr
    assert "Traceback" not in done.stderr


def test_reprice_writes_a_new_ledger_and_keeps_the_old_figure(costpass: Run, ledger: Path, tmp_path: Path) -> None:
    (tmp_path / "models.yml").write_text(
        "models: {claude-sonnet-4-6: {usd_per_million: {input: 1, output: 1, cache_read: 1, cache_write: 1}}}\n"
    )
    before = (ledger / "attempts.jsonl").read_bytes()
    assert costpass("reprice", ledger, "--prices", "models.yml", "-o", "new").returncode == 0
    assert (ledger / "attempts.jsonl").read_bytes() == before
    first = json.loads(costpass("show", "new", "--format", "jsonl").stdout.splitlines()[0])
    tokens = sum(first[f"{name}_tokens"] for name in ("input", "output", "cache_read", "cache_write"))
    assert first["cost_usd"] == pytest.approx(tokens / 1e6)
    assert first["repriced_from_usd"] == first["imported_usd"] == 0.0421


def test_reprice_without_a_price_writes_nothing(costpass: Run, tmp_path: Path) -> None:
    row = {"problem": "p", "model": "nobody-knows-me", "passed": True, "cost_usd": 1}
    write_lines(tmp_path / "t.jsonl", [{**row, "input_tokens": 1, "output_tokens": 1}])
    done = costpass("reprice", "t.jsonl", "-o", "new")
    assert done.returncode == 1
    assert "nobody-knows-me" in done.stderr
    assert not (tmp_path / "new").exists()
    assert costpass("reprice", "t.jsonl", "-o", "new", "--keep-unpriced").returncode == 0


def test_show_filters_tails_and_shows_one(costpass: Run, ledger: Path) -> None:
    tilth = costpass("show", ledger, "--where", "mode=tilth", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["mode"] for line in tilth] == ["tilth"] * 4
    last = costpass("show", ledger, "-n", "1", "--format", "jsonl").stdout.splitlines()
    assert last == (ledger / "attempts.jsonl").read_text().splitlines()[-1:]
    one = costpass("show", ledger, "--id", Attempt.model_validate_json(last[0]).id[:6])
    assert "gin_trace_router" in one.stdout
    assert "not known" in one.stdout


def test_show_jsonl_is_what_is_stored(costpass: Run, ledger: Path) -> None:
    stored = (ledger / "attempts.jsonl").read_text()
    assert costpass("show", ledger, "--format", "jsonl").stdout == stored
    costpass("compact", ledger)
    assert costpass("show", ledger, "--format", "jsonl").stdout == stored


def test_report_by_carries_the_fields_by_name(costpass: Run, ledger: Path) -> None:
    rows = json.loads(costpass("report", ledger, "--by", "capability,mode", "--format", "json").stdout)["strategies"]
    assert {(row["capability"], row["mode"]) for row in rows} == {
        ("locate", "baseline"),
        ("locate", "tilth"),
        ("trace", "baseline"),
        ("trace", "tilth"),
    }
    misspelt = costpass("report", ledger, "--by", "strateg")
    assert misspelt.returncode == 1
    assert "did you mean 'strategy'?" in misspelt.stderr


def test_report_formats(costpass: Run, ledger: Path) -> None:
    assert costpass("report", ledger, "--format", "md").stdout.count("\n|") == 5
    csv_lines = costpass("report", ledger, "--format", "csv").stdout.splitlines()
    assert csv_lines[0].startswith("strategy,attempts,passed")
    assert len(csv_lines) == 3


def test_report_reads_several_ledgers_and_globs(costpass: Run, ledger: Path, tmp_path: Path) -> None:
    row = {"problem": "p", "model": "m", "passed": True, "cost_usd": 1}
    write_lines(tmp_path / "a1.jsonl", [row])
    write_lines(tmp_path / "a2.jsonl", [{**row, "problem": "q"}])
    total = json.loads(costpass("report", ledger, "a*.jsonl", "--format", "json").stdout)["total"]
    assert total["attempts"] == 10


def test_compact_keeps_every_figure_and_reads_later_attempts(costpass: Run, ledger: Path, tmp_path: Path) -> None:
    before = costpass("report", ledger).stdout
    assert costpass("compact", ledger).returncode == 0
    assert list(ledger.glob("*.parquet"))
    assert costpass("report", ledger).stdout == before
    write_attempts(tmp_path / "late.jsonl", [Attempt(problem="late", strategy="s", passed=True, repetition=0)])
    costpass("import", "late.jsonl", "-o", ledger, "--append")
    assert json.loads(costpass("report", ledger, "--format", "json").stdout)["total"]["attempts"] == 9
    assert "9 attempts, intact" in costpass("ledger", "check", ledger).stdout


def test_compact_of_a_log_is_a_parquet_file_that_commands_read(costpass: Run, data: Path) -> None:
    assert costpass("compact", data / COPECA, "-o", "c.parquet").returncode == 0
    assert "$0.4178" in costpass("report", "c.parquet").stdout
    needs_place = costpass("compact", data / COPECA)
    assert needs_place.returncode == 1
    assert "-o" in needs_place.stderr


def test_ledger_check_finds_and_repairs_a_torn_line(costpass: Run, ledger: Path) -> None:
    with (ledger / "attempts.jsonl").open("ab") as journal:
        journal.write(b'{"problem": "to')
    found = costpass("ledger", "check", ledger)
    assert found.returncode == 1
    assert "torn last line of 15 bytes" in found.stderr
    mended = costpass("ledger", "check", ledger, "--repair")
    assert mended.returncode == 0
    assert "every whole line is kept" in mended.stdout
    assert "8 attempts, intact" in mended.stdout


def test_ledger_check_names_bad_lines_and_doubles(costpass: Run, ledger: Path) -> None:
    journal = ledger / "attempts.jsonl"
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join([*lines, lines[0]]) + "\n")
    assert "more than once" in costpass("ledger", "check", ledger).stderr
    journal.write_text("\n".join([*lines, lines[0].replace('"cost_usd":0.0421', '"cost_usd":-1')]) + "\n")
    done = costpass("ledger", "check", ledger)
    assert "attempts.jsonl:9: cost_usd: must not be negative" in done.stderr
    assert done.returncode == 1


def test_schema_attempt_describes_what_is_stored(costpass: Run, ledger: Path) -> None:
    schema = json.loads(costpass("schema", "attempt").stdout)
    assert schema["$id"] == "costpass.attempt/1"
    for line in (ledger / "attempts.jsonl").read_text().splitlines():
        jsonschema.validate(json.loads(line), schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**json.loads(line), "cost_usd": -1}, schema)


def test_help_and_import_load_nothing_heavy() -> None:
    code = (
        "import sys, costpass.cli; heavy = {'numpy', 'duckdb', 'altair', 'pydantic', 'genai_prices', 'inspect_ai'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_long_listing_can_be_cut_short(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "t.jsonl", ({"problem": f"p{i}", "model": "m", "passed": True, "cost_usd": 1} for i in range(5000))
    )
    command = Path(sysconfig.get_path("scripts")) / "costpass"
    piped = subprocess.run(
        f"{command} show t.jsonl --format jsonl | head -n 1", shell=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert piped.stderr == ""
    assert json.loads(piped.stdout)["problem"] == "p0"


def test_a_database_is_not_a_log(costpass: Run, tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "x.db").execute("CREATE TABLE t (a)").connection.commit()
    done = costpass("report", "x.db")
    assert done.returncode == 1
    assert "not a log that costpass knows" in done.stderr


def test_a_log_named_twice_is_read_once(costpass: Run, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    write_lines(folder / "t.jsonl", [{"problem": "p", "model": "m", "passed": True, "cost_usd": 1}])
    assert "1 attempts imported" in costpass("import", "logs", "logs/t.jsonl", "logs/*.jsonl", "-o", "l").stdout
    assert len(costpass("show", "l", tmp_path / "l", "--format", "jsonl").stdout.splitlines()) == 1


def test_sources_that_share_attempts_are_told_of(costpass: Run, ledger: Path, tmp_path: Path) -> None:
    shutil.copytree(ledger, tmp_path / "copy")
    done = costpass("show", ledger, "copy", "--format", "jsonl")
    assert len(done.stdout.splitlines()) == 16
    assert "share attempts, which are counted each time" in done.stderr
    assert costpass("show", ledger, "--format", "jsonl").stderr == ""


@pytest.mark.parametrize("usage", ["input=nan", "input=1e400", "input=1.5", "input=some"])
def test_usage_that_is_no_count_is_refused(costpass: Run, usage: str) -> None:
    done = costpass("prices", "gpt-5", "--usage", usage)
    assert done.returncode == 1
    assert f"--usage {usage}" in done.stderr
    assert "Traceback" not in done.stderr


def test_prices_say_so_when_they_are_another_providers(costpass: Run) -> None:
    assert "these are the ones at 'openai'" in costpass("prices", "gpt-5", "--provider", "nobody").stderr
    assert "'openai'" not in costpass("prices", "gpt-5", "--provider", "openai").stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--where", "cost_usd=abc"], "cost_usd is a number"),
        (["--where", "passed=maybe"], "passed is true or false"),
        (["--where", "mode=a", "--where", "mode=b"], "mode is given twice"),
        (["--where", "mod=a"], "did you mean 'mode'?"),
        (["--by", ""], "--by needs at least one field"),
        (["--by", "passed"], "group by status or failure"),
    ],
)
def test_a_wrong_filter_or_grouping_is_one_sentence(
    costpass: Run, ledger: Path, arguments: list[str], words: str
) -> None:
    done = costpass("report", ledger, *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_field_named_twice_is_one_column(costpass: Run, ledger: Path) -> None:
    assert costpass("report", ledger, "--by", "mode,mode").stdout == costpass("report", ledger, "--by", "mode").stdout


def test_an_invalid_attempt_in_a_ledger_is_one_sentence(costpass: Run, ledger: Path) -> None:
    journal = ledger / "attempts.jsonl"
    journal.write_text(journal.read_text().replace('"input_tokens":5200', '"input_tokens":-5'))
    done = costpass("show", ledger)
    assert done.returncode == 1
    assert "input_tokens" in done.stderr
    assert "Traceback" not in done.stderr


def test_names_from_logs_cannot_move_the_cursor(costpass: Run, tmp_path: Path) -> None:
    write_lines(tmp_path / "x.jsonl", [{"problem": "p", "model": "a\x1b[2Jb\nc", "passed": True, "cost_usd": 1}])
    done = costpass("report", "x.jsonl")
    assert "\x1b" not in done.stdout
    assert "a�[2Jb�c" in done.stdout


def test_faults_of_unknown_cost_are_not_said_to_cost_nothing(costpass: Run, data: Path) -> None:
    done = costpass("report", data / "ailang" / "agent_rows_sample.jsonl")
    assert "3 faults, at a cost that is not known" in done.stdout


def test_a_stopped_import_clears_up_and_a_killed_one_is_cleared_up_after(costpass: Run, tmp_path: Path) -> None:
    command = Path(sysconfig.get_path("scripts")) / "costpass"
    rows = ({"problem": f"p{n}", "model": "m", "passed": True, "cost_usd": 1} for n in range(60_000))
    write_lines(tmp_path / "big.jsonl", rows)
    for kill in (signal.SIGTERM, signal.SIGKILL):
        running = subprocess.Popen([command, "import", "big.jsonl", "-o", "out"], cwd=tmp_path, stderr=subprocess.PIPE)
        while not list(tmp_path.glob(".costpass-*")):
            time.sleep(0.02)
        running.send_signal(kill)
        running.communicate(timeout=30)
        assert not (tmp_path / "out").exists()
        assert bool(list(tmp_path.glob(".costpass-*"))) == (kill == signal.SIGKILL)
    write_lines(tmp_path / "small.jsonl", [{"problem": "p", "model": "m", "passed": True, "cost_usd": 1}])
    assert costpass("import", "small.jsonl", "-o", "out").returncode == 0
    assert not list(tmp_path.glob(".costpass-*"))


def test_figures_alone_are_the_figures_of_the_report(costpass: Run, ledger: Path) -> None:
    whole, alone = (
        json.loads(costpass("report", ledger, "--format", "json", *options).stdout)
        for options in ((), ("--interval", "none"))
    )
    for figure in ("success_rate", "mean_cost_usd", "cost_of_pass_usd"):
        for one, other in zip(whole["strategies"], alone["strategies"], strict=True):
            assert one[figure]["value"] == pytest.approx(other[figure]["value"])
            assert other[figure]["low"] is None
