"""Steps that are linear in the value before.

    x = slope * x + step

The values may be linear in the states of such a recurrence: from y = a * x + b follows

    y = slope * y + (a * step + b - slope * b)
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from ..node import Node, Operation
from ..operations.elementwise import ELEMENTWISE, elementwise

__all__ = ["LinearSteps", "StepParts", "linear_steps"]

_LINEAR = {
    ELEMENTWISE[name]: name for name in ("add", "subtract", "multiply", "divide", "negative")
}


class LinearSteps(NamedTuple):
    """The value before the steps, the slopes and the addends.

    The slope is None for 1. Slope and addend are arrays along the first axis, or single values of
    all steps.
    """

    before: Node
    slope: Node | None
    steps: Node


class StepParts(Protocol):
    """The parts from which a step computes the next value."""

    def is_state(self, part: Any) -> bool:
        """Whether a part is the value that the next step reads."""

    def before(self, part: Any) -> Node | None:
        """The state before the first step.

        None for parts that are not the state before.
        """

    def moves(self, part: Any) -> bool:
        """Whether a part depends on the state before."""

    def constant(self, part: Any) -> Node | None:
        """A node for a part, if all steps have the same."""

    def inputs(self, part: Any) -> tuple[Operation, Sequence[Any]] | None:
        """The operation of a part, and its operands; None for other parts."""

    def whole(self, part: Any) -> Node | None:
        """A node of a part for all steps, if there is one.

        It has the axes of the stacked values, or is a single value.
        """


class _Link(NamedTuple):
    """A linear operation with one operand that depends on the state before."""

    name: str
    operands: Sequence[Any]
    place: int  # of this operand

    @property
    def moving(self) -> Any:
        return self.operands[self.place]

    @property
    def other(self) -> Any:
        """The other operand; None if there is none."""
        return self.operands[1 - self.place] if len(self.operands) > 1 else None


def linear_steps(last: Any, parts: StepParts) -> LinearSteps | None:
    """The steps, if their last part is linear in a state."""
    outer: list[tuple[_Link, Node | None]] = []
    while not parts.is_state(last):
        link = _link(last, parts)
        other = None if link is None or link.other is None else parts.constant(link.other)
        if link is None or (other is None and link.name != "negative"):
            return None
        outer.append((link, other))
        last = link.moving
    steps = _steps_of_state(last, parts)
    for link, other in reversed(outer):
        steps = None if steps is None else _transformed(steps, link, other)
    return steps


def _link(part: Any, parts: StepParts) -> _Link | None:
    """The linear operation that gives a part, if there is one."""
    operation = parts.inputs(part) if parts.moves(part) else None
    if operation is None or operation[0] not in _LINEAR:
        return None
    name, operands = _LINEAR[operation[0]], operation[1]
    moving = [i for i, operand in enumerate(operands) if parts.moves(operand)]
    if len(moving) != 1 or (name == "divide" and moving == [1]):
        return None
    return _Link(name, operands, moving[0])


def _steps_of_state(last: Any, parts: StepParts) -> LinearSteps | None:
    """The steps of a state."""
    part, slope, steps = last, None, None
    while (before := parts.before(part)) is None:
        link = _link(part, parts)
        if link is None:
            return None
        if link.name == "negative":
            slope = _product(slope, -1.0)
        elif (other := parts.whole(link.other)) is None:
            return None
        elif link.name in ("add", "subtract"):
            sign = -1.0 if link.name == "subtract" and link.place == 0 else None
            addend = _product(_product(slope, other), sign)
            steps = addend if steps is None else elementwise("add", steps, addend)
            slope = _product(slope, -1.0) if link.name == "subtract" and link.place else slope
        else:
            inverse = other if link.name == "multiply" else elementwise("divide", 1.0, other)
            slope = _product(slope, inverse)
        part = link.moving
    # A slope of -1 alone is the value before with the other sign.
    return None if steps is None or isinstance(slope, float) else LinearSteps(before, slope, steps)


def _transformed(linear: LinearSteps, link: _Link, other: Node | None) -> LinearSteps:
    """The steps of the results of an operation on the states."""
    before, slope, steps = linear

    def result(state: Node) -> Node:
        operands = [state] if other is None else [state, other][:: -1 if link.place else 1]
        return elementwise(link.name, *operands)

    if link.name in ("add", "subtract"):
        assert other is not None
        if link.name == "subtract" and link.place:
            steps = elementwise("negative", steps)
        if slope is not None:
            sign = "subtract" if link.name == "subtract" and not link.place else "add"
            rest = elementwise("multiply", elementwise("subtract", 1.0, slope), other)
            steps = elementwise(sign, steps, rest)
    else:
        steps = result(steps)
    return LinearSteps(result(before), slope, steps)


def _product(a: Node | float | None, b: Node | float | None) -> Any:
    """The product of two factors; None is 1."""
    if a is None or b is None:
        return b if a is None else a
    return elementwise("multiply", a, b)
