"""Functions of the order of elements: where they belong, quantiles, what is among others.

Derivatives are those of the elements that are picked; places themselves have none.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import ShapeError
from ..messages import describe
from ..node import Apply, Node, Operation
from .elementwise import Operand, as_node, astype, elementwise, floating, where
from .indexing import index, ravel
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
    """The places of the elements in ascending order; of equal ones the first comes first."""
    node = as_node(x, "argsort")
    if axis is None:
        node, axis = ravel(node), 0
    (a,) = normalise_axes(node, axis, "argsort")
    return Apply(ARGSORT, (node,), node.shape, np.dtype(np.int64), {"axis": a})


def take_along_axis(x: Operand, indices: Operand, axis: int | None = -1) -> Node:
    """The elements at places along an axis, of which each row has its own."""
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
    """The places in the ascending vector a before (side="left") or behind equal elements."""
    row, at = as_node(a, "searchsorted"), as_node(v, "searchsorted")
    if len(row.shape) != 1:
        raise ShapeError(f"searchsorted in {describe(row)}: needs a vector, got {row.shape}")
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is {side!r}; choose 'left' or 'right'")
    return Apply(SEARCHSORTED, (row, at), at.shape, np.dtype(np.int64), {"side": side})


def digitize(x: Operand, bins: Operand, right: bool = False) -> Node:
    """The bin of each element: how many ends, known and ascending or descending, lie below it."""
    ends = np.asarray(getattr(as_node(bins), "value", None), float)
    if ends.ndim != 1 or not (np.all(np.diff(ends) >= 0) or np.all(np.diff(ends) <= 0)):
        raise ShapeError("digitize: bins must be known numbers in ascending or descending order")
    side = "left" if right else "right"
    if ends.size and ends[0] > ends[-1]:
        return elementwise("subtract", ends.size, searchsorted(ends[::-1], x, side))
    return searchsorted(ends, x, side)


def quantile(
    x: Operand, q: Any, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Node:
    """The quantiles of known probabilities, whose axes come first; between elements as `method`."""
    node = floating(x, "quantile")
    chances = np.asarray(q, float)
    if not np.all((chances >= 0) & (chances <= 1)):
        raise ValueError(f"quantile: probabilities lie between 0 and 1, got {q!r:.60}")
    if method not in _METHODS:
        raise ValueError(f"quantile: method is {method!r}; choose one of {', '.join(_METHODS)}")
    axes = normalise_axes(node, axis, "quantile")
    rest = tuple(i for i in range(len(node.shape)) if i not in axes)
    kept = tuple(node.shape[i] for i in rest)
    size = int(np.prod([node.shape[i] for i in axes]))
    if not size:
        raise ShapeError(f"quantile of {describe(node)}: shape {node.shape} has no elements")
    rows = sort(reshape(transpose(node, (*rest, *axes)), (*kept, size)), -1)
    low, part = _places(chances, size, method)
    every = (slice(None),) * len(kept)
    below, above = (index(rows, (*every, at)) for at in (low, np.minimum(low + 1, size - 1)))
    whole = np.broadcast_to(part, chances.shape)
    between = elementwise(
        "add",
        elementwise("multiply", 1 - whole, below),
        elementwise("multiply", whole, above),
    )
    # 0 * inf would be NaN where an end is infinite.
    found = where(whole == 0, below, where(whole == 1, above, between))
    bad = reduce("any", elementwise("isnan", rows), -1)
    for _ in range(chances.ndim):
        bad = expand_dims(bad, -1)
    found = astype(where(bad, np.nan, found), node.dtype)
    for i in range(chances.ndim):
        found = moveaxis(found, len(kept) + i, i)
    if keepdims:
        ones = tuple(1 if i in axes else n for i, n in enumerate(node.shape))
        found = reshape(found, (*chances.shape, *ones))
    return found


def _places(chances: np.ndarray, size: int, method: str) -> tuple[np.ndarray, np.ndarray]:
    """The element below each quantile, and the part of the one above."""
    at = chances * (size - 1)
    low = np.floor(at).astype(int)
    part = at - low
    if method == "lower":
        part = np.zeros_like(part)
    elif method == "higher":
        part = np.ceil(part)
    elif method == "midpoint":
        part = np.where(part > 0, 0.5, 0.0)
    elif method == "nearest":
        part = np.round(at) - low  # halves to even
    return low, part


def isin(x: Operand, among: Operand, invert: bool = False) -> Node:
    """Whether each element is one of the others."""
    node, others = as_node(x, "isin"), ravel(as_node(among, "isin"))
    same = elementwise("equal", expand_dims(node, -1), others)
    found = reduce("any", same, -1)
    return elementwise("logical_not", found) if invert else found


def count_nonzero(x: Operand, axis: Axis = None, keepdims: bool = False) -> Node:
    """How many elements are not 0."""
    return reduce("sum", elementwise("not_equal", as_node(x), 0), axis, keepdims)
