"""A dry run says what a run would cost, and fails where the run would."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pytest import MonkeyPatch
from tests.loopback import provider
from tests.runs import experiments

from costpass.benchmarks import hub
from costpass.errors import BadInputError, CostpassError
from costpass.pricing import PriceError
from costpass.reports.estimate import text, to_json
from costpass.runs.estimate import Estimate, estimate
from costpass.runs.experiment import Experiment
from costpass.runs.preparing import Overrides

#: Nothing is ever sent there.
NOWHERE = "http://127.0.0.1:9"
MILLION = Decimal(1_000_000)


def document(**changes: Any) -> dict[str, Any]:
    return experiments.experiment(NOWHERE, **{"strategies": [experiments.strategy(NOWHERE)], **changes})


def estimated(document: dict[str, Any], folder: Path = Path(), **options: Any) -> Estimate:
    environment = options.pop("environment", {})
    ledger = options.pop("ledger", None)
    experiment = Experiment.model_validate(document)
    return estimate(experiment, folder, Overrides(**options), ledger=ledger, environment=environment)


def own_file(folder: Path, *questions: str) -> dict[str, Any]:
    rows = [{"question": question, "target": "4"} for question in questions]
    (folder / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return document(benchmarks=["mine.jsonl"], repetitions=1)


@pytest.fixture
def no_hub(monkeypatch: MonkeyPatch) -> None:
    def no_module(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(hub, "import_module", no_module)


def test_attempts_and_calls_are_those_of_the_plan() -> None:
    vote = experiments.strategy(NOWHERE, id="vote", technique={"majority-vote": {"k": 3, "of": "direct"}})
    once = experiments.strategy(NOWHERE, id="once", repetitions=1)
    found = estimated(document(strategies=[experiments.strategy(NOWHERE), vote, once]))
    assert [(row.strategy, row.attempts, row.calls) for row in found.strategies] == [
        ("chat", 10, 10),
        ("vote", 10, 30),
        ("once", 5, 5),
    ]
    assert (found.attempts, found.calls) == (25, 45)


def test_tokens_are_counted_from_the_real_prompts_with_their_template(tmp_path: Path) -> None:
    found = estimated(own_file(tmp_path, "q" * 400), tmp_path)
    (part,) = found.parts
    assert (part.input_tokens, part.output_tokens) == (100, 200)
    assert part.usd == (100 * 1 + 200 * 2) / MILLION
    assert part.basis == "prompts"
    longer = {**experiments.strategy(NOWHERE), "prompt": "p" * 400 + "{question}", "system": "s" * 40}
    (part,) = estimated({**own_file(tmp_path, "q" * 400), "strategies": [longer]}, tmp_path).parts
    assert part.input_tokens == 210


def test_a_reply_that_is_read_again_is_paid_for_as_input(tmp_path: Path) -> None:
    refine = experiments.strategy(NOWHERE, technique={"self-refine": {"of": "direct"}})
    (part,) = estimated({**own_file(tmp_path, "q" * 400), "strategies": [refine]}, tmp_path).parts
    assert part.output_tokens == 400
    assert part.input_tokens > 100 + 100 + 200


def test_max_tokens_limits_the_estimate() -> None:
    short = experiments.strategy(NOWHERE, settings={"max_tokens": 7})
    (part,) = estimated(document(strategies=[short])).parts
    assert part.output_tokens == 10 * 7


def test_models_that_always_think_are_taken_to_write_more() -> None:
    def output(model: str) -> int:
        return estimated(document(strategies=[{"id": "m", "model": model}])).parts[0].output_tokens

    assert output("openai:o3-mini") == 4 * output("openai:gpt-4o-mini")


def test_the_worst_case_is_every_attempt_at_its_cap() -> None:
    found = estimated(document())
    assert found.worst_usd == 10 * Decimal("0.01")
    assert found.usd < found.worst_usd


def test_the_worst_case_is_held_by_the_caps_of_strategies_and_of_the_total() -> None:
    two = [experiments.strategy(NOWHERE), experiments.strategy(NOWHERE, id="other")]
    strategy = estimated(document(strategies=two, budgets={"attempt_usd": 1, "strategy_usd": 2}))
    assert [row.worst_usd for row in strategy.strategies] == [2, 2]
    assert strategy.worst_usd == 4
    assert estimated(document(strategies=two, budgets={"attempt_usd": 1, "total_usd": 3})).worst_usd == 3


def test_without_a_cap_the_worst_case_follows_from_max_tokens_or_has_no_limit() -> None:
    short = experiments.strategy(NOWHERE, settings={"max_tokens": 1000})
    found = estimated(document(strategies=[short], budgets={"attempt_usd": 0}))
    assert found.worst_usd is not None
    assert found.worst_usd > 10 * 1000 * 2 / MILLION
    open_ended = estimated(document(budgets={"attempt_usd": 0}))
    assert open_ended.worst_usd is None
    assert "no limit" in text(open_ended)


def test_an_estimate_above_a_cap_says_so() -> None:
    found = estimated(document(budgets={"attempt_usd": 0.01, "total_usd": 0.0001}))
    assert any("above the total cap of $0.0001" in note for note in found.notes)
    assert found.usd > Decimal("0.0001")


def test_names_that_are_not_set_are_listed_and_do_not_stop_it() -> None:
    keyed = {"id": "a", "model": "sim-p70", "base_url": "${MY_HOST}/v1", "api_key": "${MY_KEY}"}
    assert estimated(document(strategies=[keyed])).not_set == ["MY_HOST", "MY_KEY"]
    assert "Not set, and needed by the run: MY_HOST, MY_KEY." in text(estimated(document(strategies=[keyed])))
    found = estimated(document(strategies=[keyed]), environment={"MY_HOST": NOWHERE, "MY_KEY": "k"})
    assert found.not_set == []


def test_a_providers_own_key_is_listed_where_it_is_not_set(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert estimated(document(strategies=[{"id": "a", "model": "openai:gpt-4o-mini"}])).not_set == ["OPENAI_API_KEY"]


@pytest.mark.usefixtures("no_hub")
def test_a_benchmark_that_cannot_be_had_is_taken_to_be_of_its_usual_size() -> None:
    found = estimated(document(benchmarks=["gsm8k", {"name": "aime-2024", "sample": {"n": 8}}], repetitions=1))
    assert [(one.benchmark, one.problems) for one in found.benchmarks] == [("gsm8k", 1319), ("aime-2024", 8)]
    assert all(one.assumed_because and "costpass[hf]" in one.assumed_because for one in found.benchmarks)
    assert {part.basis for part in found.parts} == {"typical"}
    assert any("gsm8k, aime-2024" in note for note in found.notes)
    assert "1,319 (assumed)" in text(found)
    assert estimated(document(benchmarks=["gsm8k"], repetitions=1), sample=10).attempts == 10


@pytest.mark.usefixtures("no_hub")
def test_a_sample_larger_than_the_benchmark_is_refused_even_where_it_cannot_be_had() -> None:
    with pytest.raises(BadInputError, match="31, but there are 30"):
        estimated(document(benchmarks=[{"name": "aime-2024", "sample": {"n": 31}}]))


def test_a_bundled_benchmark_whose_file_is_missing_is_assumed_and_a_broken_file_is_not(tmp_path: Path) -> None:
    (one,) = estimated(document(benchmarks=[{"name": "gsm8k", "file": "gone.jsonl"}]), tmp_path).benchmarks
    assert one.assumed_because is not None
    assert "gone.jsonl" in one.assumed_because
    (tmp_path / "here.jsonl").write_text('{"question": "?"}\n')
    with pytest.raises(BadInputError, match="row 1"):
        estimated(document(benchmarks=[{"name": "gsm8k", "file": "here.jsonl"}]), tmp_path)


def test_fewer_problems_are_asked_for_than_there_are_at_most(tmp_path: Path) -> None:
    written = own_file(tmp_path, "one", "two", "three")
    assert estimated(written, tmp_path, sample=2).attempts == 2
    assert estimated(written, tmp_path, sample=100).attempts == 3
    assert estimated(written, tmp_path, sample=2, repetitions=5).attempts == 10


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"strategies": [{"id": "a", "model": "openai:gpt-99"}]}, PriceError, "no price is known"),
        ({"strategies": [{"id": "a", "model": "gpt-4o"}]}, BadInputError, "does not say its provider"),
        ({"strategies": [{"id": "a", "model": "opnai:sim-p70"}]}, CostpassError, "opnai"),
        ({"strategies": [{"id": "a", "model": "local:smol"}]}, BadInputError, "no local model is called 'smol'"),
        ({"strategies": [{"id": "a", "model": "openai:gpt-4o", "technique": "drect"}]}, BadInputError, "'direct'"),
        ({"strategies": [{"id": "a", "model": "openai:gpt-4o", "settings": {"temp": 1}}]}, BadInputError, "temp"),
        ({"benchmarks": [{"name": "capitals", "grader": "wrod"}]}, BadInputError, "'word'"),
        ({"benchmarks": [{"name": "capitals", "grader": "numeric"}]}, BadInputError, "needs a number"),
        ({"benchmarks": ["capital"]}, BadInputError, "'capitals'"),
        ({"benchmarks": ["missing.jsonl"]}, BadInputError, "no such file"),
        ({"benchmarks": ["capitals", "capitals"]}, BadInputError, "stands twice"),
        ({"benchmarks": [{"name": "capitals", "grader": {"judge": {"model": "openai:x"}}}]}, PriceError, "no price"),
    ],
)
def test_what_a_run_would_refuse_is_refused(changes: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        estimated(document(**changes))


def test_a_judge_is_part_of_the_bill() -> None:
    judge = {"name": "capitals", "sample": {"n": 5}, "grader": {"judge": {"model": "openai:gpt-4o"}}}
    plain = estimated(document(benchmarks=[{"name": "capitals", "sample": {"n": 5}}]))
    judged = estimated(document(benchmarks=[judge]))
    assert judged.usd > plain.usd
    assert judged.worst_usd is not None
    assert plain.worst_usd is not None
    assert judged.worst_usd > plain.worst_usd


def test_a_function_of_the_users_is_not_called(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("async def solve(problem, ask):\n    raise SystemExit('called')\n")
    own = experiments.strategy(NOWHERE, technique={"python": {"function": "mine.py:solve", "calls": [2, 4]}})
    found = estimated(document(strategies=[own]), tmp_path)
    assert found.calls == 20
    assert any("was not called" in note for note in found.notes)


def test_what_the_ledger_holds_is_done_and_says_what_the_rest_will_cost(tmp_path: Path) -> None:
    with provider(tmp_path) as loopback:
        written = experiments.experiment(loopback.url, strategies=[experiments.strategy(loopback.url)])
        experiments.run(written, tmp_path / "ledger", repetitions=1)
    found = estimated({**written, "repetitions": 3}, ledger=tmp_path / "ledger")
    spent = experiments.spent(tmp_path / "ledger")
    assert (found.done, found.attempts) == (5, 10)
    assert found.spent_usd == spent
    assert found.parts[0].basis == "ledger"
    assert float(found.usd) == pytest.approx(float(2 * spent))
    assert "5 are done" in text(found)
    capped = estimated(
        {**written, "repetitions": 3, "budgets": {"attempt_usd": 1, "total_usd": 1}}, ledger=tmp_path / "ledger"
    )
    assert capped.worst_usd == 1 - spent


def test_a_ledger_of_another_strategy_under_the_same_id_is_refused(tmp_path: Path) -> None:
    with provider(tmp_path) as loopback:
        written = experiments.experiment(loopback.url, strategies=[experiments.strategy(loopback.url)])
        experiments.run(written, tmp_path / "ledger")
    changed = [experiments.strategy(loopback.url, settings={"temperature": 0})]
    with pytest.raises(CostpassError, match="not what it was"):
        estimated({**written, "strategies": changed}, ledger=tmp_path / "ledger")


def test_a_ledger_that_is_not_there_yet_is_no_matter(tmp_path: Path) -> None:
    assert estimated(document(), ledger=tmp_path / "none").done == 0


def test_nothing_is_written(tmp_path: Path) -> None:
    with provider(tmp_path) as loopback:
        written = experiments.experiment(loopback.url)
        experiments.run(written, tmp_path / "ledger")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "ledger").iterdir()}
    estimated(written, ledger=tmp_path / "ledger")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "ledger").iterdir()} == before


def test_the_page_has_eighty_columns_whatever_the_names() -> None:
    long = experiments.strategy(NOWHERE, id="a-model-with-a-name-" * 5)
    page = text(estimated(document(strategies=[long])))
    assert max(map(len, page.splitlines())) <= 80


def test_json_holds_every_part_with_numbers_as_numbers() -> None:
    found = json.loads(to_json(estimated(document())))
    assert found["schema"] == "costpass.estimate/1"
    assert found["parts"][0]["benchmark"] == "two-digit-addition"
    assert found["worst_usd"] == pytest.approx(0.1)
    assert found["benchmarks"][0]["expert_usd"] == 0.02
