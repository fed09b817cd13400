"""Rejection: for every element the first proposal that is accepted.

An element goes through its own attempts 0, 1, ..., however long others take. Few elements go
through them side by side, until the last has one. Of many, those whose first proposal is not
accepted wait in a queue: a trip of a loop takes some of them, for one attempt, and those that have
to try once more queue up again. So each attempt is paid for by those elements only that need it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from .source import Source

__all__ = ["FEW", "first_accepted"]

FEW = 2**17  # elements; compiling the queue takes about two seconds
_PARTS = 64  # of the elements, one of which a trip takes from the queue

Proposal = Callable[..., tuple[Any, Any]]


def first_accepted(
    source: Source,
    propose: Proposal,
    parameters: Sequence[Any],
    valid: Any,
    otherwise: Any,
    sure: Proposal | None = None,
) -> Any:
    """What `propose(source, attempt, *parameters)`, a value and whether it is accepted, accepts.

    Parameters broadcast to the shape of the source. Those elements that are not `valid` take part
    in nothing and are `otherwise`. There is no largest number of attempts: it goes on until each
    has one, so `propose` must accept with a fair probability wherever `valid` is true.

    `sure` is a squeeze: it makes the same proposals for less and accepts some of those that
    `propose` accepts, and no others.
    """
    parameters = [lax.stop_gradient(p) for p in parameters]
    valid = jnp.broadcast_to(valid, source.shape)
    if not FEW < source.size < 2**31:
        return _side_by_side(source, propose, parameters, valid, otherwise)

    def queueing() -> Any:
        return _queueing(source, propose, parameters, valid, otherwise, sure)

    return lax.cond(jnp.any(valid), queueing, lambda: jnp.full(source.shape, otherwise))


def _side_by_side(
    source: Source, propose: Proposal, parameters: Sequence[Any], valid: Any, otherwise: Any
) -> Any:
    def unfinished(state: Any) -> Any:
        return ~jnp.all(state[1])

    def step(state: Any) -> Any:
        attempt, done, value = state
        proposal, accepted = propose(source, attempt, *parameters)
        return attempt + np.uint32(1), done | accepted, jnp.where(done, value, proposal)

    value = jnp.full(source.shape, otherwise)
    return lax.while_loop(unfinished, step, (jnp.uint32(0), ~valid, value))[2]


def _queueing(
    source: Source,
    propose: Proposal,
    parameters: Sequence[Any],
    valid: Any,
    otherwise: Any,
    sure: Proposal | None,
) -> Any:
    size = source.size
    length = size // _PARTS
    first, accepted = (propose if sure is None else sure)(source, np.uint32(0), *parameters)
    found = jnp.where(valid & accepted, first, otherwise).reshape(-1)
    waiting = (valid & ~accepted).reshape(-1)
    # Of an array the elements that are at turn, of a single number itself.
    flat = [jnp.broadcast_to(p, source.shape).reshape(-1) if jnp.ndim(p) else p for p in parameters]

    def unfinished(state: Any) -> Any:
        _, _, _, count, _, _ = state
        return count > 0

    def step(state: Any) -> Any:
        attempt, head, behind, count, queue, found = state
        # Read once, before it is overwritten: else XLA copies the queue.
        places = lax.optimization_barrier(lax.dynamic_slice(queue, (head,), (length,)))
        present = head + jnp.arange(length, dtype=np.int32) < count
        own = [p.at[places].get(mode="clip") if p.ndim else p for p in flat]
        proposal, accepted = propose(source.of(places), attempt, *own)
        found = _put(found, present & accepted, places, proposal)
        again, more = _places(present & ~accepted, places, length)
        # Never in front of what has been read.
        queue = lax.dynamic_update_slice(queue, again, (behind,))
        head, behind = head + np.int32(length), behind + more
        through = head >= count
        zero = np.int32(0)
        return (
            attempt + through.astype(np.uint32),
            jnp.where(through, zero, head),
            jnp.where(through, zero, behind),
            jnp.where(through, behind, count),
            queue,
            found,
        )

    def wait() -> Any:
        queue, count = _places(waiting, jnp.arange(size, dtype=np.uint32), size + length)
        attempt = jnp.uint32(1 if sure is None else 0)
        state = (attempt, jnp.int32(0), jnp.int32(0), count, queue, found)
        return lax.while_loop(unfinished, step, state)[5]

    return lax.cond(jnp.any(waiting), wait, lambda: found).reshape(source.shape)


def _places(chosen: Any, places: Any, length: int) -> tuple[Any, Any]:
    """The chosen of the places, one behind the other, and zeros to a length; how many they are."""
    # Ranks from words of 32 of them, as XLA's cumulative sums are slow.
    rows = jnp.pad(chosen, (0, -chosen.size % 32)).reshape(-1, 32).astype(np.uint32)
    column = jnp.arange(32, dtype=np.uint32)
    words = jnp.sum(rows << column, axis=1, dtype=np.uint32)[:, None]
    counts = lax.population_count(words).astype(np.int32)
    ends = jnp.cumsum(counts, axis=0)
    left = lax.population_count(words & ((np.uint32(1) << column) - np.uint32(1)))
    rank = (ends - counts + left.astype(np.int32)).reshape(-1)[: chosen.size]
    return _put(jnp.zeros(length, places.dtype), chosen, rank, places), ends[-1, 0]


def _put(array: Any, chosen: Any, places: Any, values: Any) -> Any:
    """The array with the chosen of the values at their places."""
    # The others go to places of their own beyond its end, where they are dropped.
    beyond = jnp.arange(array.size, array.size + chosen.size, dtype=places.dtype)
    target = jnp.where(chosen, places, beyond)
    return array.at[target].set(values, mode="drop", unique_indices=True)
