"""The warm-up of members: the step size follows the target of the energy error."""

import jax
import numpy as np

import kinetograph as kg
from kinetograph.neural.warmup import LAST, warm_members


def test_the_last_step_size_has_the_last_energy_error():
    x = np.linspace(-1, 1, 40)[:, None]
    network = kg.neural.mlp([4], "tanh")
    layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    model = kg.neural.posterior(network, layout, "mean_squared", x, np.sin(3 * x))
    starts = np.random.default_rng(1).normal(size=(2, model.free_size))
    samplers, positions = warm_members(model, starts, 6000, 1)
    assert positions.shape == starts.shape
    assert not np.allclose(positions, starts)
    for sampler, position in zip(samplers, positions, strict=True):
        running = kg.chain(model, sampler, seed=2, initial=position)
        errors = running.step(2000).sample_stats["energy_error"]
        # Half and double step sizes have errors of 1/64 and 64 times this size.
        assert LAST / 8 < np.mean(errors**2) / model.free_size < LAST * 8
