"""Functions given by values: interpolation, polynomials, integrals, slopes, convolution."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import ShapeError
from ..messages import describe
from ..node import Apply, Node, Operation
from .elementwise import astype, elementwise, floating, minus, plus, promoted, times, where
from .indexing import index
from .operands import WEAK, Operand, as_node
from .ordering import searchsorted
from .reductions import normalise_axes, reduce
from .shaping import concatenate, diff, expand_dims

__all__ = ["convolve", "gradient", "interp", "polyval", "trapezoid"]

CONVOLVE = Operation("convolve", lambda a, v, *, mode: jnp.convolve(a, v, mode=mode))
_LENGTHS = {
    "full": lambda n, m: n + m - 1,
    "same": lambda n, m: max(n, m),
    "valid": lambda n, m: max(n, m) - min(n, m) + 1,
}


def convolve(a: Operand, v: Operand, mode: str = "full") -> Node:
    """The convolution of two vectors, sum_k a[k] v[n - k]."""
    x, y = as_node(a, "convolve"), as_node(v, "convolve")
    if len(x.shape) != 1 or len(y.shape) != 1 or not x.size or not y.size:
        raise ShapeError(
            f"convolve: needs two vectors that are not empty, got {describe(x)} of shape "
            f"{x.shape} and {describe(y)} of shape {y.shape}"
        )
    if mode not in _LENGTHS:
        raise ValueError(f"convolve: mode is {mode!r}; choose 'full', 'same' or 'valid'")
    dtype = promoted(x.dtype, y.dtype)
    if dtype.kind == "b":
        return elementwise("not_equal", convolve(astype(x, int), y, mode), 0)
    attributes = {"mode": mode, "casts": (dtype, dtype)}
    return Apply(CONVOLVE, (x, y), (_LENGTHS[mode](x.size, y.size),), dtype, attributes)


def interp(x: Operand, xp: Operand, fp: Operand, left: Any = None, right: Any = None) -> Node:
    """Linear interpolation between the points (xp, fp) at x.

    xp is ascending. Outside its range the result is the value at the nearest end, or `left` and
    `right`.
    """
    positions, points, values = (floating(v, "interp") for v in (x, xp, fp))
    if len(points.shape) != 1 or points.shape != values.shape or not points.size:
        raise ShapeError(
            f"interp: needs points and values of one length, got {describe(points)} of shape "
            f"{points.shape} and {describe(values)} of shape {values.shape}"
        )
    low, high = (index(points, i) for i in (0, points.size - 1))
    first, last = (index(values, i) for i in (0, points.size - 1))
    if points.size == 1:
        inside: Node = plus(first, times(0.0, positions))
    else:
        place = elementwise("minimum", searchsorted(points, positions, "right"), points.size - 1)
        above = elementwise("maximum", place, 1)
        below = minus(above, 1)
        x0, x1, y0, y1 = (index(v, (i,)) for v in (points, values) for i in (below, above))
        width = minus(x1, x0)
        is_flat = elementwise("equal", width, 0)
        fraction = elementwise("divide", minus(positions, x0), where(is_flat, 1.0, width))
        inside = plus(y0, times(fraction, minus(y1, y0)))
    inside = where(elementwise("less", positions, low), first if left is None else left, inside)
    return where(elementwise("greater", positions, high), last if right is None else right, inside)


def polyval(p: Operand, x: Operand) -> Node:
    """The polynomial with coefficients p at x, by Horner's scheme.

    The coefficient of the highest power comes first.
    """
    coefficients, at = as_node(p, "polyval"), as_node(x, "polyval")
    if len(coefficients.shape) != 1:
        raise ShapeError(f"polyval: needs a vector of coefficients, got {coefficients.shape}")
    value = times(0, at)
    for i in range(coefficients.size):
        value = plus(times(value, at), index(coefficients, i))
    return value


def _along(node: Node, axis: int, part: slice) -> Node:
    return index(node, (*(slice(None),) * axis, part))


def _across(spacing: Node, ndim: int, axis: int) -> Node:
    """A vector of spacings with new axes, which varies along `axis`."""
    for _ in range(ndim - axis - 1):
        spacing = expand_dims(spacing, -1)
    return spacing


def trapezoid(y: Operand, x: Operand | None = None, dx: Operand = 1.0, axis: int = -1) -> Node:
    """The integral along an axis, by the trapezoidal rule."""
    node = floating(y, "trapezoid")
    (a,) = normalise_axes(node, axis, "trapezoid")
    width: Operand = dx  # kept as a Python number, which takes the type of the array
    if x is not None:
        width = as_node(x, "trapezoid")
        is_full = len(width.shape) > 1
        width = diff(width, 1, a if is_full else -1)
        width = width if is_full else _across(width, len(node.shape), a)
    pair_sums = plus(_along(node, a, slice(1, None)), _along(node, a, slice(None, -1)))
    return reduce("sum", times(width, times(0.5, pair_sums)), a)


def gradient(f: Operand, *spacing: Operand, axis: Any = None, edge_order: int = 1) -> Any:
    """The slopes along each axis: central differences, one-sided differences at the ends."""
    node = floating(f, "gradient")
    axes = normalise_axes(node, axis, "gradient")
    if edge_order != 1:
        raise ValueError(f"gradient: edge_order is {edge_order!r}; 1 is available")
    steps = spacing if len(spacing) > 1 else (*spacing, 1.0)[:1] * len(axes)
    if len(steps) != len(axes):
        raise ShapeError(f"gradient: {len(spacing)} spacings for {len(axes)} axes")
    slopes = [_slopes(node, a, h) for a, h in zip(axes, steps, strict=True)]
    is_single = len(axes) == 1 and (axis is None or isinstance(axis, (int, np.integer)))
    return slopes[0] if is_single or len(node.shape) == 1 else tuple(slopes)


def _slopes(node: Node, a: int, spacing: Operand) -> Node:
    if type(spacing) not in WEAK:
        spacing = as_node(spacing, "gradient")
    n, ndim = node.shape[a], len(node.shape)
    if n < 2:
        raise ShapeError(f"gradient of {describe(node)}: axis {a} needs two elements, has {n}")
    has_coordinates = isinstance(spacing, Node) and spacing.shape
    if has_coordinates:
        if spacing.shape != (n,):
            raise ShapeError(
                f"gradient: coordinates of shape {spacing.shape} for an axis of length {n}"
            )
        width = _across(diff(spacing, 1, -1), ndim, a)
    else:
        width = spacing
    rise = elementwise("divide", diff(node, 1, a), width)
    slopes_before, slopes_after = _along(rise, a, slice(None, -1)), _along(rise, a, slice(1, None))
    if has_coordinates:  # the slope of the parabola through three points
        h, k = index(width, slice(None, -1)), index(width, slice(1, None))
        total = plus(h, k)
        inner = elementwise("divide", plus(times(k, slopes_before), times(h, slopes_after)), total)
    else:
        inner = times(0.5, plus(slopes_before, slopes_after))
    ends = _along(rise, a, slice(0, 1)), _along(rise, a, slice(n - 2, n - 1))
    return concatenate([ends[0], inner, ends[1]], a)
