"""Coordinates in which priors have normal tails."""

import jax
import numpy as np
import pytest
from scipy import integrate, stats
from tests.laws.helpers import ess

import kinetograph as kg
from kinetograph.graph.precision import x64
from kinetograph.models.bound_density import Position
from kinetograph.models.centring import Centring, ChosenForms
from kinetograph.models.prior_tails import FAMILIES, LARGEST_POWER, MOST_ELEMENTS
from kinetograph.results.chosen_forms import forms_text

# Each family, with the powers of its density below and above; inf: no such tail.
PRIORS = {
    "half_normal": (lambda: kg.half_normal(2), 1, np.inf),
    "half_cauchy": (lambda: kg.half_cauchy(5), 1, 1),
    "half_student": (lambda: kg.half_student(3, 2.5), 1, 3),
    "exponential": (lambda: kg.exponential(3), 1, np.inf),
    "gamma": (lambda: kg.gamma(0.5, 2), 0.5, np.inf),
    "weibull": (lambda: kg.weibull(1.5, 2), 1.5, np.inf),
    "inverse_gamma": (lambda: kg.inverse_gamma(1.5, 2), np.inf, 1.5),
    "beta": (lambda: kg.beta(0.5, 2.5), 0.5, 2.5),
    "uniform": (lambda: kg.uniform(-1, 4), 1, 1),
    "truncated(normal, lower)": (lambda: kg.normal(0.5, 2, truncation=(0, None)), 1, np.inf),
    "truncated(student, lower)": (lambda: kg.student(2, 0, 2, truncation=(0, None)), 1, 2),
    "truncated(cauchy, lower)": (lambda: kg.cauchy(0, 2, truncation=(0, None)), 1, 1),
    "truncated(normal, lower, upper)": (lambda: kg.normal(0, 2, truncation=(-1, 3)), 1, 1),
}
SEVERAL = ("half_normal", "beta", "inverse_gamma")


def bound(build, c):
    """The density of a model, and the same in coordinates with c."""
    model = kg.model(build)
    density, centring = model.bind(), Centring(model)
    forms = ChosenForms(np.broadcast_to(c, model.free_size).astype(float))
    return density, density._replace(centring=centring, forms=forms)


def test_every_family_is_here():
    assert PRIORS.keys() == FAMILIES.keys()


@pytest.mark.parametrize("key", PRIORS)
def test_the_powers_are_those_of_the_density(key):
    """The slope of the log density in the free number is k far below, and -l far above."""
    build, below, above = PRIORS[key]
    model = kg.model(build)
    tails = Centring(model).tails
    assert tails is not None
    assert [1 / below, 1 / above] == [*tails.below, *tails.above]
    with x64():
        at = [model.bind().value_and_gradient(np.array([x]))[1][0] for x in (-60.0, 60.0)]
    for slope, power in ((at[0], below), (-at[1], above)):
        if np.isfinite(power):
            np.testing.assert_allclose(slope, power, rtol=1e-6)
        else:
            assert slope > LARGEST_POWER


@pytest.mark.parametrize("key", PRIORS)
def test_a_coordinate_is_closer_to_normal_than_the_free_number(key):
    """sd(y) sd(gradient) is 1 for a normal density, and larger for every other one."""
    build = PRIORS[key][0]

    def product(c):
        _, moved = bound(build, c)

        @jax.jit
        def at(y):
            value, gradient, _ = moved.value_and_gradient(y[None])
            return value, gradient[0]

        with x64():
            y = np.linspace(-150, 150, 60_001) if c else np.linspace(-30, 30, 60_001)
            values, slopes = map(np.asarray, jax.vmap(at)(y))
        weights = np.exp(values - values.max())
        weights[np.isnan(weights)] = 0.0
        weights /= weights.sum()
        mean = weights @ y
        return np.sqrt((weights @ (y - mean) ** 2) * (weights @ np.nan_to_num(slopes) ** 2))

    free, coordinate = product(1.0), product(0.0)
    assert 1 - 1e-6 < coordinate < free
    assert coordinate < 1.2


@pytest.mark.parametrize("c", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_map_and_its_inverse(c, dtype):
    build = lambda: [PRIORS[key][0]() for key in PRIORS]
    with kg.precision(dtype):
        model = kg.model(build)
        centring = Centring(model)
    tails = centring.tails
    exact = dtype == "float64"
    with x64():
        data = model.bind().data
        forms = ChosenForms(np.full(model.free_size, c, dtype))
        forward = jax.jit(lambda y: centring.forward(y, forms, data))
        inverse = jax.jit(lambda x: centring.inverse(x, forms, data))
        for z in (*np.linspace(-35, 35, 15), -1e-3, 0.0):
            y = np.full(model.free_size, z, dtype)
            x, log_jacobian = forward(y)
            assert x.dtype == log_jacobian.dtype == dtype
            back = inverse(x)
            assert back.dtype == dtype
            np.testing.assert_allclose(
                back, y, rtol=1e-12 if exact else 1e-4, atol=1e-12 if exact else 1e-3
            )
            if exact:
                slopes = jax.jacfwd(lambda y: centring.forward(y, forms, data)[0])(y)
                np.testing.assert_allclose(
                    log_jacobian, np.log(np.diag(slopes)).sum(), rtol=1e-10, atol=1e-12
                )
                assert np.count_nonzero(slopes) == len(y)
        if c == 1:
            np.testing.assert_array_equal(forward(y)[0], y)
            np.testing.assert_array_equal(inverse(y), y)
    assert tails.level.unknowns == tuple(model.density.unknowns)


def test_tails_of_the_map():
    """x is near -p z^2 / 2 below and q z^2 / 2 above; without a tail it is linear."""
    for key in SEVERAL:
        _, below, above = PRIORS[key]
        density, moved = bound(PRIORS[key][0], 0.0)
        with x64():
            low, high = (
                float(moved.centring.forward(np.array([z]), moved.forms, density.data)[0][0])
                for z in (-3e4, 3e4)
            )
        width = np.sqrt(1 / below + 1 / above)
        for x, power in ((-low, below), (high, above)):
            expected = 9e8 / (2 * power) if np.isfinite(power) else width * 3e4 / 2
            np.testing.assert_allclose(x, expected, rtol=1e-3)


@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_positions_go_into_coordinates_and_back(temperature):
    def build():
        sd, share = kg.half_normal(2, shape=2), kg.beta(0.5, 0.5)
        theta = kg.normal(share, sd[0], shape=3)
        kg.observe([1, 2, 0], kg.poisson(kg.exp(theta * sd[1])))
        return sd, share, theta

    c = np.array([0.0, 0.4, 0.0, 0.0, 0.5, 1.0])
    density, moved = bound(build, c)
    moved = moved._replace(temperature=temperature)
    rng = np.random.default_rng(2)
    with x64():
        for scale in (2.0, 1.0):
            x = scale * rng.normal(size=6)
            value, gradient, _ = density.value_and_gradient(x)
            there = jax.jit(moved.into)(Position(x, value, gradient))
            value_there, slope, _ = moved.value_and_gradient(there.q)
            np.testing.assert_allclose(there.log_density, value_there, rtol=1e-9)
            np.testing.assert_allclose(there.gradient, slope, rtol=1e-7, atol=1e-9)
            here = jax.jit(moved.out_of)(there)
            np.testing.assert_allclose(here.q, x, rtol=1e-11)
            np.testing.assert_allclose(here.log_density, value, rtol=1e-9)
            np.testing.assert_allclose(here.gradient, gradient, rtol=1e-6, atol=1e-8)
        grid = np.array([0.0, 0.4, 1.0])
        rows = np.asarray(
            moved.centring.forms(
                x, gradient, *there[::2], moved.forms, density.data, grid, temperature
            )
        )
        place = list(moved.centring.places).index(1)  # the second standard deviation
        np.testing.assert_allclose(rows[1, place], there.q[1], rtol=1e-9)
        np.testing.assert_allclose(rows[4, place], there.gradient[1], rtol=1e-6)
        np.testing.assert_array_equal(rows[2, place], x[1])


def test_the_density_of_the_coordinate_is_a_density():
    for key in SEVERAL:
        _, moved = bound(PRIORS[key][0], 0.0)
        with x64():
            z = np.linspace(-14, 40, 200_001)
            values = jax.vmap(lambda y: moved.value_and_gradient(y[None])[0])(z)
        np.testing.assert_allclose(integrate.trapezoid(np.exp(values), z), 1.0, rtol=1e-6)


def hierarchical():
    rate = kg.exponential(1, name="rate")
    return rate, kg.exponential(rate, name="x")


def by_data():
    return (kg.gamma(kg.data(0.5), 1, name="x"),)


def large_powers():
    return (kg.gamma(LARGEST_POWER + 0.5, 1, name="x"), kg.beta(9, 8, name="y"))


def many():
    x = kg.half_normal(1, shape=MOST_ELEMENTS + 1, name="x")
    return x, kg.half_normal(kg.data(2.0), shape=MOST_ELEMENTS, name="y")


def without_bounds():
    return kg.normal(0, 1, name="x"), kg.cauchy(0, 1, name="y")


def in_a_loop():
    x, start = kg.half_normal(1, name="x"), kg.data(1.0)
    scale = kg.while_loop(lambda s: s < 8, lambda s: 2 * s, start)
    return x, kg.half_normal(scale, name="y")


@pytest.mark.parametrize(
    ("build", "names"),
    [
        (hierarchical, ["rate"]),
        (by_data, []),
        (large_powers, []),
        (many, ["y"]),
        (without_bounds, []),
        (in_a_loop, ["x"]),
    ],
)
def test_the_unknowns(build, names):
    model = kg.model(build)
    tails = Centring(model).tails
    assert [model.name(u) for u in (tails.level.unknowns if tails else ())] == names


def test_a_scale_from_data_is_part_of_no_program():
    """New data move the middle of the coordinate."""
    scale = kg.data(1.0, name="scale")
    sd = kg.half_cauchy(scale, name="sd")
    density, moved = bound(lambda: sd, 0.0)
    other = moved._replace(data=dict(density.data))
    node = next(node for node in density.data if node.name == "scale")
    other.data[node] = np.float64(7.0)
    with x64():
        one, two = (d.centring.forward(np.array([0.3]), d.forms, d.data)[0] for d in (moved, other))
    np.testing.assert_allclose(two - one, np.log(7.0), rtol=1e-12)


def flat_below():
    """Data that do not tell whether a standard deviation is small."""
    sd = kg.half_normal(1, name="sd")
    effect = kg.normal(0, sd, shape=3, name="effect")
    kg.observe([0.1, -0.2, 0.3], kg.normal(effect, 2))
    return sd, effect


def well_known():
    sd = kg.half_normal(1, name="sd")
    kg.observe(np.random.default_rng(1).normal(size=100), kg.normal(0, sd))
    return (sd,)


def test_warm_up_chooses_the_tails():
    tree = kg.mcmc(kg.model(flat_below), seed=1, progress=False)
    chosen = tree["sampler_state"]["hyper_centring"].values[:, 0]
    assert np.all(chosen < 0.5)
    assert "sd: normal tails" in forms_text(tree)
    (advice,) = [a for a in kg.diagnose(tree, forms=True) if a.kind == "forms"]
    assert "sd: normal tails" in advice.message
    alone = kg.mcmc(kg.model(kg.half_normal(1, name="x")), seed=1, progress=False)
    (advice,) = [a for a in kg.diagnose(alone, forms=True) if a.kind == "forms"]
    assert advice.message == "warm-up chose these forms: x: normal tails"
    tree = kg.mcmc(kg.model(well_known), seed=1, progress=False)
    np.testing.assert_array_equal(tree["sampler_state"]["hyper_centring"], 1.0)
    assert not kg.diagnose(tree, forms=True)
    written = kg.samplers.NUTS(parametrisation="as written")
    same = kg.mcmc(kg.model(well_known), written, seed=1, progress=False)
    assert "hyper_centring" not in same["sampler_state"]
    np.testing.assert_allclose(same["posterior"]["sd"], tree["posterior"]["sd"], rtol=1e-6)


@pytest.mark.parametrize("key", ["half_cauchy", "beta"])
def test_draws_have_the_law_of_the_prior(key):
    """Probabilities of scipy, within 5.5 Monte Carlo errors: false alarms 4e-8 each."""
    law = {"half_cauchy": stats.halfcauchy(0, 5), "beta": stats.beta(0.5, 2.5)}[key]
    tree = kg.mcmc(kg.model(lambda: {"x": PRIORS[key][0]()}), draws=4000, seed=2, progress=False)
    assert np.all(tree["sampler_state"]["hyper_centring"].values < 0.5)
    draws = tree["posterior"]["x"]
    for p in (0.003, 0.05, 0.5, 0.95, 0.997):
        below = (draws < law.ppf(p)).astype(float)
        error = np.sqrt(p * (1 - p) / ess(below))
        assert abs(float(below.mean()) - p) < 5.5 * error
    # The free number without the Jacobian would have other probabilities.
    middle = (draws < 0.8 * law.ppf(0.5)).astype(float)
    assert abs(float(middle.mean()) - 0.5) > 5.5 * np.sqrt(0.25 / ess(middle))
