"""Draws for tests: from fixed keys, through the registry, compiled by JAX."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kinetograph.bits.keys import MEMBER, make_key
from kinetograph.bits.source import Source, event_source
from kinetograph.distributions.family import FAMILIES
from kinetograph.distributions.generator import Generator
from kinetograph.distributions.truncated_normal import TRUNCATED_NORMAL
from kinetograph.graph.precision import x64
from kinetograph.programs.disk_cache import compile_cached
from kinetograph.streams.orders import INTEGERS, PERMUTATION, WEIGHTED_PERMUTATION

# A right sampler fails a test at this level once in 10,000 runs of all of about 100 such tests;
# the keys are fixed, so that it either does for ever or never.
LEVEL = 1e-6

SIZE = 100_000
ROWS = 50_000  # of vectors: a few would be unrolled, and take longest to compile


MORE = (TRUNCATED_NORMAL, INTEGERS, PERMUTATION, WEIGHTED_PERMUTATION)
GENERATORS: dict[str, Generator] = {**FAMILIES, **{g.name: g for g in MORE}}


def as_shape(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


def make_source(shape, dtype=np.float64, seed=7, member=0, event=(0, 0), lane=0) -> Source:
    key = make_key(seed, MEMBER, member)
    return event_source(tuple(key), event, np.uint32(lane), as_shape(shape), np.dtype(dtype))


def cast(values, dtype):
    """Real parameters in the working precision, whole ones as they are."""
    return [jnp.asarray(v, dtype if np.asarray(v).dtype.kind == "f" else None) for v in values]


# Compiling takes most of the time. The programs are in the session's cache of compiled programs,
# for all processes; all parameters, keys and events share one, and a test that has no reason for
# another shape takes the default.
_PROGRAMS: dict[Any, Any] = {}
# Derivatives are compiled with little effort, in two thirds of the time; draws as everywhere.
QUICK = {"xla_backend_optimization_level": 0}


def _run(function, settings, *values, options=None):
    key = (function, settings, *((v.shape, v.dtype) for v in values))
    if key not in _PROGRAMS:
        lowered = jax.jit(partial(function, *settings)).lower(*values)
        text = f"{options}\n{lowered.as_text()}"
        made = SimpleNamespace(compile=partial(lowered.compile, options))
        _PROGRAMS[key], _ = compile_cached(text, lambda: made)
    return jax.tree.map(np.asarray, _PROGRAMS[key](*values))


def _draw(name, shape, dtype, key, event, lane, *values):
    source = event_source(tuple(key), tuple(event), lane, shape, np.dtype(dtype))
    return GENERATORS[name].draw(source, *values)


def draw(
    name, *parameters, shape=SIZE, dtype=np.float64, seed=7, member=0, event=(0, 0), lane=0
) -> np.ndarray:
    if shape == SIZE:  # one number and as many of it are one program
        kinds = GENERATORS[name].parameters
        each = zip(parameters, kinds, strict=True)
        parameters = [p if k.event_ndim else np.broadcast_to(p, SIZE) for p, k in each]
    with x64():
        key = jnp.asarray(make_key(seed, MEMBER, member), np.uint32)
        place = key, jnp.asarray(event, np.uint32), jnp.uint32(lane)
        settings = name, as_shape(shape), np.dtype(dtype)
        return _run(_draw, settings, *place, *cast(parameters, dtype))


def _derivatives(name, arguments, shape, dtype, *values):
    def program(*moved):
        inputs = list(values)
        for k, v in zip(arguments, moved, strict=True):
            inputs[k] = v
        return GENERATORS[name].draw(make_source(shape, dtype), *inputs)

    at = [values[k] for k in arguments]
    # Linearised once: draws by rejection would be made, and compiled, for each derivative anew.
    value, push = jax.linearize(program, *at)
    forward = [push(*(jnp.full_like(a, i == k) for k, a in enumerate(at))) for i in range(len(at))]
    back = jax.linear_transpose(push, *at)(jnp.ones_like(value))
    return value, forward, back


def derivatives(name, parameters, arguments, shape, dtype=np.float64):
    """The draw; its derivatives by each of some parameters, all of whose elements move alike; and
    backward those of its sum.
    """
    with x64():
        settings = name, tuple(arguments), as_shape(shape), np.dtype(dtype)
        return _run(_derivatives, settings, *cast(parameters, dtype), options=QUICK)
