"""The function `kg.range`: evenly spaced numbers, whose bounds may be arrays."""

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
from .operations.elementwise import astype, elementwise, minus, plus, times, where
from .operations.operands import as_node
from .operations.shaping import reshape
from .precision import FLOAT64, float_dtype
from .public import public
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


@public
class Range:
    """Evenly spaced numbers whose bounds are arrays; made by `kg.range`.

    A `for` loop in converted code can loop over it. Its elements are not known before the program
    runs.

    Attributes
    ----------
    start, stop, step
        The given bounds and step.
    dtype
        The type of the numbers.
    length
        The number of elements: max(0, ceil((stop - start) / step)).
    """

    def __init__(self, start: Any, stop: Any, step: Any, dtype: np.dtype) -> None:
        self.start, self.stop, self.step = start, stop, step
        self.dtype = dtype
        if any(isinstance(bound, Array) for bound in (start, stop, step)):
            # Type checkers do not know whether it is a number or an array.
            self.length: int | Array | Any = Array(_symbolic_length(start, stop, step, dtype))
        else:
            self.length = _length(start, stop, step)

    def at(self, i: Any) -> Array:
        """The number at index i: start + i * step."""
        number = astype(as_node(i), self.dtype)
        if isinstance(self.step, Array) or self.step != 1:
            number = times(number, _node(self.step, self.dtype))
        if isinstance(self.start, Array) or self.start != 0:
            number = plus(number, _node(self.start, self.dtype))
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

    def _unknown(self, consequence: str) -> SymbolicTruthError:
        return SymbolicTruthError(
            f"using a symbolic array as a Python int is not allowed: {self!r} has bounds that are "
            f"not known while the graph is built, so {consequence}{place_text()}; loop over it in "
            "a function decorated with @kg.function, or use kg.while_loop"
        )

    def __repr__(self) -> str:
        bounds = (self.start, self.stop, self.step)
        return f"kg.range({', '.join(map(_text, bounds))})"


@overload
def range(*bounds: float | np.number | np.ndarray) -> Array: ...  # type: ignore[overload-overlap]
@overload
def range(*bounds: Array | float | np.number | np.ndarray) -> Range: ...
@public
def range(*bounds: Any) -> "Array | Range":
    """Make evenly spaced numbers from start up to stop, without stop.

        range(stop), range(start, stop), range(start, stop, step)

    In a function decorated with `kg.function`, `for i in kg.range(n)` is a loop of the graph. A
    loop over Python's own `range` is unrolled: each trip becomes a part of the graph.

    Parameters
    ----------
    *bounds
        Positive or negative numbers, or arrays of one element. The default of start is 0, the
        default of step is 1.

    Returns
    -------
    Array or Range
        An array of 64-bit integers or floating-point numbers, as from np.arange. If a bound is an
        array, the length is not known, and the result is a `Range`, which loops accept.

    Raises
    ------
    ValueError
        If step is zero (if it is an array: when a compiled function runs), or a bound is not
        finite.
    TypeError
        If a bound is not a number, or there are no bounds or more than three.
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
    """The range of an array made by `kg.range`; None for other arrays.

    A loop over the range counts, and does not read the array.
    """
    node = array.node
    if not isinstance(node, Apply) or node.operation is not RANGE:
        return None
    start, step = node.attributes["start"], node.attributes["step"]
    numbers = Range(start, start + step * len(array), step, node.dtype)
    numbers.length = len(array)
    return numbers


def _bound(value: Any, name: str) -> Any:
    """Return a bound as a Python number or a 0-dimensional array."""
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
        raise ValueError(
            f"range: {name} is {value}{place_text()}; use kg.while_loop for an endless loop"
        )
    return float(array) if array.dtype.kind == "f" else int(array)


def _dtype(*bounds: Any) -> np.dtype:
    """The common type of the bounds: int64 or a floating-point type."""
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
        count = elementwise("ceil", elementwise("divide", minus(last, first), by))
    else:  # ceil(x / y) = -floor(-x / y)
        count = minus(first, last)
        count = elementwise("negative", elementwise("floor_divide", count, by))
    return astype(elementwise("maximum", count, 0), INT)


def _node(bound: Any, dtype: np.dtype) -> Node:
    return astype(bound, dtype) if isinstance(bound, Array) else as_node(np.asarray(bound, dtype))


def _text(bound: Any) -> str:
    return describe(bound.node) if isinstance(bound, Array) else str(bound)
