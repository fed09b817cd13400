"""Barriers for values that a batch of chains computes once."""

from typing import Any

import jax
from jax import lax
from jax.custom_batching import custom_vmap

__all__ = ["once"]


def once(values: Any) -> Any:
    """Return values that the program of a batch computes only once.

    In a batch, each branch becomes a selection for every chain. The condition of a selection is
    read for each element of all selected arrays, in many loops. Without a barrier, XLA computes the
    condition and everything it depends on again in each of these loops. For a single chain the
    values are returned unchanged.
    """
    return jax.tree.map(_once, values)


@custom_vmap
def _once(value: Any) -> Any:
    return value


@_once.def_vmap
def _of_batch(size: int, batched: list[bool], value: Any) -> Any:  # type: ignore[misc]
    return (lax.optimization_barrier(value), True) if batched[0] else (value, False)
