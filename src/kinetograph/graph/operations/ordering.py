"""Functions of the order of elements: sorting, searching, quantiles, membership.

Derivatives pass to the selected elements; places have no derivatives.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import ShapeError
from ..messages import describe
from ..node import Apply, Node, Operation
from ..value_texts import shown
from .elementwise import astype, elementwise, floating, minus, plus, times, where
from .indexing import index, ravel
from .operands import Operand, as_node
from .reductions import Axis, normalise_axes, reduce
from .shaping import expand_dims, moveaxis, reshape, sort, transpose

__all__ = [
    "argsort",
    "count_nonzero",
    "digitize",
    "isin",
    "quantile",
    "searchsorted",
    "take_along_axis",
]

ARGSORT = Operation("argsort", lambda x, *, axis: jnp.argsort(x, axis=axis, stable=True))
SEARCHSORTED = Operation(
    "searchsorted", lambda a, v, *, side: jnp.searchsorted(a, v, side=side).astype(np.int64)
)
_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def argsort(x: Operand, axis: int | None = -1) -> Node:
    """The places of the elements in ascending order, by a stable sort."""
    node = as_node(x, "argsort")
    if axis is None:
        node, axis = ravel(node), 0
    (a,) = normalise_axes(node, axis, "argsort")
    return Apply(ARGSORT, (node,), node.shape, np.dtype(np.int64), {"axis": a})


def take_along_axis(x: Operand, indices: Operand, axis: int | None = -1) -> Node:
    """The elements at given places along an axis, separately for each row."""
    node, places = as_node(x, "take_along_axis"), as_node(indices, "take_along_axis")
    if axis is None:
        node, axis = ravel(node), 0
    (a,) = normalise_axes(node, axis, "take_along_axis")
    if len(places.shape) != len(node.shape):
        raise ShapeError(
            f"take_along_axis: indices of shape {places.shape} for {describe(node)}, shape "
            f"{node.shape}: they need as many axes"
        )
    ndim = len(node.shape)
    rows = [
        np.arange(n).reshape([-1 if i == d else 1 for d in range(ndim)])
        for i, n in enumerate(node.shape)
    ]
    return index(node, tuple(places if i == a else row for i, row in enumerate(rows)))


def searchsorted(a: Operand, v: Operand, side: str = "left") -> Node:
    """The places where elements of v belong in the ascending vector a.

    The place is before (side="left") or after (side="right") equal elements.
    """
    row, at = as_node(a, "searchsorted"), as_node(v, "searchsorted")
    if len(row.shape) != 1:
        raise ShapeError(f"searchsorted in {describe(row)}: needs a vector, got {row.shape}")
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is {side!r}; choose 'left' or 'right'")
    return Apply(SEARCHSORTED, (row, at), at.shape, np.dtype(np.int64), {"side": side})


def digitize(x: Operand, bins: Operand, right: bool = False) -> Node:
    """The bin of each element: the number of bin ends below it.

    The bin ends are known at build time, in ascending or descending order.
    """
    ends = np.asarray(getattr(as_node(bins), "value", None), float)
    if ends.ndim != 1 or not (np.all(np.diff(ends) >= 0) or np.all(np.diff(ends) <= 0)):
        raise ShapeError("digitize: bins must be known numbers in ascending or descending order")
    side = "left" if right else "right"
    if ends.size and ends[0] > ends[-1]:
        return minus(ends.size, searchsorted(ends[::-1], x, side))
    return searchsorted(ends, x, side)


def quantile(
    x: Operand, q: Any, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Node:
    """The quantiles for probabilities known at build time.

    The axes of the probabilities come first in the result. `method` selects the interpolation
    between elements.
    """
    node = floating(x, "quantile")
    probabilities = np.asarray(q, float)
    if not np.all((probabilities >= 0) & (probabilities <= 1)):
        raise ValueError(f"quantile: probabilities lie between 0 and 1, got {shown(q)}")
    if method not in _METHODS:
        raise ValueError(f"quantile: method is {method!r}; choose one of {', '.join(_METHODS)}")
    axes = normalise_axes(node, axis, "quantile")
    remaining_axes = tuple(i for i in range(len(node.shape)) if i not in axes)
    remaining_shape = tuple(node.shape[i] for i in remaining_axes)
    size = int(np.prod([node.shape[i] for i in axes]))
    if not size:
        raise ShapeError(f"quantile of {describe(node)}: shape {node.shape} has no elements")
    rows = sort(reshape(transpose(node, (*remaining_axes, *axes)), (*remaining_shape, size)), -1)
    low, fraction = _places(probabilities, size, method)
    all_rows = (slice(None),) * len(remaining_shape)
    below, above = (index(rows, (*all_rows, at)) for at in (low, np.minimum(low + 1, size - 1)))
    weights = np.broadcast_to(fraction, probabilities.shape)
    interpolated = plus(times(1 - weights, below), times(weights, above))
    # The product 0 * inf would be NaN where a neighbour is infinite.
    result = where(weights == 0, below, where(weights == 1, above, interpolated))
    has_nan = reduce("any", elementwise("isnan", rows), -1)
    for _ in range(probabilities.ndim):
        has_nan = expand_dims(has_nan, -1)
    result = astype(where(has_nan, np.nan, result), node.dtype)
    for i in range(probabilities.ndim):
        result = moveaxis(result, len(remaining_shape) + i, i)
    if keepdims:
        ones = tuple(1 if i in axes else n for i, n in enumerate(node.shape))
        result = reshape(result, (*probabilities.shape, *ones))
    return result


def _places(probabilities: np.ndarray, size: int, method: str) -> tuple[np.ndarray, np.ndarray]:
    """The element below each quantile, and the weight of the next."""
    positions = probabilities * (size - 1)
    low = np.floor(positions).astype(int)
    fraction = positions - low
    if method == "lower":
        fraction = np.zeros_like(fraction)
    elif method == "higher":
        fraction = np.ceil(fraction)
    elif method == "midpoint":
        fraction = np.where(fraction > 0, 0.5, 0.0)
    elif method == "nearest":
        fraction = np.round(positions) - low  # halves to even
    return low, fraction


def isin(x: Operand, among: Operand, invert: bool = False) -> Node:
    """Whether each element of x is one of the elements in `among`."""
    node, candidates = as_node(x, "isin"), ravel(as_node(among, "isin"))
    matches = elementwise("equal", expand_dims(node, -1), candidates)
    is_member = reduce("any", matches, -1)
    return elementwise("logical_not", is_member) if invert else is_member


def count_nonzero(x: Operand, axis: Axis = None, keepdims: bool = False) -> Node:
    """The number of elements that are not 0."""
    return reduce("sum", elementwise("not_equal", as_node(x), 0), axis, keepdims)
