"""Operations with finite slopes, for `where_derivatives`."""

import numpy as np

from ..control.control_node import Control, everything
from ..node import PART, Apply, Data, Node
from ..operations.elementwise import CAST, ELEMENTWISE, INTEGER_POWER, STOP_GRADIENT, WHERE
from ..operations.indexing import READS, WRITES

__all__ = ["FINITE", "has_finite_slopes", "is_clean", "is_finite"]

_LINEAR = "add subtract negative positive absolute fabs sign rint floor ceil trunc"
_LINEAR += " maximum minimum fmax fmin"
# Operations that turn a cotangent of 0 into 0 for all operands.
CLEAN = {ELEMENTWISE[name] for name in _LINEAR.split()} | {WHERE, CAST, STOP_GRADIENT}
SCALED = {ELEMENTWISE[name] for name in ("multiply", "divide")}
_FINITE = "multiply square sin cos tanh exp expm1 arctan sinh cosh"
# Operations whose slopes are finite where their operands and results are.
FINITE = CLEAN | {ELEMENTWISE[name] for name in _FINITE.split()}
FINITE |= {PART, *READS, *WRITES}
_WHOLE = "sum matmul reshape transpose broadcast_to concatenate stack repeat"
_FINITE_WHOLE = frozenset(_WHOLE.split())


def is_finite(node: Control) -> bool:
    """Whether all slopes inside of a branch or loop are finite."""
    nodes = (n for subgraph in node.subgraphs for n in everything(subgraph.nodes))
    return all(map(has_finite_slopes, nodes))


def has_finite_slopes(node: Node) -> bool:
    """Whether the slopes of a node by its parents are finite."""
    return (
        not isinstance(node, Apply)
        or node.dtype.kind != "f"
        or node.operation in FINITE
        or node.operation.name in _FINITE_WHOLE
        or (node.operation is INTEGER_POWER and node.attributes["y"] >= 0)
    )


def is_clean(node: Apply) -> bool:
    """Whether a cotangent of 0 gives 0."""
    if node.operation in CLEAN:
        return True
    if node.operation not in SCALED:
        return False
    x, y = node.parents
    if isinstance(y, Data) and y.literal:
        return bool(np.isfinite(y.value).all() and y.value.all())
    return (
        isinstance(x, Data)
        and x.literal
        and node.operation.name == "multiply"
        and bool(np.isfinite(x.value).all())
    )
