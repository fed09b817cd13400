"""Reads of elements of an unknown before other operations.

x = sd * z;  x[0] / scale, rho * x[1:]   are   sd * z[0] / scale, rho * (sd * z[1:])
"""

import numpy as np

from ..graph.node import Apply, Node, ancestors
from ..graph.operations.indexing import SLICE, index
from ..graph.rewriting.alike import is_batchable

__all__ = ["early_reads"]


def early_reads(node: Node, unknown: Node) -> Node:
    """The node, with reads along the first axis moved to the unknown.

    Reads of results of elementwise operations are moved.
    """
    rewritten: dict[Node, Node] = {}
    for above in ancestors([node]):
        if not isinstance(above, Apply) or not is_batchable(above):
            continue
        parents = tuple(rewritten.get(parent, parent) for parent in above.parents)
        new = above
        if any(one is not other for one, other in zip(parents, above.parents, strict=True)):
            new = Apply(above.operation, parents, above.shape, above.dtype, above.attributes)
        new = _moved(new, unknown)
        if new is not above:
            rewritten[above] = new
    return rewritten.get(node, node)


def _moved(node: Apply, unknown: Node) -> Apply:
    """The operations on reads that give a read of their result."""
    if node.operation is not SLICE or unknown not in ancestors([node]):
        return node
    (whole,), template = node.parents, node.attributes["template"]
    if not isinstance(whole, Apply) or not whole.operation.elementwise or not is_batchable(whole):
        return node
    if len(template) != 1 or not isinstance(template[0], (int, np.integer, slice)):
        return node
    parents: list[Node] = []
    for parent in whole.parents:
        rows = len(parent.shape) == len(whole.shape)
        if rows and parent.shape[0] != whole.shape[0]:
            return node
        read = index(parent, template[0]) if rows else parent
        parents.append(_moved(read, unknown) if isinstance(read, Apply) else read)
    return Apply(whole.operation, tuple(parents), node.shape, node.dtype, whole.attributes)
