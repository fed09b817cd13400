"""Where a chain begins: a small program of its own, beside that of the blocks.

Points drawn from uniform(-2, 2) on the free scale are tried one after the other until the log
density and its gradient are finite; a point that the user gave is the only one. Of an ensemble each
walker has its own.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

from ..graph.trips import Trips
from ..kernels.target import Position, any_short
from ..models.starts import START_ATTEMPTS
from ..streams.draws import uniforms
from .program import Program
from .state import ChainState

__all__ = ["Found", "search"]

_START = 0  # the purpose of the random numbers of starting points; samplers use others


class Found(NamedTuple):
    """What a search ends with; without success the position is the last one tried."""

    chain: ChainState
    success: Any
    reports: tuple[Trips, ...]  # of the loops in the log density


class _Try(NamedTuple):
    position: Position
    good: Any
    count: Any
    trips: tuple[Trips, ...]


def search(
    program: Program, key: Any, free: Any, given: Any, hyper: Any, data: Sequence[Any]
) -> Found:
    """The state of a chain before its first transition; `free` is tried if it is `given`."""
    target = program.target(data)
    shape, walkers = program.space.shape, program.walkers
    most = jnp.where(given, 1, START_ATTEMPTS)

    def candidate(number: Any) -> Any:
        u = uniforms(key, number, _START, math.prod(shape)).reshape(shape)
        return jnp.where(given, free, (4.0 * u - 2.0).astype(program.dtype))

    def more(tried: _Try) -> Any:
        return ~jnp.all(tried.good) & (tried.count < most) & ~any_short(tried.trips)

    def attempt(tried: _Try) -> _Try:
        count = tried.count + 1
        q = candidate(count)
        if walkers:
            q = jnp.where(tried.good[:, None], tried.position.q, q)
        position, trips = target.evaluate(q, tried.trips)
        slopes = jnp.all(jnp.isfinite(position.gradient), -1)
        return _Try(position, jnp.isfinite(position.log_density) & slopes, count, trips)

    blank = jnp.zeros(shape, program.dtype)
    nowhere = Position(blank, jnp.zeros(walkers, program.dtype), blank)
    first = _Try(nowhere, jnp.zeros(walkers, bool), jnp.int32(0), target.no_trips())
    end = lax.while_loop(more, attempt, first)
    chain = program.begin(target, key, hyper, end.position, end.count)
    return Found(chain, jnp.all(end.good), end.trips)
