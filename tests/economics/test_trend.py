"""The decay fit: known curves come back, and what cannot be said is not said."""

import numpy as np
import pytest

from costpass.economics.trend import fit_decay, fit_decay_many

MONTHS = np.array([0.0, 1.2, 2.2, 2.4, 4.0, 6.8, 6.9, 8.6])


@pytest.mark.parametrize(
    ("a", "half_life", "c"), [(3.0, 2.0, 1.0), (14.0, 3.1, 0.0), (0.02, 6.0, 0.001), (5e3, 0.8, 20.0)]
)
def test_a_known_decay_comes_back(a: float, half_life: float, c: float) -> None:
    fit = fit_decay(MONTHS, a * 0.5 ** (MONTHS / half_life) + c)
    assert fit.identified, fit.reason
    assert (fit.a, fit.half_life_months) == pytest.approx((a, half_life), rel=1e-3)
    assert fit.c == pytest.approx(c, abs=1e-3 * a)
    assert fit.b == pytest.approx(np.log(2) / half_life, rel=1e-3)


def test_the_published_tau_bench_path_has_the_half_life_of_unconstrained_least_squares() -> None:
    months = np.array([0, 38, 66, 71, 122, 206, 207, 263]) / 30.4375
    fit = fit_decay(months, [1.2247, 1.1900, 0.8411, 0.8127, 0.8127, 0.8021, 0.7668, 0.7311])
    assert (fit.a, fit.b, fit.c) == pytest.approx((0.522, 0.495, 0.740), abs=1e-3)


def test_months_may_start_anywhere() -> None:
    values = 2 * 0.5 ** (MONTHS / 3) + 1
    assert fit_decay(MONTHS + 17, values).half_life_months == pytest.approx(3)


@pytest.mark.parametrize(
    ("months", "values", "reason"),
    [
        ([0, 1, 2], [4, 2, 1], "fewer than 4"),
        ([0, 1, 1, 2, 2], [4, 2, 2, 1, 1], "fewer than 4"),
        ([], [], "fewer than 4"),
        (MONTHS, np.ones(8), "no decrease"),
        (MONTHS, np.linspace(1, 2, 8), "no decrease"),
        (MONTHS, [np.inf, 3, 2, 1, 1, 1, 1, 1], "infinite"),
        (MONTHS, [9.0, 1, 1, 1, 1, 1, 1, 1], "half-li"),
        (MONTHS, 100 - 0.01 * MONTHS, "half-li"),
        (MONTHS, [1.0, 0.9, 1.1, 0.9, 1.1, 0.9, 1.1, 0.9], "half-li"),
        (np.arange(4), [1.0, 0.99, 0.6, 0.55], "half-li"),
    ],
)
def test_what_the_dates_cannot_show_is_not_identified(months: list[float], values: list[float], reason: str) -> None:
    fit = fit_decay(months, values)
    assert not fit.identified
    assert reason in fit.reason
    assert np.isnan(fit.half_life_months)
    assert np.isnan(fit_decay_many(months, [values])).all()


def test_replicate_paths_are_fitted_as_one_by_one() -> None:
    rng = np.random.default_rng(0)
    paths = 3 * 0.5 ** (MONTHS / 2.5) + 0.5 + rng.normal(0, 0.15, (60, len(MONTHS)))
    paths[0], paths[1, 2] = 1.0, np.inf
    one_by_one = [fit_decay(MONTHS, path).half_life_months for path in paths]
    many = fit_decay_many(MONTHS, paths)
    assert many.tolist() == pytest.approx(one_by_one, nan_ok=True)
    assert np.isnan(many[:2]).all()
    assert np.nanmedian(many) == pytest.approx(2.5, rel=0.1)


def test_the_fit_is_the_least_of_all_squares() -> None:
    rng = np.random.default_rng(1)
    values = 3 * 0.5 ** (MONTHS / 2.5) + 0.5 + rng.normal(0, 0.1, len(MONTHS))
    fit = fit_decay(MONTHS, values)

    def squares(a: float, b: float, c: float) -> float:
        return float(((a * np.exp(-b * MONTHS) + c - values) ** 2).sum())

    least = squares(fit.a, fit.b, fit.c)
    for _ in range(500):
        a, b, c = np.array([fit.a, fit.b, fit.c]) * np.exp(rng.normal(0, 0.02, 3))
        assert squares(a, b, c) >= least - 1e-12
