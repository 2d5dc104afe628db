"""Cost of pass of a cell, its success measures, and costs as prices times quantities."""

from itertools import combinations

import numpy as np
import pytest

from costpass.economics.cost_of_pass import attempted, cost_of_pass, success, tries, vector_cost


def test_never_passed_is_infinite_and_never_tried_is_nan() -> None:
    v = cost_of_pass([0.3, 0.0, 0.3, np.nan], [0.5, 0.0, 0.0, np.nan])
    assert v.tolist() == pytest.approx([0.6, np.inf, np.inf, np.nan], nan_ok=True)
    assert attempted(v).tolist() == [True, True, True, False]


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_repeated_measures_equal_the_share_of_all_subsets(size: int) -> None:
    for n in range(size, 7):
        for s in range(n + 1):
            subsets = list(combinations([True] * s + [False] * (n - s), size))
            assert float(success(n, s, measure=f"pass@{size}")) == pytest.approx(np.mean([any(one) for one in subsets]))
            assert float(success(n, s, measure=f"pass^{size}")) == pytest.approx(np.mean([all(one) for one in subsets]))


def test_fewer_attempts_than_the_measure_needs_cannot_be_said() -> None:
    assert np.isnan(success([0, 3], [0, 3], measure="pass@4")).all()
    assert np.isnan(success(0, 0))


def test_a_repeated_measure_costs_that_many_attempts() -> None:
    assert [tries(one) for one in ("pass", "pass@1", "pass^3", "pass@10")] == [1, 1, 3, 10]


@pytest.mark.parametrize("measure", ["", "pass@", "pass@0", "pass^-1", "accuracy", "pass@2.5"])
def test_an_unknown_measure_is_refused_by_name(measure: str) -> None:
    with pytest.raises(ValueError, match="unknown success measure"):
        success(4, 2, measure=measure)


def test_vector_cost_prices_every_component_of_every_cell() -> None:
    quantities = np.arange(24.0).reshape(2, 4, 3)
    assert vector_cost([1.0, 0.0, 2.0], quantities).tolist() == (quantities[..., 0] + 2 * quantities[..., 2]).tolist()
