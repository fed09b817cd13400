"""Samplers made of samplers: mixtures, blocks, other arrangements of one scheme."""

import numpy as np
import pytest
from tests.laws.helpers import assert_moments

import kinetograph as kg
from kinetograph import samplers

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
QUIET = {"warmup": 50, "chains": 4, "seed": 1, "progress": False}


class Mixture(samplers.HMC, samplers.RandomWalk):
    """In each step a trajectory or a random walk, by chance."""

    def step(self, at):
        if self.noise.uniform(name="which") < 0.5:
            at = samplers.HMC.step(self, at)
        else:
            at = samplers.RandomWalk.step(self, at)
        return at


def test_a_mixture_of_two_samplers():
    x = kg.multivariate_normal([1.0, -2.0], [[1.0, 0.6], [0.6, 4.0]], name="x")
    sampler = Mixture(0.7, n_steps=3, tune=())
    tree = kg.mcmc(kg.model(x), sampler, draws=8000, **QUIET)
    assert_moments(tree["posterior"]["x"].values, [1.0, -2.0], [1.0, 2.0])
    steps = tree["sample_stats"]["n_steps"].values  # 0 where there was no trajectory
    assert abs((steps > 0).mean() - 0.5) < 5 * 0.5 / np.sqrt(steps.size)


class Blocks(kg.Sampler):
    """A trajectory of a with b fixed, then a random walk of b with a fixed."""

    step_size = kg.hyper(0.5, positive=True)

    def step(self, at):
        h, start = self.step_size, at
        parts = self.parts(0 * at.q)
        parts["a"] = parts["a"] + 1.0
        moves = self.join(parts)
        p = moves * self.noise("momentum", like=at.q)
        before = at.potential + 0.5 * kg.sum(p * p)
        for _ in kg.range(4):
            p = p - 0.5 * h * moves * at.gradient
            at = self.evaluate(at.q + h * p)
            p = p - 0.5 * h * moves * at.gradient
        if kg.log(self.noise.uniform(name="a")) > before - at.potential - 0.5 * kg.sum(p * p):
            at = start
        parts = self.parts(at.q)
        parts["b"] = parts["b"] + 2.0 * self.noise("walk")
        new = self.evaluate(parts)
        if kg.log(self.noise.uniform(name="b")) < at.potential - new.potential:
            at = new
        return at


@pytest.mark.slow
def test_a_sampler_for_each_block():
    """a ~ N(0, 1) twice, b ~ N(a_0, 1)."""
    a = kg.normal(0.0, 1.0, shape=2, name="a")
    b = kg.normal(a[0], 1.0, name="b")
    tree = kg.mcmc(kg.model(a, b), Blocks(), draws=20_000, **QUIET)
    assert_moments(tree["posterior"]["a"].values, 0.0, 1.0)
    assert_moments(tree["posterior"]["b"].values, 0.0, np.sqrt(2.0))


class Rearranged(kg.Sampler):
    """GLA2 as B O B A: the half kick and the friction of a step at the start of the next one."""

    step_size = kg.hyper(0.3, positive=True)
    friction = kg.hyper(0.7, lower=0)

    def init(self, at):
        return {"p": self.noise("momentum", like=at.q)}

    def step(self, at, p):
        h, a = self.step_size, kg.exp(-self.friction * self.step_size)
        noise = self.noise("O", like=p)
        self.record("R", noise)
        if self.iteration > 0:
            p = p - 0.5 * h * at.gradient
            p = a * p + kg.sqrt(1 - a * a) * noise
        self.record("p", p)
        p = p - 0.5 * h * at.gradient
        return self.evaluate(at.q + h * p), {"p": p}


@pytest.mark.slow
def test_a_cyclic_arrangement_is_the_scheme():
    """Its records are of the row before: p of a time is known when the next step begins."""
    h, gamma = 0.3, 0.7
    model = kg.model(kg.normal(0.0, 1.0, shape=2, name="x"))
    chain = kg.chain(model, Rearranged(h, gamma), seed=1)
    q, p, a = chain.q, chain.slots["p"], np.exp(-gamma * h)
    rows = chain.step(100)
    for i in range(99):
        np.testing.assert_allclose(rows.sample_stats["p"][i], p, rtol=0, atol=1e-10)
        p = p - 0.5 * h * q
        q = q + h * p
        p = a * (p - 0.5 * h * q) + np.sqrt(1 - a * a) * rows.sample_stats["R"][i + 1]
        np.testing.assert_allclose(rows.posterior["x"][i], q, rtol=0, atol=1e-10)
