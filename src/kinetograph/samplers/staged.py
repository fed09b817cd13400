"""Transitions in plain Python: a function on kinetograph arrays, as JAX calls it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.array import Array
from ..graph.control.structure import flatten
from ..graph.elementwise import as_node
from ..graph.inputs import placeholder
from ..graph.lower import Environment, evaluate
from ..graph.node import Apply, Operation

__all__ = ["call_staged", "operation"]


def operation(function: Callable[[Any], Any], name: str, dtype: Any) -> Callable[[Any], Array]:
    """A JAX function of one array, which gives a number, as an operation of the graph.

    It may hold on to tensors of the trace around it, data say.
    """
    node_type = Operation(name, function)
    return lambda x: Array(Apply(node_type, (as_node(x),), (), np.dtype(dtype)))


def call_staged(function: Callable[..., Any], *tensors: Any) -> Any:
    """The result of a function on arrays, its graph built and evaluated on tensors.

    `function` returns a nested structure of arrays; the result is one of tensors.
    """
    inputs = [placeholder(np.shape(tensor), tensor.dtype) for tensor in tensors]
    leaves, _, pattern = flatten(function(*inputs))
    nodes = [as_node(leaf) for leaf in leaves]
    environment: Environment = {
        array.node: tensor for array, tensor in zip(inputs, tensors, strict=True)
    }
    evaluate(nodes, environment)
    return pattern.fill([environment[node] for node in nodes])
