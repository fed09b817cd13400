"""Whether indices fall inside of their axes: what is known of whole numbers beforehand.

An index whose interval lies inside of its axis is not looked at when the program runs. The analysis
knows literals, `kg.range`, the numbers of rows, counters of loops, what the predicates of branches
and loops say, and what is computed from all that by a few operations; of the rest, the type.

Reference: Cousot & Cousot (1977), Abstract interpretation, POPL (intervals).
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..node import PART, Apply, Data, Inner, Node, Operation
from .elementwise import CAST, ELEMENTWISE, WHERE
from .reductions import REDUCTIONS

__all__ = ["RULES", "Interval", "inside", "of_all_parents"]

Interval = tuple[int, int]  # the smallest and the largest value
Of = Callable[[int], Interval]  # the interval of a parent
_DEPTH = 12  # of the operations that are looked through


def inside(index: Node, low: int, high: int, at: Node | None = None) -> bool:
    """Whether all elements are known to lie in low .. high, where the node `at` uses them."""
    found = _Analysis(at).interval(index, _DEPTH)
    return low <= found[0] and found[1] <= high


class _Analysis:
    def __init__(self, at: Node | None) -> None:
        self.at = at

    def interval(self, node: Node, depth: int) -> Interval:
        if node.dtype.kind == "b":
            return 0, 1
        info = np.iinfo(node.dtype) if node.dtype.kind in "iu" else None
        if info is None:
            return -(2**64), 2**64
        found = self._known(node, depth) if depth else None
        whole = int(info.min), int(info.max)
        # What leaves the type wraps around, to anywhere.
        return found if found and whole[0] <= found[0] and found[1] <= whole[1] else whole

    def _known(self, node: Node, depth: int) -> Interval | None:
        if isinstance(node, Data):
            # Data that are no literals can be given other values later.
            known = node.literal and node.size
            return (int(node.value.min()), int(node.value.max())) if known else None
        if isinstance(node, Inner):
            return self._inner(node, depth - 1)
        given: Interval | None = getattr(node, "interval", None)  # of one that a run is given
        if given is not None:
            return given
        rule = RULES.get(node.operation) if isinstance(node, Apply) else None
        if rule is None:
            return None
        return rule(node, lambda place: self.interval(node.parents[place], depth - 1))  # type: ignore[arg-type]

    def _inner(self, node: Inner, depth: int) -> Interval | None:
        if node.interval is not None:
            return node.interval
        if node.role == "loop variable":
            return self._counter(node, depth)
        if node.role not in ("captured", "row"):
            return None
        found = self.interval(node.outer, depth)
        context: Any = node.context
        pred = getattr(context, "pred", None)
        if pred is None or pred.dtype.kind != "b":
            return found
        return self._refined(found, pred, node.outer, bool(context.branch), depth)

    def _counter(self, node: Inner, depth: int) -> Interval | None:
        """Of a loop variable that only grows, or only shrinks, as long as the predicate allows."""
        loop: Any = node.context._owner if node.context is not None else None
        if loop is None or loop.kind_name not in ("while loop", "scan"):
            return None
        *predicate, body = loop.subgraphs
        after = body.outputs[body.inputs.index(node)]
        low, high = self.interval(node.outer, depth)
        info = np.iinfo(node.dtype)
        if self._moves(after, node, 1, depth):
            found = low, int(info.max)
        elif self._moves(after, node, -1, depth):
            found = int(info.min), high
        else:
            found = int(info.min), int(info.max)
        if not predicate or self._is_in(predicate[0], node):
            return found
        pred = predicate[0].outputs[0]
        found = self._refined(found, pred, node, True, depth)
        for part in _conjuncts(pred):
            if isinstance(part, Inner) and part in body.inputs and part.role == "loop variable":
                # It was computed at the end of the trip before, of what the variable became.
                verdict = body.outputs[body.inputs.index(part)]
                later = self._refined(found, verdict, after, True, depth)
                found = max(found[0], min(low, later[0])), min(found[1], max(high, later[1]))
        return found

    def _is_in(self, predicate: Any, variable: Inner) -> bool:
        """Whether what is looked at belongs to the predicate, where it need not hold."""
        at = self.at
        while at is not None and at.context is not variable.context:
            at = at.context._owner if at.context is not None else None
        return at is None or at in predicate.nodes

    def _moves(self, node: Node, start: Node, sign: int, depth: int) -> bool:
        """Whether a value is `start` plus something that is nowhere of the other sign."""
        if node is start:
            return True
        if isinstance(node, Inner) and node.role == "captured":
            return self._moves(node.outer, start, sign, depth)
        if not isinstance(node, Apply) or not depth:
            return False
        operation, parents = node.operation, node.parents
        if operation is WHERE:
            return all(self._moves(p, start, sign, depth - 1) for p in parents[1:])
        if operation is PART and getattr(parents[0], "kind_name", "") == "cond":
            place = node.attributes["place"]
            outputs = (branch.outputs[place] for branch in parents[0].subgraphs)  # type: ignore[attr-defined]
            return all(self._moves(output, start, sign, depth - 1) for output in outputs)
        steps = {ELEMENTWISE["add"]: sign, ELEMENTWISE["subtract"]: -sign}
        if operation not in steps or not self._moves(parents[0], start, sign, depth - 1):
            return False
        low, high = self.interval(parents[1], depth - 1)
        most = int(np.iinfo(node.dtype).max) // 2  # so that a sum does not wrap around
        return low >= 0 and high <= most if steps[operation] == 1 else -most <= low and high <= 0

    def _refined(
        self, found: Interval, pred: Node, subject: Node, truth: bool, depth: int
    ) -> Interval:
        """What is left of the interval of a value where a predicate has this truth."""
        low, high = found
        for small, large, gap in _orders(pred, truth, depth):
            if large is subject:
                low = max(low, self.interval(small, depth)[0] + gap)
            if small is subject:
                high = min(high, self.interval(large, depth)[1] - gap)
        return low, max(high, low)


def _conjuncts(pred: Node) -> Iterator[Node]:
    """What all holds where a predicate does."""
    if isinstance(pred, Apply) and pred.operation is ELEMENTWISE["logical_and"]:
        for parent in pred.parents:
            yield from _conjuncts(parent)
    else:
        yield pred


def _orders(pred: Node, truth: bool, depth: int) -> Iterator[tuple[Node, Node, int]]:
    """The pairs a, b for which a + gap <= b where a predicate has this truth."""
    if isinstance(pred, Inner) and pred.role == "captured":
        yield from _orders(pred.outer, truth, depth)
    if not isinstance(pred, Apply) or not depth:
        return
    operation, parents = pred.operation, pred.parents
    if operation is (ELEMENTWISE["logical_and"] if truth else ELEMENTWISE["logical_or"]):
        for parent in parents:
            yield from _orders(parent, truth, depth - 1)
    elif operation is ELEMENTWISE["logical_not"]:
        yield from _orders(parents[0], not truth, depth - 1)
    elif operation is PART and getattr(parents[0], "kind_name", "") == "cond":
        # `a and b` is b where a holds, else False.
        whole: Any = parents[0]
        no = whole.subgraphs[0].outputs[pred.attributes["place"]]
        if truth and isinstance(no, Data) and no.literal and not no.value.any():
            yield from _orders(whole.parents[0], True, depth - 1)
    elif operation in _COMPARISONS:
        reverse, gap = _COMPARISONS[operation]
        if not truth:
            reverse, gap = not reverse, 1 - gap
        small, large = reversed(parents) if reverse else parents
        yield small, large, gap
    elif operation is ELEMENTWISE["equal"] and truth:
        yield parents[0], parents[1], 0
        yield parents[1], parents[0], 0


_COMPARISONS = {  # whether the first operand is the larger one, and by how much at least
    ELEMENTWISE["less"]: (False, 1),
    ELEMENTWISE["less_equal"]: (False, 0),
    ELEMENTWISE["greater"]: (True, 1),
    ELEMENTWISE["greater_equal"]: (True, 0),
}

Rule = Callable[[Apply, Of], Interval | None]


def _corners(function: Callable[[int, int], int]) -> Rule:
    """Of a function that is monotone in each of two operands."""

    def rule(node: Apply, of: Of) -> Interval:
        values = [function(x, y) for x in of(0) for y in of(1)]
        return min(values), max(values)

    return rule


def _hull(first: int) -> Rule:
    """Of an operation whose elements are some of those of its operands, from the first on."""

    def rule(node: Apply, of: Of) -> Interval:
        found = [of(place) for place in range(first, len(node.parents))]
        return min(low for low, _ in found), max(high for _, high in found)

    return rule


def _divided(name: str) -> Rule:
    def rule(node: Apply, of: Of) -> Interval | None:
        (low, high), divisor = of(0), of(1)
        if divisor[0] <= 0:
            return None
        if name == "remainder":
            return 0, divisor[1] - 1
        values = [x // y for x in (low, high) for y in divisor]
        return min(values), max(values)

    return rule


def _place(node: Apply, of: Of) -> Interval:
    """Of the place of the largest or smallest element."""
    axis, x = node.attributes["axis"], node.parents[0]
    return 0, (x.size if axis is None else x.shape[axis]) - 1


of_all_parents = _hull(0)
RULES: dict[Operation, Rule] = {
    ELEMENTWISE["add"]: _corners(lambda x, y: x + y),
    ELEMENTWISE["subtract"]: _corners(lambda x, y: x - y),
    ELEMENTWISE["multiply"]: _corners(lambda x, y: x * y),
    ELEMENTWISE["negative"]: lambda node, of: (-of(0)[1], -of(0)[0]),
    ELEMENTWISE["minimum"]: _corners(min),
    ELEMENTWISE["maximum"]: _corners(max),
    ELEMENTWISE["remainder"]: _divided("remainder"),
    ELEMENTWISE["floor_divide"]: _divided("floor_divide"),
    WHERE: _hull(1),
    CAST: of_all_parents,
    REDUCTIONS["argmax"][0]: _place,
    REDUCTIONS["argmin"][0]: _place,
    REDUCTIONS["max"][0]: of_all_parents,
    REDUCTIONS["min"][0]: of_all_parents,
}  # modules of further operations add theirs
