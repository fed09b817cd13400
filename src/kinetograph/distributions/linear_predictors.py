"""Linear predictors: sums of unknowns times known numbers.

A sum in which an unknown of the whole line has known coefficients may be any real number.
The other summands must not depend on this unknown, because `u + abs(u)` and `u - u` are bounded.
"""

import numpy as np

from ..graph.node import Apply, Data, Node, ancestors
from .support import REAL

__all__ = ["may_be_any_number"]

_SUMS = ("add", "subtract", "negative")
_PICKED = ("index", "reshape", "broadcast_to")
_PRODUCTS = ("multiply", "divide", "matmul")


def may_be_any_number(node: Node) -> bool:
    """Whether the values of a node are known to be unbounded."""
    pending, linear, others = [node], list[Node](), list[Node]()
    while pending:
        summand = pending.pop()
        if isinstance(summand, Apply) and summand.operation.name in _SUMS:
            pending += summand.parents
            continue
        unknown = _unknown_in(summand)
        if unknown is None:
            others.append(summand)
        else:
            linear.append(unknown)
    above = ancestors(others)
    return any(linear.count(unknown) == 1 and unknown not in above for unknown in linear)


def _unknown_in(node: Node) -> Node | None:
    """The unbounded unknown in a summand of known coefficients, or None."""
    while isinstance(node, Apply):
        name, known = node.operation.name, [p for p in node.parents if isinstance(p, Data)]
        if name in _PICKED:
            node = node.parents[0]
        elif (
            name in _PRODUCTS
            and len(known) == 1
            and (name != "divide" or known[0] is not node.parents[0])
        ):
            if not np.any(known[0].value):
                return None
            node = next(p for p in node.parents if p is not known[0])
        else:
            return None
    return node if getattr(node, "support", None) is REAL else None
