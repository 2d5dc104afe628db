"""The Python API: one way in, typed answers out."""

import json
from decimal import Decimal
from pathlib import Path

import jsonschema
import pandas
import polars
import pytest

import costpass
from costpass.analysis.schema import RESULTS, result_schema
from costpass.api import Attempts
from costpass.attempt import Attempt
from costpass.errors import CostpassError

ROWS = [
    {
        "benchmark": "b",
        "problem": f"p{n}",
        "model": model,
        "mode": model,
        "passed": (n + ord(model)) % 3 > 0,
        "cost_usd": 0.5,
    }
    for n in range(8)
    for model in "xy"
]


def spend(loaded: Attempts) -> float:
    return float(loaded.summary().total.spend_usd or 0)


def test_everything_that_holds_attempts_can_be_loaded(tmp_path: Path, data: Path) -> None:
    log = tmp_path / "x.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    attempts = [
        Attempt(problem=f"p{n}", strategy="s", passed=True, cost_usd=Decimal(1), cost_source="imported", repetition=0)
        for n in range(8)
    ]
    assert spend(costpass.load(ROWS)) == 8.0
    assert spend(costpass.load(log)) == 8.0
    assert spend(costpass.load([str(log)])) == 8.0
    assert spend(costpass.load(polars.DataFrame(ROWS))) == 8.0
    assert spend(costpass.load(pandas.DataFrame(ROWS))) == 8.0
    assert spend(costpass.load(attempts)) == 8.0
    assert spend(costpass.load(data / "copeca" / "sample_report_records.jsonl")) == pytest.approx(0.4178)


@pytest.mark.parametrize("nothing", [[], 5, [1, 2]])
def test_what_is_no_source_is_refused(nothing: object) -> None:
    with pytest.raises(CostpassError, match="load takes"):
        costpass.load(nothing)


def test_rejected_rows_are_told() -> None:
    loaded = costpass.load([*ROWS, {"problem": "p", "model": "x", "passed": True, "cost_usd": -1}])
    assert loaded.imported is not None
    assert loaded.imported.rejected == 1


def test_attempts_can_be_iterated_and_the_files_go_with_the_object() -> None:
    with costpass.load(ROWS) as loaded:
        assert sum(1 for _ in loaded) == 16


@pytest.mark.parametrize("name", list(RESULTS))
def test_every_answer_keeps_to_its_published_schema(name: str) -> None:
    loaded = costpass.load([*ROWS, {"benchmark": "b", "problem": "never", "model": "x", "mode": "x", "passed": False}])
    answers = {
        "report": loaded.summary(),
        "compare": loaded.compare(baseline="x"),
        "frontier": loaded.frontier(resamples=100),
        "risk": loaded.risk(budgets=[1.0]),
        "pareto": loaded.pareto(),
    }
    document = json.loads(answers[name].to_json())
    schema = result_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    assert document["schema"] == f"costpass.{name}/1"


def test_answers_become_frames() -> None:
    loaded = costpass.load(ROWS)
    frame = loaded.summary().to_frame()
    assert isinstance(frame, polars.DataFrame)
    assert frame["cost_of_pass_usd"].to_list() == [row.cost_of_pass_usd.value for row in loaded.summary().strategies]
    assert "delta_low" in loaded.compare(baseline="x").to_frame().columns
    assert loaded.frontier(resamples=100).to_frame().height == 1
    assert loaded.risk().to_frame().height == 2


def test_the_names_that_outsiders_rely_on() -> None:
    delta = costpass.load(ROWS).compare(baseline="x", against=["y"], by="mode").against[0].delta
    assert delta.value is not None and delta.low is not None and delta.high is not None
    assert delta.low <= delta.value <= delta.high
