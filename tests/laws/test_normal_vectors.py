"""Calibration, by simulation, of posteriors that are sampled in coordinates given data."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.models.gaussian_laws import DenseLaw, MarkovLaw
from kinetograph.models.joint_normal import JointNormal
from kinetograph.models.system_law import SystemLaw

SIMULATIONS, LEAST = 100, 1e-6


def walk():
    sd, start = kg.half_normal(0.5, name="sd"), kg.normal(0, 1, name="start")
    level = kg.random_walk(sd, 8, init_mean=start, init_sd=0.5, name="level")
    kg.observe(kg.data(np.zeros(8, int)), kg.poisson(kg.exp(1 + level)), name="y")
    return kg.model(sd, start, level)


def running_sum():
    """A walk by its steps, which are data of their own, too."""
    sd, start = kg.half_normal(0.5, name="sd"), kg.normal(0, 1, name="start")
    drift = kg.normal(0, 0.3, name="drift")
    first, later = kg.normal(0, 1, name="first"), kg.normal(drift, sd, shape=7, name="later")
    level = kg.cumsum(kg.concatenate([[start + sd * first], later]))
    kg.observe(kg.data(np.zeros(8, int)), kg.poisson(kg.exp(1 + level)), name="y")
    kg.observe(kg.data(np.zeros(7)), kg.normal(later, 1), name="steps")
    return kg.model(sd, start, drift, first, later)


def volatility():
    mu, phi = kg.normal(0, 1, name="mu"), kg.uniform(0, 0.98, name="phi")
    sd = kg.half_normal(0.7, name="sd")
    h = kg.ar(phi, sd, 8, init_sd=sd / kg.sqrt(1 - phi**2), name="h")
    kg.observe(kg.data(np.zeros(8)), kg.normal(0, kg.exp((mu + h) / 2)), name="y")
    return kg.model(mu, phi, sd, h)


def process():
    length, sd = kg.lognormal(0, 0.5, name="length"), kg.half_normal(1, name="sd")
    f = kg.gp.Process(sd**2 * kg.gp.rbf(length)).latent(np.arange(5.0), name="z")
    kg.observe(kg.data(np.zeros(5, int)), kg.poisson(kg.exp(2 + f)), name="y")
    return kg.model(length, sd, f=f)


def slopes():
    group, x = np.repeat(np.arange(5), 4), np.tile([-1.0, 0.0, 1.0, 2.0], 5)
    sd, L = kg.half_normal(1, shape=2, name="sd"), kg.lkj_cholesky(2, 2, name="L")
    mean = kg.normal(0, 1, shape=2, name="mean")
    z = kg.normal(0, 1, shape=(5, 2), name="z")
    effects = mean + (z @ L.T) * sd
    mu = effects[group, 0] + effects[group, 1] * x
    kg.observe(kg.data(np.zeros(20)), kg.normal(mu, 0.5), name="y")
    return kg.model(sd, mean, z, correlation=(L @ L.T)[0, 1])


def by_value():
    """The same effects by value, with as many data as make them nearly known."""
    group = np.repeat(np.arange(5), [1, 1, 2, 20, 20])
    sd, L = kg.half_normal(1, shape=2, name="sd"), kg.lkj_cholesky(2, 2, name="L")
    mean = kg.normal(0, 1, shape=2, name="mean")
    effects = kg.multivariate_normal(mean * np.ones((5, 2)), chol=sd[:, None] * L, name="effects")
    kg.observe(kg.data(np.zeros((44, 2))), kg.normal(effects[group], 0.5), name="y")
    return kg.model(sd, mean, effects, correlation=(L @ L.T)[0, 1])


def measured():
    """A regression on a predictor that is measured with errors."""
    mu, tau = kg.normal(0, 1, name="mu"), kg.half_normal(1, name="tau")
    slope, sd = kg.normal(0, 1, name="slope"), kg.half_normal(1, name="sd")
    latent = kg.normal(mu, tau, shape=8, name="latent")
    kg.observe(kg.data(np.zeros(8)), kg.normal(latent, 0.7), name="x")
    kg.observe(kg.data(np.zeros(8)), kg.normal(slope * latent, sd), name="y")
    return kg.model(mu, tau, slope, sd, latent)


def few_groups():
    """Slopes by group beside coefficients, with few groups."""
    group, x = np.tile(np.arange(3), 8), np.linspace(-2, 2, 24)
    a, b = kg.normal(0, 1, name="a"), kg.normal(0, 1, name="b")
    sd, L = kg.half_normal(1, shape=2, name="sd"), kg.lkj_cholesky(1, 2, name="L")
    z = kg.normal(0, 1, shape=(3, 2), name="z")
    r = (z @ L.T) * sd
    mu = a + r[group, 0] + (b + r[group, 1]) * x
    kg.observe(kg.data(np.zeros(24)), kg.normal(mu, 0.5), name="y")
    return kg.model(a, b, sd, z, correlation=(L @ L.T)[0, 1])


def smooth():
    """Counts about an approximate process, with an intercept."""
    length, sd = kg.lognormal(0, 0.5, name="length"), kg.half_normal(0.7, name="sd")
    a, z = kg.normal(1, 1, name="a"), kg.normal(0, 1, shape=8, name="z")
    x = np.linspace(0, 5, 20)
    f = kg.gp.Hilbert(kg.gp.matern52(length, sd), x, basis=8, z=z).values
    kg.observe(kg.data(np.zeros(20, int)), kg.poisson(kg.exp(a + f)), name="y")
    return kg.model(length, sd, a, z)


def crossed():
    """Effects of two groups, of which one is by value, and a coefficient."""
    one, two = np.tile(np.arange(4), 6), np.repeat(np.arange(3), 8)
    a, b = kg.normal(0, 1, name="a"), kg.normal(0, 1, name="b")
    sd, width = kg.half_normal(1, name="sd"), kg.half_normal(1, name="width")
    z, value = kg.normal(0, 1, shape=4, name="z"), kg.normal(0, width, shape=3, name="value")
    eta = a + b * np.linspace(-1, 1, 24) + (sd * z)[one] + value[two]
    kg.observe(kg.data(np.zeros(24, int)), kg.binomial(12, logits=eta), name="y")
    return kg.model(a, b, sd, width, z, value)


def trend():
    """A level and its slope, which are noises of one series."""
    sd, noise = kg.half_normal(0.5, shape=2, name="sd"), kg.half_normal(0.5, name="noise")
    start = kg.normal(0, 1, shape=2, name="start")
    slope = kg.random_walk(sd[1], 8, init_mean=start[1], init_sd=0.5, name="slope")
    steps = kg.normal(0, 1, shape=8, name="steps")
    level = start[0] + kg.cumsum(slope + sd[0] * steps)
    kg.observe(kg.data(np.zeros(8)), kg.normal(level, 0.1 + noise), name="y")
    return kg.model(sd, noise, start, slope, steps)


def calibrated(model):
    tree = kg.calibration(model, SIMULATIONS, ranks=39, draws=300, chains=2, seed=1)
    values = np.concatenate([v.values.ravel() for v in tree["p_values"].data_vars.values()])
    return values.min() * values.size, tree.attrs["runs_with_warnings"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "build",
    [
        walk,
        running_sum,
        volatility,
        process,
        slopes,
        by_value,
        measured,
        few_groups,
        smooth,
        crossed,
        trend,
    ],
)
def test_ranks_are_uniform(build):
    least, warned = calibrated(build())
    assert least > LEAST
    assert warned < SIMULATIONS


@pytest.mark.slow
@pytest.mark.parametrize("law", [DenseLaw, MarkovLaw, SystemLaw, JointNormal])
def test_a_map_with_a_wrong_jacobian_is_found(monkeypatch, law):
    """The negative control, with models that other tests do not sample: no cache has a program."""
    right = law.spread

    def wrong(*arguments):
        x, log_jacobian = right(*arguments)
        factor = 3 if law is JointNormal else 1.4  # below 1 the posterior is improper
        return x, factor * log_jacobian

    monkeypatch.setattr(law, "spread", wrong)
    width = kg.half_normal(1, name="width")
    if law is JointNormal:
        shift, z = kg.normal(0, 3, name="shift"), kg.normal(0, 1, shape=3, name="z")
        f = shift + (width * z)[np.repeat(np.arange(3), 2)]
    elif law is SystemLaw:
        f = kg.random_walk(width, 6, name="walk") + kg.normal(0, width, shape=6, name="errors")
    elif law is MarkovLaw:
        f = kg.random_walk(width, 6, name="f")
    else:
        covariance = width**2 * (np.eye(6) + 1.0)
        f = kg.multivariate_normal(np.zeros(6), covariance, name="f")
    noise = 0.3 if law is JointNormal else 2  # precise data make the effects depend on each other
    kg.observe(kg.data(np.zeros(6)), kg.normal(f, noise), name="y")
    least, _ = calibrated(kg.model(width, f))
    assert least < LEAST
