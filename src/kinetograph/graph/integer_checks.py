"""Checks of integer operations that have no result in machine arithmetic.

Division by zero, negative powers and overflow are errors, as in Python. A known value is checked
while the graph is built, a computed value when a compiled function runs. `elementwise` calls these
checks by hooks and cannot import them, because a check is an effect made of elementwise operations.
"""

from collections.abc import Sequence

import numpy as np

from .checks import run_time_check
from .hooks import ON_NARROWED, ON_PARTIAL
from .messages import describe
from .node import Data, Node, Operation
from .operations.bounds import inside
from .operations.elementwise import elementwise
from .source import place_text

__all__ = ["require_result", "demand_fits"]


@ON_PARTIAL.fill
def require_result(operation: Operation, nodes: Sequence[Node]) -> None:
    """Require that an integer operation has a result."""
    x, y = nodes
    if operation.name == "power":
        if y.dtype.kind != "i":
            return
        error: type[Exception] = ValueError
        allowed, verb = "greater_equal", "negative power of a whole number"
        which = dict.fromkeys([describe(x), describe(y)])
        advice = f"make {' or '.join(which)} a float"
    else:
        error = ZeroDivisionError
        allowed, verb = "not_equal", "integer division by zero"
        advice = f"choose another divisor there, as kg.where({describe(y)} != 0, {describe(y)}, 1)"
    text = f"{verb}: {describe(x)} {operation.symbol} {describe(y)}{place_text()}; {advice}"
    if isinstance(y, Data):
        if not (getattr(np, allowed)(y.value, 0)).all():
            raise error(text)
        return
    largest = np.iinfo(np.int64).max
    if inside(y, 1, largest) or inside(y, -largest, -1):
        return
    if operation.name == "power" and inside(y, 0, largest):
        return
    run_time_check(elementwise(allowed, y, 0), error, text)


@ON_NARROWED.fill
def demand_fits(x: Node, dtype: np.dtype) -> None:
    """Require that an integer fits a narrower type, as NumPy requires it."""
    limits = np.iinfo(dtype)
    text = f"Python integer {describe(x)} out of bounds for {dtype}{place_text()}"
    if isinstance(x, Data):
        if not limits.min <= int(x.value) <= limits.max:
            raise OverflowError(text)
        return
    in_range = elementwise("greater_equal", x, np.int64(limits.min))
    if limits.max < np.iinfo(np.int64).max:
        in_range = elementwise(
            "logical_and", in_range, elementwise("less_equal", x, np.int64(limits.max))
        )
    run_time_check(in_range, OverflowError, text)
