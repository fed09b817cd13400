"""Operations that only move elements: another form of their result is that of what they move.

`MOVED` tells which parents of an operation have the elements. A Cholesky factor is a form of whole
matrices, the last two axes, and passes only where these stay as they are.
"""

from ..node import Apply, Operation
from ..operations import indexing, shaping
from ..operations.elementwise import WHERE

__all__ = ["MOVED", "keeps_matrices"]

MOVED: dict[Operation, slice] = {
    **dict.fromkeys(
        (
            indexing.READ,
            indexing.READ_CHECKED,
            indexing.SLICE,
            indexing.RAVEL,
            shaping.RESHAPE,
            shaping.TRANSPOSE,
            shaping.BROADCAST,
            shaping.REPEAT,
            shaping.TILE,
            shaping.FLIP,
            shaping.ROLL,
            shaping.DIAGONAL,
        ),
        slice(0, 1),
    ),
    shaping.CONCATENATE: slice(None),
    shaping.STACK: slice(None),
    WHERE: slice(1, 3),
}


def keeps_matrices(node: Apply) -> bool:
    """Whether the matrices of the result are those of the parents, each as a whole."""
    first, attributes = node.parents[0].shape, node.attributes
    match node.operation:
        case indexing.READ | indexing.READ_CHECKED | indexing.SLICE:
            return _axes_used(attributes["template"], len(first)) <= len(first) - 2
        case shaping.RESHAPE | shaping.BROADCAST:
            return len(first) >= 2 and node.shape[-2:] == first[-2:]
        case shaping.TRANSPOSE:
            last = len(first)
            return attributes["axes"][-2:] == (last - 2, last - 1)
        case shaping.CONCATENATE | shaping.STACK:
            return 0 <= attributes["axis"] < len(node.shape) - 2
    if node.operation is WHERE:
        return all(size == 1 for size in first[-2:])
    return False


def _axes_used(template: tuple, ndim: int) -> int:
    """Up to which axis an index does more than take all."""
    parts = list(template)
    while parts and (parts[-1] is Ellipsis or parts[-1] == slice(None)):
        parts.pop()
    return ndim if Ellipsis in parts else sum(part is not None for part in parts)
