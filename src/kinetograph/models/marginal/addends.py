"""The terms of a sum that a factor adds up.

A factor enters the log density as the sum of its elements. If the factor is itself a sum, and each
term depends on one element of the discrete unknowns, the terms can be marginalised one by one:
`factor(c * x.sum() - y.mean())` becomes `factor(c * x)` and `factor(-y / n)`.
"""

from collections.abc import Callable

from ...graph.node import Apply, Node
from ...graph.operations.elementwise import ELEMENTWISE, elementwise
from ...graph.operations.reductions import REDUCTIONS

__all__ = ["addends"]

MOST = 1000  # largest number of terms of a factor
Change = Callable[[Node], Node]

_SUM, _MEAN = REDUCTIONS["sum"][0], REDUCTIONS["mean"][0]


def addends(node: Node) -> list[Node]:
    """Nodes whose elements have the same total as one node."""
    terms: list[Node] = []
    pending: list[tuple[Node, Change]] = [(node, _itself)]
    while pending:
        part, change = pending.pop()
        inner = _within(part)
        if inner is not None:
            pending += [(each, _after(own_change, change)) for each, own_change in reversed(inner)]
            continue
        term = change(part)
        term._place = part._place
        terms.append(term)
        if len(terms) + len(pending) > MOST:
            return [node]
    return terms


def _after(first: Change, change: Change) -> Change:
    if first is _itself:
        return change
    return first if change is _itself else lambda node: change(first(node))


def _within(node: Node) -> list[tuple[Node, Change]] | None:
    """The terms of a sum, each with a function that scales it.

    None if the node is not a sum.
    """
    if type(node) is not Apply or node.context is not None:
        return None
    first, *rest = node.parents
    name = node.operation.name
    if node.operation in (_SUM, _MEAN) and first.dtype.kind == "f" and node.size:
        share = node.size / first.size if first.size else 1.0
        if node.operation is _SUM:
            return [(first, _itself)]
        return [(first, lambda n: elementwise("multiply", n, share))]
    if node.operation is not ELEMENTWISE.get(name):
        return None
    if name == "negative":
        return [(first, _minus)]
    if not rest or not all(p.dtype.kind == "f" for p in node.parents):
        return None
    (other,) = rest
    if name in ("add", "subtract") and first.shape == other.shape:
        return [(first, _itself), (other, _itself if name == "add" else _minus)]
    if name in ("multiply", "divide") and other.shape == () and _is_sum(first):
        return [(first, lambda n: elementwise(name, n, other))]
    if name == "multiply" and first.shape == () and _is_sum(other):
        return [(other, lambda n: elementwise(name, first, n))]
    return None


def _itself(node: Node) -> Node:
    return node


def _minus(node: Node) -> Node:
    return elementwise("negative", node)


def _is_sum(node: Node) -> bool:
    return _within(node) is not None
