"""Comparisons as NumPy makes them of whole arrays, and order among what is no NaN."""

import math
from typing import Any

import numpy as np

from ..node import Node
from .elementwise import Operand, as_node, astype, elementwise, floating, where
from .known import known
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
    """Whether numbers are within atol + rtol abs(b) of each other, or equal."""
    x, y = floating(a, "isclose"), floating(b, "isclose")
    size = elementwise("absolute", y)
    limit = elementwise("add", atol, elementwise("multiply", rtol, size))
    apart = elementwise("absolute", elementwise("subtract", x, y))
    near = elementwise("logical_and", elementwise("less_equal", apart, limit), _finite(y))
    found = elementwise("logical_or", near, elementwise("equal", x, y))
    if equal_nan:
        both = elementwise("logical_and", elementwise("isnan", x), elementwise("isnan", y))
        found = elementwise("logical_or", found, both)
    return found


def _finite(x: Node) -> Node:
    return elementwise("isfinite", x)


def allclose(
    a: Operand, b: Operand, rtol: Operand = 1e-5, atol: Operand = 1e-8, equal_nan: bool = False
) -> Node:
    """Whether all numbers are within atol + rtol abs(b) of each other, or equal."""
    return reduce("all", isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Operand, a2: Operand, equal_nan: bool = False) -> Any:
    """Whether arrays have one shape and the same elements."""
    x, y = as_node(a1), as_node(a2)
    if x.shape != y.shape:
        return False
    found = elementwise("equal", x, y)
    if equal_nan and x.dtype.kind == y.dtype.kind == "f":
        both = elementwise("logical_and", elementwise("isnan", x), elementwise("isnan", y))
        found = elementwise("logical_or", found, both)
    return reduce("all", found)


def array_equiv(a1: Operand, a2: Operand) -> Any:
    """Whether arrays, one of them repeated to the shape of the other, have the same elements."""
    x, y = as_node(a1), as_node(a2)
    try:
        shape = np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return reduce("all", elementwise("equal", x, y)) if shape in (x.shape, y.shape) else False


def isinf_of_sign(sign: int, x: Operand) -> Node:
    """Whether elements are infinite, with this sign."""
    return elementwise("equal", floating(x), sign * np.inf)


def nan_cumulative(name: str, a: Operand, axis: int | None = None) -> Node:
    """The running sum or product of what is no NaN."""
    node = floating(a, f"nan{name}")
    neutral = 0.0 if name == "cumsum" else 1.0
    return cumulative(name, where(elementwise("isnan", node), neutral, node), axis)


def nan_arg(name: str, a: Operand, axis: int | None = None, keepdims: bool = False) -> Node:
    """The place of the largest or smallest of what is no NaN (0 where all are)."""
    node = floating(a, f"nan{name}")
    worst = -np.inf if name == "argmax" else np.inf
    return reduce(name, where(elementwise("isnan", node), worst, node), axis, keepdims)


def nan_quantile(
    x: Operand, q: Any, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Node:
    """The quantiles, between elements by a line, of what is no NaN; NaN where all are."""
    node = floating(x, "nanquantile")
    chances = known(q, "nanquantile: the probabilities").astype(float)
    if method != "linear":
        raise ValueError(f"nanquantile: method is {method!r}; 'linear' is available")
    if not np.all((chances >= 0) & (chances <= 1)):
        raise ValueError(f"nanquantile: probabilities lie between 0 and 1, got {q!r:.60}")
    axes = normalise_axes(node, axis, "nanquantile")
    rest = tuple(i for i in range(len(node.shape)) if i not in axes)
    kept = tuple(node.shape[i] for i in rest)
    width = math.prod(node.shape[i] for i in axes)
    columns = reshape(transpose(node, (*rest, *axes)), (*kept, width))
    if width == 0:  # all of no elements are NaN
        columns = broadcast_to(np.nan, (*kept, 1))
    rows = sort(columns, -1)  # NaNs come last
    bad = elementwise("isnan", rows)
    count = reduce("sum", elementwise("logical_not", bad), -1, True)
    last = elementwise("maximum", elementwise("subtract", count, 1), 0)
    clean = where(bad, 0.0, rows)
    at = elementwise("multiply", chances.ravel(), last)
    low = elementwise("floor", at)
    part = elementwise("subtract", at, low)
    place = astype(low, np.int64)
    above = elementwise("minimum", elementwise("add", place, 1), last)
    first, second = (take_along_axis(clean, p, -1) for p in (place, above))
    between = elementwise(
        "add",
        elementwise("multiply", elementwise("subtract", 1, part), first),
        elementwise("multiply", part, second),
    )
    found = where(elementwise("equal", part, 0), first, between)
    found = where(elementwise("equal", count, 0), np.nan, found)
    found = reshape(moveaxis(found, -1, 0), (*chances.shape, *kept))
    if keepdims:
        ones = tuple(1 if i in axes else n for i, n in enumerate(node.shape))
        found = reshape(found, (*chances.shape, *ones))
    return found
