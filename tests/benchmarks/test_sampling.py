from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costpass.benchmarks.problem import Problem
from costpass.benchmarks.sampling import sample
from costpass.errors import BadInputError


def problems(count: int) -> list[Problem]:
    return [Problem(id=str(number), question=f"Question {number}", target="yes") for number in range(count)]


def ids(chosen: Sequence[Problem]) -> list[str]:
    return [problem.id for problem in chosen]


sizes = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(sorted)
seeds = st.integers(-(2**70), 2**70)


@given(sizes=sizes, seed=seeds)
def test_a_larger_sample_holds_every_smaller_one(sizes: list[int], seed: int) -> None:
    fewer, more = (set(ids(sample(problems(60), n, seed))) for n in sizes)
    assert fewer <= more
    assert len(fewer) == sizes[0]


@given(order=st.permutations(range(20)), n=st.integers(0, 20), seed=seeds)
def test_the_order_of_the_file_decides_the_order_of_the_sample_and_not_what_is_in_it(
    order: list[int], n: int, seed: int
) -> None:
    in_file = problems(20)
    reordered = [in_file[index] for index in order]
    chosen = sample(reordered, n, seed)
    assert set(ids(chosen)) == set(ids(sample(in_file, n, seed)))
    assert chosen == [problem for problem in reordered if problem in chosen]


@pytest.mark.parametrize("count", [198, 250, 500, 1319])
def test_even_and_odd_rows_are_drawn_alike(count: int) -> None:
    # The sampler of Cost-of-Pass takes 80 to 126 even rows of 128. Over 40 seeds the share here is half, within four
    # standard errors.
    n, repeats = 128, 40
    even = sum(int(name) % 2 == 0 for seed in range(repeats) for name in ids(sample(problems(count), n, seed)))
    spread = (n * repeats * 0.25 * (1 - n / count)) ** 0.5
    assert abs(even - n * repeats / 2) < 4 * spread


def test_every_row_is_drawn_about_equally_often() -> None:
    count, n, repeats = 50, 10, 2000
    drawn = [0] * count
    for seed in range(repeats):
        for name in ids(sample(problems(count), n, seed)):
            drawn[int(name)] += 1
    expected = repeats * n / count
    # Draws without replacement spread less than Poisson by (1 - n/count); 49 degrees of freedom, p ≈ 0.0001.
    chi_square = sum((times - expected) ** 2 for times in drawn) / expected / (1 - n / count)
    assert chi_square < 95


def test_other_seeds_take_other_problems() -> None:
    assert ids(sample(problems(100), 10, 0)) != ids(sample(problems(100), 10, 1))


def test_a_sample_stays_what_it_was() -> None:
    # Ledgers on people's disks were paid for with this one.
    assert ids(sample(problems(10), 3, 0)) == ["1", "3", "6"]


def test_more_than_there_are_is_an_error_that_says_how_many_there_are() -> None:
    with pytest.raises(BadInputError, match="there are 5 problems"):
        sample(problems(5), 6, 0)
