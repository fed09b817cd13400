"""Interval analysis of integers, which proves indices to be inside their axes.

An index whose interval lies inside its axis is not checked when the program runs. The analysis
derives intervals from literals, `kg.range`, row numbers, counters of loops and the predicates of
branches and loops, and propagates them through a few operations. For any other value it uses the
range of the type.

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
_DEPTH = 12  # the largest number of nested operations that are analysed


def inside(index: Node, low: int, high: int, at: Node | None = None) -> bool:
    """Whether all elements provably lie in low .. high.

    `at` is the node that uses them.
    """
    interval = _Analysis(at).interval(index, _DEPTH)
    return low <= interval[0] and interval[1] <= high


class _Analysis:
    def __init__(self, at: Node | None) -> None:
        self.at = at

    def interval(self, node: Node, depth: int) -> Interval:
        if node.dtype.kind == "b":
            return 0, 1
        info = np.iinfo(node.dtype) if node.dtype.kind in "iu" else None
        if info is None:
            return -(2**64), 2**64
        known_interval = self._computed(node, depth) if depth else None
        type_range = int(info.min), int(info.max)
        # A value outside the range of its type wraps around and can become any value.
        return (
            known_interval
            if known_interval
            and type_range[0] <= known_interval[0]
            and known_interval[1] <= type_range[1]
            else type_range
        )

    def _computed(self, node: Node, depth: int) -> Interval | None:
        if isinstance(node, Data):
            # Data that are not literals can get other values later.
            is_fixed = node.literal and node.size
            return (int(node.value.min()), int(node.value.max())) if is_fixed else None
        if isinstance(node, Inner):
            return self._inner(node, depth - 1)
        given: Interval | None = getattr(node, "interval", None)  # declared for inputs of a run
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
        outer_interval = self.interval(node.outer, depth)
        context: Any = node.context
        pred = getattr(context, "pred", None)
        if pred is None or pred.dtype.kind != "b":
            return outer_interval
        return self._refined(outer_interval, pred, node.outer, bool(context.branch), depth)

    def _counter(self, node: Inner, depth: int) -> Interval | None:
        """The interval of a loop variable that only grows or only shrinks.

        The predicate of the loop limits the growth.
        """
        loop: Any = node.context._owner if node.context is not None else None
        if loop is None or loop.kind_name not in ("while loop", "scan"):
            return None
        *predicate, body = loop.subgraphs
        after = body.outputs[body.inputs.index(node)]
        low, high = self.interval(node.outer, depth)
        info = np.iinfo(node.dtype)
        if self._moves(after, node, 1, depth):
            reached = low, int(info.max)
        elif self._moves(after, node, -1, depth):
            reached = int(info.min), high
        else:
            reached = int(info.min), int(info.max)
        if not predicate or self._is_in(predicate[0], node):
            return reached
        pred = predicate[0].outputs[0]
        reached = self._refined(reached, pred, node, True, depth)
        for part in _conjuncts(pred):
            if isinstance(part, Inner) and part in body.inputs and part.role == "loop variable":
                # The body computed it at the end of the previous trip, from the new variable.
                verdict = body.outputs[body.inputs.index(part)]
                next_values = self._refined(reached, verdict, after, True, depth)
                reached = (
                    max(reached[0], min(low, next_values[0])),
                    min(reached[1], max(high, next_values[1])),
                )
        return reached

    def _is_in(self, predicate: Any, variable: Inner) -> bool:
        """Whether `at` belongs to the predicate, which may be false there."""
        at = self.at
        while at is not None and at.context is not variable.context:
            at = at.context._owner if at.context is not None else None
        return at is None or at in predicate.nodes

    def _moves(self, node: Node, start: Node, sign: int, depth: int) -> bool:
        """Whether a value is `start` plus terms of one sign.

        `sign` is 1 for terms of at least 0, and -1 for terms of at most 0.
        """
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
        largest_step = int(np.iinfo(node.dtype).max) // 2  # so that a sum does not wrap around
        return (
            low >= 0 and high <= largest_step
            if steps[operation] == 1
            else -largest_step <= low and high <= 0
        )

    def _refined(
        self, interval_before: Interval, pred: Node, subject: Node, truth: bool, depth: int
    ) -> Interval:
        """The interval of `subject`, restricted by a predicate that equals `truth`."""
        low, high = interval_before
        for small, large, gap in _orders(pred, truth, depth):
            if large is subject:
                low = max(low, self.interval(small, depth)[0] + gap)
            if small is subject:
                high = min(high, self.interval(large, depth)[1] - gap)
        return low, max(high, low)


def _conjuncts(pred: Node) -> Iterator[Node]:
    """The predicates that are all true if `pred` is true."""
    if isinstance(pred, Apply) and pred.operation is ELEMENTWISE["logical_and"]:
        for parent in pred.parents:
            yield from _conjuncts(parent)
    else:
        yield pred


def _orders(pred: Node, truth: bool, depth: int) -> Iterator[tuple[Node, Node, int]]:
    """Triples a, b, gap, with a + gap <= b.

    They are true if the predicate `pred` equals `truth`.
    """
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
        # `a and b` is a conditional: b if a is true, otherwise False.
        conditional: Any = parents[0]
        no = conditional.subgraphs[0].outputs[pred.attributes["place"]]
        if truth and isinstance(no, Data) and no.literal and not no.value.any():
            yield from _orders(conditional.parents[0], True, depth - 1)
    elif operation in _COMPARISONS:
        reverse, gap = _COMPARISONS[operation]
        if not truth:
            reverse, gap = not reverse, 1 - gap
        small, large = reversed(parents) if reverse else parents
        yield small, large, gap
    elif operation is ELEMENTWISE["equal"] and truth:
        yield parents[0], parents[1], 0
        yield parents[1], parents[0], 0


_COMPARISONS = {  # whether the first operand is the larger one, and the smallest difference
    ELEMENTWISE["less"]: (False, 1),
    ELEMENTWISE["less_equal"]: (False, 0),
    ELEMENTWISE["greater"]: (True, 1),
    ELEMENTWISE["greater_equal"]: (True, 0),
}

Rule = Callable[[Apply, Of], Interval | None]


def _corners(function: Callable[[int, int], int]) -> Rule:
    """The rule of a function that is monotone in two operands."""

    def rule(node: Apply, of: Of) -> Interval:
        values = [function(x, y) for x in of(0) for y in of(1)]
        return min(values), max(values)

    return rule


def _hull(first: int) -> Rule:
    """The rule of an operation that selects elements of its operands.

    `first` is the place of the first operand that it selects from.
    """

    def rule(node: Apply, of: Of) -> Interval:
        intervals = [of(place) for place in range(first, len(node.parents))]
        return min(low for low, _ in intervals), max(high for _, high in intervals)

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
    """The interval of the place of the largest or smallest element."""
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
}  # other modules add the rules of their operations
