"""Barriers in the programs of batches, and none in that of one chain."""

import jax
import jax.numpy as jnp
import numpy as np

from kinetograph.kernels.batching import once


def chosen(x, y):
    first, other = once((x, y))
    return jnp.where(first > 0, other, x)


def test_of_one_chain_there_is_no_barrier():
    assert "optimization_barrier" not in jax.jit(chosen).lower(1.0, 2.0).as_text()
    assert float(chosen(1.0, 2.0)) == 2.0


def test_of_a_batch_there_is_one_around_each_value_that_differs():
    x = np.array([-1.0, 1.0, 2.0])
    for axes, barriers in [((0, 0), 2), ((0, None), 1)]:
        y = x + 10 if axes[1] == 0 else 10.0
        mapped = jax.jit(jax.vmap(chosen, axes))
        assert mapped.lower(x, y).as_text().count("optimization_barrier") == barriers
        np.testing.assert_allclose(mapped(x, y), np.where(x > 0, y, x))
