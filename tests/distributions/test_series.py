"""Vectors of a length: random walks, autoregressive processes, effects that add up to zero."""

import numpy as np
import pytest
from scipy import linalg, stats
from tests.distributions.drawing import LEVEL, ROWS, draw
from tests.distributions.test_multivariate import quotients

import kinetograph as kg


def walk_law(sd, drift, init_mean, init_sd, n):
    """The mean and covariance of a walk, whose values are sums."""
    sums = np.tri(n)
    noise = np.diag([init_sd**2, *np.full(n - 1, sd**2)])
    return sums @ [init_mean, *np.full(n - 1, drift)], sums @ noise @ sums.T


def ar_law(rho, sd, constant, init_mean, init_sd, n):
    """Those of x = A^-1 e, where A x are the innovations and first values."""
    p = len(rho)
    matrix = linalg.toeplitz([1.0, *-np.array(rho), *np.zeros(n - p - 1)], np.zeros(n))
    matrix[:p] = np.eye(p, n)
    inverse = np.linalg.inv(matrix)
    noise = np.diag([*np.full(p, init_sd**2), *np.full(n - p, sd**2)])
    mean = [*np.full(p, init_mean), *np.full(n - p, constant)]
    return inverse @ mean, inverse @ noise @ inverse.T


WALK = (0.7, 0.3, -1.0, 2.0)
RHO = [0.6, -0.3]
PROCESS = (0.7, 0.3, -1.0, 2.0)
LAWS = {
    "random_walk": (
        lambda t: kg.random_walk(0.7 * t, 5, drift=0.3 * t, init_mean=-t, init_sd=2.0 * t),
        lambda t: walk_law(*(t * np.array(WALK)), 5),
    ),
    "ar": (
        lambda t: kg.ar(RHO * t, 0.7 * t, 5, constant=0.3 * t, init_mean=-t, init_sd=2.0 * t),
        lambda t: ar_law(t * np.array(RHO), *(t * np.array(PROCESS)), 5),
    ),
    "random_walk, first like a step": (
        lambda t: kg.random_walk(t, 5),
        lambda t: walk_law(t, 0.0, 0.0, t, 5),
    ),
    "ar of order 1": (
        lambda t: kg.ar([0.5], t, 5),
        lambda t: ar_law([0.5], t, 0.0, 0.0, t, 5),
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_densities(name):
    make, law = LAWS[name]
    x = np.random.default_rng(3).normal(size=(4, 5)) * 2
    t = kg.lognormal(0, 1, name="t")
    kg.observe(x, make(t))
    model, at = kg.model(t), np.array([0.2])
    other = stats.multivariate_normal(*law(np.exp(0.2)))
    wanted = other.logpdf(x).sum() + stats.lognorm(1).logpdf(np.exp(0.2))
    assert float(model.log_prob(at, adjusted=False)) == pytest.approx(wanted, rel=1e-10)
    np.testing.assert_allclose(model.gradient(at), quotients(model.log_prob, at), rtol=1e-6)


@pytest.mark.parametrize("name", ["random_walk", "ar"])
def test_draws(name):
    parameters = WALK if name == "random_walk" else (np.array(RHO), *PROCESS)
    mean, cov = LAWS[name][1](1.0)
    x = draw(name, *parameters, shape=(ROWS, 5))
    z = np.linalg.solve(np.linalg.cholesky(cov), (x - mean).T).T
    for column in z.T:
        assert stats.kstest(column, "norm").pvalue > LEVEL
    assert np.abs(np.corrcoef(z.T)[np.triu_indices(5, 1)]).max() < 5.5 / np.sqrt(ROWS)
    impossible = (-1.0, *parameters[1:]) if name == "random_walk" else (*parameters[:-1], -1.0)
    assert np.isnan(draw(name, *impossible, shape=(ROWS, 5))).all()


def test_coefficients_of_each_process():
    rho = np.array([[0.5, 0.1], [-0.2, 0.3], [0.0, 0.0]])
    x = np.random.default_rng(3).normal(size=(3, 6))
    density = kg.compile([], kg.log_density(kg.ar(rho, [1.0, 2.0, 3.0], 6), x))()
    laws = [ar_law(r, sd, 0, 0, sd, 6) for r, sd in zip(rho, (1.0, 2.0, 3.0))]
    wanted = [stats.multivariate_normal(*law).logpdf(v) for law, v in zip(laws, x)]
    np.testing.assert_allclose(density, wanted, rtol=1e-10)
    found = kg.calculate(
        kg.ar(rho, [1.0, 2.0, 3.0], 6, shape=(400, 3, 6), name="x"), draws=1, seed=3
    )
    spread = np.asarray(found["x"]).reshape(400, 3, 6)[..., 0].std(0)
    np.testing.assert_allclose(spread, [1, 2, 3], rtol=0.25)


def test_one_coefficient_and_lists_of_them():
    x = np.sin(np.arange(6.0))
    rho = kg.normal(0, 1, name="rho")

    def density(coefficients, **values):
        term = kg.log_density(kg.ar(coefficients, 0.5, 6), x)
        return kg.calculate(term=term, values=values)["term"]

    law = stats.norm(0, 0.5)
    single = law.logpdf(x[0]) + law.logpdf(x[1:] - 0.4 * x[:-1]).sum()
    for coefficients in (0.4, np.float64(0.4), [0.4]):
        np.testing.assert_allclose(density(coefficients), single, rtol=1e-12)
    for coefficients in (rho, [rho]):
        np.testing.assert_allclose(density(coefficients, rho=0.4), single, rtol=1e-12)
    later = law.logpdf(x[2:] - 0.4 * x[1:-1] + 0.2 * x[:-2]).sum()
    double = law.logpdf(x[:2]).sum() + later
    np.testing.assert_allclose(density([rho, -0.2], rho=0.4), double, rtol=1e-12)
    streams = [kg.RandomStreams(1) for _ in range(2)]
    one, other = (
        kg.compile([], s.ar(r, 0.5, 6))() for s, r in zip(streams, (0.4, [0.4]), strict=True)
    )
    np.testing.assert_array_equal(one, other)


def test_lengths():
    assert kg.random_walk([1.0, 2.0], 7).shape == (2, 7)
    assert kg.ar(np.ones((3, 2)) / 3, 1.0, 7, shape=(5, 3)).shape == (5, 3, 7)
    week = kg.dim("day", 7)
    assert kg.random_walk(1.0, shape=(3, 7)).shape == (3, 7)
    assert kg.ar([0.5, 0.1], shape=7).shape == (7,)
    assert kg.zero_sum_normal(dims=("site", week), shape=(2, 7)).shape == (2, 7)
    assert kg.zero_sum_normal(dims=week).shape == (7,)
    assert kg.RandomStreams(1).random_walk(shape=(2, 5)).shape == (2, 5)
    for make in (kg.random_walk, kg.zero_sum_normal, lambda: kg.ar(0.3, dims="day")):
        with pytest.raises(kg.ShapeError, match=r"length of the vector is not known .*give it as"):
            make()
    for make in (lambda: kg.ar([0.5, 0.1], 1.0, 2), lambda: kg.random_walk(1.0, 1)):
        with pytest.raises(kg.ShapeError, match="dim must be a whole number of at least"):
            make()
    with pytest.raises(kg.ShapeError, match=r"ar: rho .*needs at least one coefficient"):
        kg.ar(np.ones(0), 1.0, 3)
    alpha = kg.gamma(1, 1)
    with pytest.raises(kg.ShapeError, match=r"dirichlet: alpha (?!alpha).*needs at least 1 axis"):
        kg.dirichlet(alpha)
    with pytest.raises(ValueError, match="init_sd must be positive"):
        kg.random_walk(1.0, 3, init_sd=-1)


def test_zero_sums():
    sd = kg.lognormal(0, 1, name="sd")
    x = kg.zero_sum_normal(sd, 4, name="x")
    model = kg.model(sd, x)
    free = np.array([0.3, 0.5, -1.0, 2.0])
    values = model.transform(free)
    assert abs(values["x"].sum()) < 1e-14
    np.testing.assert_allclose(model.untransform(values), free, rtol=1e-12)
    # In orthogonal directions of the plane it is a normal vector.
    wanted = stats.norm.logpdf(free[1:], 0, np.exp(0.3)).sum()
    wanted += stats.lognorm(1).logpdf(np.exp(0.3))
    assert float(model.log_prob(free, adjusted=False)) == pytest.approx(wanted, rel=1e-12)
    z = draw("zero_sum_normal", 2.0, shape=(ROWS, 4))
    assert np.abs(z.sum(-1)).max() < 1e-13
    assert stats.kstest((z**2).sum(-1) / 4, stats.chi2(3).cdf).pvalue > LEVEL
    np.testing.assert_allclose(np.cov(z.T), 4 * (np.eye(4) - 0.25), atol=30 / np.sqrt(ROWS))
    with pytest.raises(kg.DataError, match="finite with sum 0 along the last axis"):
        kg.observe([1.0, 2.0, -1.0], kg.zero_sum_normal(1.0, 3))


def test_the_constant_is_a_number_for_unknowns_and_for_draws():
    for make in (kg.ar, kg.RandomStreams(1).ar):
        with pytest.raises(TypeError, match="ar: constant is a number, got True"):
            make([0.5], 1.0, shape=4, constant=True)


def test_a_drift_with_a_number_for_each_step():
    slope = kg.random_walk(0.1, 6)
    with pytest.raises(kg.ShapeError, match=r"means 5 walks of 6 values.*kg\.cumsum\(drift\)"):
        kg.random_walk(0.4, 6, drift=slope[:-1])
    with pytest.raises(kg.ShapeError, match=r"shape=\(6, 6\)"):
        kg.random_walk(0.4, shape=6, drift=slope)
    assert kg.random_walk(0.4, shape=(5, 6), drift=slope[:-1]).shape == (5, 6)
    assert kg.random_walk(0.4, 6, dims=("group", "time"), drift=slope[:-1]).shape == (5, 6)
    assert kg.random_walk(0.4, 4, drift=slope).shape == (6, 4)
    assert kg.random_walk(np.ones(5), 6, drift=slope[:-1]).shape == (5, 6)
