"""Terms of the log density that are no observation, against SciPy and closed forms."""

import re
import warnings

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg


def refused(error, text):
    return pytest.raises(error, match=re.escape(text))


X = np.array([-1.0, 0.0, 0.3, 1.0, 2.0, 2.5])

CASES = {
    "normal": (lambda: kg.normal(0.5, 2.0), stats.norm(0.5, 2.0)),
    "exponential": (lambda: kg.exponential(2.0), stats.expon(scale=0.5)),
    "gamma": (lambda: kg.gamma(2.0, 3.0), stats.gamma(2.0, scale=1 / 3)),
    "half_normal": (lambda: kg.half_normal(2.0), stats.halfnorm(0, 2.0)),
    "uniform": (lambda: kg.uniform(0.0, 2.0), stats.uniform(0, 2)),
    "beta": (lambda: kg.beta(2.0, 2.0), stats.beta(2.0, 2.0)),
    "poisson": (lambda: kg.poisson(1.5), stats.poisson(1.5)),
    "binomial": (lambda: kg.binomial(2, 0.3), stats.binom(2, 0.3)),
}


def test_log_densities_of_computed_values():
    x = kg.placeholder((6,))
    names = list(CASES)
    densities = [kg.log_density(CASES[name][0](), x) for name in names]
    slopes = [kg.gradients(d.sum(), x) for d in densities[:6]]
    results = kg.compile([x], densities + slopes)(X)
    with np.errstate(divide="ignore"):
        for name, got in zip(names, results):
            peer = CASES[name][1]
            wanted = (peer.logpdf if hasattr(peer.dist, "pdf") else peer.logpmf)(X)
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-14, err_msg=name)
    for name, slope in zip(names, results[len(names) :]):
        peer, h = CASES[name][1], 1e-6
        inside = peer.pdf(X - h) * peer.pdf(X + h) > 0
        wanted = (peer.logpdf(X[inside] + h) - peer.logpdf(X[inside] - h)) / (2 * h)
        np.testing.assert_allclose(slope[inside], wanted, rtol=1e-6, atol=1e-8, err_msg=name)
        assert not np.isnan(slope).any(), name
        outside = peer.pdf(X) == 0
        assert not slope[outside & (X != 0) & (X != 1)].any(), name


def test_infinite_values_have_density_zero():
    x = kg.placeholder((2,))
    names = list(CASES)[:6]  # the continuous distributions
    densities = [kg.log_density(CASES[name][0](), x) for name in names]
    for name, got in zip(names, kg.compile([x], densities)([np.inf, -np.inf]), strict=True):
        np.testing.assert_array_equal(got, -np.inf, err_msg=name)


def test_counts_that_do_not_add_up_to_the_total_have_density_zero():
    x, values = kg.placeholder((5, 3)), [[1, 0, 3], [4, 0, 0], [1, 1, 1], [2, 2, 1], [5, -1, 0]]
    probabilities = [0.2, 0.3, 0.5]
    density = kg.compile([x], kg.log_density(kg.multinomial(4, probabilities), x))
    wanted = stats.multinomial(4, probabilities).logpmf(values)
    assert np.isfinite(wanted).tolist() == [True, True, False, False, False]
    np.testing.assert_allclose(density(np.array(values, float)), wanted, rtol=1e-12)


def test_shapes_and_distributions_of_vectors():
    a = kg.normal(0, 1)
    assert kg.log_density(kg.normal(np.zeros(3), 1), a).shape == (3,)
    assert kg.log_density(kg.normal(0, 1, shape=(2, 1)), np.zeros(3)).shape == (2, 3)
    p = kg.placeholder((2, 3))
    density = kg.log_density(kg.dirichlet([1.0, 2.0, 3.0]), p)
    normal = kg.log_density(kg.multivariate_normal(np.zeros(3), np.eye(3)), p)
    assert density.shape == normal.shape == (2,)
    values = np.array([[0.2, 0.3, 0.5], [0.5, 0.4, 0.2]])
    got, gaussian = kg.compile([p], [density, normal])(values)
    assert got[0] == pytest.approx(stats.dirichlet([1, 2, 3]).logpdf(values[0]), rel=1e-12)
    assert got[1] == -np.inf  # these do not add up to 1
    np.testing.assert_allclose(gaussian, stats.norm.logpdf(values).sum(1), rtol=1e-12)


def test_a_prior_on_what_is_computed():
    a, b, s = kg.normal(0, 1), kg.normal(0, 1), kg.half_normal(1)
    kg.factor(kg.log_density(kg.normal(0, s), a + b))
    model = kg.model(a, b, s)
    at = np.array([0.3, -0.2, 0.1])
    sd = np.exp(0.1)
    wanted = stats.norm.logpdf(at[:2]).sum() + stats.halfnorm.logpdf(sd) + 0.1
    wanted += stats.norm.logpdf(0.1, 0, sd)
    assert float(model.log_prob(at)) == pytest.approx(wanted, rel=1e-12)
    slope = model.gradient(at)
    assert slope[0] == pytest.approx(-0.3 - 0.1 / sd**2, rel=1e-12)
    assert slope[2] == pytest.approx(1 - sd**2 - 1 + 0.1**2 / sd**2, rel=1e-12)


def test_a_prior_on_a_bounded_or_ordered_unknown():
    cut = kg.ordered_variable(3)
    low = kg.variable(lower=0, upper=2)
    kg.factor(kg.log_density(kg.normal(0, 2), cut))
    kg.factor(kg.log_density(kg.normal(low, 1), low))
    model = kg.model(cut, low)
    values = {"cut": [-1.0, 0.5, 2.0], "low": 0.7}
    free = model.untransform(values)
    wanted = stats.norm.logpdf(values["cut"], 0, 2).sum() + stats.norm.logpdf(0)
    assert float(model.log_prob(free, adjusted=False)) == pytest.approx(wanted, rel=1e-12)


def test_transformed_data_need_the_jacobian():
    """log(y) ~ normal is lognormal once the Jacobian of y -> log(y) is added."""
    mu = kg.normal(0, 1)
    values = np.array([0.5, 1.0, 4.0])
    y = kg.data(values)
    kg.factor(kg.log_density(kg.normal(mu, 1), kg.log(y)))
    kg.factor(-kg.log(y) + 0 * mu)
    got = float(kg.model(mu).log_prob([0.4]))
    wanted = stats.norm.logpdf(0.4) + stats.lognorm(1, scale=np.exp(0.4)).logpdf(values).sum()
    assert got == pytest.approx(wanted, rel=1e-12)


def test_factors_join_unknowns_and_add():
    a, b = kg.normal(0, 1), kg.normal(0, 1)
    for _ in range(2):
        kg.factor(-a * b)
    model = kg.model(a)
    assert model.names == ("a", "b")
    wanted = stats.norm.logpdf([0.5, 2.0]).sum() - 2.0
    assert float(model.log_prob([0.5, 2.0])) == pytest.approx(wanted, rel=1e-12)
    assert float(kg.model(a, factors=a).log_prob([0.5, 2.0])) == pytest.approx(wanted + 0.5)
    assert "factor" in str(model.plot())
    assert [t.name for t in model.debug([0.5, 2.0]).terms] == ["a", "b", "factor", "factor"]


def test_what_is_refused():
    mu = kg.normal(0, 1)
    y = kg.data([1.0, 2.0])
    with refused(TypeError, "factor: a term must be an array of real numbers, got the number"):
        kg.factor(3.0)
    with refused(TypeError, "of bool (test_factor.py"):
        kg.factor(mu > 0)
    with refused(kg.ModelError, "y * 2 does not depend on an unknown"):
        kg.factor(y * 2)
    with refused(kg.ModelError, "return it from there and state the factor outside"):
        kg.scan(lambda c, v: (kg.factor(mu * v), v), 0.0, y)
    with refused(TypeError, "log_density: the first argument, mu * 2, is not a distribution"):
        kg.log_density(mu * 2, y)
    with refused(kg.ShapeError, "log_density: the value does not fit the distribution"):
        kg.log_density(kg.normal(np.zeros(3), 1), y)
    with refused(kg.DataError, "log_density: gamma data must be positive, but z is -1.0"):
        z = kg.data(-1.0)
        kg.log_density(kg.gamma(2, 1), z)
    used = kg.normal(mu, 1)
    kg.log_density(used, 1.0)
    with refused(kg.ModelError, "this normal is the distribution of a log_density (test_factor"):
        kg.observe(y, used)
    with refused(kg.ModelError, "a target is the distribution of a log_density (test_factor.py"):
        kg.model(used)


def test_messages_of_observe_name_the_way_out():
    mu, s = kg.normal(0, 1), kg.half_normal(1)
    with refused(TypeError, "write kg.factor(kg.log_density(distribution, mu + 1))"):
        kg.observe(mu + 1, kg.normal(0, s))
    with refused(TypeError, ") is an unknown, not data"):
        kg.observe(s, kg.normal(0, 1))
    with refused(TypeError, "write kg.factor(kg.log_density(distribution, s))"):
        kg.observe(s, kg.normal(0, 1))


def test_unbounded_parts_of_a_joint_raise_no_warnings():
    pair = kg.joint(kg.normal(0, 1), kg.normal(0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value = kg.compile([], kg.log_density(pair, np.array([0.0, 1.0])))()
    assert float(value) == pytest.approx(stats.norm.logpdf([0.0, 1.0]).sum())
