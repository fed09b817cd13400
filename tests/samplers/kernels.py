"""One transition of a sampler from given points, by its kernel, without warm-up."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from kinetograph.graph.precision import x64
from kinetograph.kernels.contract import Moment, Space, State
from kinetograph.kernels.noise import Noise
from kinetograph.kernels.target import Position
from kinetograph.streams.draws import chain_key

__all__ = ["transitions"]


class Function(NamedTuple):
    """A log density written in JAX, as the target of a kernel."""

    function: Callable[[Any], Any]

    def no_trips(self) -> tuple:
        return ()

    def join(self, trips: Any, found: Any) -> tuple:
        return ()

    def evaluate(self, q: Any, trips: Any) -> Any:
        return Position(q, *jax.value_and_grad(self.function)(q)), trips

    def log_density(self, q: Any) -> Any:
        value = self.function(q)
        return jnp.where(jnp.isnan(value), -jnp.inf, value)


@partial(jax.jit, static_argnums=(0, 1))
def _run(kernel: Any, log_density: Callable, q: Any, events: Any, key: Any, hyper: Any):
    target = Function(log_density)

    def one(start: Any) -> Any:
        q, event = start
        moment = Moment(hyper, Noise(key, event), target)
        position, _ = target.evaluate(q, ())
        state, info = kernel.step(moment, State(position, kernel.init(moment, position), ()))
        return state.position, info

    # One after the other: in a batch every branch would run for every row.
    return lax.map(one, (q, events))


def transitions(
    sampler: Any,
    log_density: Callable[[Any], Any],
    q: Any,
    *,
    seed: int = 1,
    repeat: int | None = None,
    dtype: Any = float,
    **hyper: Any,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The new positions and the statistics; each row makes one transition.

    With `repeat`, q is a single point from which so many transitions start. `hyper` are values of
    hyper-parameters in the place of the sampler's.
    """
    q = np.asarray(q, dtype)
    if repeat is not None:
        q = np.broadcast_to(q, (repeat, *q.shape))
    space = Space(q.shape[1:], np.dtype(dtype), {}, 0)
    values = sampler.hypers(space)
    values |= {k: np.broadcast_to(np.asarray(v, dtype), values[k].shape) for k, v in hyper.items()}
    with x64():
        kernel = sampler.kernel(space)
        events = jnp.arange(len(q), dtype=jnp.uint32)
        position, info = _run(kernel, log_density, q, events, chain_key(seed, 0), values)
        rows = np.asarray(info.statistics)
    named = {s.name: rows[:, i].astype(s.dtype) for i, s in enumerate(kernel.statistics)}
    return np.asarray(position.q), named
