"""compare, frontier, risk and pareto through the installed command."""

import json
from pathlib import Path

import pytest
from tests.conftest import Run, write_lines

COPECA = "copeca/sample_report_records.jsonl"


def test_compare_prints_the_sentence_and_what_makes_it_up(costpass: Run, data: Path) -> None:
    done = costpass("compare", data / COPECA, "--baseline", "baseline")
    assert done.returncode == 0, done.stderr
    assert "tilth against baseline: −31.3 %" in done.stdout
    assert "spend −31.3 %, accuracy +0.0 %" in done.stdout
    assert "not decided" in done.stdout
    assert "capability locate" in done.stdout


def test_compare_json_has_the_published_names(costpass: Run, data: Path) -> None:
    done = costpass("compare", data / COPECA, "--baseline", "baseline", "--against", "tilth", "--format", "json")
    document = json.loads(done.stdout)
    [arm] = document["against"]
    assert document["baseline"] == "baseline"
    assert arm["mode"] == "tilth"
    assert arm["delta"]["value"] == pytest.approx(-0.3126, abs=1e-4)
    assert {
        "p_value",
        "verdict",
        "success_rate_delta",
        "spend_ratio",
        "by_model",
        "by_capability",
        "control",
    } <= arm.keys()
    assert arm["spend_ratio"]["value"] == pytest.approx(0.1702 / 0.2476)


def test_compare_needs_a_baseline_that_is_there(costpass: Run, data: Path) -> None:
    assert costpass("compare", data / COPECA).returncode == 2
    wrong = costpass("compare", data / COPECA, "--baseline", "basline")
    assert wrong.returncode == 1
    assert "did you mean 'baseline'?" in wrong.stderr


def test_interval_seed_and_resamples_have_their_effect(costpass: Run, data: Path) -> None:
    def high(*options: object) -> float:
        arguments = ("compare", data / COPECA, "--baseline", "baseline", "--format", "json", *options)
        bound: float = json.loads(costpass(*arguments).stdout)["against"][0]["delta"]["high"]
        return bound

    assert high("--interval", "bootstrap") < high()


def test_frontier_takes_experts_by_option(costpass: Run, tmp_path: Path) -> None:
    rows = [
        {"benchmark": "AIME", "problem": f"p{n}", "model": model, "repetition": r, "passed": r < n % 3, "cost_usd": usd}
        for n in range(6)
        for model, usd in (("small", 0.01), ("large", 0.3))
        for r in range(3)
    ]
    write_lines(tmp_path / "x.jsonl", rows)
    done = costpass("frontier", "x.jsonl", "--expert", "AIME=20", "--resamples", 100, "--format", "json")
    assert done.returncode == 0, done.stderr
    [row] = json.loads(done.stdout)["benchmarks"]
    assert (row["benchmark"], row["expert_usd"]) == ("AIME", 20)
    # Two of six problems are never solved, and go to the expert.
    assert row["frontier_usd"]["value"] == pytest.approx((2 * 0.03 + 2 * 0.015 + 2 * 20) / 6)
    assert {"lm_frontier_usd", "optimism_usd", "single", "essentialness", "trend", "half_life_months"} <= row.keys()
    assert {"policy", "cost_usd"} <= row["best_cascade"].keys()
    text = costpass("frontier", "x.jsonl", "--expert", "AIME=20", "--resamples", 100).stdout
    assert "best cascade that can be deployed" in text
    alone = costpass("frontier", "x.jsonl", "--resamples", 100)
    assert "--expert AIME=USD" in alone.stdout


@pytest.mark.parametrize("wrong", ["AIME", "AIME=", "AIME=-1", "AIME=nan", "=20x"])
def test_a_wrong_expert_price_is_refused(costpass: Run, data: Path, wrong: str) -> None:
    done = costpass("frontier", data / COPECA, "--expert", wrong)
    assert done.returncode == 1
    assert "expected BENCHMARK=USD" in done.stderr


def test_frontier_of_the_paper_with_its_context(costpass: Run, data: Path) -> None:
    done = costpass(
        "frontier",
        data / "paper" / "paper-replica.jsonl.gz",
        "--context",
        "paper",
        "--resamples",
        100,
        "--format",
        "json",
    )
    by_name = {row["benchmark"]: row for row in json.loads(done.stdout)["benchmarks"]}
    assert by_name["AIME"]["expert_usd"] == 20
    assert {entry["subset"] for entry in by_name["AIME"]["essentialness"] if entry["kind"] == "family"} == {
        "large",
        "lightweight",
        "reasoning",
    }
    steps = by_name["AIME"]["trend"]
    assert [step["date"] for step in steps][:2] == [None, "2024-05-13"]
    values = [step["frontier_usd"]["value"] for step in steps]
    assert values == sorted(values, reverse=True)


def test_risk_and_pareto_print_what_they_say(costpass: Run, data: Path) -> None:
    risk = costpass("risk", data / COPECA, "--budget", "0.05", "--budget", "0.2")
    assert "within 0.05" in risk.stdout
    assert json.loads(costpass("risk", data / COPECA, "--format", "json").stdout)["schema"] == "costpass.risk/1"
    pareto = json.loads(costpass("pareto", data / COPECA, "--axes", "cost,success", "--format", "json").stdout)
    assert {row["strategy"].split("+")[1]: row["on_front"] for row in pareto["rows"]} == {
        "baseline": False,
        "tilth": True,
    }
    wrong = costpass("pareto", data / COPECA, "--axes", "costs")
    assert "did you mean 'cost'?" in wrong.stderr


def test_report_carries_intervals_efficiency_and_benchmarks(costpass: Run, data: Path) -> None:
    document = json.loads(costpass("report", data / COPECA, "--expert", "copeca=5", "--format", "json").stdout)
    first = document["strategies"][0]
    assert first["success_rate"].keys() == {"value", "low", "high", "infinite"}
    assert first["cost_of_pass_usd"]["low"] < first["cost_of_pass_usd"]["value"] < first["cost_of_pass_usd"]["high"]
    assert first["efficiency"]["p90_cost_per_success"] == 0.081
    [benchmark] = document["benchmarks"]
    assert benchmark["expert_usd"] == 5
    assert benchmark["strategies"][0].keys() >= {"strategy", "accuracy", "mean_cost_usd", "frontier_with_expert_usd"}


@pytest.mark.parametrize("name", ["attempt", "models", "context", "report", "compare", "frontier", "risk", "pareto"])
def test_every_schema_is_one(costpass: Run, name: str) -> None:
    import jsonschema

    schema = json.loads(costpass("schema", name).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"costpass.{name}/1"
