"""Pareto fronts and ranks over any axes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from costpass.economics.arrays import Floats
from costpass.economics.pareto import pareto_front, pareto_rank


def test_ranks_of_context_bench() -> None:
    points = np.array([[0.9, 100], [0.8, 50], [0.7, 200]])
    assert pareto_rank(points, [True, False]).tolist() == [1, 1, 3]
    assert pareto_front(points, [True, False]).tolist() == [True, True, False]


def test_a_cheap_strategy_that_rarely_passes_does_not_hide_one_that_does() -> None:
    cost_time_success = np.array([[0.01, 1.0, 0.01], [0.02, 2.0, 0.95]])
    assert pareto_front(cost_time_success[:, :2], [False, False]).tolist() == [True, False]
    assert pareto_front(cost_time_success, [False, False, True]).tolist() == [True, True]


def test_equal_points_are_both_on_the_front() -> None:
    assert pareto_front(np.array([[1.0, 1.0], [1.0, 1.0]]), [False, False]).tolist() == [True, True]


def test_an_infinite_cost_loses_and_an_unknown_one_has_no_place() -> None:
    points = np.array([[1.0, 0.5], [np.inf, 0.5], [np.nan, 0.9], [np.inf, 0.6]])
    assert pareto_rank(points, [False, True]).tolist() == [1, 3, 0, 1]
    assert pareto_front(points, [False, True]).tolist() == [True, False, False, True]


def test_directions_must_match_the_axes() -> None:
    with pytest.raises(ValueError, match="one direction per axis"):
        pareto_front(np.ones((2, 3)), [True])


@given(hnp.arrays(np.float64, st.tuples(st.integers(0, 30), st.just(3)), elements=st.integers(0, 4).map(float)))
def test_rank_counts_the_dominators(points: Floats) -> None:
    losses = points * [1, -1, 1]
    dominators = [sum(bool((other <= one).all() and (other < one).any()) for other in losses) for one in losses]
    assert pareto_rank(points, [False, True, False]).tolist() == [1 + count for count in dominators]


def test_many_points_are_ranked_across_blocks() -> None:
    line = np.arange(1000.0)[:, None]
    assert pareto_rank(line, [False]).tolist() == list(range(1, 1001))
