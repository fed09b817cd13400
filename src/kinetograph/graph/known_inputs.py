"""Checks of known operands, for the first and for later values.

`CHECKS` holds, for each operation that trusts the values of known operands, the function that
refuses values for which the operation has no answer. An operand that is not known is checked when
the program runs, or was proved to be right.
"""

from collections.abc import Callable

from .control.control_node import origin
from .integer_checks import require_result
from .node import Apply, Data, Node, Operation
from .operations.elementwise import ELEMENTWISE, PARTIAL
from .operations.indexing import ONE_HOT, READ, WRITE, check_bounds, check_labels, trusted_indices
from .operations.segments import JOINED_LABELS, SEGMENTS

__all__ = ["CHECKS", "check_known_operands"]


def check_known_operands(node: Node) -> None:
    """Refuse known operands of an operation for which it has no answer.

    Raises
    ------
    ShapeError
        If an index falls outside of its axis, or a label outside of its segments.
    ZeroDivisionError, ValueError
        If a whole number is divided by 0, or raised to a negative power.
    """
    check = CHECKS.get(node.operation) if isinstance(node, Apply) else None
    if check is not None:
        check(node)  # type: ignore[arg-type]


def _check_indices(node: Apply) -> None:
    for index, axis, size in trusted_indices(node):
        data = origin(index)
        if isinstance(data, Data):
            check_bounds(data.value, axis, size, node.parents[0], data)


def _check_divisor(node: Apply) -> None:
    operands = [origin(parent) for parent in node.parents]
    if node.dtype.kind in "iu" and isinstance(operands[1], Data):
        require_result(node.operation, operands)


def _check_segments(node: Apply) -> None:
    check_labels(node.operation.name, origin(node.parents[1]), node.attributes["size"])


def _check_joined(node: Apply) -> None:
    for labels, size in zip(node.parents, node.attributes["sizes"], strict=True):
        check_labels("segment", origin(labels), size)


CHECKS: dict[Operation, Callable[[Apply], None]] = {
    READ: _check_indices,
    WRITE: _check_indices,
    ONE_HOT: lambda node: check_labels("one_hot", origin(node.parents[0]), node.attributes["size"]),
    JOINED_LABELS: _check_joined,
    **dict.fromkeys(SEGMENTS.values(), _check_segments),
    **{ELEMENTWISE[name]: _check_divisor for name in PARTIAL},
}
