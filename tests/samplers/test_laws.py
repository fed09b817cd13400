"""The laws of `kg.laws`, kept by the samplers of the catalogue; faulty ones break them."""

import functools

import numpy as np
import pytest
from jax import numpy as jnp
from tests.samplers.kernels import given
from tests.selection import thinned

import kinetograph as kg
from kinetograph import laws, samplers

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
QUIET = {"warmup": 100, "seed": 1, "progress": False}


# The joint law of parameters and data: a location and a log scale, three normal observations. ----


def prior(rng, n):
    return rng.normal(size=(n, 2)) * [1.0, 0.5]


def simulate(rng, theta):
    return theta[:, :1] + np.exp(theta[:, 1:]) * rng.normal(size=(len(theta), 3))


def log_likelihood(theta, y):
    z = (y - theta[0]) * jnp.exp(-theta[1])
    return -0.5 * jnp.sum(z * z) - 3 * theta[1]


def log_density(theta, y):
    return log_likelihood(theta, y) - 0.5 * theta[0] ** 2 - 2 * theta[1] ** 2


class Cold(samplers.HMC):
    """Momenta that are a fifth too small."""

    def step(self, at):
        start, h, p = at, self.step_size, 0.8 * self.noise("momentum", like=at.q)
        before = at.potential + 0.5 * kg.sum(p * p)
        for _ in kg.range(self.n_steps):
            at, p = self.integrator.step(self, at, p, h)
        error = at.potential + 0.5 * kg.sum(p * p) - before
        if ~(kg.log(self.noise.uniform(name="accept")) < -error):
            at = start
        return at


class OneSided(samplers.RandomWalk):
    """Proposals that are longer on one side, tested as if they were symmetric."""

    def step(self, at):
        move = self.noise("walk", like=at.q)
        new = self.evaluate(at.q + (0.7 + 0.3 * kg.tanh(at.q)) * move)
        if kg.log(self.noise.uniform(name="accept")) < at.potential - new.potential:
            at = new
        return at


FIXED = {"tune": ()}
EXACT = {
    "HMC": samplers.HMC(0.4, n_steps=4, **FIXED),
    "NUTS": samplers.NUTS(step_size=0.4, **FIXED),
    "RandomWalk": samplers.RandomWalk(0.7, **FIXED),
    "Slice": samplers.Slice(width=1.5, **FIXED),
    "Slice, doubling": samplers.Slice(width=0.5, doubling=True, **FIXED),
    "MALA": samplers.MALA(0.1, **FIXED),
    "MAMS": samplers.MAMS(0.4, **FIXED),
    "GHMC": samplers.GHMC(0.4, **FIXED),
}
FAULTY = {
    "prior left out": (EXACT["HMC"], log_likelihood),
    "too cold": (Cold(0.4, n_steps=4, **FIXED), log_density),
    "not symmetric": (OneSided(**FIXED), log_density),
}


def geweke(sampler, density=log_density):
    def transition(rng, theta, y):
        for _ in range(2):
            theta = given(sampler, density, theta, y, seed=int(rng.integers(2**31)))
        return theta

    return laws.geweke_test(prior, simulate, transition, replicas=2000, steps=15, seed=3)


@pytest.mark.parametrize("name", thinned(EXACT, 8))
def test_the_joint_law_is_kept(name):
    assert geweke(EXACT[name]).passed(0.005 / 8), geweke(EXACT[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(FAULTY, 3))
def test_the_joint_law_is_broken(name):
    assert not geweke(*FAULTY[name]).passed()


def ranks(sampler, density, draw, observe, simulations, draws, apart):
    """Ranks of true parameters among draws `apart` transitions from each other."""
    rng = np.random.default_rng(4)
    truth = draw(rng, simulations)
    y, theta = observe(rng, truth), draw(rng, simulations)
    below = np.zeros(truth.shape, int)
    for i in range(draws + 10):
        for _ in range(apart):
            theta = given(sampler, density, theta, y, seed=int(rng.integers(2**31)))
        if i >= 10:
            below += theta < truth
    return laws.rank_test(below, draws)


def conjugate(theta, y):
    return -0.5 * jnp.sum(theta * theta) - 0.5 * jnp.sum((y - theta) ** 2)


def eight_schools(theta, y):
    """Non-centred: mu / 5, log tau and eight standard normal effects."""
    means = 5 * theta[0] + jnp.exp(theta[1]) * theta[2:]
    return -0.5 * jnp.sum(theta * theta) - 0.5 * jnp.sum(((y - means) / ERRORS) ** 2)


ERRORS = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["NUTS", "HMC", "Slice"])
def test_ranks_are_uniform(name):
    normal = lambda size: lambda rng, n: rng.normal(size=(n, size))
    noisy = lambda rng, theta: theta + rng.normal(size=theta.shape)
    sampler = EXACT[name]
    assert ranks(sampler, conjugate, normal(2), noisy, 2000, 31, 4).passed(1e-3)

    def schools(rng, theta):
        means = 5 * theta[:, :1] + np.exp(theta[:, 1:2]) * theta[:, 2:]
        return means + ERRORS * rng.normal(size=means.shape)

    found = ranks(
        samplers.NUTS(step_size=0.3, **FIXED), eight_schools, normal(10), schools, 1000, 31, 4
    )
    assert found.passed(1e-3)


@pytest.mark.slow
def test_ranks_of_a_density_that_is_too_narrow():
    narrow = samplers.HMC(0.4, n_steps=4, inverse_temperature=2.0, **FIXED)
    normal = lambda rng, n: rng.normal(size=(n, 2))
    noisy = lambda rng, theta: theta + rng.normal(size=theta.shape)
    assert not ranks(narrow, conjugate, normal, noisy, 2000, 31, 4).passed()


# One dimension, not harmonic: identities of discrete schemes, finite steps, orders. ------------

U, BETA, GAMMA = laws.cosine, 1.3, 1.5


@functools.cache
def cosine():
    q = kg.variable(name="q")
    return kg.model(q, factors=[-1.0 * U(q)])


def momentum(step):
    return step.slots["p"]


class HalfKickMissing(samplers.GLA2):
    """The kick after the drift is left out."""

    def step(self, at, p):
        h, a = self.step_size, kg.exp(-self.friction * self.step_size)
        at = self.evaluate(at.q + h * (p - 0.5 * h * at.gradient))
        p = a * p + kg.sqrt((1 - a * a) / self.inverse_temperature) * self.noise("O", like=p)
        return at, {"p": p}


def identity(kind, name, h):
    """The virial identity, from positions and momenta: (q' - q) / h tells p in between."""
    settings = {"inverse_temperature": BETA}
    if name != "SGLD":
        settings["friction"] = GAMMA
    watched = [] if name == "SGLD" else [momentum]
    tree = kg.mcmc(cosine(), kind(h, **settings), draws=20_000, observables=watched, **QUIET)
    q = tree["posterior"]["q"].values
    g, moved = U.gradient(q), np.diff(q) / h
    if name == "SGLD":
        squares = {"gradient_square": g**2}
    elif name == "BAOAB":
        kicked = tree["sample_stats"]["momentum"].values[..., 0][:, :-1] - 0.5 * h * g[:, :-1]
        squares = {"after_kick": kicked**2, "after_friction": (2 * moved - kicked) ** 2}
    else:
        squares = {"after_kick": moved**2}
    count = min(x.shape[1] for x in squares.values())
    virial = (q * g)[:, :count]
    return laws.virial_identity(name, virial, step_size=h, **settings, **squares)


KINDS = {
    "GLA2": samplers.GLA2,
    "SGLD": samplers.SGLD,
    "GLA1": samplers.GLA1,
    "BAOAB": samplers.BAOAB,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(KINDS, 4))
def test_virial_identities_hold_at_any_step(name):
    for h in (0.1, 0.3):
        assert identity(KINDS[name], name, h).passed(1e-4)


@pytest.mark.slow
def test_virial_identities_without_a_half_kick():
    assert not identity(HalfKickMissing, "GLA2", 0.3).passed()


@pytest.mark.slow
def test_sgld_has_the_law_of_its_step():
    """Not the target's, from which the test tells it apart."""
    h = 0.2
    found = laws.stationary_law(lambda q: q - h * U.gradient(q), np.sqrt(2 * h), points=500)
    virial = lambda q: q * U.gradient(q)
    q = kg.mcmc(cosine(), samplers.SGLD(h), draws=200_000, **QUIET)["posterior"]["q"].values
    assert laws.mean_test(virial(q), found.expectation(virial)).passed()
    assert not laws.mean_test(virial(q), 1.0).passed()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "order", "of"),
    [
        (samplers.SGLD, 1, "virial"),
        (samplers.GLA1, 1, "square"),
        (samplers.GLA2, 2, "square"),
        (samplers.BAOAB, 2, "kinetic"),
    ],
)
def test_orders(kind, order, of):
    """A single smooth well that is not harmonic, q^2 / 2 + cos(q) / 2: chains forget quickly.

    One from the other; the orders of exact laws are those of `tests/laws/test_fits.py`.
    """
    value = lambda q: 0.5 * q * q + 0.5 * np.cos(q)
    well = laws.Potential1D("well", value, lambda q: q - 0.5 * np.sin(q))
    quantity = {"square": lambda q: q * q, "virial": lambda q: q * well.gradient(q)}.get(of)
    q = kg.variable(name="q")
    model = kg.model(q, factors=[-1.0 * well(q)])
    exact = laws.canonical_law(well).expectation(quantity) if quantity else 0.5
    steps = [0.1, 0.15, 0.2, 0.3] if order == 1 else [0.4, 0.5, 0.65, 0.8]

    def draws(h):
        tree = kg.mcmc(model, kind(step_size=h), draws=500_000, **QUIET)
        if quantity is None:
            return tree["sample_stats"]["kinetic_energy"].values
        return quantity(tree["posterior"]["q"].values)

    found = laws.step_error_study(draws, steps, exact, expected=order, tolerance=0.5)
    assert found.passed(), found


@pytest.mark.slow
def test_the_error_of_an_average_falls_with_the_root_of_its_length():
    x = kg.normal(0.0, 1.0, name="x")
    run = {"draws": 40_000, "chains": 16} | QUIET
    q = kg.mcmc(kg.model(x), samplers.BAOAB(0.5), **run)["posterior"]["x"].values
    assert laws.error_law(q).passed(0.01)


def test_the_acceptance_of_hmc_is_the_closed_form():
    """And the mean energy error; <exp(-dH)> = 1."""
    model = kg.model(kg.normal(0.0, 1.0, name="x"))
    for h, steps in ((0.8, 3), (1.2, 5), (1.6, 2)):
        sampler = samplers.HMC(h, steps, step_jitter=0.0, path_jitter=0.0, tune=())
        found = kg.mcmc(model, sampler, draws=10_000, **QUIET)["sample_stats"]
        law, error = laws.hmc_oscillator(h, steps), found["energy_error"].values
        assert laws.mean_test(found["acceptance_rate"].values, law.acceptance).passed()
        assert laws.mean_test(error, law.mean_energy_error).passed()
        assert laws.mean_test(np.exp(-error), 1.0).passed()
        assert not laws.mean_test(found["acceptance_rate"].values, law.acceptance - 0.01).passed()


@pytest.mark.slow
def test_each_dimension_has_the_law_of_its_own_stiffness():
    """Ten oscillators of one run: no z-score above 5, of twenty moments."""
    k, h = np.linspace(0.2, 3.0, 10), 0.6
    model = kg.model(kg.normal(0.0, 1 / np.sqrt(k), shape=10, name="x"))
    sampler = samplers.BAOAB(h, friction=GAMMA, inverse_temperature=BETA)
    tree = kg.mcmc(model, sampler, draws=5000, observables=[momentum], **QUIET)
    q, p = tree["posterior"]["x"].values, tree["sample_stats"]["momentum"].values
    for i, stiffness in enumerate(k):
        settings = {"friction": GAMMA, "inverse_temperature": BETA, "stiffness": stiffness}
        law = laws.oscillator("BAOAB", h, **settings)
        assert laws.mean_test(q[..., i] ** 2, law.q2).passed()
        assert laws.mean_test(p[..., i] ** 2, law.p2).passed()


@pytest.mark.slow
@pytest.mark.parametrize("potential", [laws.cosine, laws.quartic, laws.double_well], ids=repr)
@pytest.mark.parametrize("beta", [0.1, 1.0, 10.0])
def test_moments_of_wells_at_any_temperature(potential, beta):
    q = kg.variable(name="q")
    model = kg.model(q, factors=[-1.0 * potential(q)])
    exact = laws.canonical_law(potential, beta)
    sampler = samplers.NUTS(inverse_temperature=beta)
    run = QUIET | {"warmup": 500, "draws": 20_000}
    x = kg.mcmc(model, sampler, **run)["posterior"]["q"].values
    for power in (2, 4):
        assert laws.mean_test(x**power, exact.expectation(lambda q, n=power: q**n)).passed()
    virial = x * potential.gradient(x)
    assert laws.mean_test(virial, 1 / beta).passed()
