"""Columns: nodes in one place of alike pieces or steps."""

from collections.abc import Callable, Hashable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..faults import has_faults
from ..node import PART, Apply, Data, FormOf, Node
from ..operations.indexing import SLICE

__all__ = [
    "Column",
    "are_equal",
    "at",
    "equal_literals",
    "hashable",
    "is_batchable",
    "is_operation",
    "is_plain",
    "is_single",
    "lowered",
    "place_of",
    "same_place",
]

Column = tuple[Node, ...]  # the nodes in one place, one of each piece or step


def is_batchable(node: Node) -> bool:
    """Whether alike nodes can be one operation with another axis."""
    return is_plain(node) and not has_faults(node)


def is_plain(node: Node) -> bool:
    """Whether an operation outside of branches depends on its operands alone."""
    return type(node) in (Apply, FormOf) and node.context is None and _is_pure(node)


def is_operation(node: Node) -> bool:
    """Whether an operation, perhaps in a branch, depends on operands alone."""
    return type(node) is Apply and not node.operation.ambient and _is_pure(node)


def _is_pure(node: Node) -> bool:
    assert isinstance(node, Apply)
    if node.operation is PART:  # its operand is a list of arrays
        return False
    return node.alike is None and not node.computes and not node.tracks


def hashable(value: Any) -> Hashable:
    """A text or tuple that identifies attributes; None if there is none."""
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes())
    if hasattr(value, "items"):
        value = tuple(sorted(value.items()))
    if isinstance(value, (tuple, list)):
        parts = tuple(map(hashable, value))
        return None if None in parts else ("of", *parts)
    if value is None:
        return "None"
    if isinstance(value, slice):
        return ("slice", repr(value))
    try:
        hash(value)
    except TypeError:
        return None
    return (type(value).__name__, value)


def is_single(nodes: Column) -> bool:
    """Whether the same node is in this place in all pieces."""
    first = nodes[0]
    return all(node is first for node in nodes)


def place_of(node: Node) -> int | None:
    """The place along the first axis that a node reads.

    An example is 3 for `x[3]`; None for other nodes.
    """
    if not isinstance(node, Apply) or node.operation is not SLICE:
        return None
    template = node.attributes["template"]
    if len(template) != 1 or not isinstance(template[0], (int, np.integer)):
        return None
    return int(template[0]) % node.parents[0].shape[0]


def same_place(node: Node) -> object:
    """A key, equal for nodes that read one place of one array."""
    place = place_of(node)
    return node if place is None else (node.parents[0], place)


def at(array: Any, places: np.ndarray) -> Any:
    """The rows at these places.

    Consecutive places are read by a slice, whose derivative needs no scatter.
    """
    first, step = int(places[0]), int(places[1] - places[0]) if len(places) > 1 else 1
    stop = int(places[-1]) + 1
    if step > 0 and np.array_equal(places, np.arange(first, stop, step)):
        return array if (first, stop, step) == (0, len(array), 1) else array[first:stop:step]
    in_order = bool(np.all(np.diff(places) >= 0))
    return jnp.asarray(array).at[places].get(mode="promise_in_bounds", indices_are_sorted=in_order)


def equal_literals(column: Column) -> bool:
    """Whether all nodes of a column are literals of the same value."""
    first = column[0]
    if not isinstance(first, Data) or not first.literal:
        return False
    return all(
        isinstance(n, Data) and n.literal and np.array_equal(n.value, first.value) for n in column
    )


def are_equal(one: Node, other: Node) -> bool:
    """Whether nodes are the same operations on the same nodes."""
    visited: set[tuple[Node, Node]] = set()
    waiting = [(one, other)]
    while waiting:
        pair = one, other = waiting.pop()
        if one is other or pair in visited or equal_literals(pair):
            continue
        if not isinstance(one, Apply) or not isinstance(other, Apply):
            return False
        if not (is_operation(one) and is_operation(other)) or one.operation is not other.operation:
            return False
        key = hashable(one.attributes)
        if key is None or key != hashable(other.attributes) or one.shape != other.shape:
            return False
        visited.add(pair)
        waiting += zip(one.parents, other.parents, strict=True)
    return True


def lowered(node: Node) -> Callable[..., Any]:
    """The function that computes a node from the tensors of its parents."""
    assert isinstance(node, Apply)
    attributes = dict(node.attributes)
    casts = attributes.pop("casts", None)

    def lower(*tensors: Any) -> Any:
        if casts is not None:
            tensors = tuple(jnp.asarray(t, d) for t, d in zip(tensors, casts, strict=True))
        return jnp.asarray(node.operation.lower(*tensors, **attributes), node.dtype)

    return lower
