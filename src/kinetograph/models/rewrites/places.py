"""What stands at one place in all of some alike pieces, and what reads one place of an array."""

import numpy as np

from ...graph.node import Apply, Node
from ...graph.operations.indexing import SLICE

__all__ = ["Column", "is_single", "place_of", "same_place"]

Column = tuple[Node, ...]  # the nodes that stand at one place, one of each piece


def is_single(nodes: Column) -> bool:
    """Whether one node stands at this place in all pieces."""
    first = nodes[0]
    return all(node is first for node in nodes)


def place_of(node: Node) -> int | None:
    """The place along the first axis that a node reads, as `x[3]` does; None of all others."""
    if not isinstance(node, Apply) or node.operation is not SLICE:
        return None
    template = node.attributes["template"]
    if len(template) != 1 or not isinstance(template[0], (int, np.integer)):
        return None
    return int(template[0]) % node.parents[0].shape[0]


def same_place(node: Node) -> object:
    """A key that is the same for nodes that read one place of an array."""
    place = place_of(node)
    return node if place is None else (node.parents[0], place)
