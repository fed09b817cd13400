"""Compressed normal likelihoods equal the plain ones, and are used only where they may be."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinetograph as kg
from kinetograph.graph.precision import x64
from kinetograph.models.density import data_environment


def both(model, free):
    """Log density and gradient with the compressed terms, and with the plain ones."""
    results = []
    for plain in (False, True):
        kept = [term.compressed for term in model.density.terms]
        if plain:
            for term in model.density.terms:
                term.compressed = None
        environment = data_environment(model.arguments, model.argument_values)
        with x64():
            results.append(
                jax.value_and_grad(lambda u, e=environment: model.density.log_density(u, e))(free)
            )
        for term, form in zip(model.density.terms, kept, strict=True):
            term.compressed = form
    return results


def assert_same(model, seed=0, rtol=1e-10):
    assert any(term.compressed is not None for term in model.density.terms)
    free = np.random.default_rng(seed).normal(size=model.free_size)
    (value, gradient), (plain, plain_gradient) = both(model, free)
    np.testing.assert_allclose(value, plain, rtol=rtol)
    scale = np.abs(plain_gradient).max()
    np.testing.assert_allclose(gradient, plain_gradient, rtol=rtol, atol=rtol * scale)


def groups(rng, n=200, size=12):
    index = rng.integers(0, size, n)
    index[index == 5] = 4  # one group without observations
    return kg.data(index), kg.data(rng.normal(size=n)), kg.data(rng.normal(size=n)), size


def test_varying_intercepts_and_slopes():
    index, x, y, size = groups(np.random.default_rng(1))
    a, b, c = kg.normal(0, 1, shape=size), kg.normal(0, 1, shape=size), kg.normal(0, 1)
    sigma = kg.half_normal(1)
    kg.observe(y, kg.normal(c + a[index] + b[index] * x, sigma))
    model = kg.model(a, b, c, sigma)
    assert_same(model)
    form = model.density.terms[-1].compressed
    assert form.factor.shape == (12, 3, 3)


def test_a_regression_on_a_matrix_with_an_offset_and_scalars():
    rng = np.random.default_rng(2)
    X, y = kg.data(rng.normal(size=(300, 7))), kg.data(rng.normal(size=300) + 5.0)
    offset = kg.data(rng.normal(size=300))
    beta, alpha = kg.normal(0, 1, shape=7), kg.normal(0, 10)
    sigma = kg.half_cauchy(1)
    kg.observe(y, kg.normal(alpha + X @ beta - offset / 2.0, sigma))
    assert_same(kg.model(alpha, beta, sigma))


def test_known_sds_weigh_the_observations():
    rng = np.random.default_rng(3)
    index, _, y, size = groups(rng)
    a = kg.normal(0, 1, shape=size)
    sd = kg.data(rng.uniform(0.5, 2.0, 200))
    kg.observe(y, kg.normal(-a[index] * 3.0 + 1.0, sd))
    assert_same(kg.model(a))


def test_no_cancellation_when_the_data_are_far_from_zero():
    rng = np.random.default_rng(4)
    x, noise = rng.normal(size=400), rng.normal(size=400) * 1e-3
    y = kg.data(1e6 + 2.0 * x + noise)
    a, b = kg.variable(name="a"), kg.variable(name="b")
    kg.observe(y, kg.normal(1e6 + a + b * kg.data(x), 1e-3))
    model = kg.model(a, b)
    assert_same(model, rtol=1e-9)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    st.integers(0, 2**31),
    st.integers(1, 4),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
)
def test_random_linear_means(seed, size, columns, grouped, known_sd):
    rng = np.random.default_rng(seed)
    n = 60
    mean = kg.normal(0, 1)
    if columns:
        mean = mean + kg.data(rng.normal(size=(n, columns))) @ kg.normal(0, 1, shape=columns)
    else:
        mean = mean + kg.data(rng.normal(size=n))
    if grouped:
        index = kg.data(rng.integers(0, size, n))
        mean = mean - kg.normal(0, 1, shape=size)[index] * kg.data(rng.normal(size=n))
    sd = kg.data(rng.uniform(0.5, 2, n)) if known_sd else kg.half_normal(1, name="sd")
    y = kg.data(rng.normal(size=n))
    kg.observe(y, kg.normal(mean, sd))
    targets = {"mean": mean} if known_sd else {"mean": mean, "sd": sd}
    assert_same(kg.model(**targets), seed=seed % 1000, rtol=1e-9)


def plain_terms(model):
    return [term.compressed for term in model.density.terms]


@pytest.mark.parametrize("kind", ["square", "product", "two indices", "few", "vector sd", "2-d"])
def test_what_is_not_linear_or_gains_nothing_stays_plain(kind):
    rng = np.random.default_rng(5)
    index, x, y, size = groups(rng)
    other = kg.data(rng.integers(0, size, 200))
    a, b, s = kg.normal(0, 1, shape=size), kg.normal(0, 1), kg.half_normal(1, shape=size)
    if kind == "square":
        kg.observe(y, kg.normal(a[index] ** 2, 1.0))
    elif kind == "product":
        kg.observe(y, kg.normal(a[index] * (b * x), 1.0))
    elif kind == "two indices":
        kg.observe(y, kg.normal(a[index] + a[other], 1.0))
    elif kind == "few":
        y = kg.data(rng.normal(size=size))
        kg.observe(y, kg.normal(a, 1.0))
    elif kind == "vector sd":
        kg.observe(y, kg.normal(b * x, s[index]))
    else:
        y = kg.data(rng.normal(size=(50, 4)))
        kg.observe(y, kg.normal(b, 1.0))
    model = kg.model(a, b, s)
    assert plain_terms(model) == [None] * len(plain_terms(model))


def test_the_density_does_not_touch_the_observations():
    rng = np.random.default_rng(6)
    index, x = kg.data(rng.integers(0, 5, 5000)), kg.data(rng.normal(size=5000))
    y = kg.data(rng.normal(size=5000))
    a = kg.normal(0, 1, shape=5)
    kg.observe(y, kg.normal(a[index] * x, kg.half_normal(1)))
    model = kg.model(a)

    def density(u, values):
        return model.density.log_density(u, data_environment(model.arguments, values))

    def largest():
        with x64():
            trace = jax.make_jaxpr(lambda u, v: density(u, v))  # a new function: not cached
            traced = trace(np.zeros(model.free_size), model.argument_values)
        return max(v.aval.size for equation in traced.eqns for v in equation.outvars)

    assert largest() < 100
    for term in model.density.terms:
        term.compressed = None
    assert largest() >= 5000
