"""Verdicts that stand in another file than the attempts."""

import json
from pathlib import Path
from typing import Any

import pytest

from costpass.errors import BadInputError
from costpass.ledger.importers.outcomes import read_outcomes


def written(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_swe_bench_report_knows_passes_failures_and_what_was_never_answered(tmp_path: Path) -> None:
    report = {
        "total_instances": 6,
        "completed_ids": ["solved", "wrong"],
        "submitted_ids": ["solved", "wrong", "broken", "empty"],
        "resolved_ids": ["solved"],
        "unresolved_ids": ["wrong"],
        "empty_patch_ids": ["empty"],
        "incomplete_ids": ["unsubmitted"],
        "error_ids": ["broken"],
        "unremoved_images": ["an image, no problem"],
        "schema_version": 2,
    }
    assert read_outcomes(written(tmp_path / "model.run.json", report)) == {
        "solved": True,
        "wrong": False,
        "empty": False,
        "unsubmitted": False,
    }


def test_an_old_report_leaves_out_what_its_harness_broke_on(tmp_path: Path) -> None:
    report = {
        "generated": ["solved", "wrong", "slow_tests", "inapplicable"],
        "no_generation": ["silent"],
        "no_apply": ["inapplicable"],
        "test_timeout": ["slow_tests"],
        "resolved": ["solved"],
    }
    assert read_outcomes(written(tmp_path / "report.json", report)) == {
        "solved": True,
        "wrong": False,
        "inapplicable": False,
        "silent": False,
    }


def test_passes_alone_are_refused_as_they_would_make_everything_pass(tmp_path: Path) -> None:
    path = written(tmp_path / "results.json", {"resolved": ["solved"], "no_logs": []})
    with pytest.raises(BadInputError, match="not which others were tried"):
        read_outcomes(path)


def test_an_instances_own_report(tmp_path: Path) -> None:
    report = {"a__b-1": {"patch_exists": True, "resolved": True}, "a__b-2": {"resolved": False}}
    assert read_outcomes(written(tmp_path / "report.json", report)) == {"a__b-1": True, "a__b-2": False}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("v.csv", "problem,passed\nx,true\ny,0\n"),
        ("v.csv", "\ufefftask_id,correct\nx,yes\ny,no\nz,\n"),
        ("v.tsv", "instance_id\tnote\tresolved\nx\t-\tTrue\ny\t-\tFalse\n"),
        ("v.jsonl", '{"instance_id": "x", "resolved": true}\n\n{"instance_id": "y", "resolved": false}\n'),
        ("v.json", '[{"problem": "x", "passed": true}, {"problem": "y", "passed": false}]'),
        ("v.json", '{"x": true, "y": false}'),
    ],
)
def test_tables_of_problem_and_verdict(tmp_path: Path, name: str, content: str) -> None:
    assert read_outcomes(written(tmp_path / name, content)) == {"x": True, "y": False}


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("v.csv", "name,grade\nx,1\n", "no verdicts that costpass can read"),
        ("v.csv", "problem,passed\nx,maybe\n", "row 1: passed is 'maybe', neither true nor false"),
        ("v.csv", "problem,passed\nx,1\nx,0\n", "'x' stands in it twice"),
        ("v.csv", "problem,passed\n", "no verdict in it"),
        ("v.jsonl", '{"problem": "x", "passed": true}\n{"problem"\n', "line 2 is not JSON"),
        ("v.json", '{"a": 1}', "no verdicts that costpass can read"),
        ("v.json", "{}", "no verdicts that costpass can read"),
        ("v.json", '{"resolved": true}', "no verdicts that costpass can read"),
        ("v.json", '{"resolved_ids": [', "not a whole JSON document"),
    ],
)
def test_anything_else_is_refused_in_one_sentence(tmp_path: Path, name: str, content: str, complaint: str) -> None:
    with pytest.raises(BadInputError, match=complaint):
        read_outcomes(written(tmp_path / name, content))


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="No such file"):
        read_outcomes(tmp_path / "absent.json")
