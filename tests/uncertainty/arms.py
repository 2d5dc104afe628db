"""Hypothesis strategies for arms: cost, passes and attempts by cluster."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from costpass.uncertainty.arrays import Floats


class Arm(NamedTuple):
    """Sums by cluster."""

    cost: Floats
    passes: Floats
    attempts: Floats


@st.composite
def arms(draw: Any, clusters: int, *, some_pass: bool = False) -> Arm:
    attempts = draw(st.lists(st.integers(1, 8), min_size=clusters, max_size=clusters))
    passes = [draw(st.integers(0, count)) for count in attempts]
    if some_pass and not any(passes):
        passes[0] = 1
    cost = draw(st.lists(st.floats(0.001, 50.0), min_size=clusters, max_size=clusters))
    return Arm(np.array(cost), np.array(passes, dtype=float), np.array(attempts, dtype=float))


@st.composite
def pairs(draw: Any, *, some_pass: bool = False) -> tuple[Arm, Arm]:
    clusters = draw(st.integers(1, 12))
    return draw(arms(clusters, some_pass=some_pass)), draw(arms(clusters, some_pass=some_pass))


def one_arm(*, some_pass: bool = False) -> st.SearchStrategy[Arm]:
    return st.integers(1, 12).flatmap(lambda clusters: arms(clusters, some_pass=some_pass))
