"""Rejection: for every element the first proposal that is accepted."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

__all__ = ["first_accepted"]


def first_accepted(propose: Callable[[Any], tuple[Any, Any]], skip: Any, otherwise: Any) -> Any:
    """What `propose(attempt)`, a value and whether it is accepted, first accepts.

    An element goes through its own attempts 0, 1, ..., however long others take. Those of `skip`
    take part in nothing and are `otherwise`. There is no largest number of attempts: it goes on
    until each has one, so `propose` must accept with a fair probability wherever `skip` is false.
    """

    def unfinished(state: Any) -> Any:
        return ~jnp.all(state[1])

    def step(state: Any) -> Any:
        attempt, done, value = state
        proposal, accepted = propose(attempt)
        return attempt + np.uint32(1), done | accepted, jnp.where(done, value, proposal)

    return lax.while_loop(unfinished, step, (jnp.uint32(0), skip, otherwise))[2]
