"""Which strategies no other beats on every count."""

import json
from typing import Any

import costpass


def rows(model: str, passes: int, cost: float, duration_ms: float | None = None) -> list[dict[str, Any]]:
    timed = {} if duration_ms is None else {"duration_ms": duration_ms}
    return [{"problem": f"p{n}", "model": model, "passed": n < passes, "cost_usd": cost, **timed} for n in range(10)]


def test_cheap_fast_and_often_right_are_three_ways_to_the_front() -> None:
    attempts = rows("cheap", 5, 0.1, 9000) + rows("fast", 5, 0.4, 1000) + rows("right", 10, 1.0, 9000)
    attempts += rows("beaten", 4, 1.0, 9900)
    result = costpass.load(attempts).pareto()
    assert {row.by["strategy"]: row.on_front for row in result.rows} == {
        "cheap": True,
        "fast": True,
        "right": True,
        "beaten": False,
    }
    assert {row.by["strategy"]: row.rank for row in result.rows}["beaten"] == 4


def test_success_counts_among_the_axes() -> None:
    """A strategy that passes once in ten, cheaply, does not beat one that always passes."""
    attempts = rows("lucky", 1, 0.01, 1000) + rows("sure", 10, 1.0, 2000)
    assert all(row.on_front for row in costpass.load(attempts).pareto().rows)
    assert [row.on_front for row in costpass.load(attempts).pareto(["cost", "time"]).rows] == [True, False]


def test_what_never_passes_is_infinitely_dear_and_what_is_not_known_has_no_place() -> None:
    result = costpass.load(rows("never", 0, 1.0) + rows("sure", 10, 1.0, 2000)).pareto(["cost", "success"])
    never = next(row for row in result.rows if row.by["strategy"] == "never")
    assert never.values["cost"].infinite
    document = json.loads(result.to_json())
    assert {"value": None, "infinite": True}.items() <= document["rows"][0]["values"]["cost"].items()
    untimed = costpass.load(rows("untimed", 5, 1.0) + rows("sure", 10, 1.0, 2000)).pareto()
    assert {row.by["strategy"]: row.rank for row in untimed.rows} == {"sure": 1, "untimed": 0}
