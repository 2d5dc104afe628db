"""Which importer reads what, and importers that others install."""

import os
from pathlib import Path

import pytest
from tests.conftest import DATA, Run

from costpass.errors import CostpassError
from costpass.ledger.importers import registry
from costpass.ledger.importers.source import Source

MODULE = """
from costpass.attempt import Attempt
from costpass.ledger.importers.protocol import Row

class Mine:
    name = "mine"
    about = "the test's own format"
    def recognises(self, source):
        return source.head.startswith(b"MINE")
    def rows(self, source):
        for number, line in source.lines():
            if number > 1:
                yield Row(f"{source.name}:{number}", line.decode().split())
    def attempts(self, row, settings):
        problem, verdict, cost = row.content
        yield Attempt(problem=problem, strategy="mine", passed=verdict == "yes", cost_usd=cost, cost_source="imported")

IMPORTER = Mine()
"""


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("copeca/sample_report_records.jsonl", "copeca"),
        ("paper/paper-replica.jsonl.gz", "table"),
        ("../../examples/ailang-results.jsonl.gz", "ailang"),
        ("ailang/agent_rows_sample.jsonl", "ailang"),
        ("inspect/cost_epochs_retry_limit.eval", "inspect"),
    ],
)
def test_a_log_is_recognised_by_what_it_holds(file: str, name: str) -> None:
    importer = registry.recognise(Source(DATA / file))
    assert importer is not None
    assert importer.name == name


def test_an_unknown_format_names_the_nearest() -> None:
    with pytest.raises(CostpassError, match="did you mean 'copeca'"):
        registry.by_name("copecca")


def test_an_installed_importer_is_listed_and_used(costpass: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MODULE)
    info = tmp_path / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[costpass.importers]\nmine = mine:IMPORTER\n")
    (tmp_path / "x.log").write_text("MINE\np1 yes 0.5\np2 no 0.25\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    assert "the test's own format" in costpass("import", "--list", env=environment).stdout
    done = costpass("report", "x.log", env=environment)
    assert "$0.7500" in done.stdout
