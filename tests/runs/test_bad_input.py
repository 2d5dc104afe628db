"""What is wrong with an experiment is told in words before money is spent."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Run
from tests.loopback import provider
from tests.runs.experiments import experiment, run, strategy

from costpass.errors import CostpassError

URL = "http://127.0.0.1:9"


def rows(path: Path, *lines: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path.name


def changed(**changes: Any) -> dict[str, Any]:
    return experiment(URL, **changes)


def one(**changes: Any) -> dict[str, Any]:
    return changed(strategies=[strategy(URL, **changes)])


STRATEGIES = [
    ({"model": "no-such-model-at-all"}, "no price is known for model 'no-such-model-at-all'"),
    ({"model": "gpt-4o", "base_url": None}, "does not say its provider"),
    ({"model": "nowhere:gpt-4o", "base_url": None}, "nowhere:gpt-4o"),
    ({"model": "openai:gpt-4o", "base_url": None}, "OPENAI_API_KEY is not set"),
    ({"model": "anthropic:claude-sonnet-4-5", "base_url": None}, "ANTHROPIC_API_KEY is not set"),
    ({"api_key": "${NO_SUCH_KEY_HERE}"}, "the environment variable NO_SUCH_KEY_HERE is not set"),
    ({"technique": "chain-of-though"}, "did you mean 'chain-of-thought'"),
    ({"technique": {"majority-vote": {"kk": 3}}}, "'kk'"),
    ({"technique": {"python": "missing.py:f"}}, "missing.py"),
    ({"prompt": "no place for it"}, "{question}"),
    ({"settings": {"temprature": 1}}, "did you mean 'temperature'"),
    ({"model": "local:smollm3"}, "smollm2-135m"),
]


@pytest.mark.parametrize(("changes", "complaint"), STRATEGIES, ids=lambda value: str(value)[:40])
def test_a_strategy_that_cannot_work_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], complaint: str
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(CostpassError) as refused:
        run(one(**changes), tmp_path / "ledger")
    assert complaint in str(refused.value)
    assert not (tmp_path / "ledger").exists()


def test_a_missing_column_names_those_that_are_there(tmp_path: Path) -> None:
    name = rows(tmp_path / "q.jsonl", {"questoin": "1+1?", "target": "2"})
    with pytest.raises(CostpassError, match=r"q\.jsonl.*'?question'?.*questoin"):
        run(changed(benchmarks=[name]), tmp_path / "ledger")


def test_a_problem_id_that_stands_twice_is_refused(tmp_path: Path) -> None:
    name = rows(tmp_path / "q.jsonl", *({"id": "a", "question": "1+1?", "target": "2"} for _ in range(2)))
    with pytest.raises(CostpassError, match="rows 1 and 2 have the same id 'a'"):
        run(changed(benchmarks=[name]), tmp_path / "ledger")


def test_an_empty_benchmark_is_refused(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").touch()
    with pytest.raises(CostpassError, match=r"q\.jsonl"):
        run(changed(benchmarks=["q.jsonl"]), tmp_path / "ledger")


def test_a_target_that_the_grader_cannot_use_is_refused(tmp_path: Path) -> None:
    name = rows(tmp_path / "q.jsonl", {"question": "1+1?", "target": "two"})
    with pytest.raises(CostpassError, match="two"):
        run(changed(benchmarks=[{"name": name, "grader": "numeric"}]), tmp_path / "ledger")


def test_two_benchmarks_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CostpassError, match="stands twice"):
        run(changed(benchmarks=["one-digit-addition", "one-digit-addition"]), tmp_path / "ledger")


def test_a_total_cap_without_a_bound_on_replies_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CostpassError, match=r"settings\.max_tokens"):
        run(changed(budgets={"attempt_usd": 0, "total_usd": 1}), tmp_path / "ledger")


def test_a_judge_without_a_price_is_refused(tmp_path: Path) -> None:
    judged = {"name": "one-digit-addition", "grader": {"judge": {"model": "openai:no-such-judge"}}}
    with pytest.raises(CostpassError, match="no-such-judge"):
        run(changed(benchmarks=[judged]), tmp_path / "ledger", base_url=URL)


def test_the_command_says_it_in_one_sentence(costpass: Run, tmp_path: Path) -> None:
    document = {**changed(), "repetition": 3}
    (tmp_path / "x.yaml").write_text(json.dumps(document), "utf-8")
    done = costpass("run", "x.yaml")
    assert done.returncode == 1
    assert done.stderr == "costpass: x.yaml: unknown key 'repetition'; did you mean 'repetitions'?\n"
    assert not (tmp_path / "ledgers").exists()


def test_an_experiment_that_is_not_there_names_the_bundled_one_that_is_near(costpass: Run) -> None:
    done = costpass("run", "cost-of-pas")
    assert done.returncode == 1
    assert "did you mean 'cost-of-pass'?" in done.stderr


def test_a_key_that_the_provider_refuses_is_told_with_the_provider_s_words(costpass: Run, tmp_path: Path) -> None:
    with provider(tmp_path, auth="right") as loopback:
        document = experiment(loopback.url, strategies=[strategy(loopback.url)])
        (tmp_path / "x.yaml").write_text(json.dumps(document), "utf-8")
        done = costpass("run", "x.yaml")
        assert done.returncode == 5
        assert "401" in done.stdout + done.stderr
        assert len(loopback.requests()) == 1
