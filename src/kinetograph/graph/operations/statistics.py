"""Averages and covariances, and sums of what is no NaN: expressions of sums."""

from typing import Any

import numpy as np

from ..errors import ShapeError
from ..messages import describe
from ..node import Node
from .elementwise import Operand, as_node, astype, elementwise, floating, where
from .indexing import index
from .linear_algebra import matmul
from .reductions import Axis, normalise_axes, reduce
from .shaping import concatenate, diagonal, expand_dims, reshape, swapaxes

__all__ = ["average", "corrcoef", "cov", "nan_reduce"]


def average(a: Operand, axis: Axis = None, weights: Operand | None = None) -> Node:
    """The mean, or that weighted by what has the shape of a, or of its one axis."""
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
        w = elementwise("multiply", w, np.ones(node.shape))
    total = reduce("sum", elementwise("multiply", w, node), axis)
    return elementwise("divide", total, reduce("sum", w, axis))


def cov(
    m: Operand,
    y: Operand | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
) -> Node:
    """The covariances of variables in rows, or in columns, with the divisor n - 1 or n - ddof."""
    rows = _variables(m, rowvar)
    if y is not None:
        rows = concatenate([rows, _variables(y, rowvar)], 0)
    lost = (0 if bias else 1) if ddof is None else ddof
    count = rows.shape[1]
    if count <= lost:
        raise ShapeError(f"cov of {describe(as_node(m))}: {count} observations, divisor n - {lost}")
    apart = elementwise("subtract", rows, reduce("mean", rows, 1, True))
    found = elementwise("divide", matmul(apart, swapaxes(apart, 0, 1)), float(count - lost))
    return index(found, (0, 0)) if found.shape == (1, 1) else found


def _variables(m: Operand, rowvar: bool) -> Node:
    node = floating(m, "cov")
    if len(node.shape) > 2:
        raise ShapeError(f"cov of {describe(node)}: needs a vector or a matrix, got {node.shape}")
    if len(node.shape) < 2:
        return reshape(node, (1, node.size))
    return node if rowvar or node.shape[0] == 1 else swapaxes(node, 0, 1)


def corrcoef(x: Operand, y: Operand | None = None, rowvar: bool = True) -> Node:
    """The correlations of variables in rows, or in columns."""
    found = cov(x, y, rowvar)
    if not found.shape:
        return elementwise("divide", found, found)
    sd = elementwise("sqrt", diagonal(found, 0, 0, 1))
    scale = elementwise("multiply", expand_dims(sd, 1), expand_dims(sd, 0))
    return elementwise("divide", found, scale)


# What stands for a NaN in each reduction.
_NEUTRAL = {"sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}


def nan_reduce(
    name: str, a: Operand, axis: Axis = None, keepdims: bool = False, ddof: int = 0
) -> Node:
    """A sum, product, mean, variance, deviation, maximum or minimum of what is no NaN."""
    node = as_node(a, f"nan{name}")
    if node.dtype.kind != "f" and name in _NEUTRAL:
        return reduce(name, node, axis, keepdims)
    node = floating(node, f"nan{name}")
    bad = elementwise("isnan", node)
    if name in ("max", "min"):
        found = reduce(name, where(bad, _NEUTRAL[name], node), axis, keepdims)
        return where(reduce("all", bad, axis, keepdims), np.nan, found)
    if name in _NEUTRAL:
        return reduce(name, where(bad, _NEUTRAL[name], node), axis, keepdims)
    count = astype(reduce("sum", where(bad, 0.0, 1.0), axis, True), node.dtype)
    mean = elementwise("divide", reduce("sum", where(bad, 0.0, node), axis, True), count)
    if name == "mean":
        return _kept(mean, node, axis, keepdims)
    apart = where(bad, 0.0, elementwise("subtract", node, mean))
    squares: Any = reduce("sum", elementwise("square", apart), axis, True)
    left = elementwise("subtract", count, ddof)
    enough = elementwise("greater", left, 0)
    found = where(enough, elementwise("divide", squares, where(enough, left, 1.0)), np.nan)
    found = elementwise("root", found) if name == "std" else found
    return _kept(found, node, axis, keepdims)


def _kept(found: Node, node: Node, axis: Axis, keepdims: bool) -> Node:
    if keepdims:
        return found
    axes = normalise_axes(node, axis, "mean")
    return reshape(found, [n for i, n in enumerate(node.shape) if i not in axes])
