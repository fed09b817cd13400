"""The trial of a loaded graph: lowering of its operations, without running."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..lower import evaluate
from ..node import Apply, Node
from ..precision import x64

__all__ = ["TRIALS", "stand_in", "try_out"]

# Further trials of some classes of nodes, run while JAX traces.
TRIALS: dict[type, Callable[[Any], None]] = {}


def try_out(nodes: Sequence[Node]) -> None:
    """Lower nodes for inputs of the right shapes and types.

    Raises
    ------
    ValueError
        If the result of an operation does not have the shape and type of its node.
    Exception
        Any error that an operation raises.
    """
    outside = [node for node in nodes if node.context is None]

    def lower() -> Any:
        environment = evaluate(outside, {}, lambda node, values: stand_in(node))
        for node, tensor in environment.items():
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
    """Zeros with the shape and type of a node."""
    return jnp.zeros(node.shape, node.dtype)
