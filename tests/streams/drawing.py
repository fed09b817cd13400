"""Draws for tests: from fixed keys, through the registry, compiled by JAX."""

import jax
import jax.numpy as jnp
import numpy as np

from kinetograph.graph.precision import x64
from kinetograph.streams.keys import MEMBER, make_key
from kinetograph.streams.samplers import SAMPLERS
from kinetograph.streams.source import Source, event_source

# A right sampler fails a test at this level once in 10,000 runs of all of about 100 such tests;
# the keys are fixed, so that it either does for ever or never.
LEVEL = 1e-6


def make_source(shape, dtype=np.float64, seed=7, member=0, event=(0, 0), lane=0) -> Source:
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    key = make_key(seed, MEMBER, member)
    return event_source(tuple(key), event, np.uint32(lane), shape, np.dtype(dtype))


def cast(values, dtype):
    """Real parameters in the working precision, whole ones as they are."""
    return [jnp.asarray(v, dtype if np.asarray(v).dtype.kind == "f" else None) for v in values]


def draw(name, *parameters, shape=100_000, dtype=np.float64, **place) -> np.ndarray:
    def program(*values):
        return SAMPLERS[name].function(make_source(shape, dtype, **place), *values)

    with x64():
        return np.asarray(jax.jit(program)(*cast(parameters, dtype)))


def derivatives(name, parameters, argument, shape, dtype=np.float64):
    """The draw, its derivatives by a parameter (all moved alike), and backward those of its sum."""

    def program(value):
        values = list(cast(parameters, dtype))
        values[argument] = value
        return SAMPLERS[name].function(make_source(shape, dtype), *values)

    with x64():
        at = cast(parameters, dtype)[argument]
        value, forward = jax.jit(lambda x: jax.jvp(program, (x,), (jnp.ones_like(x),)))(at)
        back = jax.jit(jax.grad(lambda x: jnp.sum(program(x))))(at)
        return np.asarray(value), np.asarray(forward), np.asarray(back)
