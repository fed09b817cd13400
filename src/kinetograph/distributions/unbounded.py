"""Arrays without bounds, and ranges of arrays.

An array without bounds is, for example, a sum of unknowns times known numbers.

A sum has no upper bound if a term has none and shares no unknown with other terms, because `u - u`
is 0. A product has none if a factor has none, and if the other factor shares no unknown with it and
can have the sign that is needed.

A range is known for a bounded function of a real number, such as `expit`, and for a bounded
unknown, plus or times one number.
"""

import operator
from collections import Counter
from typing import NamedTuple

import numpy as np

from ..graph.node import Apply, Data, Node
from .support import Interval

__all__ = ["Values", "range_of", "values_of"]

MOST = 500  # nodes above a term of a sum or a factor, whose unknowns are compared
DEEPEST = 50  # operations, except of sums

_SUMS = {"add": (1, 1), "subtract": (1, -1), "negative": (-1,)}
_PICKED = ("index", "reshape", "broadcast_to", "transpose")
_ABOVE_0 = ("exp", "exp2", "softplus", "expit")
_RANGES = {"expit": (0.0, 1.0), "tanh": (-1.0, 1.0)}  # of all real numbers
_GROWING = ("exp", "exp2", "softplus", "sqrt")


_LINEAR = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
}


class Values(NamedTuple):
    """The values that an array can have, as far as known.

    `below` and `above`: values without a lower and an upper bound. `uneven`: only some elements may
    have them, because numbers in the array are of several signs.
    """

    below: bool = False
    above: bool = False
    negative: bool = False
    positive: bool = False
    uneven: bool = False

    def reversed(self) -> "Values":
        return Values(self.above, self.below, self.positive, self.negative, self.uneven)

    def times(self, other: "Values") -> "Values":
        """The products of these values and fixed values of another factor."""
        same = [each and other.positive for each in self[:4]]
        opposite = [each and other.negative for each in self.reversed()[:4]]
        return Values._make([*map(max, same, opposite), self.uneven or other.uneven])


def values_of(node: Node, depth: int = DEEPEST) -> Values:
    """The values that a node surely can have."""
    if isinstance(node, Data):
        if not node.value.size:
            return Values()
        least, most = node.value.min(), node.value.max()  # arrays of signs could fill the memory
        return Values(False, False, bool(least < 0), bool(most > 0), not (least > 0 or most < 0))
    if not isinstance(node, Apply):
        return _of_support(getattr(node, "support", None))
    if depth == 0:
        return Values()
    name, depth = node.operation.name, depth - 1
    if name in _SUMS:
        return _of_sum(node, depth)
    if name in ("multiply", "divide", "matmul"):
        return _of_product(node, depth)
    first = values_of(node.parents[0], depth) if node.parents else Values()
    if name in _PICKED:
        return first
    if name in ("absolute", "square", "power"):
        return _of_power(first, node.attributes.get("y", 0) if name == "power" else 2)
    above = name in _GROWING and first.above
    return Values(False, above, False, above or name in _ABOVE_0, first.uneven)


def range_of(node: Node, depth: int = DEEPEST) -> tuple[float, float] | None:
    """The infimum and the supremum of each element; None if unknown."""
    support = getattr(node, "support", None)
    if isinstance(support, Interval):
        ends = [np.nan if isinstance(e, Node) else e for e in (support.lower, support.upper)]
        if any(np.size(end) != 1 for end in ends):
            return None
        low, high = (float(np.reshape(end, ())) for end in ends)
        return (low, high) if np.isfinite([low, high]).all() and low < high else None
    if not isinstance(node, Apply) or depth == 0:
        return None
    name, parents = node.operation.name, node.parents
    if name in _RANGES:
        below, above, *_ = values_of(parents[0], depth - 1)
        return _RANGES[name] if below and above else None
    if name in _PICKED or name == "negative":
        ends_of_parent = range_of(parents[0], depth - 1)
        if ends_of_parent is None or name in _PICKED:
            return ends_of_parent
        return -ends_of_parent[1], -ends_of_parent[0]
    if name not in _LINEAR:
        return None
    ends_of_both = [_number(parent) or range_of(parent, depth - 1) for parent in parents]
    if None in ends_of_both or not any(_number(parent) for parent in parents):
        return None
    first, second = (ends for ends in ends_of_both if ends is not None)
    if name == "divide" and not second[0] * second[1] > 0:
        return None
    values = [_LINEAR[name](x, y) for x in first for y in second]
    return min(values), max(values)


def _number(node: Node) -> tuple[float, float] | None:
    """The range of data whose elements are equal; None for other arrays."""
    if not isinstance(node, Data) or node.value.size == 0 or node.value.dtype.kind not in "iuf":
        return None
    number = float(node.value.flat[0])
    return (number, number) if np.all(node.value == number) else None


def _of_support(support: object) -> Values:
    if not isinstance(support, Interval):
        return Values()
    lower, upper = (np.nan if isinstance(b, Node) else b for b in (support.lower, support.upper))
    possible = (
        np.equal(lower, -np.inf),
        np.equal(upper, np.inf),
        np.less(lower, 0),
        np.less(0, upper),
    )
    return Values(*(bool(np.all(each)) for each in possible))


def _of_power(values: Values, exponent: int) -> Values:
    if exponent <= 0:
        return Values()
    if exponent % 2:
        return values
    below, above, negative, positive, uneven = values
    return Values(False, below or above, False, negative or positive, uneven)


def _of_sum(node: Node, depth: int) -> Values:
    """The values of a sum, by terms with unknowns of their own."""
    pending, terms = [(node, 1)], list[tuple[Node, int]]()
    while pending:
        term, sign = pending.pop()
        signs = _SUMS.get(term.operation.name, ()) if isinstance(term, Apply) else ()
        pending += [(p, sign * s) for p, s in zip(term.parents, signs, strict=False)]
        if not signs:
            terms.append((term, sign))
    unknowns = [_unknowns(term) for term, _ in terms]
    uses = Counter(unknown for each in unknowns for unknown in each or ())
    below = above = uneven = False
    for (term, sign), each in zip(terms, unknowns, strict=True):
        if each and None not in unknowns and all(uses[unknown] == 1 for unknown in each):
            values = values_of(term, depth)
            values = values if sign > 0 else values.reversed()
            below, above = below or values.below, above or values.above
            uneven = uneven or values.uneven
    return Values(below, above, below, above, uneven)


def _of_product(node: Apply, depth: int) -> Values:
    factors = node.parents
    first, second = map(_unknowns, factors)
    if first is None or second is None or first & second:
        return Values()
    if node.operation.name == "matmul" and not all(map(_is_free, factors)):
        return Values()
    left, right = (values_of(factor, depth) for factor in factors)
    if left.uneven and right.uneven:
        return Values()
    if node.operation.name == "divide":
        return left.times(right)
    return Values(*map(max, left.times(right), right.times(left)))


def _is_free(node: Node) -> bool:
    """Whether each element is a number times an element of an unknown."""
    while isinstance(node, Apply):
        if node.operation.name in _PICKED and node.size <= node.parents[0].size:
            node = node.parents[0]
            continue
        rest = [p for p in node.parents if not isinstance(p, Data) and p.size > 1]
        if node.operation.name not in ("multiply", "divide") or len(rest) != 1:
            return False
        node = rest[0]
    return isinstance(node, Data) or isinstance(getattr(node, "support", None), Interval)


def _unknowns(node: Node) -> set[Node] | None:
    """The nodes without parents that an array depends on, data aside.

    The result is None if the search meets too many nodes.
    """
    above, pending = {node}, [node]
    while pending:
        new = {p for p in pending.pop().parents if p not in above and not isinstance(p, Data)}
        above |= new
        pending += new
        if len(above) > MOST:
            return None
    return {each for each in above if not isinstance(each, (Apply, Data))}
