"""`law_test` against samplers with a fault each, and against right ones."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph import laws

U, CHAINS, DRAWS = laws.cosine, 200, 1000
EXACT = laws.canonical_law(U)
SIZE = 2


def energy(q):
    return U(q).sum(-1)


def chains(step, seed=1):
    """Draws (chain, draw, coordinate) of `step(rng, q)` from draws of the law itself."""
    rng = np.random.default_rng(seed)
    q = np.interp(rng.random((CHAINS, SIZE)), EXACT.cdf(EXACT.points), EXACT.points)
    rows = []
    for _ in range(DRAWS):
        q = step(rng, q)
        rows.append(q)
    return np.moveaxis(np.array(rows), 0, 1)


def chosen(accepted, new, old):
    return np.where(accepted[:, None], new, old)


def walk(rng, q, scale=1.5, temperature=1.0, slack=0.0):
    """Random-walk Metropolis."""
    new = q + scale * rng.normal(size=q.shape)
    gain = (energy(q) - energy(new)) / temperature
    return chosen(np.log(rng.random(len(q))) < gain + slack, new, q)


def shrunk(rng, q, ratio=False):
    """A proposal around 0.8 q, whose densities there and back differ."""
    new = 0.8 * q + 0.8 * rng.normal(size=q.shape)
    gain = energy(q) - energy(new)
    if ratio:
        forth, back = (new - 0.8 * q) ** 2, (q - 0.8 * new) ** 2
        gain = gain + (forth - back).sum(-1) / (2 * 0.8**2)
    return chosen(np.log(rng.random(len(q))) < gain, new, q)


def scale_of_the_state(rng, q, ratio=False):
    def width(q):
        return 0.6 + 0.6 / (1 + q**2)

    new = q + width(q) * rng.normal(size=q.shape)
    gain = energy(q) - energy(new)
    if ratio:
        forth, back = ((new - q) / width(q)) ** 2, ((new - q) / width(new)) ** 2
        gain = gain + (0.5 * (forth - back) + np.log(width(q) / width(new))).sum(-1)
    return chosen(np.log(rng.random(len(q))) < gain, new, q)


def stretched(rng, q, jacobian=False):
    """Each coordinate times a random number, after a random walk."""
    q = walk(rng, q)
    r = 0.4 * rng.normal(size=q.shape)
    new = q * np.exp(r)
    gain = energy(q) - energy(new) + (r.sum(-1) if jacobian else 0.0)
    return chosen(np.log(rng.random(len(q))) < gain, new, q)


def one_number_for_both(rng, q):
    """Each coordinate by its own test, of the same random numbers: right by itself."""
    new = q + 1.5 * rng.normal(size=(len(q), 1))
    gain = U(q) - U(new)
    return np.where(np.log(rng.random((len(q), 1))) < gain, new, q)


def trajectory(rng, q, kick=0.5, momentum=1.0, h=0.6):
    """Hamiltonian Monte Carlo of four steps; `kick` is the part of the last one."""
    p = momentum * rng.normal(size=q.shape)
    x, v = q, p - 0.5 * h * U.gradient(q)
    for i in range(4):
        x = x + h * v
        v = v - (kick if i == 3 else 1.0) * h * U.gradient(x)
    gain = energy(q) - energy(x) + 0.5 * (p**2 - v**2).sum(-1)
    return chosen(np.log(rng.random(len(q))) < gain, x, q)


def langevin(rng, q, h=0.2, noise=1.0):
    return q - h * U.gradient(q) + noise * np.sqrt(2 * h) * rng.normal(size=q.shape)


RIGHT = {
    "walk": walk,
    "proposal": lambda rng, q: shrunk(rng, q, ratio=True),
    "scale": lambda rng, q: scale_of_the_state(rng, q, ratio=True),
    "Jacobian": lambda rng, q: stretched(rng, q, jacobian=True),
    "trajectory": trajectory,
}
WRONG = {
    "temperature": lambda rng, q: walk(rng, q, temperature=1.15),
    "accepts too much": lambda rng, q: walk(rng, q, slack=0.3),
    "proposal": shrunk,
    "scale": scale_of_the_state,
    "Jacobian": stretched,
    "one number for both": one_number_for_both,
    "half a kick": lambda rng, q: trajectory(rng, q, kick=1.0),
    "cold momenta": lambda rng, q: trajectory(rng, q, momentum=0.95),
    "no test": langevin,
}


@pytest.mark.parametrize("step", RIGHT.values(), ids=RIGHT)
def test_right_samplers_pass(step):
    test = laws.law_test(chains(step), EXACT)
    assert test.passed(), test


@pytest.mark.parametrize("step", WRONG.values(), ids=WRONG)
def test_wrong_samplers_are_caught(step):
    test = laws.law_test(chains(step), EXACT)
    assert not test.passed(), test


@pytest.mark.parametrize("name", ["scale", "one number for both", "half a kick", "cold momenta"])
def test_the_distribution_alone_misses_some(name):
    x = chains(WRONG[name])
    assert laws.ks_test(x, EXACT.cdf).passed()
    assert not laws.law_test(x, EXACT).passed()


def test_the_products_alone_find_coordinates_that_move_together():
    found = laws.law_test(chains(one_number_for_both), EXACT).failed()
    assert found == ("products", "products of squares")


def test_right_samplers_seldom_fail():
    """At most 1 % at the level of 1 %: more than 12 of 200 have the probability 1e-7."""
    normal = laws.canonical_law(laws.harmonic())
    failed = 0
    for seed in range(200):
        x = laws.autoregression(0.5, chains=16, draws=1000, seed=seed)
        failed += not laws.law_test(np.stack([x[:8], x[8:]], -1), normal).passed(0.01)
    assert failed <= 12


def test_laws_at_the_step_size_of_the_scheme():
    """The law that a scheme has exactly; the law of the target is another one."""
    h = 0.2
    x = chains(langevin)[:, 20:]
    own = laws.stationary_law(lambda q: q - h * U.gradient(q), np.sqrt(2 * h))
    assert laws.law_test(x, own).passed()
    assert not laws.law_test(
        chains(lambda rng, q: langevin(rng, q, noise=0.97))[:, 20:], own
    ).passed()


class Cold(kg.samplers.GLA2):
    """Noise that is three per cent too small."""

    def step(self, at, p):
        at, slots = kg.samplers.GLA2.step(self, at, p)
        return at, {"p": 0.97 * slots["p"]}


def test_samplers_of_kinetograph_on_oscillators():
    """Of different stiffness, each with a law of its own."""
    stiffness = np.array([1.0, 3.0])
    q = kg.variable(name="q", shape=2)
    model = kg.model(q, factors=[-0.5 * kg.sum(stiffness * q * q)])
    step = {"step_size": 0.5, "friction": 1.0}
    exact = [laws.oscillator("GLA2", **step, stiffness=k) for k in stiffness]

    def draws(sampler):
        quiet = {"warmup": 100, "seed": 1, "progress": False}
        return kg.mcmc(model, sampler, draws=8000, **quiet)["posterior"]["q"].values

    test = laws.law_test(draws(kg.samplers.GLA2(**step)), exact)
    assert test.passed(), test
    assert "square" in laws.law_test(draws(Cold(**step)), exact).failed()


def test_independent_draws_of_the_law():
    rng = np.random.default_rng(5)
    mixing = np.array([[1.0, 0.0], [0.8, 0.6]])
    exact = rng.normal(size=(20_000, 2)) @ mixing.T
    x = np.stack([laws.autoregression(0.5, chains=4, draws=5000, seed=s) for s in (1, 2)], -1)
    assert laws.law_test(x @ mixing.T, exact).passed()
    assert "products" in laws.law_test(x, exact).failed()
    assert not laws.law_test(0.9 * x @ mixing.T, exact).passed()


def test_what_it_says():
    x = laws.autoregression(0.0, chains=4, draws=1000, seed=1)
    test = laws.law_test(x, EXACT)
    assert list(test.tests) == ["mean", "square", "fourth power", "distribution"]
    assert repr(test).startswith("LawTest(p = ")
    assert "fourth power: MeanTest(" in repr(test)
    still = laws.law_test(np.zeros((4, 1000)), EXACT)
    assert not still.passed()
    assert np.isnan(still.p_value)


def test_refusals():
    x = laws.autoregression(0.0, chains=4, draws=100, seed=1)
    with pytest.raises(ValueError, match="has 1 coordinates, but 2 laws are given"):
        laws.law_test(x, [EXACT, EXACT])
    with pytest.raises(TypeError, match=r"expected a law from canonical_law, .* got str"):
        laws.law_test(x, "normal")
    with pytest.raises(
        ValueError, match=r"shape \(\), but the draws of the law have the shape \(9, 2"
    ):
        laws.law_test(x, np.zeros((9, 2)))
