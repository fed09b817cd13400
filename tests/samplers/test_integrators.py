"""Integrators of kicks and drifts: published coefficients, as maps, and as steps of a sampler."""

import functools

import numpy as np
import pytest
from tests.laws.test_integrators import TABLE
from tests.selection import thinned

import kinetograph as kg
from kinetograph import laws, samplers
from kinetograph.samplers.integrators import NAMED
from kinetograph.samplers.mclmc import moved
from kinetograph.samplers.points import Point

PUBLISHED = {
    "leapfrog": "leapfrog",
    "minimum_norm": "minimum norm",
    "bcss2": "BCSS 2",
    "bcss3": "BCSS 3",
}


def coefficients(integrator):
    made = np.zeros(2 * integrator.stages + 1)
    made[::2], made[1::2] = integrator.kicks, integrator.drifts
    return made


def test_coefficients_are_those_of_the_published_table():
    assert set(NAMED) == set(PUBLISHED)
    for name, title in PUBLISHED.items():
        expected, stages, *_ = TABLE[title]
        assert NAMED[name].stages == stages
        np.testing.assert_allclose(coefficients(NAMED[name]), expected, rtol=1e-14)


class Pendulums:
    """Evaluates points as a sampler does: U = q^4 / 4 + cos q of each coordinate, coupled."""

    def evaluate(self, q):
        pull = 0.3 * kg.sum(q)
        return Point(q, 0.25 * kg.sum(q**4) + 0.5 * 0.3 * kg.sum(q) ** 2, q**3 + pull)


@functools.cache
def steps(name):
    """Ten steps of an integrator, compiled."""
    integrator, sampler = NAMED[name], Pendulums()

    @kg.function
    def map(q, p):
        at = sampler.evaluate(q)
        for _ in kg.range(10):
            at, p = integrator.step(sampler, at, p, 0.1)
        return at.q, p

    return map


Q, P = np.array([0.3, 1.0, -0.7, 0.1]), np.array([1.0, -0.5, 0.2, 0.8])


@pytest.mark.parametrize("name", thinned(["bcss3", "leapfrog", "minimum_norm", "bcss2"], 4))
def test_they_are_reversible_and_keep_volume(name):
    map = steps(name)
    assert laws.reversibility(map, Q, P).passed()
    assert laws.volume(map, Q, P).passed()


class AtSpeed(Pendulums):
    inverse_temperature = 1.3

    def __init__(self, integrator):
        self.integrator = integrator


def at_speed(integrator, h):
    """Four steps of length h, or more that are shorter, at constant speed."""
    sampler, count = AtSpeed(integrator), round(4 * 0.2 / h)

    @kg.function
    def map(q, u):
        at = start = sampler.evaluate(q)
        kinetic = 0.0
        for _ in kg.range(count):
            at, u, kinetic = moved(sampler, at, u, kinetic, h)
        return at.q, u, kinetic + 1.3 * (at.potential - start.potential)

    return map


def test_steps_at_constant_speed():
    """Reversible; two leapfrog steps are one of another word; BCSS conserves the energy better."""
    u = P / np.linalg.norm(P)
    found = {
        "twice": at_speed(samplers.Integrator([0.25, 0.5, 0.5, 0.5, 0.25]), 0.2)(Q, u),
        "leapfrog": at_speed(NAMED["leapfrog"], 0.1)(Q, u),
        "bcss3": at_speed(NAMED["bcss3"], 0.2)(Q, u),
    }
    for one, other in zip(found["twice"], found["leapfrog"], strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    assert abs(found["bcss3"][2]) < 0.25 * abs(found["leapfrog"][2])
    q, u_end, _ = found["bcss3"]
    assert np.linalg.norm(u_end) == pytest.approx(1.0, rel=1e-12)
    q, u_end, _ = at_speed(NAMED["bcss3"], 0.2)(q, -u_end)
    np.testing.assert_allclose([q, -u_end], [Q, u], rtol=0, atol=1e-10)


@pytest.mark.slow
def test_they_are_reversible_in_single_precision():
    for name in NAMED:
        found = laws.reversibility(steps(name), Q.astype(np.float32), P.astype(np.float32))
        assert found.passed()


@pytest.mark.parametrize("name", thinned(["bcss3", "leapfrog", "bcss2", "minimum_norm"], 4))
def test_energy_errors_are_of_second_order(name):
    """Of a trajectory; their mean at equilibrium is of fourth order. By quadrature in the well
    q^2 / 2 + cos(q) / 2, so that there is no statistical error.
    """
    integrator = NAMED[name]

    class Well:
        def evaluate(self, q):
            return Point(q, 0.5 * q * q + 0.5 * kg.cos(q), q - 0.5 * kg.sin(q))

    @kg.function
    def moved(q, p, h, count):
        at = Well().evaluate(q)
        for _ in kg.range(count):
            at, p = integrator.step(Well(), at, p, h)
        return at.q, p

    def energy(q, p):
        return 0.5 * p * p + 0.5 * q * q + 0.5 * np.cos(q)

    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    q, p = (grid.ravel() for grid in np.meshgrid(nodes, nodes))
    density = np.outer(weights, weights * np.exp(-0.5 * np.cos(nodes))).ravel()
    density /= density.sum()
    sizes, errors = [0.05, 0.1, 0.2], []
    for h in sizes:
        change = energy(*moved(q, p, h, round(2.4 / h))) - energy(q, p)
        errors.append([density @ np.abs(change), density @ change])
    slopes = np.diff(np.log(errors), axis=0) / np.log(2)
    np.testing.assert_allclose(slopes, [[2, 4], [2, 4]], rtol=0, atol=0.1)


@pytest.mark.slow
def test_langevin_steps_of_an_integrator():
    """Without friction two steps of leapfrog are one of another word."""
    twice = samplers.Integrator([0.25, 0.5, 0.5, 0.5, 0.25])
    model = kg.model(kg.gamma(3.0, 2.0, shape=2, name="x"))
    settings = {"friction": 0.0}
    one = kg.chain(model, samplers.GLA2(0.2, integrator=twice, **settings), seed=1).step(50)
    other = kg.chain(model, samplers.GLA2(0.1, **settings), seed=1).step(100)
    np.testing.assert_allclose(one.posterior["x"], other.posterior["x"][1::2], rtol=1e-10)


def test_the_shadow_energy_of_leapfrog_is_constant():
    """GLA2 without friction is leapfrog: p^2 / 2 + k (1 - h^2 k / 4) q^2 / 2 does not drift."""
    h, k = 0.7, 1.0
    model = kg.model(kg.normal(0.0, 1.0, name="x"))
    chain = kg.chain(model, samplers.GLA2(h, friction=0.0), seed=1, initial={"x": 0.8})
    rows = chain.step(10_000)
    kinetic, q = rows.sample_stats["kinetic_energy"], rows.posterior["x"]
    shadow = kinetic + laws.hmc_oscillator(h, 1).shadow_energy(q, 0.0)
    assert np.ptp(shadow) < 1e-10 * shadow[0]
    assert np.ptp(kinetic + 0.5 * k * q * q) > 0.01
