"""Draws for tests: from fixed keys, through the registry, compiled by JAX."""

from functools import partial

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


def as_shape(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


def make_source(shape, dtype=np.float64, seed=7, member=0, event=(0, 0), lane=0) -> Source:
    key = make_key(seed, MEMBER, member)
    return event_source(tuple(key), event, np.uint32(lane), as_shape(shape), np.dtype(dtype))


def cast(values, dtype):
    """Real parameters in the working precision, whole ones as they are."""
    return [jnp.asarray(v, dtype if np.asarray(v).dtype.kind == "f" else None) for v in values]


# One program for all parameters, keys and events: most of the time goes into compiling.
@partial(jax.jit, static_argnums=(0, 1, 2))
def _draw(name, shape, dtype, key, event, lane, *values):
    source = event_source(tuple(key), tuple(event), lane, shape, np.dtype(dtype))
    return SAMPLERS[name].function(source, *values)


def draw(
    name, *parameters, shape=100_000, dtype=np.float64, seed=7, member=0, event=(0, 0), lane=0
) -> np.ndarray:
    with x64():
        key = jnp.asarray(make_key(seed, MEMBER, member), np.uint32)
        place = key, jnp.asarray(event, np.uint32), np.uint32(lane)
        return np.asarray(_draw(name, as_shape(shape), dtype, *place, *cast(parameters, dtype)))


@partial(jax.jit, static_argnums=(0, 1, 2, 3))
def _derivatives(name, argument, shape, dtype, *values):
    def program(value):
        moved = [value if k == argument else v for k, v in enumerate(values)]
        return SAMPLERS[name].function(make_source(shape, dtype), *moved)

    at = values[argument]
    value, forward = jax.jvp(program, (at,), (jnp.ones_like(at),))
    return value, forward, jax.grad(lambda x: jnp.sum(program(x)))(at)


def derivatives(name, parameters, argument, shape, dtype=np.float64):
    """The draw, its derivatives by a parameter (all moved alike), and backward those of its sum."""
    with x64():
        found = _derivatives(name, argument, as_shape(shape), dtype, *cast(parameters, dtype))
        return tuple(map(np.asarray, found))
