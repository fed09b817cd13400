"""Models as functions for JAX, against SciPy's densities."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from tests.models.test_control_flow import reference, stopping

import kinetograph as kg

Y = np.array([1.0, 2.0, 3.0])


@pytest.fixture(scope="module")
def model():
    mu, sigma = kg.normal(0, 5), kg.half_normal(2)
    y = kg.data(Y)
    kg.observe(y, kg.normal(mu, sigma))
    return kg.model(mu, sigma)


def density(u, adjusted=True):
    mu, log_sigma = u
    sigma = np.exp(log_sigma)
    return (
        scipy.stats.norm(0, 5).logpdf(mu)
        + scipy.stats.halfnorm(0, 2).logpdf(sigma)
        + scipy.stats.norm(mu, sigma).logpdf(Y).sum()
        + adjusted * log_sigma
    )


U = np.array([[1.3, 0.2], [-0.4, 0.7]])


def test_log_density_and_potential_in_jax(model):
    expected = [density(u) for u in U]
    np.testing.assert_allclose(jax.jit(model.log_density)(U), expected, rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(model.potential())(U), [-e for e in expected], rtol=1e-6)
    bare = model.potential(adjusted=False)(U[0])
    np.testing.assert_allclose(bare, -density(U[0], adjusted=False), rtol=1e-6)
    assert bare.dtype == np.float32
    with jax.enable_x64(True):
        found = jax.jit(model.log_density)(U)
        np.testing.assert_allclose(found, expected, rtol=1e-13)  # rounding of a sum of eight


def test_gradient_and_hessian_in_numpy_and_in_jax(model):
    h = 1e-5
    steps = h * np.eye(2)
    slopes = [[(density(u + s) - density(u - s)) / (2 * h) for s in steps] for u in U]
    np.testing.assert_allclose(model.gradient(U), slopes, rtol=1e-7)
    columns = [(model.gradient(U + s) - model.gradient(U - s)) / (2 * h) for s in steps]
    hessian = model.hessian(U)
    np.testing.assert_allclose(hessian, np.stack(columns, -1), rtol=1e-7, atol=1e-8)
    known = jnp.asarray(U)
    np.testing.assert_allclose(model.gradient(known), slopes, rtol=1e-5)
    np.testing.assert_allclose(model.hessian(known[0]), hessian[0], rtol=1e-5)
    value, gradient = jax.jit(jax.value_and_grad(model.potential()))(known[0])
    np.testing.assert_allclose([value, *gradient], [-density(U[0]), *-np.array(slopes[0])], 1e-5)


def test_transform_of_jax_arrays(model):
    values = jax.jit(model.transform)(U)
    assert set(values) == {"mu", "sigma"}
    np.testing.assert_allclose(values["sigma"], np.exp(U[:, 1]), rtol=1e-6)


def test_known_states_while_jax_traces(model):
    found = []
    jax.jit(lambda x: found.append(model.log_prob(U[0])) or x)(1.0)
    np.testing.assert_allclose(found[0], density(U[0]))


def test_wrong_shapes_are_refused(model):
    with pytest.raises(kg.ShapeError, match=r"2 numbers \(mu 1, sigma 1\), got shape \(3,\)"):
        jax.jit(model.log_density)(jnp.zeros(3))


def test_loops_of_unknown_length_in_a_density():
    x = kg.normal(0, 1, name="x")
    (scale,) = kg.while_loop(lambda v: v < 3, lambda v: v * 2, [kg.exp(x)])
    y = kg.data(1.5)
    kg.observe(y, kg.normal(0, scale))
    model = kg.model(x)
    for u in ([0.3], [-2.0]):
        gradient = jax.jit(jax.grad(model.potential()))(jnp.array(u))
        np.testing.assert_allclose(-gradient, model.gradient(u), rtol=1e-5)


def test_a_loop_that_reaches_its_bound_has_the_density_nan_in_jax():
    """NumPy's functions raise LoopError there, which a program of JAX cannot do."""
    model = stopping(maximum_iterations=50, on_limit="error")
    found = jax.jit(jax.vmap(model.log_density))(jnp.array([[0.3], [-6.0]]))  # 9 and 115 trips
    np.testing.assert_allclose(found[0], reference(0.3)[0], rtol=1e-5)
    assert np.isnan(found[1])
