"""Samplers in a block of the unknowns: the same steps as on the block alone."""

import numpy as np
import pytest
from tests.selection import thinned

import kinetograph as kg
from kinetograph import samplers

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

ROWS = np.random.default_rng(3).normal(size=(40, 2))
PRIOR = np.array([1.0, 0.25])  # precisions of a
START = {"a": [0.3, -0.7], "b": [0.1, 0.2]}


class Within(kg.Sampler):
    """Steps in `a` alone."""

    inner = kg.hyper(samplers.HMC(0.3, n_steps=2))

    def init(self, at):
        return self.inner.block("a").init(at)

    def step(self, at, **slots):
        return self.inner.block("a").step(at, **slots)


class Plain(Within):
    """Steps in all unknowns."""

    def init(self, at):
        return self.inner.init(at)

    def step(self, at, **slots):
        return self.inner.step(at, **slots)


def model(alone, batch=None):
    """Data with unknown mean `a`; where it is not alone there is an unknown before it."""
    y = kg.data(ROWS, "y")
    b = kg.normal(0.0, 1.0, shape=2, name="b")
    a = kg.normal(0.0, [1.0, 2.0], name="a")
    kg.observe(y, kg.normal(a, 1.0))
    made = kg.model(a) if alone else kg.model(b, a, factors=[-0.5 * kg.sum(b * b)])
    return made if batch is None else kg.minibatch(made, batch)


def draws(sampler, alone, batch=None, steps=40):
    start = {name: START[name] for name in (("a",) if alone else ("a", "b"))}
    chain = kg.chain(model(alone, batch), sampler, seed=4, initial=start)
    return chain.step(steps).posterior["a"]


EXACT = [
    samplers.HMC(0.3, n_steps=2),
    samplers.RandomWalk([0.2, 0.3]),
    samplers.Slice(0.5),
    samplers.BAOAB(0.1),
    samplers.HMC(0.3, n_steps=2, scale=[0.5, 2.0]),
    samplers.HMC(0.3, n_steps=2, scale=[[0.5, 0.0], [0.2, 1.0]]),
]
NOISY = [
    samplers.CCAdL(0.05),
    samplers.CCAdL(0.05, covariance="full", forgetting=0.1),
    samplers.CCAdL(0.05, scale=[0.5, 2.0]),
    samplers.CCAdL(0.05, scale=[[0.5, 0.0], [0.2, 1.0]]),
    samplers.CCAdL(0.05, covariance="full", scale=[[0.5, 0.0], [0.2, 1.0]]),
    samplers.SGNHT(0.05),
]


@pytest.mark.parametrize("inner", thinned(EXACT, 4), ids=repr)
def test_a_block_is_moved_as_it_is_alone(inner):
    np.testing.assert_allclose(
        draws(Within(inner), False), draws(Plain(inner), True), rtol=1e-8, atol=1e-10
    )


@pytest.mark.parametrize("inner", thinned(NOISY, 4), ids=repr)
def test_a_block_of_a_mini_batch_is_moved_as_it_is_alone(inner):
    """The covariance of the gradient is that of the block's part."""
    found = draws(Within(inner), False, 5)
    np.testing.assert_allclose(found, draws(Plain(inner), True, 5), rtol=1e-8, atol=1e-10)


def linear(h, friction, beta, noise, prior):
    """The law of CCAdL of a coordinate whose gradient has noise, where the friction is constant."""
    kept, a = np.exp(-0.25 * h**2 * beta * noise), np.exp(-friction * h)

    def step(s, q, p, gradient):
        p = kept * p - 0.5 * h * gradient
        q = q + 0.5 * h * p
        p = a * p + ((1 - a * a) / beta) ** 0.5 * s.noise()
        q = q + 0.5 * h * p
        gradient = s.gradient(q)
        return q, kept * (p - 0.5 * h * gradient), gradient

    given = {"inverse_temperature": beta, "stiffness": len(ROWS) + prior}
    return kg.laws.oscillator(step, h, gradient_noise=noise, **given)


def test_the_law_of_a_thermostat_in_a_block():
    """CCAdL with a thermostat too heavy to move is linear: its law is known at any step size."""
    size, h, friction, beta = 5, 0.1, 4.0, 1.3
    count = len(ROWS)
    noise = count**2 / size * (1 - size / count) * ROWS.var(0, ddof=1)
    inner = samplers.CCAdL(h, friction, thermal_mass=1e12, inverse_temperature=beta)
    tree = kg.mcmc(
        *(model(False, size), Within(inner)),
        draws=10_000,
        warmup=1000,
        chains=4,
        seed=1,
        progress=False,
    )
    q = tree["posterior"]["a"].values
    energy = tree["sample_stats"]["inner_kinetic_energy"].values
    laws = [linear(h, friction, beta, *pair) for pair in zip(noise, PRIOR, strict=True)]
    mean = ROWS.sum(0) / (count + PRIOR)
    expected = [law.q2 for law in laws]
    test = kg.laws.mean_test((q - mean) ** 2, expected)
    assert test.passed(), test
    test = kg.laws.mean_test(energy, sum(law.p2 for law in laws) / 2)
    assert test.passed(), test
    # A law that is a tenth off would be seen.
    assert not kg.laws.mean_test((q - mean) ** 2, np.array(expected) * 0.9).passed()


def test_a_scale_within_is_that_of_its_coordinates():
    """Whatever scale the sampler around has, with a block or without one."""
    scale = np.array([0.5, 2.0])
    walk = samplers.RandomWalk(1.0, scale=scale)
    expected = draws(Within(samplers.RandomWalk(scale)), False)
    around = np.diag([3.0, 0.2, 1.5, 0.7])
    around[2, 0] = around[3, 2] = 0.4
    for outer in ({}, {"scale": around}):
        np.testing.assert_allclose(draws(Within(walk, **outer), False), expected, rtol=1e-8)
    every = samplers.RandomWalk(1.0, scale=[1.0, 1.0, *scale])  # an element for each unknown
    np.testing.assert_allclose(draws(Within(every), False), expected, rtol=1e-8)
    by_all = draws(Plain(samplers.RandomWalk(np.array([1.0, 1.0, *scale]))), False)
    outer = {"scale": [3.0, 0.2, 1.5, 0.7]}
    np.testing.assert_allclose(draws(Plain(every, **outer), False), by_all, rtol=1e-8)


def test_a_scale_within_is_a_hyper_parameter():
    chain = kg.chain(model(False), Within(samplers.RandomWalk(0.2, scale=[0.5, 2.0])), seed=4)
    assert chain.hyper["inner.scale"].tolist() == [0.5, 2.0]
    before = chain.step(20).posterior["a"]
    chain.hyper["inner.scale"] = [1e-6, 1e-6]
    after = chain.step(20).posterior["a"]
    assert np.ptp(after, 0).max() < 1e-3 < 0.1 < np.ptp(before, 0).min()
    for wrong in ([1.0, 2.0, 3.0], np.eye(4), np.eye(3)):
        with pytest.raises(kg.ShapeError, match=r"inner: scale has shape .* moves, \(2,\), or a"):
            kg.chain(model(False), Within(samplers.RandomWalk(scale=wrong)), seed=4)


class Halves(kg.Sampler):
    """Steps in each of the unknowns that it moves, one after the other."""

    step_size = kg.hyper(0.4)
    one = kg.hyper(samplers.RandomWalk(0.2))
    other = kg.hyper(samplers.RandomWalk(0.3, scale=[0.5, 2.0]))

    def step(self, at):
        at = self.evaluate(at.q - 1e-3 * self.step_size * at.gradient)
        return self.other.block("a").step(self.one.block("b").step(at))


class Nested(kg.Sampler):
    inner = kg.hyper(Halves())

    def step(self, at):
        return self.inner.block("a", "b").step(at)


class Flat(Nested):
    def step(self, at):
        return self.inner.step(at)


def test_blocks_of_blocks():
    def last(sampler):
        c = kg.normal(0.0, 1.0, name="c")
        b = kg.normal(c, 1.0, shape=2, name="b")
        a = kg.normal(b, 1.0, name="a")
        chain = kg.chain(kg.model(a, b, c), sampler, seed=1, initial={**START, "c": 0.5})
        return chain.step(20).posterior

    scale = [1.0, 2.0, 0.5, 0.7, 1.3]
    for outer in ({}, {"scale": scale}):
        nested, flat = last(Nested(**outer)), last(Flat(**outer))
        for name in ("a", "b"):
            assert np.ptp(nested[name][:, 0]) > 0.1
        # `c` moves in one of them, by little.
        np.testing.assert_allclose(nested["a"], flat["a"], atol=0.05)
        assert np.ptp(nested["c"]) < 1e-12 < np.ptp(flat["c"])


class Uneven(kg.Sampler):
    """Trajectories in `a`; a random walk in `b`, by chance."""

    of_a = kg.hyper(samplers.HMC(0.01, n_steps=3))
    of_b = kg.hyper(samplers.RandomWalk([1.0, 2.0]))

    def step(self, at):
        at = self.of_a.block("a").step(at)
        if self.noise.uniform(name="which") < 0.5:
            at = self.of_b.block("b").step(at)
        return at


def uneven():
    a = kg.normal(0.0, [0.1, 1.0], name="a")
    return kg.model(kg.normal(0.0, [1.0, 30.0], name="b"), a)


def test_warm_up_tunes_within():
    """Each to its own target, with scales of its own; a step that was not made says nothing."""
    made = uneven()
    quiet = {"chains": 2, "seed": 1, "progress": False}
    tree = kg.mcmc(made, Uneven(), draws=1500, warmup=600, **quiet)
    state, stats = tree["sampler_state"].dataset, tree["sample_stats"]
    for name, target in (("of_a", 0.8), ("of_b", 0.3)):
        assert abs(float(np.nanmean(stats[f"{name}_acceptance_rate"])) - target) < 0.1
        scale = state[f"hyper_{name}.scale"].values
        np.testing.assert_allclose(scale, [[0.1, 1.0, 1.0, 30.0]] * 2, rtol=0.05)
        step = stats[f"{name}_step_size"].values
        assert np.all(step == step[:, :1])
    ratio = np.divide(*state["hyper_of_b.step_size"].values.T)
    np.testing.assert_allclose(ratio, 0.5)
    # What was tuned is taken over, and what is not to be tuned is left.
    again = kg.mcmc(made, Uneven(), draws=4, warmup=0, tuned=tree, **quiet)
    for name in ("hyper_of_a.step_size", "hyper_of_b.scale"):
        np.testing.assert_array_equal(again["sampler_state"][name], state[name])


def test_what_is_not_tuned_within_stays():
    fixed = Uneven(
        of_a=samplers.HMC(0.01, n_steps=3, tune="step_size"),
        of_b=samplers.RandomWalk(lambda i: 1.0 + i, scale=[1.0, 30.0]),
    )
    chain = kg.chain(uneven(), fixed, seed=1, warmup=100)
    assert chain.hyper["of_a.step_size"] > 0.02
    assert chain.hyper["of_b.scale"].tolist() == [1.0, 30.0]
    assert not {"of_a.scale", "of_b.step_size"} & set(chain.hyper)
    left = Uneven(of_a=samplers.HMC(0.01, tune=()), of_b=samplers.RandomWalk(2.0, tune=()))
    chain = kg.chain(uneven(), left, seed=1, warmup=100)
    assert chain.hyper["of_a.step_size"] == 0.01
    assert "of_b.scale" not in chain.hyper
    # The scales of the sampler around are those of what is within.
    chain = kg.chain(uneven(), Uneven(scale=[1.0, 30.0, 0.1, 1.0]), seed=1, warmup=100)
    assert [name for name in chain.hyper if name.endswith("scale")] == ["scale"]


class Herd(kg.Sampler):
    walkers = kg.hyper(6, lower=2, static=True)
    inner = kg.hyper(samplers.HMC(0.01, n_steps=3))

    def step(self, at):
        return self.inner.step(at)


def test_an_ensemble_tunes_the_step_size_within():
    x = kg.normal(0.0, 1.0, shape=3, name="x")
    chain = kg.chain(kg.model(x), Herd(), seed=1, warmup=300)
    rates = chain.step(200).sample_stats["inner_acceptance_rate"]
    assert rates.shape == (200, 6)
    assert abs(rates.mean() - 0.8) < 0.1
    assert "inner.scale" not in chain.hyper
