"""One transition of a sampler from given points, driven as the protocol says, without warm-up."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from kinetograph.graph.precision import x64
from kinetograph.samplers.protocol import Noise, Position, Sampler, Tuned
from kinetograph.streams.draws import chain_key

__all__ = ["transitions"]


@partial(jax.jit, static_argnums=(0, 1))
def _run(sampler: Sampler, log_density: Callable, q: Any, events: Any, key: Any, tuned: Tuned):
    value_and_grad = jax.value_and_grad(log_density)

    def one(start: Any) -> Any:
        q, event = start
        noise = Noise(key, event)

        def turn(state: Any) -> Any:
            point = sampler.ask(state, tuned)
            return sampler.tell(state, Position(point, *value_and_grad(point)), tuned, noise)

        state = sampler.begin(Position(q, *value_and_grad(q)), tuned, noise)
        state = lax.while_loop(lambda s: ~sampler.finished(s), turn, state)
        return sampler.end(state)

    # One after the other: in a batch every branch would run for every row.
    return lax.map(one, (q, events))


def transitions(
    sampler: Sampler,
    log_density: Callable[[Any], Any],
    q: Any,
    *,
    step_size: float,
    scale: Any = 1.0,
    seed: int = 1,
    repeat: int | None = None,
    dtype: Any = float,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The new positions and the statistics; each row makes one transition.

    With `repeat`, q is a single point from which so many transitions start.
    """
    q = np.asarray(q, dtype)
    if repeat is not None:
        q = np.broadcast_to(q, (repeat, *q.shape))
    tuned = Tuned(np.asarray(step_size, dtype), np.full(q.shape[1], scale, dtype))
    with x64():
        events = jnp.arange(len(q), dtype=jnp.uint32)
        position, info = _run(sampler, log_density, q, events, chain_key(seed, 0), tuned)
        values = np.asarray(info.statistics)
    named = {s.name: values[:, i].astype(s.dtype) for i, s in enumerate(sampler.statistics)}
    return np.asarray(position.q), named
