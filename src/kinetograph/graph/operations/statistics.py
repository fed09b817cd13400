"""Averages, covariances, and reductions that ignore NaN."""

from typing import Any

import numpy as np

from ..errors import ShapeError
from ..messages import describe
from ..node import Node
from .elementwise import astype, elementwise, floating, minus, times, where
from .indexing import index
from .linear_algebra import matmul
from .operands import Operand, as_node
from .reductions import Axis, normalise_axes, reduce
from .shaping import concatenate, diagonal, expand_dims, reshape, swapaxes

__all__ = ["average", "corrcoef", "cov", "nan_reduce"]


def average(a: Operand, axis: Axis = None, weights: Operand | None = None) -> Node:
    """The mean, or the mean with weights.

    Weights have the shape of `a`, or are a vector along its one averaged axis.
    """
    node = floating(a, "average")
    if weights is None:
        return reduce("mean", node, axis)
    w = floating(weights, "average")
    if w.shape != node.shape:
        axes = normalise_axes(node, axis, "average")
        if axis is None or len(axes) != 1 or w.shape != (node.shape[axes[0]],):
            raise ShapeError(
                f"average of {describe(node)}, shape {node.shape}: weights of shape {w.shape} do "
                "not fit; they need its shape, or that of the one axis that is averaged over"
            )
        w = reshape(w, [w.size if i == axes[0] else 1 for i in range(len(node.shape))])
        w = times(w, np.ones(node.shape))
    total = reduce("sum", times(w, node), axis)
    return elementwise("divide", total, reduce("sum", w, axis))


def cov(
    m: Operand,
    y: Operand | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
) -> Node:
    """The covariances of variables in rows or columns.

    The divisor is n - 1, n with `bias`, or n - ddof.
    """
    rows = _variables(m, rowvar)
    if y is not None:
        rows = concatenate([rows, _variables(y, rowvar)], 0)
    lost_degrees = (0 if bias else 1) if ddof is None else ddof
    count = rows.shape[1]
    if count <= lost_degrees:
        raise ShapeError(
            f"cov of {describe(as_node(m))}: {count} observations, divisor n - {lost_degrees}"
        )
    deviations = minus(rows, reduce("mean", rows, 1, True))
    covariances = elementwise(
        "divide", matmul(deviations, swapaxes(deviations, 0, 1)), float(count - lost_degrees)
    )
    return index(covariances, (0, 0)) if covariances.shape == (1, 1) else covariances


def _variables(m: Operand, rowvar: bool) -> Node:
    node = floating(m, "cov")
    if len(node.shape) > 2:
        raise ShapeError(f"cov of {describe(node)}: needs a vector or a matrix, got {node.shape}")
    if len(node.shape) < 2:
        return reshape(node, (1, node.size))
    return node if rowvar or node.shape[0] == 1 else swapaxes(node, 0, 1)


def corrcoef(x: Operand, y: Operand | None = None, rowvar: bool = True) -> Node:
    """The correlations of variables in rows or columns."""
    covariances = cov(x, y, rowvar)
    if not covariances.shape:
        return elementwise("divide", covariances, covariances)
    sd = elementwise("sqrt", diagonal(covariances, 0, 0, 1))
    scale = times(expand_dims(sd, 1), expand_dims(sd, 0))
    return elementwise("divide", covariances, scale)


# The value that replaces NaN in each reduction.
_NEUTRAL = {"sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}


def nan_reduce(
    name: str, a: Operand, axis: Axis = None, keepdims: bool = False, ddof: int = 0
) -> Node:
    """A reduction that ignores NaN.

    `name` is "sum", "prod", "mean", "var", "std", "max" or "min".
    """
    node = as_node(a, f"nan{name}")
    if node.dtype.kind != "f" and name in _NEUTRAL:
        return reduce(name, node, axis, keepdims)
    node = floating(node, f"nan{name}")
    is_nan = elementwise("isnan", node)
    if name in ("max", "min"):
        result = reduce(name, where(is_nan, _NEUTRAL[name], node), axis, keepdims)
        return where(reduce("all", is_nan, axis, keepdims), np.nan, result)
    if name in _NEUTRAL:
        return reduce(name, where(is_nan, _NEUTRAL[name], node), axis, keepdims)
    count = astype(reduce("sum", where(is_nan, 0.0, 1.0), axis, True), node.dtype)
    mean = elementwise("divide", reduce("sum", where(is_nan, 0.0, node), axis, True), count)
    if name == "mean":
        return _without_axes(mean, node, axis, keepdims)
    deviations = where(is_nan, 0.0, minus(node, mean))
    squares: Any = reduce("sum", elementwise("square", deviations), axis, True)
    divisor = minus(count, ddof)
    is_enough = elementwise("greater", divisor, 0)
    result = where(
        is_enough, elementwise("divide", squares, where(is_enough, divisor, 1.0)), np.nan
    )
    result = elementwise("root", result) if name == "std" else result
    return _without_axes(result, node, axis, keepdims)


def _without_axes(result: Node, node: Node, axis: Axis, keepdims: bool) -> Node:
    if keepdims:
        return result
    axes = normalise_axes(node, axis, "mean")
    return reshape(result, [n for i, n in enumerate(node.shape) if i not in axes])
