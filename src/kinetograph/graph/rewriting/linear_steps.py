"""Steps that are linear in the value before.

x = slope * x + step
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

    def before(self, part: Any) -> Node | None:
        """The value before the first step.

        None for parts that are not the value before.
        """

    def moves(self, part: Any) -> bool:
        """Whether a part depends on the value before."""

    def inputs(self, part: Any) -> tuple[Operation, Sequence[Any]] | None:
        """The operation of a part, and its operands; None for other parts."""

    def whole(self, part: Any) -> Node | None:
        """A node of a part for all steps, if there is one.

        It has the axes of the stacked values, or is a single value.
        """


def linear_steps(last: Any, parts: StepParts) -> LinearSteps | None:
    """The steps, if their last part is linear in the value before."""
    part, slope, steps = last, None, None
    while (before := parts.before(part)) is None:
        found = parts.inputs(part) if parts.moves(part) else None
        if found is None or found[0] not in _LINEAR:
            return None
        name, operands = _LINEAR[found[0]], found[1]
        moving = [i for i, operand in enumerate(operands) if parts.moves(operand)]
        if len(moving) != 1:
            return None
        (place,) = moving
        if name == "negative":
            slope = _product(slope, -1.0)
        elif (other := parts.whole(operands[1 - place])) is None:
            return None
        elif name in ("add", "subtract"):
            sign = -1.0 if name == "subtract" and place == 0 else None
            addend = _product(_product(slope, other), sign)
            steps = addend if steps is None else elementwise("add", steps, addend)
            slope = _product(slope, -1.0) if name == "subtract" and place else slope
        elif name == "multiply" or place == 0:
            inverse = other if name == "multiply" else elementwise("divide", 1.0, other)
            slope = _product(slope, inverse)
        else:
            return None
        part = operands[place]
    # A slope of -1 alone is the value before with the other sign.
    return None if steps is None or isinstance(slope, float) else LinearSteps(before, slope, steps)


def _product(a: Node | float | None, b: Node | float | None) -> Any:
    """The product of two factors; None is 1."""
    if a is None or b is None:
        return b if a is None else a
    return elementwise("multiply", a, b)
