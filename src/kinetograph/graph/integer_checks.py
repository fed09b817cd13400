"""Demands on whole numbers where machine arithmetic has no answer.

Where it is known while the graph is built, or found when a compiled function runs, it is an error,
as in Python. `elementwise` asks by its hooks: a demand is an effect, and made of operations itself.
"""

from collections.abc import Sequence

import numpy as np

from .checks import run_time_check
from .messages import describe
from .node import Data, Node, Operation
from .operations.bounds import inside
from .operations.elementwise import ON_NARROWED, ON_PARTIAL, elementwise
from .source import place_text

__all__ = ["demand", "demand_fits"]


def demand(operation: Operation, nodes: Sequence[Node]) -> None:
    """Demand that an operation on whole numbers has an answer, now or when the program runs."""
    x, y = nodes
    if operation.name == "power":
        if y.dtype.kind != "i":
            return
        error: type[Exception] = ValueError
        allowed, verb = "greater_equal", "negative power of a whole number"
        advice = f"make {describe(x)} or {describe(y)} a float"
    else:
        error = ZeroDivisionError
        allowed, verb = "not_equal", "integer division by zero"
        advice = f"choose another divisor there, as kg.where({describe(y)} != 0, {describe(y)}, 1)"
    text = f"{verb}: {describe(x)} {operation.symbol} {describe(y)}{place_text()}; {advice}"
    if isinstance(y, Data):
        if not (getattr(np, allowed)(y.value, 0)).all():
            raise error(text)
        return
    most = np.iinfo(np.int64).max
    if inside(y, 1, most) or inside(y, -most, -1):
        return
    if operation.name == "power" and inside(y, 0, most):
        return
    run_time_check(elementwise(allowed, y, 0), error, text)


def demand_fits(x: Node, dtype: np.dtype) -> None:
    """Demand that a whole number is one that a narrower type has, as NumPy of Python's."""
    limits = np.iinfo(dtype)
    text = f"Python integer {describe(x)} out of bounds for {dtype}{place_text()}"
    if isinstance(x, Data):
        if not limits.min <= int(x.value) <= limits.max:
            raise OverflowError(text)
        return
    enough = elementwise("greater_equal", x, np.int64(limits.min))
    if limits.max < np.iinfo(np.int64).max:
        enough = elementwise(
            "logical_and", enough, elementwise("less_equal", x, np.int64(limits.max))
        )
    run_time_check(enough, OverflowError, text)


ON_PARTIAL.append(demand)
ON_NARROWED.append(demand_fits)
