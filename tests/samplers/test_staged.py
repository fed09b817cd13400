"""Functions on arrays of the graph, called by JAX."""

import jax
import jax.numpy as jnp
import numpy as np

import kinetograph as kg
from kinetograph.graph.precision import x64
from kinetograph.samplers.staged import call_staged, operation


@kg.autograph.convert
def climb(x, height, limit):
    n = 0
    while height(x) < limit:
        x = x + 1.0
        n = n + 1
    return {"x": x, "n": n}


def test_a_loop_around_a_function_of_jax():
    """The function holds on to a tensor of the trace around it."""

    def found(x, slope):
        height = operation(lambda x: slope * x, "height", float)
        return call_staged(lambda x, limit: climb(x, height, limit), x, jnp.float64(10.0))

    with x64():
        result = jax.jit(found)(np.float64(0.5), np.float64(2.0))
        several = jax.jit(jax.vmap(found))(np.zeros(3), np.array([1.0, 2.0, 4.0]))
    assert (float(result["x"]), int(result["n"])) == (5.5, 5)
    np.testing.assert_array_equal(several["n"], [10, 5, 3])
    np.testing.assert_array_equal(several["x"], [10.0, 5.0, 3.0])


def test_what_does_not_depend_on_the_arguments():
    with x64():
        assert call_staged(lambda x: (1.5, [x, 2]), np.float64(3.0)) == (1.5, [3.0, 2])
