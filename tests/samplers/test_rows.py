"""What each sampler of the catalogue keeps: rows of one time, chains of their own."""

import functools
import pickle

import numpy as np
import pytest
from tests.selection import thinned

import kinetograph as kg
from kinetograph import samplers

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

EVERY = {
    "HMC": samplers.HMC(0.8, n_steps=3, tune=()),
    "BAOAB": samplers.BAOAB(0.3),
    "NUTS": samplers.NUTS(step_size=0.7, tune=()),
    "GHMC": samplers.GHMC(1.5, n_steps=3, tune=()),
    "MALA": samplers.MALA(0.6, tune=()),
    "RandomWalk": samplers.RandomWalk(1.0, tune=()),
    "Slice": samplers.Slice(tune=()),
    "Slice, doubling": samplers.Slice(doubling=True, tune=()),
    "MAMS": samplers.MAMS(0.9, tune=()),
    "MCLMC": samplers.MCLMC(0.5),
    "SGLD": samplers.SGLD(0.1),
    "LM": samplers.LM(0.1),
    "GLA1": samplers.GLA1(0.3),
    "GLA2": samplers.GLA2(0.3),
    "Splitting": samplers.Splitting("ABOBA", 0.3),
    "UBU": samplers.UBU(0.3),
    "SGHMC": samplers.SGHMC(0.1),
    "SGNHT": samplers.SGNHT(0.1),
    "CCAdL": samplers.CCAdL(0.1),
    "Stretch": samplers.Stretch(walkers=8),
    "MEADS": samplers.MEADS(walkers=8),
    "DifferentialEvolution": samplers.DifferentialEvolution(walkers=8),
    "Walk": samplers.Walk(walkers=8, tune=()),
    "EQN": samplers.EQN(samplers.BAOAB(0.2), walkers=8, steps=2),
}


@functools.cache
def model():
    x = kg.normal(0.5, [1.0, 2.0, 0.5], shape=3, name="x")
    return kg.model(x, factors=[-0.1 * kg.sum(x) ** 2])


@pytest.mark.parametrize("name", thinned(EVERY, 23))
def test_a_row_is_of_one_time(name):
    """Density, gradient and kinetic energy are those of the row's q and p, refused moves or not."""
    sampler, of = EVERY[name], model()
    tree = kg.mcmc(of, sampler, draws=20, warmup=3, chains=7, seed=1, progress=False)
    q = tree["posterior"]["x"].values
    np.testing.assert_allclose(tree["sample_stats"]["lp"], of.log_prob(q), rtol=1e-12)
    state = tree["sampler_state"].dataset
    last = state["position_q"].values
    np.testing.assert_array_equal(last.reshape(-1, 3), q[:, -1])
    np.testing.assert_allclose(state["position_gradient"], of.gradient(last), rtol=1e-9, atol=1e-12)
    if "slots_p" in state and "kinetic_energy" in tree["sample_stats"]:
        energy = 0.5 * (state["slots_p"].values ** 2).sum(-1).ravel()
        found = tree["sample_stats"]["kinetic_energy"][:, -1]
        np.testing.assert_allclose(found, energy, rtol=1e-12)
    # Chain 5 of seven is the fifth alone.
    alone = kg.chain(of, sampler, seed=1, index=5, warmup=3).step(20).posterior["x"]
    walkers = sampler.walkers or 1
    expected = q.reshape(7, walkers, 20, 3)[5].transpose(1, 0, 2).reshape(alone.shape)
    np.testing.assert_array_equal(alone, expected)


def test_a_refused_move_gives_back_what_was_known():
    """The whole point, to the last bit."""
    chain = kg.chain(model(), EVERY["HMC"], seed=1)
    chain.hyper["step_size"] = 1.4
    refused = 0
    for _ in range(40):
        before = chain.state.position
        if not chain.step().sample_stats["accepted"][0]:
            refused += 1
            after = chain.state.position
            for old, new in zip(before, after, strict=True):
                np.testing.assert_array_equal(old, new)
    assert refused > 3


@pytest.mark.slow
def test_a_schedule_of_temperatures_is_two_legs_by_hand():
    """Annealing: a run with beta as a function of the step is one whose beta is set in between."""
    sampler = functools.partial(samplers.BAOAB, 0.3)
    scheduled = sampler(inverse_temperature=lambda i: kg.where(i < 10, 0.2, 5.0))
    whole = kg.chain(model(), scheduled, seed=1).step(25).posterior["x"]
    chain = kg.chain(model(), sampler(inverse_temperature=0.2), seed=1)
    first = chain.step(10).posterior["x"]
    chain.hyper["inverse_temperature"] = 5.0
    second = chain.step(15).posterior["x"]
    np.testing.assert_allclose(whole, np.concatenate([first, second]), rtol=1e-9, atol=1e-12)


def test_a_chain_is_saved_and_goes_on(tmp_path):
    """Position, momenta, noise, tuned values, averages: through a file, to the last bit."""

    def made():
        sampler = samplers.GHMC(n_steps=2)
        return kg.chain(model(), sampler, seed=1, warmup=20, averages=[kg.observables.potential])

    chain = made()
    chain.step(7)
    file = tmp_path / "chain.pickle"
    file.write_bytes(pickle.dumps(chain.state))
    expected = chain.step(13).posterior["x"]
    other = made()
    other.state = pickle.loads(file.read_bytes())
    np.testing.assert_array_equal(other.step(13).posterior["x"], expected)
    assert other.iteration == chain.iteration == 40
    for old, new in zip(chain.averages["potential"], other.averages["potential"], strict=True):
        np.testing.assert_array_equal(old, new)
