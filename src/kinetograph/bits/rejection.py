"""Rejection sampling: for each element the first proposal that is accepted.

Each element has its own sequence of attempts 0, 1, ..., which does not depend on the number of
attempts of the other elements. Arrays of at most `FEW` elements make each attempt for all elements
together, until each element has a value. In larger arrays, the elements whose first proposal was
rejected wait in a queue. Each trip of a loop takes a block of elements from the queue and makes one
attempt for each; rejected elements join the queue again. So only elements that need another attempt
pay for it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from .source import Source

__all__ = ["FEW", "first_accepted"]

FEW = 2**17  # elements; larger arrays use the queue, which takes about two seconds to compile
_PARTS = 64  # a trip takes 1/64 of the number of elements from the queue

Proposal = Callable[..., tuple[Any, Any]]


def first_accepted(
    source: Source,
    propose: Proposal,
    parameters: Sequence[Any],
    valid: Any,
    otherwise: Any,
    sure: Proposal | None = None,
) -> Any:
    """The first accepted proposal for each element.

    Parameters
    ----------
    source
        The bits of the draw; its shape is the shape of the result.
    propose
        A function `propose(source, attempt, *parameters)` that returns a value and whether it is
        accepted. The number of attempts is not bounded, so it must accept with a fair probability
        wherever `valid` is true.
    parameters
        Arrays that broadcast to the shape of the source.
    valid
        Whether an element is drawn at all. Other elements are `otherwise`, without any attempt.
    otherwise
        The value of elements that are not valid.
    sure
        A squeeze: a cheaper function that makes the same proposals. It accepts some of the
        proposals that `propose` accepts, and rejects all that `propose` rejects.
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
    values = jnp.where(valid & accepted, first, otherwise).reshape(-1)
    waiting = (valid & ~accepted).reshape(-1)
    # Arrays are read at the elements of a trip; single numbers serve all elements.
    flat = [jnp.broadcast_to(p, source.shape).reshape(-1) if jnp.ndim(p) else p for p in parameters]

    def unfinished(state: Any) -> Any:
        _, _, _, count, _, _ = state
        return count > 0

    def step(state: Any) -> Any:
        attempt, head, end, count, queue, values = state
        # Read once, before the queue is overwritten: otherwise XLA copies the queue.
        places = lax.optimization_barrier(lax.dynamic_slice(queue, (head,), (length,)))
        present = head + jnp.arange(length, dtype=np.int32) < count
        element_parameters = [p.at[places].get(mode="clip") if p.ndim else p for p in flat]
        proposal, accepted = propose(source.of(places), attempt, *element_parameters)
        values = _put(values, present & accepted, places, proposal)
        rejected, rejected_count = _places(present & ~accepted, places, length)
        # The elements are written behind the place up to which the queue has been read.
        queue = lax.dynamic_update_slice(queue, rejected, (end,))
        head, end = head + np.int32(length), end + rejected_count
        round_ended = head >= count
        zero = np.int32(0)
        return (
            attempt + round_ended.astype(np.uint32),
            jnp.where(round_ended, zero, head),
            jnp.where(round_ended, zero, end),
            jnp.where(round_ended, end, count),
            queue,
            values,
        )

    def wait() -> Any:
        queue, count = _places(waiting, jnp.arange(size, dtype=np.uint32), size + length)
        attempt = jnp.uint32(1 if sure is None else 0)
        state = (attempt, jnp.int32(0), jnp.int32(0), count, queue, values)
        return lax.while_loop(unfinished, step, state)[5]

    return lax.cond(jnp.any(waiting), wait, lambda: values).reshape(source.shape)


def _places(chosen: Any, places: Any, length: int) -> tuple[Any, Any]:
    """The chosen places, packed to the front, and their number.

    The result has the given length; zeros fill its end.
    """
    # Ranks are computed from words of 32 flags, because XLA's cumulative sums are slow.
    rows = jnp.pad(chosen, (0, -chosen.size % 32)).reshape(-1, 32).astype(np.uint32)
    column = jnp.arange(32, dtype=np.uint32)
    words = jnp.sum(rows << column, axis=1, dtype=np.uint32)[:, None]
    counts = lax.population_count(words).astype(np.int32)
    ends = jnp.cumsum(counts, axis=0)
    preceding = lax.population_count(words & ((np.uint32(1) << column) - np.uint32(1)))
    rank = (ends - counts + preceding.astype(np.int32)).reshape(-1)[: chosen.size]
    return _put(jnp.zeros(length, places.dtype), chosen, rank, places), ends[-1, 0]


def _put(array: Any, chosen: Any, places: Any, values: Any) -> Any:
    """Return the array with the chosen values set at their places."""
    # Values that are not chosen go to distinct places beyond the end, where they are dropped.
    beyond = jnp.arange(array.size, array.size + chosen.size, dtype=places.dtype)
    target = jnp.where(chosen, places, beyond)
    return array.at[target].set(values, mode="drop", unique_indices=True)
