"""Coordinates between the centred and the non-centred form."""

import jax
import numpy as np
import pytest
from scipy import stats
from scipy.optimize import approx_fprime

import kinetograph as kg
from kinetograph.graph.precision import x64
from kinetograph.models.bound_density import Position
from kinetograph.models.centring import Centring


def centred():
    mu, tau = kg.normal(0, 5), kg.half_cauchy(5)
    theta = kg.normal(mu, tau, shape=3)
    kg.observe([1.0, 2.0, -1.0], kg.normal(theta, 1))
    return mu, tau, theta


def non_centred():
    mu, tau = kg.normal(0, 5), kg.half_cauchy(5)
    z = kg.normal(0, 1, shape=3)
    kg.observe([1.0, 2.0, -1.0], kg.normal(mu + tau * z, 1))
    return mu, tau, z


def nested():
    """Groups of groups, a table with a scale for each row, and a positive unknown."""
    top, spread = kg.normal(0, 1), kg.half_normal(1)
    groups = kg.normal(top, spread, shape=2)
    sds = kg.half_student(3, 1, shape=2)
    effects = kg.student(4, groups[:, None], sds[:, None], shape=(2, 3))
    rates = kg.lognormal(groups, spread, shape=2)
    z = kg.normal(0, 1, shape=(2, 3))
    kg.observe(np.zeros((2, 3)), kg.normal(effects + kg.exp(top) * z + rates[:, None], 1))
    return top, spread, groups, sds, effects, rates, z


def both(build):
    model = kg.model(build)
    rng = np.random.default_rng(1)
    c, x = rng.uniform(size=model.free_size), rng.normal(size=model.free_size)
    centring = Centring(model)
    with x64():
        density = model.bind()
        moved = density._replace(centring=centring, c=c)
    return model, centring, density, moved, c, x


@pytest.mark.parametrize(
    ("build", "names"),
    [
        (centred, {"theta": True}),
        (non_centred, {"z": False}),
        (nested, {"groups": True, "effects": True, "rates": True, "z": False}),
    ],
)
def test_the_maps(build, names):
    model, centring, density, moved, c, x = both(build)
    assert {model.name(v): s.centred for v, s in centring.shifts.items()} == names
    with x64():
        y = centring.inverse(x, c, density.data)
        back, log_jacobian = centring.forward(y, c, density.data)
        slopes = jax.jacobian(lambda y: centring.forward(y, c, density.data)[0])(y)
        np.testing.assert_allclose(back, x, rtol=1e-12)
        np.testing.assert_allclose(log_jacobian, np.linalg.slogdet(slopes)[1], rtol=1e-10)
        written = centring.written
        np.testing.assert_array_equal(centring.forward(x, written, density.data)[0], x)
        np.testing.assert_array_equal(centring.inverse(x, written, density.data), x)

        value, gradient, _ = density.value_and_gradient(x)
        there = moved.into(Position(x, value, gradient))
        of_y, of_slope, _ = moved.value_and_gradient(y)
        np.testing.assert_allclose(there.log_density, of_y, rtol=1e-12)
        np.testing.assert_allclose(there.gradient, of_slope, rtol=1e-9, atol=1e-12)
        here = moved.out_of(there)
        np.testing.assert_allclose(here.q, x, rtol=1e-12)
        np.testing.assert_allclose(here.log_density, value, rtol=1e-12)
        np.testing.assert_allclose(here.gradient, gradient, rtol=1e-9, atol=1e-12)
        of = jax.jit(lambda y: moved.value_and_gradient(y)[0])
        numeric = approx_fprime(np.asarray(y), lambda y: float(of(y)), 1e-7)
        np.testing.assert_allclose(of_slope, numeric, rtol=1e-4, atol=1e-4)


def test_the_density_of_the_coordinates_is_that_of_the_formula():
    """y has the prior location c mu and the scale tau^c."""
    _, centring, density, moved, c, x = both(centred)
    mu, tau = x[0], np.exp(x[1])
    with x64():
        y = np.asarray(centring.inverse(x, c, density.data))
        value, *_ = moved.value_and_gradient(y)
    y, c, theta = y[2:], c[2:], x[2:]
    expected = stats.norm.logpdf(mu, 0, 5) + stats.halfcauchy.logpdf(tau, 0, 5) + x[1]
    expected += stats.norm.logpdf(y, c * mu, tau**c).sum()
    expected += stats.norm.logpdf([1.0, 2.0, -1.0], theta, 1).sum()
    np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_the_forms_of_a_grid():
    """Elements and slopes of each form are those of the maps."""
    model, centring, density, moved, _, x = both(nested)
    grid = np.array([0.0, 0.4, 1.0])
    with x64():
        value, gradient, _ = density.value_and_gradient(x)
        forms = np.asarray(centring.forms(x, gradient, density.data, grid))
        assert forms.shape == (2, 3, len(centring.places))
        for i, c in enumerate(grid):
            at = moved._replace(c=np.full(model.free_size, c))
            there = at.into(Position(x, value, gradient))
            places = centring.places
            np.testing.assert_allclose(forms[0, i], np.asarray(there.q)[places], rtol=1e-12)
        # The slope of an element on which no other location or scale depends.
        last = centring.places[centring.parts[-1]]
        np.testing.assert_allclose(
            forms[1, i, centring.parts[-1]], np.asarray(there.gradient)[last], rtol=1e-9
        )


def test_products_that_would_be_circular_or_do_not_fit_are_left_as_written():
    def build():
        a, b = kg.normal(0, 1, shape=2), kg.normal(0, 1, shape=2)
        one = kg.exp(b) * a
        z = kg.normal(0, 1)
        other = kg.exp(a) * b + kg.exp(a) * z
        kg.observe([0.0, 1.0], kg.normal(one + other, 1))
        return a, b, z

    model = kg.model(build)
    assert [model.name(v) for v in Centring(model).shifts] == ["b"]
