"""Experiments on a loopback provider that keeps its own account."""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from tests.loopback import provider
from tests.runs.experiments import PRICES, cells, experiment, finished, records, run, spent, strategy, traces

from costpass.errors import CostpassError
from costpass.runs.engine import Ended


def test_every_try_is_made_once_and_costs_what_the_provider_billed(tmp_path: Path) -> None:
    with provider(tmp_path, cache_read=0.3, cache_write=0.2) as loopback:
        assert run(experiment(loopback.url), tmp_path / "ledger") is Ended.complete
        assert len(loopback.requests()) == 20
        assert spent(tmp_path / "ledger") == loopback.billed(PRICES)
    assert set(cells(tmp_path / "ledger").values()) == {1}
    assert len(cells(tmp_path / "ledger")) == 20


def test_a_record_holds_what_was_measured(tmp_path: Path) -> None:
    with provider(tmp_path, cache_read=0.5, words=6) as loopback:
        run(experiment(loopback.url, strategies=[strategy(loopback.url, family="small")]), tmp_path / "ledger")
    record = finished(tmp_path / "ledger")[0]
    assert (record.strategy, record.family, record.technique) == ("chat", "small", "direct")
    assert record.model_reported == "sim-p70"
    assert record.cache_read_tokens
    assert record.first_token_ms is not None
    assert record.duration_ms is not None
    assert 0 < record.first_token_ms <= record.duration_ms
    assert record.usage_complete is True
    assert record.cost_source == "priced"
    assert record.budget_usd == Decimal("0.01")


def test_spend_equals_the_bill_when_everything_goes_wrong(tmp_path: Path) -> None:
    """429s, 5xx, streams cut early and late, slow streams: to the last digit."""
    faults = {"rate_limit": 0.1, "retry_after": 0.05, "error": 0.1, "cut": 0.15, "cut_late": 0.4, "slow": (0.05, 0.02)}
    with provider(tmp_path, seed=4, words=12, cache_read=0.3, **faults) as loopback:
        document = experiment(loopback.url, repetitions=6, concurrency=16)
        assert run(document, tmp_path / "ledger") is Ended.complete
        seen = Counter(row["fault"] for row in loopback.requests())
        assert min(seen["rate_limit"], seen["error"], seen["cut"], seen["cut_late"]) > 0
        assert spent(tmp_path / "ledger") == loopback.billed(PRICES)
    assert set(cells(tmp_path / "ledger").values()) == {1}
    broken = [record for record in records(tmp_path / "ledger") if record.status == "fault"]
    assert len(broken) == seen["error"] + seen["cut"]
    assert all(record.passed is None for record in broken)


@pytest.mark.parametrize("api", ["openai", "openai-responses", "anthropic", "google"])
def test_every_dialect_is_booked_as_it_is_billed(tmp_path: Path, api: str) -> None:
    faults = {"error": 0.1, "cut": 0.2, "cut_late": 0.4, "rate_limit": 0.1, "retry_after": 0.05}
    with provider(tmp_path, seed=2, words=10, cache_read=0.2, reasoning=3, **faults) as loopback:
        version = "/v1" if api.startswith("openai") else ""
        one = strategy(loopback.url, model=f"{api}:sim-p70", base_url=f"{loopback.url}{version}")
        assert run(experiment(loopback.url, repetitions=6, strategies=[one]), tmp_path / "ledger") is Ended.complete
        assert spent(tmp_path / "ledger") == loopback.billed(PRICES)
    record = finished(tmp_path / "ledger")[0]
    assert (record.cache_read_tokens, record.reasoning_tokens) == (2, 3)


def test_a_reply_that_was_whole_before_the_line_broke_is_not_paid_for_twice(tmp_path: Path) -> None:
    with provider(tmp_path, cut=1, cut_late=1) as loopback:
        assert run(experiment(loopback.url), tmp_path / "ledger") is Ended.complete
        assert len(loopback.requests()) == 20


def test_a_cap_that_broken_requests_used_up_is_not_the_strategy_s_failure(tmp_path: Path) -> None:
    with provider(tmp_path, cut=1, words=400) as loopback:
        document = experiment(loopback.url, budgets={"attempt_usd": 0.0006}, strategies=[strategy(loopback.url)])
        run({**document, "retries": 20}, tmp_path / "ledger")
    assert {record.status for record in records(tmp_path / "ledger")} == {"fault"}
    assert "budget" in {record.failure for record in records(tmp_path / "ledger")}


def test_a_storm_of_429s_is_waited_out(tmp_path: Path) -> None:
    with provider(tmp_path, storm=(20, 10), retry_after=0.05) as loopback:
        assert run(experiment(loopback.url, repetitions=4), tmp_path / "ledger") is Ended.complete
        assert sum(row["fault"] == "storm" for row in loopback.requests()) > 0
    assert not [record for record in records(tmp_path / "ledger") if record.status == "fault"]


def test_no_more_is_sent_at_once_than_the_experiment_allows(tmp_path: Path) -> None:
    with provider(tmp_path, latency=0.05, limit_concurrency=3) as loopback:
        run(experiment(loopback.url, repetitions=4, concurrency=3), tmp_path / "ledger")
        assert not [row for row in loopback.requests() if row["fault"] == "concurrency"]


def test_the_same_experiment_again_sends_nothing(tmp_path: Path) -> None:
    with provider(tmp_path) as loopback:
        run(experiment(loopback.url), tmp_path / "ledger")
        before = len(loopback.requests())
        assert run(experiment(loopback.url), tmp_path / "ledger") is Ended.complete
        assert len(loopback.requests()) == before


def test_more_repetitions_pay_for_the_new_ones_alone(tmp_path: Path) -> None:
    with provider(tmp_path) as loopback:
        run(experiment(loopback.url), tmp_path / "ledger")
        run(experiment(loopback.url, repetitions=3), tmp_path / "ledger")
        assert len(loopback.requests()) == 30
        assert spent(tmp_path / "ledger") == loopback.billed(PRICES)


def test_a_strategy_that_has_changed_under_its_name_is_refused(tmp_path: Path) -> None:
    with provider(tmp_path) as loopback:
        run(experiment(loopback.url), tmp_path / "ledger")
        warmer = experiment(loopback.url, strategies=[strategy(loopback.url, settings={"temperature": 1})])
        with pytest.raises(CostpassError, match="'chat' is not what it was"):
            run(warmer, tmp_path / "ledger")


def test_a_total_cap_is_not_passed_and_can_be_raised(tmp_path: Path) -> None:
    with provider(tmp_path, words=40) as loopback:
        document = experiment(loopback.url, repetitions=10, concurrency=32)
        document["budgets"] = {"attempt_usd": 0.001, "total_usd": 0.004}
        assert run(document, tmp_path / "ledger") is Ended.budget
        assert Decimal("0.002") < loopback.billed(PRICES) <= Decimal("0.004")
        assert spent(tmp_path / "ledger") == loopback.billed(PRICES)
        document["budgets"]["total_usd"] = 1
        assert run(document, tmp_path / "ledger") is Ended.complete
        assert spent(tmp_path / "ledger") == loopback.billed(PRICES)


def test_a_strategy_s_cap_ends_that_strategy_alone(tmp_path: Path) -> None:
    with provider(tmp_path, words=40) as loopback:
        cheap = strategy(loopback.url, id="brief", settings={"max_tokens": 1})
        document = experiment(loopback.url, repetitions=10, strategies=[strategy(loopback.url), cheap])
        document["budgets"] = {"attempt_usd": 0.001, "strategy_usd": 0.0025}
        assert run(document, tmp_path / "ledger") is Ended.budget
    done = Counter(record.strategy for record in finished(tmp_path / "ledger"))
    assert done["brief"] == 50
    assert done["chat"] < 50


def test_an_attempt_s_cap_goes_with_the_request_and_is_kept(tmp_path: Path) -> None:
    with provider(tmp_path, words=500) as loopback:
        document = experiment(loopback.url, budgets={"attempt_usd": 0.0006}, repetitions=1)
        run(document, tmp_path / "ledger")
        for row in loopback.requests():
            assert row["max_tokens"] is not None
            assert row["billed"]["input"] + 2 * row["billed"]["output"] <= 600
    for record in finished(tmp_path / "ledger"):
        assert (record.status, record.failure) == ("cost_killed", "budget")
        assert record.cost_killed_at_usd == record.cost_usd
        assert record.passed is not None


def test_an_attempt_that_takes_too_long_times_out_with_its_spend(tmp_path: Path) -> None:
    with provider(tmp_path, words=60, slow=(1, 0.05)) as loopback:
        document = experiment(loopback.url, budgets={"wall_clock_s": 0.6, "attempt_usd": 0.01}, repetitions=1)
        run(document, tmp_path / "ledger")
    statuses = Counter(record.status for record in finished(tmp_path / "ledger"))
    assert statuses == {"timeout": 10}
    assert all(record.cost_usd and record.usage_complete is False for record in finished(tmp_path / "ledger"))


def test_a_wrong_key_ends_the_run_after_one_request(tmp_path: Path) -> None:
    with provider(tmp_path, auth="right") as loopback:
        document = experiment(loopback.url, strategies=[strategy(loopback.url)])
        assert run(document, tmp_path / "ledger") is Ended.faults
        assert len(loopback.requests()) == 1
    [record] = records(tmp_path / "ledger")
    assert (record.status, record.failure) == ("fault", "auth")
    assert record.cost_usd == 0


def test_a_provider_that_is_down_is_given_up_and_tried_again_next_time(tmp_path: Path) -> None:
    with provider(tmp_path, error=1) as loopback:
        document = experiment(loopback.url, retries=0, repetitions=5)
        assert run(document, tmp_path / "ledger") is Ended.faults
        assert len(loopback.requests()) < 50
    assert {record.failure for record in records(tmp_path / "ledger")} == {"provider_error"}


def test_no_key_is_written_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-very-secret-12345")
    with provider(tmp_path, auth="sk-very-secret-12345") as loopback:
        echo = strategy(loopback.url, api_key="${MY_API_KEY}", prompt="Repeat sk-very-secret-12345. {question}")
        assert run(experiment(loopback.url, strategies=[echo]), tmp_path / "ledger") is Ended.complete
    for file in (tmp_path / "ledger").iterdir():
        if file.name not in ("problems.jsonl",):
            assert b"sk-very-secret-12345" not in file.read_bytes(), file


TECHNIQUES = [
    ("direct", 1),
    ({"majority-vote": {"k": 5, "of": "direct"}}, 5),
    ("self-refine", 2),
    ("tale-ep", 2),
    ({"few-shot": {"examples": [{"question": "What is 11 + 11?", "answer": "22"}]}}, 1),
]


@pytest.mark.parametrize(("technique", "calls"), TECHNIQUES, ids=lambda value: str(value)[:20])
def test_a_technique_costs_all_its_calls(tmp_path: Path, technique: object, calls: int) -> None:
    with provider(tmp_path, words=8) as loopback:
        document = experiment(loopback.url, repetitions=1, strategies=[strategy(loopback.url, technique=technique)])
        run(document, tmp_path / "ledger")
        assert len(loopback.requests()) == 5 * calls
        assert spent(tmp_path / "ledger") == loopback.billed(PRICES)
    assert {record.requests for record in finished(tmp_path / "ledger")} == {calls}
    assert {len(trace["calls"]) for trace in traces(tmp_path / "ledger").values()} == {calls}


def test_votes_of_one_attempt_have_seeds_of_their_own(tmp_path: Path) -> None:
    with provider(tmp_path) as loopback:
        vote = strategy(loopback.url, technique={"majority-vote": {"k": 9, "of": "direct"}})
        run(experiment(loopback.url, repetitions=1, strategies=[vote]), tmp_path / "ledger")
    votes = [{call["reply"] for call in trace["calls"]} for trace in traces(tmp_path / "ledger").values()]
    assert max(map(len, votes)) > 1


OWN = """
async def twice(problem, ask):
    first = await ask(problem.question)
    again = await ask("Are you sure?", history=first.messages)
    return first.text

async def broken(problem, ask):
    await ask(problem.question)
    raise ZeroDivisionError("a mistake of mine")
"""


def test_a_callable_s_calls_are_metered_and_its_mistakes_are_failures(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    with provider(tmp_path) as loopback:
        strategies = [
            strategy(loopback.url, id="twice", technique={"python": "own.py:twice"}),
            strategy(loopback.url, id="broken", technique={"python": "own.py:broken"}),
        ]
        assert run(experiment(loopback.url, strategies=strategies), tmp_path / "ledger") is Ended.complete
        assert spent(tmp_path / "ledger") == loopback.billed(PRICES)
    by_strategy = {record.strategy: record for record in finished(tmp_path / "ledger")}
    assert by_strategy["twice"].requests == 2
    assert (by_strategy["broken"].passed, by_strategy["broken"].failure) == (False, "technique_error")
    assert "ZeroDivisionError: a mistake of mine" in json.dumps(traces(tmp_path / "ledger")[by_strategy["broken"].id])


def test_a_judge_s_bill_is_booked_as_grading(tmp_path: Path) -> None:
    with provider(tmp_path) as loopback:
        (tmp_path / "q.jsonl").write_text('{"question": "Say hello", "target": "a greeting"}\n')
        document = experiment(
            loopback.url,
            benchmarks=[{"name": "q.jsonl", "grader": {"judge": {"model": "openai:sim-judge"}}}],
            strategies=[strategy(loopback.url)],
            repetitions=1,
        )
        document["prices"]["models"]["sim-judge"] = document["prices"]["models"]["sim-p70"]
        assert run(document, tmp_path / "ledger", base_url=f"{loopback.url}/v1") is Ended.complete
        [record] = records(tmp_path / "ledger")
        assert record.passed is True
        assert record.cost_usd
        assert record.grading_usd
        assert record.cost_usd + record.grading_usd == loopback.billed(PRICES)


def test_the_order_of_tries_is_by_chance_and_the_same_for_the_same_seed(tmp_path: Path) -> None:
    orders = []
    for place, seed in (("a", 1), ("b", 1), ("c", 2)):
        with provider(tmp_path) as loopback:
            document = experiment(loopback.url, strategies=[strategy(loopback.url)], concurrency=1, seed=seed)
            run(document, tmp_path / place)
        orders.append([(record.problem, record.repetition) for record in records(tmp_path / place)])
    assert orders[0] == orders[1] != orders[2]
    assert orders[0] != sorted(orders[0])


WAITING = """
import asyncio

async def race(problem, ask):
    asks = [asyncio.ensure_future(ask(problem.question)) for _ in range(2)]
    done, _ = await asyncio.wait(asks, return_when=asyncio.FIRST_COMPLETED)
    return done.pop().result().text

async def careless(problem, ask):
    asyncio.ensure_future(ask(problem.question))
    await asyncio.sleep(0.2)
    return "42"

async def grouped(problem, ask):
    async with asyncio.TaskGroup() as group:
        reply = group.create_task(ask(problem.question))
    return reply.result().text

async def hushed(problem, ask):
    try:
        return (await ask(problem.question)).text
    except Exception:
        return "42"
"""


@pytest.mark.parametrize("function", ["race", "careless"])
def test_calls_that_a_technique_leaves_running_are_booked(tmp_path: Path, function: str) -> None:
    (tmp_path / "own.py").write_text(WAITING)
    with provider(tmp_path, latency=0.05, words=30, slow=(1, 0.02)) as loopback:
        one = strategy(loopback.url, technique={"python": f"own.py:{function}"})
        run(experiment(loopback.url, repetitions=1, strategies=[one], concurrency=4), tmp_path / "ledger")
        sent = len(loopback.requests())
    # One that was cancelled before it reached the provider is booked all the same: nobody can tell.
    booked = sum(record.requests or 0 for record in records(tmp_path / "ledger"))
    assert 5 <= sent <= booked <= 10


@pytest.mark.parametrize("function", ["grouped", "hushed"])
def test_a_wrong_key_ends_the_run_whatever_a_technique_makes_of_it(tmp_path: Path, function: str) -> None:
    (tmp_path / "own.py").write_text(WAITING)
    with provider(tmp_path, auth="right") as loopback:
        one = strategy(loopback.url, technique={"python": f"own.py:{function}"})
        assert run(experiment(loopback.url, strategies=[one]), tmp_path / "ledger") is Ended.faults
    assert [record.failure for record in records(tmp_path / "ledger")] == ["auth"]


def test_waiting_out_a_429_is_not_the_attempt_s_own_time(tmp_path: Path) -> None:
    with provider(tmp_path, storm=(4, 2), retry_after=1) as loopback:
        document = experiment(loopback.url, budgets={"wall_clock_s": 0.7, "attempt_usd": 0.01}, repetitions=1)
        assert run(document, tmp_path / "ledger") is Ended.complete
    assert {record.status for record in finished(tmp_path / "ledger")} == {"completed"}


def test_cached_input_without_a_price_of_its_own_costs_what_input_costs(tmp_path: Path) -> None:
    with provider(tmp_path, cache_read=0.5) as loopback:
        document = experiment(loopback.url)
        document["prices"]["models"]["sim-p70"] = {"usd_per_million": {"input": 1, "output": 2}}
        assert run(document, tmp_path / "ledger") is Ended.complete
        assert spent(tmp_path / "ledger") == loopback.billed({**PRICES, "cache_read": "1"})
    assert {record.failure for record in finished(tmp_path / "ledger")} <= {None, "wrong_answer"}


def test_a_provider_that_bills_more_than_can_be_foreseen_is_found_out_by_its_first_reply(tmp_path: Path) -> None:
    with provider(tmp_path, bloat=1000) as loopback:
        document = experiment(loopback.url, strategies=[strategy(loopback.url)], repetitions=20, concurrency=16)
        document["budgets"] = {"attempt_usd": 0.02, "total_usd": 0.05}
        assert run(document, tmp_path / "ledger") is Ended.budget
        assert len(loopback.requests()) > 1
        assert Decimal("0.03") < loopback.billed(PRICES) <= Decimal("0.05")


def test_a_strategy_whose_cap_does_not_pay_for_one_request_is_halted_and_not_failed(tmp_path: Path) -> None:
    with provider(tmp_path) as loopback:
        document = experiment(loopback.url, budgets={"attempt_usd": 0.000001})
        assert run(document, tmp_path / "ledger") is Ended.budget
        assert not loopback.requests()
    assert not records(tmp_path / "ledger")


def test_votes_are_asked_side_by_side_under_one_cap(tmp_path: Path) -> None:
    with provider(tmp_path, latency=0.3) as loopback:
        vote = strategy(loopback.url, technique={"majority-vote": {"k": 6, "of": "direct"}})
        document = experiment(loopback.url, repetitions=2, strategies=[vote], concurrency=12)
        run(document, tmp_path / "ledger")
        rows = loopback.requests()
    last = sorted(rows, key=lambda row: row["started"])[-12:]
    assert max(row["started"] for row in last) - min(row["started"] for row in last) < 12 * 0.3 / 2
    assert all(row["billed"]["input"] + 2 * row["max_tokens"] < 10_000 for row in rows)


def test_a_judge_that_cannot_be_paid_leaves_a_fault_and_no_verdict(tmp_path: Path) -> None:
    with provider(tmp_path) as loopback:
        (tmp_path / "q.jsonl").write_text('{"question": "Say hello", "target": "a greeting"}\n')
        document = experiment(
            loopback.url,
            benchmarks=[{"name": "q.jsonl", "grader": {"judge": {"model": "openai:sim-judge"}}}],
            strategies=[strategy(loopback.url, settings={"max_tokens": 20})],
            repetitions=1,
            budgets={"attempt_usd": 0.001, "total_usd": 0.0015},
        )
        document["prices"]["models"]["sim-judge"] = document["prices"]["models"]["sim-p70"]
        assert run(document, tmp_path / "ledger", base_url=f"{loopback.url}/v1") is Ended.budget
        [record] = records(tmp_path / "ledger")
        assert (record.status, record.failure, record.passed) == ("fault", "grading", None)
        assert record.cost_usd == loopback.billed(PRICES)
        document["budgets"]["total_usd"] = 1
        assert run(document, tmp_path / "ledger", base_url=f"{loopback.url}/v1") is Ended.complete
        assert finished(tmp_path / "ledger")[0].passed is True
        assert spent(tmp_path / "ledger") == loopback.billed(PRICES)


def test_a_password_in_an_address_is_not_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_PW", "hunter2-hunter2")
    with provider(tmp_path) as loopback:
        url = f"http://me:${{GATEWAY_PW}}@127.0.0.1:{loopback.port}/v1"
        run(experiment(loopback.url, strategies=[strategy(loopback.url, base_url=url)]), tmp_path / "ledger")
    for file in (tmp_path / "ledger").iterdir():
        assert b"hunter2" not in file.read_bytes(), file
    assert records(tmp_path / "ledger")[0].provider == f"127.0.0.1:{loopback.port}"


def test_a_problem_that_was_changed_under_its_id_is_refused(tmp_path: Path) -> None:
    with provider(tmp_path) as loopback:
        for question in ("What is 1 + 1?\u2028", "What is 1 + 2?"):
            (tmp_path / "q.jsonl").write_text(json.dumps({"id": "a", "question": question, "target": "2"}) + "\n")
            document = experiment(loopback.url, benchmarks=[{"name": "q.jsonl", "grader": "numeric"}])
            if question.endswith("?"):
                with pytest.raises(CostpassError, match="'a' of q is not what it was"):
                    run(document, tmp_path / "ledger")
            else:
                assert run(document, tmp_path / "ledger") is Ended.complete
                assert run(document, tmp_path / "ledger") is Ended.complete
