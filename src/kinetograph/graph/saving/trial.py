"""A trial of a loaded graph: whether its operations can be lowered, without computing any."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..lower import evaluate
from ..node import Apply, Node
from ..precision import x64

__all__ = ["TRIALS", "stand_in", "try_out"]

# What else is tried of kinds of nodes, while JAX traces.
TRIALS: dict[type, Callable[[Any], None]] = {}


def try_out(nodes: Sequence[Node]) -> None:
    """Lower nodes, for inputs of the types that they have.

    Raises
    ------
    ValueError
        If the result of an operation does not have the shape and type of its node.
    Exception
        Whatever an operation raises.
    """
    outside = [node for node in nodes if node.context is None]

    def lower() -> Any:
        found = evaluate(outside, {}, lambda node, values: stand_in(node))
        for node, tensor in found.items():
            result = isinstance(node, Apply) and node.context is None
            if result and (tensor.shape, tensor.dtype) != (node.shape, node.dtype):
                raise ValueError(f"a result is {tensor.dtype} of shape {tensor.shape}")
        for node in outside:
            if type(node) in TRIALS:
                TRIALS[type(node)](node)
        return ()

    with x64():
        jax.eval_shape(lower)


def stand_in(node: Node) -> Any:
    """An array of the shape and type of a node."""
    return jnp.zeros(node.shape, node.dtype)
