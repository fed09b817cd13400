"""An inverse temperature multiplies the whole log density, of every sampler.

At beta a step on U is a step at 1 on beta U: with h / sqrt(beta), and the friction times
sqrt(beta), where momenta are drawn at the temperature; with h / beta in overdamped schemes; as it
is where proposals do not know of U.
"""

import numpy as np
import pytest
from jax import numpy as jnp
from tests.samplers.kernels import series
from tests.selection import thinned

from kinetograph import samplers

BETA = 2.3
ROOT = np.sqrt(BETA)


def density(q):
    return -0.5 * jnp.sum(q * q) - 0.3 * jnp.cos(2 * q[0]) * q[1] - 0.1 * q[2] ** 4


def cold(q):
    return BETA * density(q)


EVERY = {
    "BAOAB": (samplers.BAOAB, {"step_size": 0.3, "friction": 0.7}, "momenta"),
    "NUTS": (samplers.NUTS, {"step_size": 0.4, "tune": ()}, "momenta"),
    "Slice": (samplers.Slice, {"tune": ()}, None),
    "MCLMC": (samplers.MCLMC, {"step_size": 0.4}, None),
    "Slice, doubling": (samplers.Slice, {"doubling": True, "tune": ()}, None),
    "MAMS": (samplers.MAMS, {"step_size": 0.4, "tune": ()}, None),
    "HMC": (samplers.HMC, {"step_size": 0.3, "n_steps": 3, "tune": ()}, "momenta"),
    "GHMC": (samplers.GHMC, {"step_size": 0.3, "friction": 0.7, "tune": ()}, "momenta"),
    "GLA1": (samplers.GLA1, {"step_size": 0.3, "friction": 0.7}, "momenta"),
    "GLA2": (samplers.GLA2, {"step_size": 0.3, "friction": 0.7}, "momenta"),
    "UBU": (samplers.UBU, {"step_size": 0.3, "friction": 0.7}, "momenta"),
    "SGHMC": (samplers.SGHMC, {"step_size": 0.3, "friction": 0.7}, "momenta"),
    "Splitting": (samplers.Splitting, {"word": "ABOBA", "step_size": 0.3}, "momenta"),
    "SGLD": (samplers.SGLD, {"step_size": 0.1}, "overdamped"),
    "LM": (samplers.LM, {"step_size": 0.1}, "overdamped"),
    "MALA": (samplers.MALA, {"step_size": 0.1, "tune": ()}, "overdamped"),
    "RandomWalk": (samplers.RandomWalk, {"step_size": 0.6, "tune": ()}, None),
    "Stretch": (samplers.Stretch, {"walkers": 8}, None),
    "DifferentialEvolution": (samplers.DifferentialEvolution, {"walkers": 8}, None),
    "Walk": (samplers.Walk, {"walkers": 8, "tune": ()}, None),
}


@pytest.mark.parametrize("name", thinned(EVERY, len(EVERY)))
def test_a_temperature_is_a_factor_of_the_potential(name):
    kind, settings, dynamics = EVERY[name]
    other = dict(settings)
    if dynamics == "momenta":
        other["step_size"] = settings["step_size"] / ROOT
        if hasattr(kind, "friction"):
            other["friction"] = settings.get("friction", 1.0) * ROOT
    elif dynamics == "overdamped":
        other["step_size"] = settings["step_size"] / BETA
    warm = kind(inverse_temperature=BETA, **settings)
    shape = (2, 3) if warm.walkers is None else (1, warm.walkers, 3)
    start = np.random.default_rng(1).normal(size=shape)
    found = series(warm, density, start, 6)
    assert np.abs(np.diff(found, axis=1)).max() > 0.01
    np.testing.assert_allclose(found, series(kind(**other), cold, start, 6), rtol=1e-9, atol=1e-9)


def test_every_sampler_is_here():
    """But thermostats, whose targets they reach in the limit, and EQN, which has a scheme's."""
    rest = {"EQN", "SGNHT", "CCAdL", "Integrator"}
    known = {kind.__name__ for kind, *_ in EVERY.values()}
    assert known == set(samplers.__all__) - rest
