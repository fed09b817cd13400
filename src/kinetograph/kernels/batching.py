"""What a batch of chains computes once."""

from typing import Any

import jax
from jax import lax
from jax.custom_batching import custom_vmap

__all__ = ["once"]


def once(values: Any) -> Any:
    """The values, which the program of a batch computes before what uses them.

    In a batch each branch is a choice for every chain. What is chosen by is used for each element
    of all that is chosen, in many loops over arrays, and XLA computes it there again and again,
    with all that it follows from, unless a barrier keeps it. Of one chain nothing is changed.
    """
    return jax.tree.map(_once, values)


@custom_vmap
def _once(value: Any) -> Any:
    return value


@_once.def_vmap
def _of_batch(size: int, batched: list[bool], value: Any) -> Any:  # type: ignore[misc]
    return (lax.optimization_barrier(value), True) if batched[0] else (value, False)
