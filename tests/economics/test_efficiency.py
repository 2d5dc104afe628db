"""AILANG's efficiency block."""

import numpy as np
import pytest

from costpass.economics.efficiency import Efficiency, efficiency, nearest_rank, score

UNKNOWN = [np.nan] * 5


def test_the_block_is_over_passed_attempts_and_counts_every_kill() -> None:
    block = efficiency(
        passed=[1, 0, 1, 1, 0],
        cost_usd=[0.10, 9.0, 0.30, 0.20, 9.0],
        duration_ms=[10_000, 1, 50_000, 90_000, 1],
        success_at_ms=[np.nan, np.nan, 30_000, 60_000, np.nan],
        first_attempt_ms=[5_000, 1, np.nan, 7_000, 1],
        turns=[3, 99, 5, 4, 99],
        tokens_per_sec=[40, 1, 60, 50, 1],
        cost_killed=[False, True, False, False, True],
    )
    assert block == Efficiency(
        median_time_to_first_attempt_ms=6_000,
        median_time_to_success_ms=30_000,
        median_turns_to_success=4,
        median_tokens_per_sec=50,
        p90_cost_per_success=0.30,
        speed_efficiency_score=pytest.approx(0.6 / 1.5),  # type: ignore[arg-type]
        cost_killed_count=2,
    )


def test_what_was_not_measured_is_none() -> None:
    block = efficiency([1, 1, 0, 0, 0], UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, [False] * 5)
    assert block == Efficiency(None, None, None, None, None, None, 0)


def test_no_pass_scores_zero_and_no_attempt_scores_nothing() -> None:
    ones = [1.0] * 5
    assert efficiency([0] * 5, ones, ones, ones, ones, ones, ones, [True] * 5) == Efficiency(
        None, None, None, None, None, 0.0, 5
    )
    assert efficiency([], [], [], [], [], [], [], []) == Efficiency(None, None, None, None, None, None, 0)


def test_an_ungraded_attempt_is_not_a_failure() -> None:
    block = efficiency([1, np.nan], [1, 1], [0, 0], [0, 0], [0, 0], [1, 1], [1, 1], [False, False])
    assert block.speed_efficiency_score == 1.0


@pytest.mark.parametrize(("count", "rank"), [(1, 1), (2, 2), (9, 9), (10, 9), (11, 10), (20, 18), (30, 27), (100, 90)])
def test_p90_is_the_true_nearest_rank(count: int, rank: int) -> None:
    assert nearest_rank(np.arange(count, 0.0, -1), 0.9) == rank


def test_score_halves_for_a_minute_to_success() -> None:
    assert score(0.8, 60_000) == pytest.approx(0.4)
    assert score(0.8, None) is None
    assert score(0.0, None) == 0.0
