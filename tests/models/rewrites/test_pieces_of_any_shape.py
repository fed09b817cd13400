"""Models written as a loop are as few operations as models of arrays, with the same density.

Each case is a model written twice, by a loop over pieces and by arrays, with the number of batches
and the shapes of the factors of compressed likelihoods that the loop has.
"""

import numpy as np
import pytest
from scipy import stats
from tests.models.rewrites.plain import at, without_rewrites

import kinetograph as kg

P, L = 10, 5
RNG = np.random.default_rng(5)
Y, X = RNG.normal(size=(P, L)), RNG.normal(size=(P, L, 2))
COUNTS = RNG.poisson(2.0, size=(P, L))
LENGTHS = [1, 4, 2, 6, 3, 3, 1, 2, 5, 7]
OWNER = np.repeat(np.arange(P), LENGTHS)
ENDS = np.cumsum(LENGTHS)[:-1]
LONG, LONG_X = RNG.normal(size=sum(LENGTHS)), RNG.normal(size=(sum(LENGTHS), 2))
LONG_COUNTS = RNG.poisson(2.0, size=sum(LENGTHS))
EACH, EACH_X, EACH_COUNTS = (np.split(d, ENDS) for d in (LONG, LONG_X, LONG_COUNTS))
GROUP = np.repeat(np.arange(P), L)
CASES = {}


def case(batches, *factors):
    def add(function):
        CASES[function.__name__] = (function, batches, factors)
        return function

    return add


def above():
    return kg.normal(0, 1, name="mu"), kg.half_normal(1, name="tau"), kg.half_normal(1, name="s")


def pieces(loop, mu, tau, **more):
    """The unknowns of the pieces, and their array."""
    if loop:
        own = [kg.normal(mu, tau, **more) for _ in range(P)]
        return own, None
    shape = more.get("shape", ())
    whole = kg.normal(mu, tau, shape=(P, *np.atleast_1d(shape).astype(int)))
    return [whole[i] for i in range(P)], whole


@case(2, (P, 1, 1))
def rows(loop):
    mu, tau, s = above()
    own, whole = pieces(loop, mu, tau)
    if not loop:
        kg.observe(Y, kg.normal(whole[:, None], s))
        return kg.model(mu, tau, s)
    for i, a in enumerate(own):
        kg.observe(Y[i], kg.normal(a, s))
    return kg.model(mu, tau, s)


@case(3, (P, 1, 1))
def two_terms_with_names(loop):
    mu, tau, s = above()
    if not loop:
        a = kg.normal(mu, tau, shape=P)
        kg.observe(Y, kg.normal(a[:, None], s))
        kg.observe(COUNTS, kg.poisson(kg.exp(a)[:, None]))
        return kg.model(mu, tau, s)
    for i in range(P):
        a = kg.normal(mu, tau, name=f"a{i}")
        kg.observe(kg.data(Y[i], f"y{i}"), kg.normal(a, s))
        kg.observe(COUNTS[i], kg.poisson(kg.exp(a)))
    return kg.model(mu, tau, s)


@case(2, (P, 2, 2))
def a_vector_each(loop):
    mu, tau, s = above()
    own, whole = pieces(loop, mu, tau, shape=2)
    if not loop:
        kg.observe(Y, kg.normal((X * whole[:, None, :]).sum(-1), s))
        return kg.model(mu, tau, s)
    for i, a in enumerate(own):
        kg.observe(Y[i], kg.normal(kg.data(X[i]) @ a, s))
    return kg.model(mu, tau, s)


@case(2, (P, 2, 2))
def regressions_with_sds_of_their_own(loop):
    """Intercepts and sds of each piece, a slope of all."""
    mu, tau, s = above()
    x = X[..., 0]
    if not loop:
        a = kg.half_normal(tau, shape=P)
        kg.observe(Y, kg.normal(2.0 * a[:, None] - mu * x + 1.0, (s + a)[:, None]))
        return kg.model(mu, tau, s)
    for i in range(P):
        a = kg.half_normal(tau)
        kg.observe(Y[i], kg.normal(2.0 * a - mu * x[i] + 1.0, s + a))
    return kg.model(mu, tau, s)


@case(1, (1, 2, 2))
def nothing_of_its_own(loop):
    """One number a piece, and each a row of one regression, as arrays would be."""
    mu, tau, s = above()
    y, x = Y.reshape(-1), X.reshape(-1, 2)[:, 0]
    if not loop:
        kg.observe(y, kg.normal(mu + x * tau / 2.0, s))
        return kg.model(mu, tau, s)
    for i in range(P * L):
        kg.observe(kg.data(y[i]), kg.normal(mu + x[i] * tau / 2.0, s))
    return kg.model(mu, tau, s)


@case(1, (1, 2, 2))
def products_of_rows(loop):
    mu, tau, s = above()
    y, x = Y.reshape(-1), kg.data(X.reshape(-1, 2))
    w = kg.normal(mu, tau, shape=2)
    if not loop:
        kg.observe(y, kg.normal(x @ w, s))
        return kg.model(mu, tau, s)
    for i in range(P * L):
        kg.observe(kg.data(y[i]), kg.normal(x[i] @ w, s))
    return kg.model(mu, tau, s)


@case(1, (P, 2, 2))
def few_levels_of_many_numbers(loop):
    """The same level, or place of an array, in several pieces is one group of observations."""
    mu, tau, s = above()
    theta, y = kg.normal(mu, tau, shape=P), Y.reshape(-1)
    if not loop:
        kg.observe(y, kg.normal(theta[GROUP] + mu * X.reshape(-1, 2)[:, 1], s))
        return kg.model(mu, tau, s)
    for i in range(P * L):
        mean = theta[int(GROUP[i]) - P] + mu * X.reshape(-1, 2)[i, 1]
        kg.observe(kg.data(y[i]), kg.normal(mean, s))
    return kg.model(mu, tau, s)


@case(1, (4, 1, 1))
def elements_of_arrays_in_each_piece(loop):
    """Both arrays of all pieces, and of each piece, are read by indices within the pieces."""
    mu, tau, s = above()
    theta = kg.normal(mu, tau, shape=4)
    index = (np.arange(P * L) * 7 % 4).reshape(P, L)
    if not loop:
        kg.observe(Y, kg.normal(theta[index], s))
        return kg.model(mu, tau, s)
    for i in range(P):
        kg.observe(Y[i], kg.normal(theta[index[i]], s))
    return kg.model(mu, tau, s)


@case(2, (2 * P, 1, 1))
def elements_of_a_vector_each(loop):
    mu, tau, s = above()
    index = np.array([0, 1, 0, -1, -2])
    own, whole = pieces(loop, mu, tau, shape=2)
    if not loop:
        kg.observe(Y, kg.normal(whole[:, index], s))
        return kg.model(mu, tau, s)
    for i, a in enumerate(own):
        kg.observe(Y[i], kg.normal(a[index], s))
    return kg.model(mu, tau, s)


@case(2, (P, 1, 1))
def rows_of_any_number(loop):
    mu, tau, _ = above()
    own, whole = pieces(loop, mu, tau)
    if not loop:
        kg.observe(LONG, kg.normal(whole[OWNER], 0.5))
        return kg.model(mu, tau)
    for a, y in zip(own, EACH, strict=True):
        kg.observe(y, kg.normal(a, 0.5))
    return kg.model(mu, tau)


@case(2)
def counts_of_any_number(loop):
    mu, tau, s = above()
    own, whole = pieces(loop, mu, tau, shape=2)
    if not loop:
        eta = (LONG_X * whole[OWNER]).sum(1) + mu * LONG_X[:, 1] + tau
        kg.observe(LONG_COUNTS % 2, kg.bernoulli(kg.ilogit(eta - s)))
        return kg.model(mu, tau, s)
    for a, y, x in zip(own, EACH_COUNTS, EACH_X, strict=True):
        eta = kg.data(x) @ a + mu * kg.data(x)[:, 1] + tau
        kg.observe(y % 2, kg.bernoulli(kg.ilogit(eta - s)))
    return kg.model(mu, tau, s)


@case(2)
def factors_and_indices_of_any_number(loop):
    mu, tau, s = above()
    theta, index = kg.normal(mu, tau, shape=4), LONG_COUNTS % 4
    if not loop:
        kg.factor(-s * kg.abs(theta[index] - LONG))
        kg.observe(LONG_COUNTS % 3, kg.categorical(kg.softmax(kg.stack([mu, s, tau]))))
        return kg.model(mu, tau, s)
    for y, k in zip(EACH, EACH_COUNTS, strict=True):
        kg.factor(-s * kg.abs(theta[k % 4] - y))
        kg.observe(k % 3, kg.categorical(kg.softmax(kg.stack([mu, s, tau]))))
    return kg.model(mu, tau, s)


@pytest.mark.parametrize("name", CASES)
def test_a_loop_is_what_the_arrays_are(name):
    make, batches, factors = CASES[name]
    model = make(True)
    found = model.density.batches
    assert len(found.groups) == batches
    assert tuple(form.factor.shape for form in found.compressed) == factors
    assert model.density.terms[-1] in found.terms  # nothing of the pieces is left over
    with without_rewrites():
        plain = make(False)
    points = np.random.default_rng(6).normal(scale=0.7, size=(2, model.free_size))
    (value, slope), (wanted, wanted_slope) = at((model, plain), points)
    np.testing.assert_allclose(value, wanted, rtol=1e-10)
    np.testing.assert_allclose(slope, wanted_slope, rtol=1e-8, atol=1e-9)


def test_the_density_of_a_compressed_loop_is_scipys():
    model = rows(True)
    u = np.random.default_rng(7).normal(size=model.free_size)
    values = model.transform(u)
    wanted = stats.norm.logpdf(u[0]) + stats.halfnorm.logpdf(values["tau"]) + u[1]
    wanted += stats.halfnorm.logpdf(values["s"]) + u[2]
    wanted += stats.norm(u[0], values["tau"]).logpdf(u[3:]).sum()
    wanted += stats.norm(u[3:, None], values["s"]).logpdf(Y).sum()
    assert float(model.log_prob(u)) == pytest.approx(wanted, rel=1e-12)


def test_other_data_for_a_compressed_loop():
    ys = [kg.data(Y[i], f"y{i}") for i in range(P)]
    mu = kg.normal(0, 1, name="mu")
    for y in ys:
        a = kg.normal(mu, 1)
        kg.observe(y, kg.normal(a, 1.0))
    model, density = kg.model(mu), None
    u, changed = np.linspace(-1, 1, P + 1), Y.copy()
    for value in (10.0, -3.0):
        changed[3] = value
        model.set_data(y3=changed[3])
        density = density or model.density
        wanted = stats.norm.logpdf(u[0]) + stats.norm(u[0], 1).logpdf(u[1:]).sum()
        wanted += stats.norm(u[1:, None], 1).logpdf(changed).sum()
        assert float(model.log_prob(u)) == pytest.approx(wanted, rel=1e-12)
    assert model.density is density  # its programs need no other form
