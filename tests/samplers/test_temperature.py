"""An inverse temperature multiplies the whole log density, of every sampler.

At beta a step on U is a step at 1 on beta U: with h / sqrt(beta), and the friction times
sqrt(beta), where momenta are drawn at the temperature; with h / beta in overdamped schemes; as it
is where proposals do not know of U.
"""

import numpy as np
import pytest
from jax import numpy as jnp
from tests.samplers.kernels import series, transitions
from tests.selection import thinned

from kinetograph import samplers

BETA = 2.3
ROOT = np.sqrt(BETA)


def density(q):
    return -0.5 * jnp.sum(q * q) - 0.3 * jnp.cos(2 * q[0]) * q[1] - 0.1 * q[2] ** 4


def cold(q):
    return BETA * density(q)


# Steps so large that Metropolis tests refuse some.
EVERY = {
    "BAOAB": (samplers.BAOAB, {"step_size": 0.3, "friction": 0.7}, "momenta"),
    "NUTS": (samplers.NUTS, {"step_size": 0.8, "max_depth": 3, "tune": ()}, "momenta"),
    "Slice": (samplers.Slice, {"tune": ()}, None),
    "MCLMC": (samplers.MCLMC, {"step_size": 0.4}, None),
    "Slice, doubling": (samplers.Slice, {"doubling": True, "tune": ()}, None),
    "MAMS": (samplers.MAMS, {"step_size": 1.0, "tune": ()}, None),
    "HMC": (samplers.HMC, {"step_size": 0.8, "n_steps": 3, "tune": ()}, "momenta"),
    "GHMC": (samplers.GHMC, {"step_size": 0.8, "friction": 0.7, "tune": ()}, "momenta"),
    "GLA1": (samplers.GLA1, {"step_size": 0.3, "friction": 0.7}, "momenta"),
    "GLA2": (samplers.GLA2, {"step_size": 0.3, "friction": 0.7}, "momenta"),
    "UBU": (samplers.UBU, {"step_size": 0.3, "friction": 0.7}, "momenta"),
    "SGHMC": (samplers.SGHMC, {"step_size": 0.3, "friction": 0.7}, "momenta"),
    "Splitting": (samplers.Splitting, {"word": "ABOBA", "step_size": 0.3}, "momenta"),
    "SGNHT": (samplers.SGNHT, {"step_size": 0.3, "friction": 0.7}, "momenta"),
    "CCAdL": (samplers.CCAdL, {"step_size": 0.3, "friction": 0.7}, "momenta"),
    "SGLD": (samplers.SGLD, {"step_size": 0.1}, "overdamped"),
    "LM": (samplers.LM, {"step_size": 0.1}, "overdamped"),
    "MALA": (samplers.MALA, {"step_size": 0.3, "tune": ()}, "overdamped"),
    "RandomWalk": (samplers.RandomWalk, {"step_size": 0.6, "tune": ()}, None),
    "Stretch": (samplers.Stretch, {"walkers": 8}, None),
    "MEADS": (samplers.MEADS, {"walkers": 8}, None),
    "DifferentialEvolution": (samplers.DifferentialEvolution, {"walkers": 8}, None),
    "Walk": (samplers.Walk, {"walkers": 8, "tune": ()}, None),
}
# By what a record at 1 of beta U is divided to be that at beta of U; others are the same.
ENERGIES = {"lp": BETA, "kinetic_energy": BETA, "kinetic_energy_O": BETA, "energy": BETA}
OF = {
    "NUTS": {"energy_error": BETA, "max_energy_error": BETA},  # not times beta
    "SGLD": {"noise_norm": 1.0},
    "LM": {"noise_norm": 1.0},
}
FACTORS = ENERGIES | {"thermostat": ROOT, "noise_norm": ROOT}
WANTED = ["bad", "noise_norm", "max_energy_error"]
TESTED = {"HMC", "GHMC", "MALA", "MAMS", "RandomWalk", "Stretch", "DifferentialEvolution", "Walk"}


def both(name):
    """The sampler at beta, and that at 1 of the potential times beta."""
    kind, settings, dynamics = EVERY[name]
    other = dict(settings)
    if dynamics == "momenta":
        other["step_size"] = settings["step_size"] / ROOT
        if hasattr(kind, "friction"):
            other["friction"] = settings.get("friction", 1.0) * ROOT
    elif dynamics == "overdamped":
        other["step_size"] = settings["step_size"] / BETA
    return kind(inverse_temperature=BETA, **settings), kind(**other)


@pytest.mark.parametrize("name", EVERY)
def test_a_transition_at_a_temperature_and_all_that_it_records(name):
    warm, other = both(name)
    shape = (200, 3) if warm.walkers is None else (25, warm.walkers, 3)
    start = np.random.default_rng(1).normal(size=shape) / ROOT
    found, records = transitions(warm, density, start, small=True, wanted=WANTED)
    wanted, expected = transitions(other, cold, start, small=True, wanted=WANTED)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    assert records.keys() == expected.keys() >= {"lp"}
    factors = FACTORS | OF.get(name, {})
    for record, values in records.items():
        if (name, record) == ("UBU", "noise_norm"):  # of positions and momenta together
            continue
        divided = expected[record] / factors.get(record, 1.0)
        np.testing.assert_allclose(values, divided, rtol=1e-8, atol=1e-9, err_msg=record)
    if name in TESTED:
        assert 0.02 < records["accepted"].mean() < 0.98
    if name == "NUTS":
        assert 0.3 < records["acceptance_rate"].mean() < 0.98


def test_the_noise_of_ubu_at_a_temperature():
    """Its noise of positions and momenta is, of the same random numbers, 1 / root of beta."""
    start = np.zeros((50, 3))
    flat = lambda q: 0.0 * jnp.sum(q)
    one, other = (
        transitions(samplers.UBU(0.3, inverse_temperature=beta), flat, start, wanted=["noise_norm"])
        for beta in (1.0, BETA)
    )
    np.testing.assert_allclose(one[1]["noise_norm"], ROOT * other[1]["noise_norm"], rtol=1e-9)
    np.testing.assert_allclose(one[1]["kinetic_energy"], BETA * other[1]["kinetic_energy"])


@pytest.mark.parametrize("name", thinned(EVERY, len(EVERY)))
def test_a_temperature_is_a_factor_of_the_potential(name):
    warm, other = both(name)
    shape = (2, 3) if warm.walkers is None else (1, warm.walkers, 3)
    start = np.random.default_rng(1).normal(size=shape)
    found = series(warm, density, start, 6)
    assert np.abs(np.diff(found, axis=1)).max() > 0.01
    np.testing.assert_allclose(found, series(other, cold, start, 6), rtol=1e-9, atol=1e-9)


def test_every_sampler_is_here():
    """But EQN, which has the temperature of its scheme."""
    rest = {"EQN", "Integrator"}
    known = {kind.__name__ for kind, *_ in EVERY.values()}
    assert known == set(samplers.__all__) - rest
