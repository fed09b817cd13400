"""NumPy's comparisons of whole arrays, and quantiles and extremes that ignore NaN."""

import math
from typing import Any

import numpy as np

from ..node import Node
from ..value_texts import shown
from .build_time_values import build_time_value
from .elementwise import astype, elementwise, floating, minus, plus, times, where
from .operands import Operand, as_node
from .ordering import take_along_axis
from .reductions import Axis, cumulative, normalise_axes, reduce
from .shaping import broadcast_to, moveaxis, reshape, sort, transpose

__all__ = [
    "allclose",
    "array_equal",
    "array_equiv",
    "isclose",
    "isinf_of_sign",
    "nan_arg",
    "nan_cumulative",
    "nan_quantile",
]


def isclose(
    a: Operand, b: Operand, rtol: Operand = 1e-5, atol: Operand = 1e-8, equal_nan: bool = False
) -> Node:
    """Whether numbers are equal up to atol + rtol abs(b)."""
    x, y = floating(a, "isclose"), floating(b, "isclose")
    magnitude = elementwise("absolute", y)
    limit = plus(atol, times(rtol, magnitude))
    distance = elementwise("absolute", minus(x, y))
    is_near = elementwise("logical_and", elementwise("less_equal", distance, limit), _finite(y))
    result = elementwise("logical_or", is_near, elementwise("equal", x, y))
    if equal_nan:
        both_nan = elementwise("logical_and", elementwise("isnan", x), elementwise("isnan", y))
        result = elementwise("logical_or", result, both_nan)
    return result


def _finite(x: Node) -> Node:
    return elementwise("isfinite", x)


def allclose(
    a: Operand, b: Operand, rtol: Operand = 1e-5, atol: Operand = 1e-8, equal_nan: bool = False
) -> Node:
    """Whether all numbers are equal up to atol + rtol abs(b)."""
    return reduce("all", isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Operand, a2: Operand, equal_nan: bool = False) -> Any:
    """Whether arrays have the same shape and the same elements."""
    x, y = as_node(a1), as_node(a2)
    if x.shape != y.shape:
        return False
    result = elementwise("equal", x, y)
    if equal_nan and x.dtype.kind == y.dtype.kind == "f":
        both_nan = elementwise("logical_and", elementwise("isnan", x), elementwise("isnan", y))
        result = elementwise("logical_or", result, both_nan)
    return reduce("all", result)


def array_equiv(a1: Operand, a2: Operand) -> Any:
    """Whether arrays are equal after broadcasting one to the other's shape."""
    x, y = as_node(a1), as_node(a2)
    try:
        shape = np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return reduce("all", elementwise("equal", x, y)) if shape in (x.shape, y.shape) else False


def isinf_of_sign(sign: int, x: Operand) -> Node:
    """Whether elements are infinite with the given sign."""
    return elementwise("equal", floating(x), sign * np.inf)


def nan_cumulative(name: str, a: Operand, axis: int | None = None) -> Node:
    """The running sum or product, with NaN ignored."""
    node = floating(a, f"nan{name}")
    neutral = 0.0 if name == "cumsum" else 1.0
    return cumulative(name, where(elementwise("isnan", node), neutral, node), axis)


def nan_arg(name: str, a: Operand, axis: int | None = None, keepdims: bool = False) -> Node:
    """The place of the largest or smallest element, with NaN ignored.

    It is 0 if all elements are NaN.
    """
    node = floating(a, f"nan{name}")
    worst = -np.inf if name == "argmax" else np.inf
    return reduce(name, where(elementwise("isnan", node), worst, node), axis, keepdims)


def nan_quantile(
    x: Operand, q: Any, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Node:
    """Linearly interpolated quantiles that ignore NaN.

    The result is NaN if all elements are NaN.
    """
    node = floating(x, "nanquantile")
    probabilities = build_time_value(q, "nanquantile: the probabilities").astype(float)
    if method != "linear":
        raise ValueError(f"nanquantile: method is {method!r}; 'linear' is available")
    if not np.all((probabilities >= 0) & (probabilities <= 1)):
        raise ValueError(f"nanquantile: probabilities lie between 0 and 1, got {shown(q)}")
    axes = normalise_axes(node, axis, "nanquantile")
    remaining_axes = tuple(i for i in range(len(node.shape)) if i not in axes)
    remaining_shape = tuple(node.shape[i] for i in remaining_axes)
    width = math.prod(node.shape[i] for i in axes)
    columns = reshape(transpose(node, (*remaining_axes, *axes)), (*remaining_shape, width))
    if width == 0:  # an empty column counts as all NaN
        columns = broadcast_to(np.nan, (*remaining_shape, 1))
    rows = sort(columns, -1)  # NaNs come last
    is_nan = elementwise("isnan", rows)
    count = reduce("sum", elementwise("logical_not", is_nan), -1, True)
    last = elementwise("maximum", minus(count, 1), 0)
    finite_rows = where(is_nan, 0.0, rows)
    position = times(probabilities.ravel(), last)
    lower_position = elementwise("floor", position)
    fraction = minus(position, lower_position)
    lower_place = astype(lower_position, np.int64)
    upper_place = elementwise("minimum", plus(lower_place, 1), last)
    lower_value, upper_value = (
        take_along_axis(finite_rows, p, -1) for p in (lower_place, upper_place)
    )
    interpolated = plus(times(minus(1, fraction), lower_value), times(fraction, upper_value))
    result = where(elementwise("equal", fraction, 0), lower_value, interpolated)
    result = where(elementwise("equal", count, 0), np.nan, result)
    result = reshape(moveaxis(result, -1, 0), (*probabilities.shape, *remaining_shape))
    if keepdims:
        ones = tuple(1 if i in axes else n for i, n in enumerate(node.shape))
        result = reshape(result, (*probabilities.shape, *ones))
    return result
