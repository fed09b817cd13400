"""What may be observed at the ends of a support: where SciPy's density is finite."""

import numpy as np
import pytest
from scipy import stats
from tests.distributions.scipys import HalfT

import kinetograph as kg
from kinetograph.distributions.support import CholeskyCorrelation, CorrelationMatrix

ENDS = {
    "exponential": (lambda: kg.exponential([1.0, 2.0]), stats.expon(scale=[1.0, 0.5]), 0.0),
    "half_normal": (lambda: kg.half_normal(2.0), stats.halfnorm(0, 2.0), 0.0),
    "half_cauchy": (lambda: kg.half_cauchy(2.0), stats.halfcauchy(0, 2.0), 0.0),
    "lognormal": (lambda: kg.lognormal(0.0, 1.0), stats.lognorm(1.0), 0.0),
    "gamma": (lambda: kg.gamma([0.5, 1, 2], 3.0), stats.gamma([0.5, 1, 2], scale=1 / 3), 0.0),
    "inverse_gamma": (lambda: kg.inverse_gamma([1.0, 2.0], 3.0), stats.invgamma([1.0, 2.0]), 0.0),
    "chi_squared": (lambda: kg.chi_squared([1.0, 2.0, 3.0]), stats.chi2([1.0, 2.0, 3.0]), 0.0),
    "weibull": (
        lambda: kg.weibull([0.5, 1.0, 2.0], 3.0),
        stats.weibull_min([0.5, 1.0, 2.0], scale=3),
        0.0,
    ),
    "half_student": (lambda: kg.half_student(3.0, 2.0), HalfT(3.0, 2.0), 0.0),
    "beta, low": (lambda: kg.beta([0.5, 1, 2], [1, 2, 1]), stats.beta([0.5, 1, 2], [1, 2, 1]), 0.0),
    "beta, high": (
        lambda: kg.beta([1, 2, 1], [0.5, 1, 2]),
        stats.beta([1, 2, 1], [0.5, 1, 2]),
        1.0,
    ),
    "uniform, low": (lambda: kg.uniform(1.0, [2.0, 3.0]), stats.uniform(1, [1.0, 2.0]), 1.0),
    "uniform, high": (lambda: kg.uniform([0.0, 1.0], 3.0), stats.uniform([0, 1.0], [3, 2]), 3.0),
}


@pytest.mark.parametrize("case", ENDS)
def test_ends_are_observed_where_the_density_is_finite(case):
    make, peer, end = ENDS[case]
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = np.atleast_1d(peer.logpdf(end))
    unknown = kg.normal(0, 1)
    for place, value in enumerate(wanted):
        inner = np.atleast_1d(peer.ppf(0.5)) * np.ones(len(wanted))
        at_end = inner.copy()
        at_end[place] = end
        if not np.isfinite(value):
            with pytest.raises(kg.DataError, match=rf"data must be .*, but .* at index {place}"):
                kg.observe(at_end, make())
            continue
        term = kg.log_density(make(), kg.data(at_end)) + 0 * unknown
        expected = np.broadcast_to(peer.logpdf(at_end), term.shape)
        kg.observe(at_end, make())  # is not refused
        got = np.asarray(kg.compile([unknown], term)(0.0))
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


def test_an_end_whose_density_depends_on_an_unknown():
    rate, alpha = kg.gamma(2, 1), kg.gamma(2, 1)
    y = kg.data([0.0, 1.5])
    with pytest.raises(kg.DataError, match=r"data must be positive, but y is 0\.0 at index 0"):
        kg.observe(y, kg.gamma(alpha, rate))
    kg.observe(y, kg.gamma(1, rate))
    model = kg.model(rate)
    got = float(model.log_prob([np.log(2.0)], adjusted=False))
    wanted = stats.gamma(2).logpdf(2.0) + stats.expon(scale=0.5).logpdf([0.0, 1.5]).sum()
    assert got == pytest.approx(wanted, rel=1e-12)
    assert float(model.gradient([np.log(2.0)])[0]) == pytest.approx(2 - 2 + 2 - 3.0, abs=1e-12)


def test_zeros_of_simplexes():
    with pytest.raises(kg.DataError, match="dirichlet data must be positive with sum 1"):
        kg.observe([0.0, 0.4, 0.6], kg.dirichlet([2.0, 1.0, 1.0]))
    y = kg.data([0.4, 0.0, 0.6])
    density = kg.log_density(kg.dirichlet([2.0, 1.0, 3.0]), y) + 0 * kg.normal(0, 1, name="u")
    wanted = stats.dirichlet([2.0, 1.0, 3.0]).logpdf([0.4, 0.0, 0.6])
    model = kg.model(kg.normal(0, 1, name="v"), factors=density)
    value = model.log_prob([0.0, 0.0]) - stats.norm.logpdf([0.0, 0.0]).sum()
    assert float(value) == pytest.approx(wanted, rel=1e-10)
    kg.categorical([0.0, 0.4, 0.6])  # a category that never occurs is allowed


def test_factors_of_correlation_matrices():
    cases = {
        "a factor": [[1.0, 0.0], [0.6, 0.8]],
        "not triangular": [[0.6, 0.8], [0.6, 0.8]],
        "a negative diagonal": [[1.0, 0.0], [0.6, -0.8]],
        "a long row": [[1.0, 0.0], [0.6, 0.9]],
    }
    found = CholeskyCorrelation().contains(np.array(list(cases.values())))
    assert found.tolist() == [True, False, False, False]


def test_correlation_matrices():
    cases = {
        "a matrix": [[1.0, 0.5], [0.5, 1.0]],
        "not symmetric": [[1.0, 0.4], [0.5, 1.0]],
        "a long diagonal": [[1.0, 0.5], [0.5, 1.1]],
        "indefinite": [[1.0, 1.5], [1.5, 1.0]],
    }
    found = CorrelationMatrix().contains(np.array(list(cases.values())))
    assert found.tolist() == [True, False, False, False]
