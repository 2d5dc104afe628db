"""The frontier: the official code's own output on a toy benchmark, and the laws that hold on any."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from costpass.economics.arrays import Bools, Floats
from costpass.economics.cost_of_pass import cost_of_pass, success
from costpass.economics.frontier import (
    essentialness,
    expert_essentialness,
    frontier,
    gain,
    leave_out,
    over_time,
    problem_gain,
    relative_gain,
    single_essentialness,
    technique_gain,
    unsolved,
    untried,
    value,
)

COSTS = np.array([[0.01], [0.05], [0.30]]) * np.ones(4)


def toy(last: int) -> Floats:
    """Strategies A, B, C on four problems, four attempts each; C passes the last problem `last` times."""
    return cost_of_pass(COSTS, success(4, [[4, 2, 0, 0], [4, 4, 1, 0], [4, 4, 4, last]]))


def test_toy_frontier_of_the_official_code() -> None:
    v = toy(0)
    assert [float(value(frontier(v[[m]], 1.0))) for m in range(3)] == pytest.approx([0.5075, 0.325, 0.475])
    assert frontier(v, 1.0).tolist() == pytest.approx([0.01, 0.02, 0.2, 1.0])
    assert float(value(frontier(v, 1.0))) == pytest.approx(0.3075)
    assert over_time(v, [[0], [1], [2]], 1.0).tolist() == pytest.approx([1, 0.5075, 0.3075, 0.3075])
    assert [float(leave_out(v, [m], 1.0)) for m in range(3)] == pytest.approx([0.325, 0.3325, 0.3075])
    assert single_essentialness(v, 1.0).tolist() == pytest.approx([0.053846153846, 0.075187969925, 0.0])
    assert [float(essentialness(v, [m], 1.0)) for m in range(3)] == pytest.approx([0.053846153846, 0.075187969925, 0])
    assert np.isinf(value(frontier(v)))
    assert unsolved(v).tolist() == [False, False, False, True]
    assert float(expert_essentialness(v, 1.0)) == 1.0


def test_toy_frontier_with_the_last_problem_solved_once() -> None:
    v = toy(1)
    assert float(value(frontier(v))) == pytest.approx(0.3575)
    assert float(expert_essentialness(v, 1.0)) == pytest.approx(0.13986, abs=5e-6)
    assert not unsolved(v).any()


def test_relative_gain_per_release() -> None:
    assert relative_gain(over_time(toy(0), [[0], [1], [2]], 1.0)).tolist() == pytest.approx(
        [0.4925, 0.394089, 0], abs=1e-6
    )
    assert relative_gain(np.array([np.inf, np.inf, 2.0, 0.0, 0.0])).tolist() == pytest.approx(
        [np.nan, 1, 1, 0], nan_ok=True
    )


def test_a_strategy_that_was_not_tried_is_passed_over_and_told_apart() -> None:
    v = np.array([[np.nan, np.nan, np.inf], [0.2, np.nan, np.nan]])
    assert frontier(v).tolist() == [0.2, np.inf, np.inf]
    assert unsolved(v).tolist() == [False, True, True]
    assert untried(v).tolist() == [False, True, False]


def test_an_expert_may_have_a_price_for_each_problem() -> None:
    v = np.array([[0.5, np.inf]])
    assert frontier(v, np.array([0.1, 3.0])).tolist() == [0.1, 3.0]
    assert float(expert_essentialness(np.array([[0.5, 1.0]]), np.array([0.1, 3.0]))) == pytest.approx(0.4 / 1.5)


def test_only_solver_of_a_problem_is_wholly_essential_without_an_expert() -> None:
    v = np.array([[0.1, 0.1], [0.5, np.inf]])
    assert single_essentialness(v).tolist() == [1.0, 0.0]
    nobody = np.array([[0.1, np.inf], [0.5, np.inf]])
    assert np.isnan(single_essentialness(nobody)).all()
    assert np.isnan(essentialness(nobody, [0]))
    assert problem_gain(nobody, [0]).tolist() == pytest.approx([0.4, 0.0])


def test_a_technique_saves_nothing_where_it_only_costs_more() -> None:
    v = toy(0)
    assert float(technique_gain(v, 3 * v, 1.0)) == 0.0
    assert float(technique_gain(v, v / 2, 1.0)) == pytest.approx((0.3075 - (0.115 + 1) / 4) / 0.3075)


costs = st.one_of(st.floats(1e-6, 100), st.just(np.inf), st.just(np.nan))
tables = hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=costs)
)
experts = st.floats(0.01, 50)
masks = st.lists(st.booleans(), min_size=6, max_size=6)


@given(tables, experts, masks, masks)
def test_the_frontier_never_rises_as_strategies_join(
    v: Floats, expert: float, some: list[bool], more: list[bool]
) -> None:
    few = np.array(some[: len(v)])
    many = few | np.array(more[: len(v)])
    assert (frontier(v[many], expert) <= frontier(v[few], expert)).all()
    path = over_time(v, [[m] for m in range(len(v))], expert)
    assert (np.diff(path) <= 0).all()


@given(tables, experts, masks, masks)
def test_joining_lowers_the_frontier_by_the_gain(v: Floats, expert: float, some: list[bool], more: list[bool]) -> None:
    base, new = np.array(some[: len(v)]), np.array(more[: len(v)])
    joined = value(frontier(v[base | new], expert))
    assert joined == pytest.approx(value(frontier(v[base], expert)) - gain(v, new, base, expert))
    assert gain(v, new, base, expert) >= 0


@given(tables, experts, st.floats(1, 3))
def test_a_dominated_strategy_is_not_essential(v: Floats, expert: float, dearer: float) -> None:
    both = np.concatenate([v, v[:1] * dearer])
    assert float(essentialness(both, [len(v)], expert)) == 0.0
    assert single_essentialness(both, expert)[-1] == 0.0


@given(tables, experts, masks)
def test_a_family_is_at_least_as_essential_as_its_members(v: Floats, expert: float, some: list[bool]) -> None:
    family = np.array(some[: len(v)])
    assume(family.any())
    assert float(essentialness(v, family, expert)) >= single_essentialness(v, expert)[family].max() - 1e-12


@given(tables, st.one_of(st.none(), experts))
def test_the_two_smallest_values_give_every_single_essentialness(v: Floats, expert: float | None) -> None:
    one_by_one = [float(essentialness(v, [m], expert)) for m in range(len(v))]
    assert single_essentialness(v, expert).tolist() == pytest.approx(one_by_one, abs=1e-9, nan_ok=True)


@given(tables, experts)
def test_the_expert_is_wholly_essential_exactly_when_a_problem_is_unsolved(v: Floats, expert: float) -> None:
    assert (float(expert_essentialness(v, expert)) == 1.0) == bool(unsolved(v).any())


@given(tables, experts, st.floats(1e-3, 1e3))
def test_scaling_every_price_scales_the_frontier(v: Floats, expert: float, by: float) -> None:
    assert value(frontier(v * by, expert * by)) == pytest.approx(by * value(frontier(v, expert)))
    assert single_essentialness(v * by, expert * by).tolist() == pytest.approx(
        single_essentialness(v, expert).tolist(), abs=1e-9
    )


@given(tables, experts, masks, masks)
def test_the_frontier_is_supermodular(v: Floats, expert: float, some: list[bool], more: list[bool]) -> None:
    a, b = np.array(some[: len(v)]), np.array(more[: len(v)])

    def of(mask: Bools) -> float:
        return float(value(frontier(v[mask], expert)))

    assert of(a) + of(b) <= of(a | b) + of(a & b) + 1e-9


@given(hnp.arrays(np.float64, (2, 4, 5), elements=costs), experts)
def test_replicates_are_answered_as_one_by_one(both: Floats, expert: float) -> None:
    v, other = both
    order = [[m] for m in range(len(v))]
    for got, one, two in (
        (frontier(both, expert), frontier(v, expert), frontier(other, expert)),
        (single_essentialness(both, expert), single_essentialness(v, expert), single_essentialness(other, expert)),
        (essentialness(both, [0], expert), essentialness(v, [0], expert), essentialness(other, [0], expert)),
        (over_time(both, order, expert), over_time(v, order, expert), over_time(other, order, expert)),
        (gain(both, [0], None, expert), gain(v, [0], None, expert), gain(other, [0], None, expert)),
        (expert_essentialness(both, expert), expert_essentialness(v, expert), expert_essentialness(other, expert)),
    ):
        np.testing.assert_allclose(got, np.stack([one, two]))
