"""Metropolis tests: the exact acceptance, and moves to where there is no density."""

import numpy as np
import pytest
from jax import numpy as jnp
from tests.samplers.kernels import transitions
from tests.selection import thinned

from kinetograph import laws, samplers


def normal(q):
    return -0.5 * jnp.sum(q * q)


@pytest.mark.parametrize(("width", "exact"), [(1.0, 0.70483), (2.4, 0.44228), (5.0, 0.24224)])
def test_the_acceptance_of_a_random_walk(width, exact):
    """On N(0, 1), with proposals N(0, s^2): (2 / pi) arctan(2 / s)."""
    assert abs(2 / np.pi * np.arctan(2 / width) - exact) < 5e-6
    start = np.random.default_rng(1).normal(size=(40_000, 1))
    walk = samplers.RandomWalk(tune=())
    _, found = transitions(walk, normal, start, small=True, step_size=width)
    assert laws.mean_test(found["acceptance_rate"].reshape(4, -1), exact).passed()
    assert laws.mean_test(found["accepted"].reshape(4, -1).astype(float), exact).passed()


def box(q):
    """Inside of |q| < 1 alone: outside density and gradient are no numbers."""
    return jnp.sum(jnp.sqrt(1 - q * q)) - 1.0


TESTED = {
    "HMC": samplers.HMC(0.4, n_steps=3, tune=()),
    "MAMS": samplers.MAMS(0.4, tune=()),
    "GHMC": samplers.GHMC(0.4, n_steps=3, tune=()),
    "MALA": samplers.MALA(0.4, tune=()),
    "RandomWalk": samplers.RandomWalk(1.0, tune=()),
    "NUTS": samplers.NUTS(step_size=0.4, tune=()),
}


@pytest.mark.parametrize("name", thinned(TESTED, 6))
def test_where_there_is_no_density_a_move_is_refused(name):
    start = np.random.default_rng(1).uniform(-1, 1, size=(4000, 2))
    after, found = transitions(TESTED[name], box, start, small=True, wanted=["bad"])
    assert 0 < found["bad"].sum() < len(start)
    assert np.all(np.abs(after) < 1)
    stayed = (after == start).all(1)
    assert 0.02 < stayed.mean() < 0.98
    rate = found["acceptance_rate"]
    assert np.all((rate >= 0) & (rate <= 1))
    if name not in ("NUTS", "GHMC"):
        assert abs(rate.mean() - (~stayed).mean()) < 5 * 0.5 / np.sqrt(len(start))
    if name == "RandomWalk":  # draws its proposals blindly: one out of the support is no wonder
        assert "diverging" not in found
    elif name != "NUTS":
        assert found["diverging"].any()
        assert stayed[found["diverging"]].all()
        np.testing.assert_array_equal(found["diverging"], ~(found["energy_error"] < 1000))
        np.testing.assert_array_equal(found["bad"], ~np.isfinite(found["energy_error"]))
