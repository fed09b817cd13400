"""Coefficients and effects that are jointly normal given scales, and their map."""

import jax
import numpy as np
import pytest
from tests.models.test_gaussian_vectors import check_position, differences

import kinetograph as kg
from kinetograph.graph.lower import evaluate
from kinetograph.graph.precision import x64
from kinetograph.models.centring import Centring, ChosenForms

GROUP, X = np.array([0, 0, 1, 1, 2, 2, 0, 1]), np.arange(8.0) - 3
COUNTS = np.array([1, 0, 2, 1, 3, 0, 1, 2])


def intercepts():
    """A coefficient of a predictor, an intercept and non-centred effects of a group."""
    b, a, sd = kg.normal(1, 2, name="b"), kg.normal(0, 3, name="a"), kg.half_normal(1, name="sd")
    z = kg.normal(0, 1, shape=3, name="z")
    kg.observe(COUNTS, kg.poisson(kg.exp(a + b * X / 9 + (sd * z)[GROUP])), name="y")
    return {"b": b, "a": a, "sd": sd, "z": z}


def slopes():
    """Correlated intercepts and slopes as rows."""
    b = kg.normal(0, 2, shape=2, name="b")
    sd, L = kg.half_normal(1, shape=2, name="sd"), kg.lkj_cholesky(1, 2, name="L")
    z = kg.normal(0, 1, shape=(3, 2), name="z")
    r = (z @ L.T) * sd
    kg.observe(COUNTS > 0, kg.bernoulli(logits=b[0] + r[GROUP, 0] + (b[1] + r[GROUP, 1]) * X))
    return {"b": b, "sd": sd, "L": L, "z": z}


def columns():
    """Correlated effects as columns, and effects of another group by value."""
    a, noise = kg.normal(0, 1, name="a"), kg.half_normal(1, name="noise")
    sd, L = kg.half_normal(1, name="sd"), kg.lkj_cholesky(2, 2, name="L")
    z = kg.normal(0, 1, shape=(2, 3), name="z")
    other = kg.normal(0.5, sd, shape=2, name="other")
    effects = sd * (L @ z)
    mean = a + effects[0, GROUP] + effects[1, GROUP] * X + other[GROUP % 2]
    kg.observe(X**2, kg.normal(mean, noise), name="y")
    return {"a": a, "noise": noise, "sd": sd, "L": L, "z": z, "other": other}


def process():
    """An approximate process, and an intercept with a wide distribution."""
    length, sd = kg.inverse_gamma(5, 5, name="length"), kg.half_normal(1, name="sd")
    z, a = kg.normal(0, 1, shape=4, name="z"), kg.student(4, 0, 2, name="a")
    f = kg.gp.Hilbert(kg.gp.rbf(length, sd), X, basis=4, z=z).values
    kg.observe(COUNTS, kg.poisson(kg.exp(a + f)), name="y")
    return {"length": length, "sd": sd, "a": a, "z": z}


def vectors():
    """Correlated effects by value, with an intercept apart."""
    a, sd = kg.normal(0, 1, name="a"), kg.half_normal(1, shape=2, name="sd")
    L = kg.lkj_cholesky(2, 2, name="L")
    r = kg.multivariate_normal(np.ones((3, 2)), chol=sd[:, None] * L, name="r")
    kg.observe(COUNTS, kg.poisson(kg.exp(a + r[GROUP, 0] + r[GROUP, 1] * X)), name="y")
    return {"a": a, "sd": sd, "L": L, "r": r}


def correlated():
    """The data see sums of two elements of a vector, whose mean is unknown."""
    mean, sd = kg.normal(0, 1, shape=2, name="mean"), kg.half_normal(1, shape=2, name="sd")
    L, z = kg.lkj_cholesky(2, dim=2, name="L"), kg.normal(0, 1, shape=(3, 2), name="z")
    r = mean + z @ (sd[:, None] * L).T
    kg.observe(COUNTS, kg.poisson(kg.exp(r[GROUP, 0] + r[GROUP, 1] * X)), name="y")
    return {"mean": mean, "sd": sd, "L": L, "z": z}


def shrunk():
    """Coefficients with unknown scales of their own, without an intercept."""
    tau, width = kg.half_normal(1, name="tau"), kg.half_normal(1, shape=3, name="width")
    z = kg.normal(0, 1, shape=3, name="z")
    design = np.column_stack([X, X**2 / 9, np.ones(8)])
    kg.observe(COUNTS, kg.normal(design @ (z * width * tau), 1), name="y")
    return {"tau": tau, "width": width, "z": z}


def scale_of_scale():
    """The map of w depends on z."""
    a, sd = kg.normal(0, 1, name="a"), kg.half_normal(1, name="sd")
    z, w = kg.normal(0, 1, name="z"), kg.normal(0, 1, shape=3, name="w")
    kg.observe(X, kg.normal(a * X + (kg.exp(sd * z) * w)[GROUP], 1))
    return a, sd, z, w


def rate():
    """The distribution of another unknown depends on b."""
    a, b, sd = kg.normal(0, 1, name="a"), kg.normal(0, 1, name="b"), kg.half_normal(1, name="sd")
    z, w = kg.normal(0, 1, shape=3, name="z"), kg.gamma(2, kg.exp(b), name="w")
    kg.observe(X, kg.normal(a + b * X + (sd * z)[GROUP], w))
    return a, b, sd, z, w


def trends():
    """A walk and a running sum, which have coordinates of their own, beside effects of a group."""
    a, sd = kg.normal(0, 1, name="a"), kg.half_normal(1, name="sd")
    z, steps = kg.normal(0, 1, shape=3, name="z"), kg.normal(0, 1, shape=4, name="steps")
    walk, level = kg.random_walk(sd, 4, name="walk"), sd * kg.cumsum(steps)
    eta = a + (sd * z)[GROUP] + walk[np.arange(8) // 2] + level[np.arange(8) // 2]
    kg.observe(COUNTS, kg.poisson(kg.exp(eta)), name="y")
    return a, sd, z, steps, walk


def areas():
    """Effects of areas by BYM2: scales outside of a matrix product and of a sum."""
    a, sd, share = kg.normal(0, 1, name="a"), kg.half_normal(1, name="sd"), kg.beta(2, 2)
    z, u = kg.normal(0, 1, shape=8, name="z"), kg.normal(0, 1, shape=3, name="u")
    basis = np.cos(np.outer(np.arange(8.0), np.arange(3.0)))
    effects = sd * (kg.sqrt(1 - share) * z + kg.sqrt(share) * (basis @ u))
    kg.observe(COUNTS, kg.poisson(kg.exp(a + effects)), name="y")
    return {"a": a, "sd": sd, "share": share, "z": z, "u": u}


BUILDS = {
    areas: {"a", "z", "u"},
    intercepts: {"b", "a", "z"},
    slopes: {"b", "z"},
    columns: {"a", "z", "other"},
    process: {"z", "a"},
    vectors: {"a", "r"},
    correlated: {"mean", "z"},
    shrunk: {"z"},
    scale_of_scale: {"a", "w"},
    rate: {"a", "z"},
    trends: {"a", "z"},
}


def centred_by_mean():
    mu, sd = kg.normal(0, 1), kg.half_normal(1)
    theta = mu + sd * kg.normal(0, 1, shape=3)
    kg.observe(np.ones(3), kg.normal(theta, 1))
    return mu, sd, theta


def by_value_with_mean():
    mu, sd = kg.normal(0, 1), kg.half_normal(1)
    theta = kg.normal(mu, sd, shape=3)
    kg.observe(np.ones(3), kg.normal(theta, 1))
    return mu, sd, theta


def unknown_factor():
    sd, a, slope = kg.half_normal(1), kg.normal(0, 1), kg.normal(0, 1)
    z = kg.normal(0, 1, shape=3)
    kg.observe(np.ones(3), kg.normal(a * slope + slope * (sd * z), 1))
    return sd, a, slope, z


def regression():
    a, b = kg.normal(0, 1), kg.normal(0, 1)
    kg.observe(X, kg.normal(a + b * X, 1))
    return a, b


def factors_by_place():
    """The same element of z has other factors in other places."""
    a, sd, width = kg.normal(0, 1), kg.half_normal(1), kg.half_normal(1, shape=3)
    z, index = kg.normal(0, 1, shape=3), np.array([[0, 1, 2], [1, 2, 0]])
    kg.observe(np.ones((2, 3)), kg.normal(a * np.arange(3.0) + sd * z[index] * width, 1))
    return a, sd, width, z


def many_groups():
    a, sd, z = kg.normal(0, 1), kg.half_normal(1), kg.normal(0, 1, shape=128)
    kg.observe(np.zeros(128), kg.normal((sd * z)[np.arange(128)] + a * np.arange(128.0), 1))
    return a, sd, z


@pytest.mark.parametrize("build", BUILDS)
def test_the_members_of_a_block(build):
    model = kg.model(build)
    joint = Centring(model).joint
    assert joint is not None
    assert {model.name(unknown) for unknown in joint.unknowns} == BUILDS[build]


def test_models_without_a_block():
    """The forms of hierarchies are enough, or the map of the block is not known before it."""
    builds = (centred_by_mean, by_value_with_mean, regression, unknown_factor, many_groups)
    for build in (*builds, factors_by_place):
        assert Centring(kg.model(build)).joint is None, build.__name__


def filled(joint, rng):
    """Information with a positive semidefinite G."""
    root = rng.normal(size=(joint.size, joint.size - 1))
    return np.concatenate([root @ root.T / 3, rng.normal(size=(1, joint.size))])


@pytest.mark.parametrize("build", BUILDS)
def test_the_maps_of_a_model(build):
    model = kg.model(build)
    centring, rng = Centring(model, maps_jointly=True), np.random.default_rng(2)
    x = rng.normal(size=model.free_size)
    written = centring.written
    forms = written._replace(joint=filled(centring.joint, rng))
    with x64():
        data = model.bind().data
        forward = jax.jit(lambda y, forms: centring.forward(y, forms, data))
        inverse = jax.jit(lambda x, forms: centring.inverse(x, forms, data))
        y = inverse(x, forms)
        back, log_jacobian = forward(y, forms)
        assert np.abs(y - x)[centring.joint.places].max() > 0.1
        np.testing.assert_allclose(back, x, rtol=1e-7, atol=1e-9)
        derivative = differences(lambda y: forward(y, forms)[0], y)
        np.testing.assert_allclose(log_jacobian, np.linalg.slogdet(derivative)[1], rtol=1e-5)
        alone = Centring(model)
        np.testing.assert_array_equal(alone.inverse(x, written, data), x)
        np.testing.assert_array_equal(alone.forward(x, written, data)[0], x)


@pytest.mark.parametrize("build", BUILDS)
def test_standard_normal_numbers_become_the_conditional_distribution(build):
    """The oracle: NumPy's mean and covariance of z, with m and C by the differences of u."""
    model = kg.model(build)
    centring, rng = Centring(model, maps_jointly=True), np.random.default_rng(3)
    joint = centring.joint
    information = filled(joint, rng)
    g, v = information[:-1], information[-1]
    blank = np.zeros_like(information)
    y = rng.normal(size=model.free_size)
    y[joint.places] = 0.0
    with x64():
        data = model.bind().data

        @jax.jit
        def forward(y, information):
            forms = centring.written._replace(joint=information)
            return centring.forward(y, forms, data)[0]

        def value(u, information):
            at = np.array(y)
            at[joint.places] = u
            return np.asarray(forward(at, information))[joint.places]

        units = np.eye(joint.size)
        # Without data, z is u: the values by number are z, and those by value are m + C z.
        m0 = value(np.zeros(joint.size), blank)
        own = np.array([value(u, blank) - m0 for u in units]).T
        mean = value(np.zeros(joint.size), information)
        spread = np.array([value(u, information) - mean for u in units]).T
        environment = dict(data)
        images = model.density.images(model.density.pieces(y), environment, None)
        evaluate(joint.nodes, environment, images, None)
        m, c = (np.asarray(part) for part in joint.law(environment))
    c = np.diag(c) if c.ndim == 1 else c
    np.testing.assert_allclose(own[~joint.standard], c[~joint.standard], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(own[joint.standard], units[joint.standard], atol=1e-12)
    covariance = np.linalg.inv(np.eye(joint.size) + c.T @ g @ c)
    z = covariance @ c.T @ (v - g @ m)
    np.testing.assert_allclose(mean, m0 + own @ z, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(spread @ spread.T, own @ covariance @ own.T, rtol=1e-8, atol=1e-9)


def gaussian():
    """A normal regression with known noise: the log likelihood is v'f - f'G f / 2."""
    a, b = kg.normal(1, 2, name="a"), kg.normal(0, 3, shape=2, name="b")
    sd, L = kg.half_normal(1, shape=2, name="sd"), kg.lkj_cholesky(2, 2, name="L")
    z = kg.normal(0, 1, shape=(3, 2), name="z")
    other = kg.normal(0.5, sd[0], shape=3, name="other")
    r = (z @ L.T) * sd
    mean = a + X * b[0] + X**2 / 5 * b[1] + r[GROUP, 0] + r[GROUP, 1] * X + other[GROUP]
    kg.observe(COUNTS, kg.normal(mean, 0.7), name="y")
    return {"a": a, "b": b, "sd": sd, "L": L, "z": z, "other": other}


def test_information_of_normal_data_is_exact():
    model = kg.model(gaussian)
    centring, rng = Centring(model, maps_jointly=True), np.random.default_rng(4)
    joint, x = centring.joint, rng.normal(size=model.free_size)
    with x64():
        density = model.bind()
        found = np.asarray(jax.jit(lambda x: centring.joint_information(x, density))(x))
    one = (np.arange(3) == GROUP[:, None]).astype(float)
    design = {
        "a": np.ones((8, 1)),
        "b": np.column_stack([X, X**2 / 5]),
        "z": np.stack([one, one * X[:, None]], -1).reshape(8, 6),
        "other": one,
    }
    known = np.concatenate([design[model.name(unknown)] for unknown in joint.unknowns], 1)
    np.testing.assert_allclose(found[:-1], known.T @ known / 0.49, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found[-1], known.T @ COUNTS / 0.49, rtol=1e-6, atol=1e-5)
    # Then the coordinates are standard normal given the other unknowns, wherever these are.
    y = rng.normal(size=model.free_size)
    with x64():
        moved = density._replace(centring=centring, forms=centring.written._replace(joint=found))
        _, slope, _ = jax.jit(moved.value_and_gradient)(y)
    np.testing.assert_allclose(slope[joint.places], -y[joint.places], rtol=1e-5, atol=1e-5)


def test_directions_in_which_the_likelihood_rises_have_no_information():
    def build():
        a, sd, z = kg.normal(0, 1), kg.half_normal(1), kg.normal(0, 1, shape=3)
        f = a * X[:3] + sd * z[np.arange(3)]
        kg.factor(kg.sum(0.1 * f**2))  # a convex log likelihood
        return a, sd, z

    model = kg.model(build)
    centring = Centring(model, maps_jointly=True)
    with x64():
        density = model.bind()
        found = jax.jit(lambda x: centring.joint_information(x, density))
        found = np.asarray(found(np.full(model.free_size, 0.3)))
    np.testing.assert_allclose(found[:-1], 0.0, atol=1e-12)


def test_positions_in_the_coordinates():
    model = kg.model(columns)
    centring, rng = Centring(model, maps_jointly=True), np.random.default_rng(2)
    x = rng.normal(size=model.free_size)
    forms = centring.written._replace(joint=filled(centring.joint, rng))
    assert isinstance(forms, ChosenForms)
    with x64():
        density = model.bind()
        check_position(density, density._replace(centring=centring, forms=forms), x)


@pytest.mark.parametrize("log_sd", [-800.0, -40.0, 40.0, 800.0])
@pytest.mark.parametrize("build", [intercepts, columns])
def test_scales_of_any_size(build, log_sd):
    """Maps stay one to one for scales of 0 and infinity."""
    model = kg.model(build)
    centring, rng = Centring(model, maps_jointly=True), np.random.default_rng(5)
    forms = centring.written._replace(joint=filled(centring.joint, rng))
    y = rng.normal(size=model.free_size)
    (sd,) = (v for v in model.density.unknowns if model.name(v) == "sd")
    y[model.density.slices[sd]] = log_sd
    with x64():
        data = model.bind().data
        x, log_jacobian = jax.jit(lambda y: centring.forward(y, forms, data))(y)
        assert np.isfinite(x).all()
        assert np.isfinite(log_jacobian)
        if abs(log_sd) > 100:  # beyond the range of numbers the sd stands for 0 or 1
            back = jax.jit(lambda x: centring.inverse(x, forms, data))(x)
            np.testing.assert_allclose(back, y, rtol=1e-5, atol=1e-5)
