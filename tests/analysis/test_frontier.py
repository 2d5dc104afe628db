"""The frontier, against the official code's own output and the paper's tables."""

import json
from pathlib import Path
from typing import Any

import pytest

import costpass
from costpass.analysis.context import Context
from costpass.analysis.frontier import BenchmarkFrontier, Frontier
from costpass.ledger.cells import unit


def toy(last: int = 0) -> list[dict[str, Any]]:
    """The toy that the official Cost-of-Pass code was run on: four problems, four runs, three models."""
    passes = {"A": (0.01, [4, 2, 0, 0]), "B": (0.05, [4, 4, 1, 0]), "C": (0.30, [4, 4, 4, last])}
    return [
        {
            "benchmark": "toy",
            "problem": f"p{problem}",
            "model": model,
            "repetition": run,
            "passed": run < count,
            "cost_usd": cost,
            "released": f"2024-0{1 + 'ABC'.index(model)}-01",
        }
        for model, (cost, counts) in passes.items()
        for problem, count in enumerate(counts)
        for run in range(4)
    ]


def benchmark(result: Frontier) -> BenchmarkFrontier:
    [row] = result.benchmarks
    return row


def found(rows: list[dict[str, Any]], **options: Any) -> BenchmarkFrontier:
    return benchmark(costpass.load(rows).frontier(experts={"toy": 1.0}, resamples=200, **options))


def essential(row: BenchmarkFrontier) -> dict[str, float | None]:
    return {entry.subset: entry.percent for entry in row.essentialness}


def test_the_toy_gives_the_official_figures() -> None:
    row = found(toy())
    assert row.frontier_usd.value == pytest.approx(0.3075)
    assert {single.strategy: single.frontier_usd.value for single in row.single} == {
        "A": pytest.approx(0.5075),
        "B": pytest.approx(0.325),
        "C": pytest.approx(0.475),
    }
    assert [step.frontier_usd.value for step in row.trend] == pytest.approx([1, 0.5075, 0.3075, 0.3075])
    shares = essential(row)
    assert shares["A"] == pytest.approx(5.3846, abs=1e-4)
    assert shares["B"] == pytest.approx(7.5188, abs=1e-4)
    assert shares["C"] == 0


def test_a_solved_last_problem_makes_the_expert_partly_essential() -> None:
    row = found(toy(last=1))
    assert row.lm_frontier_usd.value == pytest.approx(0.3575)
    assert essential(row)["expert"] == pytest.approx(13.986, abs=1e-3)


def test_an_unsolved_problem_makes_the_expert_wholly_essential_and_is_named() -> None:
    row = found(toy())
    assert essential(row)["expert"] == 100
    assert row.unsolved == ["p3"]
    assert row.lm_frontier_usd.infinite


def test_without_an_expert_infinite_stays_infinite_and_says_why() -> None:
    result = costpass.load(toy()).frontier(resamples=200)
    assert benchmark(result).frontier_usd.infinite
    assert "p3" in result.notes[0]
    document = json.loads(result.to_json())
    assert document["benchmarks"][0]["frontier_usd"]["value"] is None
    assert document["benchmarks"][0]["frontier_usd"]["infinite"] is True


def test_the_interval_holds_the_headline() -> None:
    row = found(toy(last=2))
    assert row.frontier_usd.low is not None and row.frontier_usd.high is not None
    assert row.frontier_usd.low <= (row.frontier_usd.value or 0) <= row.frontier_usd.high


def test_a_policy_that_can_be_deployed_costs_no_less_than_the_frontier() -> None:
    rows = [{**row, "problem": f"{row['problem']}-{copy}"} for row in toy(last=4) for copy in range(10)]
    row = found(rows)
    assert row.best_cascade is not None and row.best_single is not None
    assert (row.best_cascade.cost_usd.value or 0) >= (row.frontier_usd.value or 0) - 1e-9
    assert (row.best_cascade.cost_usd.value or 0) <= (row.best_single.cost_usd.value or 0) + 1e-9
    assert row.best_cascade.policy[0].strategy == "A"
    assert row.best_cascade.sentence.startswith("Try A")


def test_verification_makes_cheap_tries_less_worth_while() -> None:
    rows = [{**row, "problem": f"{row['problem']}-{copy}"} for row in toy(last=4) for copy in range(10)]
    free, dear = found(rows).best_cascade, found(rows, verification=0.5).best_cascade
    assert free is not None and dear is not None
    assert (dear.cost_usd.value or 0) > (free.cost_usd.value or 0)


def test_families_by_name_and_by_price(tmp_path: Path) -> None:
    context = tmp_path / "context.yml"
    context.write_text("families:\n  small: {models: ['A', 'B']}\n  rest: {models: ['*']}\n")
    row = found(toy(), context=str(context))
    families = {entry.subset: entry.percent for entry in row.essentialness if entry.kind == "family"}
    assert families["small"] == pytest.approx(100 * (0.475 - 0.3075) / 0.475)
    assert families["rest"] == 0
    assert (families["small"] or 0) >= max(essential(row)["A"] or 0, essential(row)["B"] or 0)


def test_techniques_are_measured_against_the_plain_model() -> None:
    rows = [{**row, "technique": "direct"} for row in toy() if row["model"] == "B"]
    voted = [{**row, "technique": "vote", "passed": True, "cost_usd": 0.2} for row in rows]
    row = found(rows + voted)
    shares = {entry.subset: entry.percent for entry in row.essentialness if entry.kind == "technique"}
    before, after = (0.05 + 0.05 + 0.2 + 1) / 4, (0.05 + 0.05 + 0.2 + 0.2) / 4
    assert shares == {"vote": pytest.approx(100 * (before - after) / before)}


def test_pass_at_k_buys_several_tries() -> None:
    rows = [row for row in toy() if row["model"] == "B"]
    row = found(rows, measure="pass@2")
    # Two tries at $0.05: sure on the first two problems, one half on the third, never on the last.
    assert row.frontier_usd.value == pytest.approx((0.1 + 0.1 + 0.2 + 1) / 4)


def test_other_units_go_through_the_same_functions() -> None:
    rows = [{**row, "duration_ms": 1000 * row["cost_usd"]} for row in toy(last=4)]
    in_seconds = benchmark(costpass.load(rows).frontier(cost="seconds", resamples=200))
    in_dollars = benchmark(costpass.load(rows).frontier(resamples=200))
    assert in_seconds.frontier_usd.value == pytest.approx(in_dollars.frontier_usd.value)


def test_a_short_history_has_no_half_life() -> None:
    life = found(toy()).half_life_months
    assert life is not None
    assert not life.identified
    assert life.reason


def test_the_papers_first_table(data: Path) -> None:
    tables = json.loads((data / "paper" / "paper-tables.json").read_text())["table1_frontier_with_one_model"]
    from tests.e2e.test_answers import rounding_holds

    result = costpass.load(data / "paper" / "paper-replica.jsonl.gz").frontier(context="paper", resamples=100)
    cells = {(row.benchmark, single.strategy): single for row in result.benchmarks for single in row.single}
    wrong = [
        (model, name, printed, cells[name, model].frontier_usd.value)
        for model, row in tables.items()
        for name, printed in row.items()
        if not rounding_holds(printed, cells[name, model].frontier_usd.value or 0.0)
    ]
    assert wrong == []
    assert len(cells) == 60


def test_the_same_attempts_give_the_same_bytes() -> None:
    first, second = (costpass.load(toy()).frontier(experts={"toy": 1.0}, resamples=200).to_json() for _ in range(2))
    assert first == second


def _tried(strategy: str, problems: str, tries: int = 3, **fields: Any) -> list[dict[str, Any]]:
    row = {"strategy": strategy, "model": strategy, "cost_usd": 1.0, **fields}
    return [{**row, "problem": name, "passed": n > 0} for name in problems for n in range(tries)]


def test_a_measure_of_more_tries_than_there_are_says_so_and_calls_nothing_unsolved() -> None:
    rows = _tried("a", "pqr", benchmark="B") + _tried("a", "s", tries=1, benchmark="B")
    result = costpass.load(rows).frontier(measure="pass@3", resamples=50)
    assert [row.problems for row in result.benchmarks] == [3]
    assert list(result.benchmarks[0].unsolved) == []
    assert "1 problems are left out" in result.notes[0]
    assert costpass.load(rows).frontier(measure="pass@20", resamples=50).benchmarks == []


def test_without_an_expert_nobody_is_told_to_ask_one() -> None:
    rows = _tried("a", "pqrstu", benchmark="B") + _tried("b", "uvwxyz", benchmark="B")
    row = costpass.load(rows).frontier(resamples=50).benchmarks[0]
    assert row.best_single is None or row.best_single.policy


def test_a_nameless_benchmark_is_not_called_none() -> None:
    rows = [{"problem": p, "strategy": "a", "model": "a", "passed": p == "p", "cost_usd": 1.0} for p in "pq"]
    note = costpass.load(rows).frontier(resamples=50).notes[0]
    assert note.startswith("all problems") and "'*'=USD" in note and "None" not in note


def test_a_missing_release_date_is_named_as_what_keeps_the_trend_away() -> None:
    rows = _tried("a", "pq", benchmark="B", released="2024-01-01") + _tried("b", "pq", benchmark="B")
    result = costpass.load(rows).frontier(resamples=50)
    assert result.benchmarks[0].trend == []
    assert any("release date: b" in note for note in result.notes)


def test_a_ledger_that_says_nothing_gets_a_note() -> None:
    rows = [{"benchmark": "B", "problem": "p", "strategy": "a", "model": "a", "passed": None, "cost_usd": 1.0}]
    assert "nothing can be said" in costpass.load(rows).frontier(resamples=50).notes[0]


def test_a_strategy_alone_is_judged_on_what_it_tried_as_in_the_report() -> None:
    rows = _tried("a", "pqrstu", benchmark="B") + _tried("b", "uvwxyz", benchmark="B")
    told = Context().with_experts({"B": 20})
    loaded = costpass.load(rows)
    alone = {row.strategy: row for row in loaded.frontier(context=told, resamples=50).benchmarks[0].single}
    for row in loaded.summary(context=told).benchmarks[0].strategies:
        found = alone[row.by["strategy"]]
        assert found.frontier_usd.value == pytest.approx(row.frontier_with_expert_usd) == pytest.approx(1.5)
        assert (found.solved, found.tried) == (6, 6)
        assert found.frontier_usd.high is not None and found.frontier_usd.high < 20


def test_quantities_and_weights_are_costs_like_any_other() -> None:
    rows = [{**row, "quantities": {"joules": 10 * row["cost_usd"]}} for row in toy(last=4)]
    in_joules = benchmark(costpass.load(rows).frontier(cost="joules", resamples=200))
    in_dollars = benchmark(costpass.load(rows).frontier(resamples=200))
    assert in_joules.frontier_usd.value == pytest.approx(10 * (in_dollars.frontier_usd.value or 0))
    both = unit("weighted", weights={"usd": 1.0, "joules": 0.1})
    weighted = benchmark(costpass.load(rows).frontier(cost=both, resamples=200))
    assert weighted.frontier_usd.value == pytest.approx(2 * (in_dollars.frontier_usd.value or 0))


def test_experts_in_dollars_do_not_price_seconds() -> None:
    rows = [{**row, "benchmark": "AIME", "duration_ms": 1000} for row in toy()]
    in_seconds = benchmark(costpass.load(rows).frontier(cost="seconds", context="paper", resamples=200))
    assert in_seconds.expert_usd is None
    said = benchmark(costpass.load(rows).frontier(cost="seconds", experts={"AIME": 600.0}, resamples=200))
    assert said.expert_usd == 600


def test_a_technique_has_an_interval() -> None:
    rows = [{**row, "technique": "direct"} for row in toy(last=2)]
    voted = [{**row, "technique": "vote", "passed": True, "cost_usd": 0.2} for row in rows]
    [vote] = [entry for entry in found(rows + voted).essentialness if entry.kind == "technique"]
    assert vote.low is not None and vote.high is not None and vote.percent is not None
    assert vote.low <= vote.percent <= vote.high


def test_families_by_price(tmp_path: Path) -> None:
    prices, context = tmp_path / "models.yml", tmp_path / "context.yml"
    prices.write_text(
        "models:\n"
        + "".join(
            f"  {m}: {{usd_per_million: {{input: 1, output: {p}}}}}\n" for m, p in (("A", 0.5), ("B", 3), ("C", 9))
        )
    )
    context.write_text("families: {light: {below_usd_per_million: 1}, large: {models: ['*']}}\n")
    result = costpass.load(toy(), prices=[prices]).frontier(experts={"toy": 1.0}, context=str(context), resamples=100)
    families = {entry.subset: entry.percent for entry in benchmark(result).essentialness if entry.kind == "family"}
    assert families["light"] == pytest.approx(essential(benchmark(result))["A"])
