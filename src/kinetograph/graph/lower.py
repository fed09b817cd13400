"""From nodes to tensors: evaluate a graph in an environment, parents first, each node once.

The environment maps nodes to tensors. Evaluated under a JAX trace it lowers the graph to XLA;
evaluated on concrete values it is a reference interpreter that goes node by node.
"""

from collections.abc import Callable, Iterable
from typing import Any

import jax.numpy as jnp
import numpy as np

from .node import Apply, Bundle, Data, Node, ancestors

__all__ = ["Environment", "evaluate", "lower_node"]

Environment = dict[Node, Any]


def lower_node(node: Apply | Bundle, environment: Environment) -> Any:
    """The tensor of one operation, given its parents' tensors."""
    tensors = [environment[parent] for parent in node.parents]
    attributes = node.attributes
    casts = attributes.get("casts")
    if casts is not None:
        attributes = {k: v for k, v in attributes.items() if k != "casts"}
        tensors = [_cast(t, dtype) for t, dtype in zip(tensors, casts, strict=True)]
    return node.operation.lower(*tensors, **attributes)


def _cast(tensor: Any, dtype: np.dtype) -> Any:
    return tensor if tensor.dtype == dtype else jnp.asarray(tensor).astype(dtype)


def evaluate(
    nodes: Iterable[Node],
    environment: Environment,
    define: Callable[[Node, Environment], Any] | None = None,
) -> Environment:
    """Add the tensors of `nodes`, and of all they need, to the environment.

    `define` gives the tensors of nodes that are neither operations nor data nor already present.
    """
    for node in ancestors(nodes, stop=environment.__contains__):
        if node in environment:
            continue
        if isinstance(node, (Apply, Bundle)):
            environment[node] = lower_node(node, environment)
        elif isinstance(node, Data):
            environment[node] = jnp.asarray(node.value)
        elif define is not None:
            environment[node] = define(node, environment)
        else:
            raise KeyError(node)
    return environment
