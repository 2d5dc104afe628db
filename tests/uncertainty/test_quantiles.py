"""Quantiles computed here are scipy's."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincinv, stdtrit

from costpass.uncertainty.quantiles import beta_quantiles, t_quantiles

sizes = st.floats(0.05, 1900)
shares = st.sampled_from([0.005, 0.025, 0.05, 0.5, 0.9, 0.95, 0.975, 0.995])


@given(sizes, sizes, shares)
def test_beta_quantiles_are_scipys(a: float, b: float, share: float) -> None:
    assert float(beta_quantiles(a, b, share)) == pytest.approx(float(betaincinv(a, b, share)), rel=1e-8, abs=1e-12)


@given(st.integers(1, 1900), st.sampled_from([0.9, 0.975, 0.995]))
def test_t_quantiles_are_scipys(degrees: int, share: float) -> None:
    assert float(t_quantiles(degrees, share)) == pytest.approx(float(stdtrit(degrees, share)), rel=1e-8)


def test_many_and_large_ones_agree_with_few() -> None:
    degrees = np.arange(1.0, 200.0)
    few = np.array([float(t_quantiles(one, 0.975)) for one in degrees])
    assert t_quantiles(degrees, 0.975) == pytest.approx(few, rel=1e-8)
    assert float(t_quantiles(1e6, 0.975)) == pytest.approx(1.95996, abs=1e-4)


def test_what_is_not_known_stays_so() -> None:
    assert math.isnan(float(t_quantiles(math.nan, 0.975)))
    assert math.isnan(float(beta_quantiles(math.nan, 1.0, 0.5)))


def test_a_small_report_does_not_load_scipy() -> None:
    code = (
        "import sys\n"
        "import costpass.analysis.summary\n"
        "from costpass.uncertainty.pooled import mean_interval, rate_interval, ratio_interval\n"
        "rate_interval([1, 2, 0], [2, 2, 2]), ratio_interval([1, 2, 3], [1, 2, 0], attempts=[2, 2, 2])\n"
        "mean_interval([1, 2, 3], [2, 2, 2])\n"
        "print('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
