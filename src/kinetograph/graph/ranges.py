"""`kg.range`: evenly spaced numbers, whose bounds may be arrays."""

import builtins
import math
from typing import Any, overload

import jax.numpy as jnp
import numpy as np

from .array import Array
from .checks import run_time_check
from .errors import ShapeError, SymbolicError, SymbolicTruthError
from .messages import describe
from .node import Apply, Node, Operation
from .operations.bounds import RULES, Interval
from .operations.elementwise import astype, elementwise, where
from .operations.operands import as_node
from .operations.shaping import reshape
from .precision import FLOAT64, float_dtype
from .source import place_text

__all__ = ["Range", "as_range", "range"]

INT = np.dtype(np.int64)


def _lower(*, start: Any, step: Any, length: int, dtype: np.dtype) -> Any:
    return jnp.asarray(start, dtype) + jnp.arange(length).astype(dtype) * jnp.asarray(step, dtype)


def _interval(node: Apply, of: Any) -> Interval | None:
    start, step, length = (node.attributes[name] for name in ("start", "step", "length"))
    ends = (start, start + step * (length - 1))
    return (min(ends), max(ends)) if length else None


RANGE = Operation("range", _lower)
RULES[RANGE] = _interval


class Range:
    """Evenly spaced numbers whose bounds are arrays; made by `kg.range`.

    A `for` of converted code loops over it; it has no elements that could be listed now.

    Attributes
    ----------
    start, stop, step
        The bounds, as they were given.
    dtype
        The type of the numbers.
    length
        How many there are: max(0, ceil((stop - start) / step)).
    """

    def __init__(self, start: Any, stop: Any, step: Any, dtype: np.dtype) -> None:
        self.start, self.stop, self.step = start, stop, step
        self.dtype = dtype
        if any(isinstance(bound, Array) for bound in (start, stop, step)):
            # Which of the two it is, type checkers do not know.
            self.length: int | Array | Any = Array(_symbolic_length(start, stop, step, dtype))
        else:
            self.length = _length(start, stop, step)

    def at(self, i: Any) -> Array:
        """The number at a place: start + i * step."""
        number = astype(as_node(i), self.dtype)
        if isinstance(self.step, Array) or self.step != 1:
            number = elementwise("multiply", number, _node(self.step, self.dtype))
        if isinstance(self.start, Array) or self.start != 0:
            number = elementwise("add", number, _node(self.start, self.dtype))
        return Array(number)

    def __iter__(self) -> Any:
        if isinstance(self.length, int):
            return (self.at(i) for i in builtins.range(self.length))
        raise self._unknown("its numbers cannot be listed")

    def __contains__(self, value: Any) -> bool:
        if isinstance(self.length, int):
            return value in self.start + self.step * np.arange(self.length)
        raise self._unknown("it is not known whether it holds a number")

    def __len__(self) -> int:
        if isinstance(self.length, int):
            return self.length
        raise self._unknown("its length is not known")

    def __bool__(self) -> bool:
        if isinstance(self.length, int):
            return self.length > 0
        raise self._unknown("it is not known whether it is empty")

    def _unknown(self, what: str) -> SymbolicTruthError:
        return SymbolicTruthError(
            f"using a symbolic array as a Python int is not allowed: {self!r} has bounds that are "
            f"not known while the graph is built, so {what}{place_text()}; loop over it in a "
            "function decorated with @kg.function, or use kg.while_loop"
        )

    def __repr__(self) -> str:
        bounds = (self.start, self.stop, self.step)
        return f"kg.range({', '.join(map(_text, bounds))})"


@overload
def range(*bounds: float | np.number | np.ndarray) -> Array: ...  # type: ignore[overload-overlap]
@overload
def range(*bounds: Array | float | np.number | np.ndarray) -> Range: ...
def range(*bounds: Any) -> "Array | Range":
    """Evenly spaced numbers: start, start + step, ..., as far as stop, which is not reached.

        range(stop), range(start, stop), range(start, stop, step)

    In a function decorated with `kg.function`, `for i in kg.range(n)` is a loop of the graph; over
    Python's own `range` it is a loop of Python's, whose trips are written out.

    Parameters
    ----------
    *bounds
        Numbers, of either sign, or arrays of one element. Where not given, start is 0, step 1.

    Returns
    -------
    Array or Range
        An array, as np.arange gives, of 64-bit integers or floating-point numbers. With an array
        among the bounds, whose length would not be known: a `Range`, over which one can loop.

    Raises
    ------
    ValueError
        If step is zero (of an array: when a compiled function runs), or a bound is not finite.
    TypeError
        If a bound is no number, or there are none or more than three.
    ShapeError
        If a bound has several elements.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.compile([], kg.range(5, 0, -2))().tolist()
    [5, 3, 1]
    >>> n = kg.placeholder((), int, name="n")
    >>> kg.range(1, n)
    kg.range(1, n, 1)
    >>> int(kg.compile(n, kg.range(1, n).length)(4))
    3
    """
    if not 1 <= len(bounds) <= 3:
        raise TypeError(f"range: expected 1 to 3 arguments, got {len(bounds)}{place_text()}")
    given = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    names = ("start", "stop", "step")
    start, stop, step = map(_bound, given, names)
    dtype = _dtype(start, stop, step)
    if isinstance(step, Array):
        nonzero = Array(elementwise("not_equal", step, 0))
        run_time_check(nonzero, ValueError, f"range: step is zero{place_text()}")
    elif step == 0:
        raise ValueError(f"range: step is zero{place_text()}")
    numbers = Range(start, stop, step, dtype)
    if not isinstance(numbers.length, int):
        return numbers
    form = {"start": start, "step": step, "length": numbers.length, "dtype": dtype}
    return Array(Apply(RANGE, (), (numbers.length,), dtype, form))


def as_range(array: Array) -> Range | None:
    """What `kg.range` made an array of, so that a loop over it can count; None for others."""
    node = array.node
    if not isinstance(node, Apply) or node.operation is not RANGE:
        return None
    start, step = node.attributes["start"], node.attributes["step"]
    numbers = Range(start, start + step * len(array), step, node.dtype)
    numbers.length = len(array)
    return numbers


def _bound(value: Any, name: str) -> Any:
    """A bound as a Python number, or as an array of no axes."""
    if isinstance(value, Array):
        node = value.node
        if node.size != 1:
            raise ShapeError(
                f"range: {name} must be a single number, got {describe(node)} of shape "
                f"{node.shape}{place_text()}"
            )
        if node.dtype.kind == "b":
            raise SymbolicError(
                f"range: {name} must be a number, got {describe(node)} of {node.dtype}"
                f"{place_text()}; convert it with .astype(int)"
            )
        return Array(reshape(node, ())) if node.shape else value
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "biuf":
        raise TypeError(f"range: {name} must be a number, got {type(value).__name__}{place_text()}")
    if not np.isfinite(array):
        raise ValueError(f"range: {name} is {value}{place_text()}; use a while loop without end")
    return float(array) if array.dtype.kind == "f" else int(array)


def _dtype(*bounds: Any) -> np.dtype:
    """64-bit integers, or the floating-point type of the arrays; else the working precision."""
    floats = [b.dtype for b in bounds if isinstance(b, Array) and b.dtype.kind == "f"]
    if floats:
        return np.result_type(*floats)
    return float_dtype() if any(isinstance(b, float) for b in bounds) else INT


def _length(start: Any, stop: Any, step: Any) -> int:
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return len(builtins.range(start, stop, step))
    return max(0, math.ceil((stop - start) / step))


def _symbolic_length(start: Any, stop: Any, step: Any, dtype: np.dtype) -> Node:
    kind = dtype if dtype.kind == "i" else FLOAT64
    first, last, by = (_node(bound, kind) for bound in (start, stop, step))
    if isinstance(step, Array):
        by = where(elementwise("equal", by, 0), 1, by)
    if kind is FLOAT64:
        count = elementwise("ceil", elementwise("divide", elementwise("subtract", last, first), by))
    else:  # the ceiling of a quotient is minus the floor of minus it
        count = elementwise("subtract", first, last)
        count = elementwise("negative", elementwise("floor_divide", count, by))
    return astype(elementwise("maximum", count, 0), INT)


def _node(bound: Any, dtype: np.dtype) -> Node:
    return astype(bound, dtype) if isinstance(bound, Array) else as_node(np.asarray(bound, dtype))


def _text(bound: Any) -> str:
    return describe(bound.node) if isinstance(bound, Array) else str(bound)
