"""The names of axes, carried from data and unknowns to what is computed from them.

Dims pass through elementwise operations (aligned from the right, as shapes are) and through
indexing the first axis by an array that has dims of its own. Everything else drops them.
"""

from collections.abc import Container, Iterable

import numpy as np

from ..graph.errors import DimsError
from ..graph.indexing import READ, READ_CHECKED
from ..graph.messages import describe, site_text
from ..graph.node import Apply, Data, Node, ancestors

__all__ = ["collect_coords", "dims_of"]

Dims = tuple[str | None, ...]


def dims_of(nodes: Iterable[Node]) -> dict[Node, Dims]:
    """The dims of the given nodes and their ancestors; None for an axis without a name.

    Raises
    ------
    DimsError
        If an elementwise operation meets two different names on one axis.
    """
    known: dict[Node, Dims] = {}
    for node in ancestors(nodes):
        blank: Dims = (None,) * len(node.shape)
        if node.dims is not None:
            known[node] = node.dims
        elif isinstance(node, Apply) and node.operation.elementwise:
            known[node] = _broadcast(node, known)
        elif isinstance(node, Apply) and node.operation in (READ, READ_CHECKED):
            known[node] = _indexed(node, known) or blank
        else:
            known[node] = blank
    return known


def _broadcast(node: Apply, known: dict[Node, Dims]) -> Dims:
    ndim = len(node.shape)
    names: list[str | None] = [None] * ndim
    for parent in node.parents:
        for i, (name, size) in enumerate(zip(known[parent], parent.shape, strict=True)):
            axis = ndim - len(parent.shape) + i
            if name is None or size != node.shape[axis]:
                continue
            if names[axis] not in (None, name):
                raise DimsError(
                    f"{describe(node)}{site_text(node)}: axis {axis} is {names[axis]!r} in one "
                    f"array and {name!r} in another; add an axis with [:, None], or rename one"
                )
            names[axis] = name
    return tuple(names)


def _indexed(node: Apply, known: dict[Node, Dims]) -> Dims | None:
    source, *indices = node.parents
    if len(indices) != 1 or len(node.attributes["template"]) != 1:
        return None
    return (*known[indices[0]], *known[source][1:])


def collect_coords(
    nodes: Iterable[Node], given: dict[str, np.ndarray], used: Container[str | None]
) -> dict[str, np.ndarray]:
    """The labels of each dimension in use that data bring along; `given` labels win."""
    coords = dict(given)
    for node in nodes:
        if not isinstance(node, Data):
            continue
        for dim, labels in node.coords.items():
            if dim in given or dim not in used:
                continue
            old = coords.get(dim)
            if old is not None and not np.array_equal(old, labels):
                raise DimsError(
                    f"two data arrays have different labels for dimension {dim!r}: "
                    f"{old[:3]}... and {labels[:3]}..."
                )
            coords[dim] = labels
    return coords
