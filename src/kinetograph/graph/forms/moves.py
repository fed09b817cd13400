"""Operations that only move elements.

A form of the result of such an operation is the same operation on the form of its operands. `MOVED`
gives the operands that hold the elements. A Cholesky factor is a form of whole matrices, the last
two axes. It passes through an operation only if the operation does not change these.
"""

from ..node import Apply, Operation
from ..operations import indexing, shaping
from ..operations.elementwise import WHERE

__all__ = ["MOVED", "keeps_matrices"]

MOVED: dict[Operation, slice] = {
    **dict.fromkeys(
        (
            *indexing.READS,
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
    """Whether each matrix of the result is one of an operand."""
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
    """The number of leading axes that an index restricts or moves."""
    parts = list(template)
    while parts and (parts[-1] is Ellipsis or parts[-1] == slice(None)):
        parts.pop()
    return ndim if Ellipsis in parts else sum(part is not None for part in parts)
