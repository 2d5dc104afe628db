"""The record: what it accepts, what it refuses, and that nothing is lost on the way to a line and back."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from costpass.attempt import FAULT_STATUSES, Attempt, Status, strategy_name, usd


def attempt(**fields: Any) -> Attempt:
    return Attempt(**{"problem": "p1", "strategy": "small", **fields})


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
categories = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True)
counts = st.integers(0, 2**53)
numbers = st.floats(allow_nan=False, allow_infinity=False)
amounts = st.floats(0, allow_nan=False, allow_infinity=False)
#: Below $1,000 a JSON number holds every step of 1e-12 dollars.
money = st.decimals(0, Decimal("999.999999999999"), places=12, allow_nan=False, allow_infinity=False)
moments = st.datetimes(
    datetime(1970, 1, 1),
    datetime(2100, 1, 1),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))]),
)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


@st.composite
def attempts(draw: st.DrawFn) -> Attempt:
    """Any valid attempt."""
    status: Status = draw(st.sampled_from(["completed", "cost_killed", "timeout", "fault", "invalid", "interrupted"]))
    output = draw(maybe(counts))
    cost = draw(maybe(money))
    optional = {
        "experiment": names,
        "group": names,
        "control": st.booleans(),
        "released": st.dates(),
        "repetition": counts,
        "seed": st.integers(-(2**63), 2**63 - 1),
        "score": numbers,
        "failure": categories,
        "input_tokens": counts,
        "cache_read_tokens": counts,
        "cache_write_tokens": counts,
        "cache_write_1h_tokens": counts,
        "requests": counts,
        "usage_complete": st.booleans(),
        "billed_usd": money,
        "imported_usd": money,
        "grading_usd": money,
        "started_at": moments,
        "priced_at": moments,
        "duration_ms": amounts,
        "tokens_per_sec": amounts,
        "commit": names,
    }
    return Attempt(
        problem=draw(names),
        strategy=draw(names),
        status=status,
        passed=None if status in FAULT_STATUSES else draw(maybe(st.booleans())),
        scores=draw(st.dictionaries(names, numbers, max_size=3)),
        flags=draw(st.lists(categories, max_size=3)),
        retry=draw(counts),
        output_tokens=output,
        reasoning_tokens=draw(maybe(st.integers(0, output))) if output is not None else None,
        quantities=draw(st.dictionaries(categories, amounts, max_size=3)),
        cost_usd=cost,
        cost_source=None if cost is None else draw(st.sampled_from(["billed", "metered", "priced", "imported"])),
        **{name: draw(maybe(values)) for name, values in optional.items()},
    )


@given(attempts())
def test_an_attempt_survives_its_line(written: Attempt) -> None:
    line = written.to_line()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert Attempt.model_validate_json(line) == written


@given(money)
def test_money_below_a_thousand_dollars_survives_to_the_last_step(amount: Decimal) -> None:
    written = attempt(cost_usd=amount, cost_source="billed")
    assert Attempt.model_validate_json(written.to_line()).cost_usd == amount


@given(money, money)
def test_sums_of_money_are_exact(first: Decimal, second: Decimal) -> None:
    assert usd(first) + usd(second) == first + second


def test_money_is_a_number_in_json_so_that_any_tool_reads_it() -> None:
    line = json.loads(attempt(cost_usd=Decimal("0.02205"), cost_source="priced").to_line())
    assert line["cost_usd"] == 0.02205


def test_a_float_is_taken_for_the_amount_it_prints_as() -> None:
    assert usd(0.1) + usd(0.2) == usd("0.3")
    assert usd(0.28250000000000003) == usd("0.2825")


@pytest.mark.parametrize("field", ["cost_usd", "billed_usd", "grading_usd", "budget_usd", "cost_killed_at_usd"])
@pytest.mark.parametrize(
    ("amount", "complaint"),
    [
        (float("nan"), "finite"),
        (float("inf"), "finite"),
        (Decimal("NaN"), "finite"),
        (-0.01, "negative"),
        (True, "number of dollars"),
        ("a lot", "number of dollars"),
        ([1], "number of dollars"),
        (1_000_000, "is the unit right"),
    ],
)
def test_impossible_money_is_refused(field: str, amount: Any, complaint: str) -> None:
    source = {"cost_source": "billed"} if field == "cost_usd" else {}
    with pytest.raises(ValidationError, match=complaint):
        attempt(**{field: amount}, **source)


def test_just_under_a_million_dollars_is_still_an_amount() -> None:
    assert attempt(billed_usd=999_999.99).billed_usd == Decimal("999999.99")


@pytest.mark.parametrize("field", ["input_tokens", "output_tokens", "cache_read_tokens", "requests", "turns", "retry"])
@pytest.mark.parametrize("count", [-1, True, 1.5, 3.0, "12", float("nan"), 2**53 + 1])
def test_a_count_is_a_whole_number_from_zero(field: str, count: Any) -> None:
    with pytest.raises(ValidationError, match=field):
        attempt(**{field: count})


@pytest.mark.parametrize("field", ["duration_ms", "first_token_ms", "success_at_ms", "tokens_per_sec"])
@pytest.mark.parametrize("length", [-1, float("nan"), float("inf"), True, "12"])
def test_a_time_is_a_finite_number_from_zero(field: str, length: Any) -> None:
    with pytest.raises(ValidationError, match=field):
        attempt(**{field: length})


@pytest.mark.parametrize("score", [float("nan"), float("-inf"), True, "0.5"])
def test_a_score_is_a_finite_number(score: Any) -> None:
    with pytest.raises(ValidationError, match="score"):
        attempt(score=score)
    with pytest.raises(ValidationError, match="scores"):
        attempt(scores={"exact": score})


@pytest.mark.parametrize("passed", [1, 0, "true", 1.0])
def test_only_true_and_false_are_grades(passed: Any) -> None:
    with pytest.raises(ValidationError, match="passed"):
        attempt(passed=passed)


@pytest.mark.parametrize("status", FAULT_STATUSES)
@pytest.mark.parametrize("passed", [True, False])
def test_a_fault_has_no_grade(status: Status, passed: bool) -> None:
    with pytest.raises(ValidationError, match="has no grade"):
        attempt(status=status, passed=passed)


@pytest.mark.parametrize("status", ["completed", "cost_killed", "timeout", "invalid"])
def test_what_the_strategy_lost_has_a_grade(status: Status) -> None:
    assert attempt(status=status, passed=False).passed is False


def test_reasoning_is_part_of_output() -> None:
    assert attempt(output_tokens=10, reasoning_tokens=10).reasoning_tokens == 10
    for output in (9, None):
        with pytest.raises(ValidationError, match="reasoning is counted within output"):
            attempt(output_tokens=output, reasoning_tokens=10)


def test_a_cost_and_its_source_go_together() -> None:
    with pytest.raises(ValidationError, match="go together"):
        attempt(cost_usd=1)
    with pytest.raises(ValidationError, match="go together"):
        attempt(cost_source="billed")


def test_a_moment_says_its_time_zone_and_is_kept_in_utc() -> None:
    with pytest.raises(ValidationError, match="time zone"):
        attempt(started_at=datetime(2026, 1, 1))
    east = datetime(2026, 1, 1, 5, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    kept = attempt(started_at=east).started_at
    assert kept is not None
    assert kept.isoformat() == "2026-01-01T00:00:00+00:00"


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(ValidationError, match="cost"):
        attempt(cost=0.1)
    with pytest.raises(ValidationError):
        Attempt.model_validate_json(b'{"problem": "p", "strategy": "s", "correct": true}')


def test_a_record_of_another_schema_is_refused() -> None:
    with pytest.raises(ValidationError, match="schema_version"):
        Attempt.model_validate_json(b'{"problem": "p", "strategy": "s", "schema_version": 2}')


@pytest.mark.parametrize("failure", ["Wrong answer", "", "1st", "a-b"])
def test_categories_are_plain_words(failure: str) -> None:
    with pytest.raises(ValidationError, match="failure"):
        attempt(failure=failure)
    with pytest.raises(ValidationError, match="flags"):
        attempt(flags=[failure])


def test_problem_and_strategy_are_named() -> None:
    for fields in ({"problem": ""}, {"strategy": ""}, {"problem": None}):
        with pytest.raises(ValidationError):
            attempt(**fields)


def test_zero_is_not_null() -> None:
    free = attempt(cost_usd=0, cost_source="priced", input_tokens=0, duration_ms=0, repetition=0)
    unknown = attempt()
    back = Attempt.model_validate_json(free.to_line())
    assert [back.cost_usd, back.input_tokens, back.duration_ms, back.repetition] == [0, 0, 0, 0]
    back = Attempt.model_validate_json(unknown.to_line())
    assert [back.cost_usd, back.input_tokens, back.duration_ms, back.repetition] == [None] * 4
    assert b'"input_tokens":0,' in free.to_line()
    assert b'"input_tokens":null,' in unknown.to_line()


def test_every_field_is_spelled_out_in_a_line() -> None:
    assert json.loads(attempt().to_line()).keys() == Attempt.model_fields.keys()


def test_an_attempt_cannot_be_changed_in_place() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        attempt().passed = True  # type: ignore[misc]


def test_a_revision_is_checked_anew_and_leaves_the_original() -> None:
    original = attempt(released=date(2026, 1, 1))
    revised = original.revised(passed=True, repetition=3)
    assert (revised.passed, revised.repetition, revised.released) == (True, 3, date(2026, 1, 1))
    assert original.passed is None
    with pytest.raises(ValidationError, match="has no grade"):
        revised.revised(status="fault")


def test_the_key_tells_attempts_apart_by_cell_repetition_and_retry_alone() -> None:
    base = attempt(experiment="e", benchmark="b", repetition=0)
    others = [
        base.revised(**change)
        for change in (
            {"experiment": "f"},
            {"benchmark": "c"},
            {"problem": "p2"},
            {"strategy": "large"},
            {"repetition": 1},
            {"retry": 1},
        )
    ]
    assert len({base.key, *(other.key for other in others)}) == 7
    assert base.revised(passed=True, cost_usd=1, cost_source="billed", seed=7).key == base.key


def test_a_strategy_is_named_after_what_is_known_of_it() -> None:
    assert strategy_name("claude", "claude-sonnet-4-5", None, "baseline") == "claude+claude-sonnet-4-5+baseline"
    assert strategy_name(None, "") == "unnamed"


def test_a_moment_beyond_the_calendar_and_a_seed_beyond_a_column_are_refused() -> None:
    with pytest.raises(ValidationError, match="out of range"):
        attempt(started_at=datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2))))
    for seed in (2**63, -(2**63) - 1):
        with pytest.raises(ValidationError, match="seed"):
            attempt(seed=seed)
