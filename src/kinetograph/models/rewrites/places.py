"""Places of pieces and of arrays."""

import numpy as np

from ...graph.node import Apply, Node
from ...graph.operations.indexing import SLICE

__all__ = ["Column", "is_single", "place_of", "same_place"]

Column = tuple[Node, ...]  # the nodes in one place, one from each piece


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
