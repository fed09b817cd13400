"""Trajectories of HMC, GHMC and MAMS: number of steps, recorded energy, share of a momentum."""

import numpy as np
import pytest
from jax import numpy as jnp
from scipy.stats import binom
from tests.samplers.kernels import transitions

import kinetograph as kg
from kinetograph import samplers

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
COUNT = 4000


def normal(q):
    return -0.5 * jnp.sum(q * q)


# A mean of four steps, and a jitter of a half.
JITTERED = {
    "HMC": samplers.HMC(0.5, 4, path_jitter=0.5, tune=()),
    "MAMS": samplers.MAMS(0.5, length=2.0, path_jitter=0.5, tune=()),
}


@pytest.mark.parametrize("name", JITTERED)
def test_numbers_of_steps_are_uniform_numbers_rounded(name):
    """Numbers on (2, 6), rounded: counts lie between the 1e-9 quantiles of binomial laws."""
    start = np.random.default_rng(1).normal(size=(COUNT, 2))
    _, records = transitions(JITTERED[name], normal, start, small=True)
    counts = np.bincount(records["n_steps"].astype(int), minlength=8)
    chance = np.array([0, 0, 1, 2, 2, 2, 1, 0]) / 8
    assert counts.sum() == COUNT
    assert np.all(counts >= binom(COUNT, chance).ppf(1e-9))
    assert np.all(counts <= binom(COUNT, chance).ppf(1 - 1e-9))


def test_a_trajectory_of_mams_has_at_least_one_step():
    """Also if the step size is above the length of the trajectory."""
    start = np.random.default_rng(1).normal(size=(200, 2))
    after, records = transitions(JITTERED["MAMS"], normal, start, small=True, step_size=5.0)
    np.testing.assert_array_equal(records["n_steps"], 1)
    moved = (after != start).any(1)
    np.testing.assert_array_equal(moved, records["accepted"])
    np.testing.assert_allclose(np.linalg.norm(after - start, axis=1)[moved], 5.0, rtol=1e-9)
    assert 0 < moved.sum() < 200


@pytest.mark.parametrize(
    "sampler", [samplers.HMC(n_steps=3, tune=()), samplers.GHMC(n_steps=3, friction=0.0, tune=())]
)
def test_the_recorded_energy_is_that_of_the_point_that_is_kept(sampler):
    """The energy of the start after a rejection, else the energy of the proposal.

    A trajectory with tiny steps has the same momenta and so records the energy of the start.
    """
    start = np.random.default_rng(1).normal(size=(500, 3))
    _, still = transitions(sampler, normal, start, small=True, step_size=1e-12)
    _, records = transitions(sampler, normal, start, small=True, step_size=1.7)
    accepted = records["accepted"].astype(bool)
    change = np.where(accepted, records["energy_error"], 0.0)
    np.testing.assert_allclose(records["energy"], still["energy"] + change, rtol=1e-9, atol=1e-9)
    assert 50 < accepted.sum() < 450
    assert records["energy_error"][~accepted].mean() > 0.1


def test_the_share_of_a_momentum_that_ghmc_keeps():
    """exp(-gamma h L); at a temperature of almost zero there is no noise."""
    gamma, h, steps = 0.7, 0.3, 4
    q = kg.variable(shape=2, name="q")
    model = kg.model(q, factors=[0.0 * kg.sum(q)])
    sampler = samplers.GHMC(h, gamma, steps, inverse_temperature=1e300, tune=())
    chain = kg.chain(model, sampler, seed=1)
    start = chain.q
    chain.slots["p"] = np.array([1.0, -2.0])
    chain.step(2)
    share = np.exp(-gamma * h * steps)
    np.testing.assert_allclose(chain.slots["p"], share**2 * np.array([1.0, -2.0]), rtol=1e-12)
    moved = h * steps * (share + share**2) * np.array([1.0, -2.0])
    np.testing.assert_allclose(chain.q - start, moved, rtol=1e-10)
