"""Coordinates between the centred and the non-centred form."""

import jax
import numpy as np
import pytest
from scipy import stats
from scipy.optimize import approx_fprime

import kinetograph as kg
from kinetograph.graph.precision import x64
from kinetograph.models.bound_density import Position
from kinetograph.models.centring import Centring, ChosenForms


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


def common():
    """Scales outside of matrix products and sums, by a known factor, and of elements in order."""
    mu, sd, spread = kg.normal(0, 1), kg.half_normal(1, shape=2), kg.half_normal(1, shape=3)
    share, loading = kg.beta(2, 2), kg.normal(0, 1)
    names = ("inside", "outside", "both", "turned", "mixed", "twice", "squared", "signed", "plain")
    z = {name: kg.normal(0, 1, shape=3, name=name) for name in names}
    basis = np.arange(9.0).reshape(3, 3) / 9 - np.eye(3)
    f = sd[0] * (basis @ z["inside"] - 2 * z["outside"]) + kg.exp(mu) * (
        kg.sqrt(share) * z["both"] + mu
    )
    f = f + spread * (z["turned"][::-1] + basis @ z["mixed"])  # no scales of the elements
    f = f + sd[1] * (z["twice"] + z["squared"] * z["squared"]) + basis @ z["twice"]
    f = f + loading * (basis @ z["signed"]) + z["plain"]
    kg.observe([2, 0, 1], kg.poisson(kg.exp(f / 20)))
    return mu, sd, spread, share, loading, *z.values()


def both(build):
    model = kg.model(build)
    rng = np.random.default_rng(1)
    c, x = rng.uniform(size=model.free_size), rng.normal(size=model.free_size)
    centring = Centring(model)
    with x64():
        density = model.bind()
        moved = density._replace(centring=centring, forms=ChosenForms(c))
    return model, centring, density, moved, c, x


def indexed():
    """The product has some elements of z, in another order; w has a scale for each of them."""
    sd, z, w = kg.half_normal(1), kg.normal(0, 1, shape=3), kg.normal(0, 1, shape=2)
    scales = kg.half_normal(1, shape=2)
    group, other = np.array([2, 0, 2, 1]), np.array([1, 0, 0, 1])
    kg.observe(np.arange(4.0), kg.normal(0.5 + sd * z[group] + scales[other] * w[other], 1))
    return sd, z, w, scales


def singles():
    """Unknowns that are written one by one, between others, with equal and with other locations."""
    mu, tau = kg.normal(0, 1), kg.half_normal(1)
    a, b = kg.normal(mu, tau, name="a"), kg.normal(mu, tau, name="b")
    slope = kg.normal(0, 1)
    c = kg.normal(mu + 2 * slope, tau, name="c")
    d = kg.normal(a, kg.exp(c), name="d")
    kg.observe([1.0, 2.0, 3.0, 4.0], kg.normal(kg.stack([a, b, c, d]), 1))
    return mu, tau, slope, a, b, c, d


@pytest.mark.parametrize(
    ("build", "names"),
    [
        (centred, {"theta": True}),
        (singles, {"a": True, "b": True, "c": True, "d": True}),
        (non_centred, {"z": False}),
        (nested, {"groups": True, "effects": True, "rates": True, "z": False}),
        (indexed, {"z": False}),
        (common, {"inside": False, "outside": False, "both": False}),
    ],
)
def test_the_maps(build, names):
    model, centring, density, moved, _, x = both(build)
    assert {model.name(v): s.centred for v, s in centring.shifts.items()} == names
    with x64():
        y = centring.inverse(x, moved.forms, density.data)
        back, log_jacobian = centring.forward(y, moved.forms, density.data)
        slopes = jax.jacobian(lambda y: centring.forward(y, moved.forms, density.data)[0])(y)
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


def test_a_common_scale_is_that_of_each_element():
    """sd * (basis @ z) is basis @ (sd * z); exp(mu) * (sqrt(share) * z + mu) has two scales."""
    model, centring, density, moved, c, x = both(common)
    with x64():
        y = np.asarray(centring.inverse(x, moved.forms, density.data))
    values = model.transform(x)
    mu, sd, _, share = (np.asarray(v) for v in list(values.values())[:4])
    scales = {"inside": sd[0], "outside": sd[0], "both": np.sqrt(share) * np.exp(mu)}
    for unknown in centring.shifts:
        name, place = model.name(unknown), model.density.slices[unknown]
        location = mu * np.exp(mu) if name == "both" else 0.0
        expected = scales[name] ** c[place] * values[name] + c[place] * location
        np.testing.assert_allclose(y[place], expected, rtol=1e-12)


def test_the_density_of_the_coordinates_is_that_of_the_formula():
    """y has the prior location c mu and the scale tau^c."""
    _, centring, density, moved, c, x = both(centred)
    c[1] = 1.0  # tau is moved by its logarithm
    mu, tau = x[0], np.exp(x[1])
    with x64():
        y = np.asarray(centring.inverse(x, moved.forms, density.data))
        value, *_ = moved.value_and_gradient(y)
    y, c, theta = y[2:], c[2:], x[2:]
    expected = stats.norm.logpdf(mu, 0, 5) + stats.halfcauchy.logpdf(tau, 0, 5) + x[1]
    expected += stats.norm.logpdf(y, c * mu, tau**c).sum()
    expected += stats.norm.logpdf([1.0, 2.0, -1.0], theta, 1).sum()
    np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_the_forms_of_a_grid():
    """Elements and slopes of each form are those of the maps; the scales are the user's."""
    model, centring, density, moved, _, x = both(nested)
    grid = np.array([0.0, 0.4, 1.0])
    with x64():
        value, gradient, _ = density.value_and_gradient(x)
        rows = np.asarray(
            centring.forms(x, gradient, x, gradient, centring.written, density.data, grid)
        )
        assert rows.shape == (2 * 3 + 1, len(centring.places))
        forms = rows[:-1].reshape(2, 3, -1)
        values = {name: np.asarray(value) for name, value in model.transform(x).items()}
        spread, sds = values["spread"], values["sds"][:, None]
        scales = {"groups": spread, "effects": sds, "rates": spread, "z": np.exp(values["top"])}
        parts = centring.parts[: len(centring.shifts)]
        for unknown, part in zip(centring.shifts, parts, strict=True):
            expected = np.broadcast_to(scales[model.name(unknown)], unknown.shape)
            np.testing.assert_allclose(np.exp(rows[-1, part]), expected.ravel(), rtol=1e-12)
        for i, c in enumerate(grid):
            at = moved._replace(forms=ChosenForms(np.full(model.free_size, c)))
            there = at.into(Position(x, value, gradient))
            places = centring.places
            np.testing.assert_allclose(forms[0, i], np.asarray(there.q)[places], rtol=1e-12)
        # The slope of an element on which no other location or scale depends.
        last = centring.places[parts[-1]]
        np.testing.assert_allclose(
            forms[1, i, parts[-1]], np.asarray(there.gradient)[last], rtol=1e-9
        )


def with_zeros():
    """Scales that are 0 in places, and a location that is infinite where it is not used."""
    mu, tau = kg.normal(0, 1), kg.half_normal(1)
    a, b, u = (kg.normal(0, 1, shape=3) for _ in range(3))
    slopes = mu + tau * np.array([0.0, 1, -2]) * a + kg.maximum(tau - 1, 0) * b
    inside = kg.where([True, False, True], mu * kg.log([1.0, 0, 2]) + tau * u, u)
    kg.observe(np.ones((2, 3)), kg.normal(kg.stack([slopes, inside]), 1))
    return mu, tau, a, b, u


def summed_out():
    """Locations and scales that depend on a discrete unknown."""
    k = kg.bernoulli(0.3)
    mu, tau = kg.normal(0, 1, shape=2), kg.half_normal(1, shape=2)
    one, two = kg.normal(mu[k], tau[0], shape=3), kg.normal(mu[0], tau[k], shape=3)
    z = kg.normal(0, 1, shape=3)
    kg.observe(np.ones(3), kg.normal(one + two + (mu[k] + tau[1] * z), 1))
    return mu, tau, one, two, z


def looped():
    """Locations and scales that a loop computes."""
    mu, tau = kg.normal(0, 1), kg.half_normal(1)
    far = kg.while_loop(lambda x: kg.abs(x) < 5, lambda x: x * 1.3 + 0.1, mu)
    one, two = kg.normal(far, tau), kg.normal(mu, kg.abs(far))
    three = kg.normal(mu, tau)
    kg.observe(np.ones(3), kg.normal(kg.stack([one, two, three]), 1))
    return mu, tau, one, two, three


@pytest.mark.parametrize(
    ("build", "names"),
    [(with_zeros, {"a", "b"}), (summed_out, {"z"}), (looped, {"three"})],
)
def test_locations_and_scales_without_a_usable_value(build, names):
    """The maps are one to one, and the form that is written keeps its values and slopes."""
    model, centring, density, moved, c, x = both(build)
    assert {model.name(v) for v in centring.shifts} == names

    @jax.jit
    def maps(forms):
        value, gradient, _ = density.value_and_gradient(x)
        here, form = Position(x, value, gradient), moved._replace(forms=forms)
        there = form.into(here)
        grid = np.array([0.0, 0.5, 1.0])
        forms = centring.forms(x, gradient, *there[::2], forms, density.data, grid)
        return here, there, form.value_and_gradient(there.q)[:2], form.out_of(there), forms

    with x64():
        for form in (ChosenForms(c), centring.written):
            here, there, (value, slope), back, forms = maps(form)
            np.testing.assert_allclose(there.log_density, value, rtol=1e-12)
            np.testing.assert_allclose(there.gradient, slope, rtol=1e-9, atol=1e-12)
            for got, expected in zip(back, here, strict=True):
                np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
            assert np.isfinite(forms).all()
        np.testing.assert_array_equal(there.q, x)  # the written form
        np.testing.assert_allclose(slope, here.gradient, rtol=1e-12)


@pytest.mark.parametrize("tau", [0.5, 1e250])
def test_a_model_with_a_fixed_scale(tau):
    """theta ~ normal(mu, tau): y = c mu + tau^(c - 1) (theta - mu)."""
    model = kg.condition(kg.model(centred), {"tau": tau})
    centring = Centring(model)
    assert [model.name(v) for v in centring.shifts] == ["theta"]
    x, c = np.array([2.0, 1, 2, 3]), np.array([1.0, 0.0, 0.5, 1.0])
    with x64():
        y = centring.inverse(x, ChosenForms(c), model.bind().data)
    np.testing.assert_allclose(y, [2, -1 / tau, 1, 3], rtol=1e-11)
