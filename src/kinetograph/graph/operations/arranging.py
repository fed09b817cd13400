"""Less common NumPy functions that arrange arrays: grids, parts, powers, differences."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ShapeError
from ..messages import describe
from ..node import Node
from .build_time_values import build_time_value
from .elementwise import elementwise, floating, minus, plus, times, where
from .indexing import index, ravel, take
from .operands import Operand, as_node
from .reductions import cumulative, normalise_axes
from .shaping import (
    broadcast_to,
    concatenate,
    diag,
    diff,
    moveaxis,
    reshape,
    roll,
    stack,
    transpose,
)

__all__ = [
    "atleast_3d",
    "broadcast_arrays",
    "cumulative_sum",
    "delete",
    "diagflat",
    "ediff1d",
    "fftshift",
    "linspace",
    "meshgrid",
    "resize",
    "rollaxis",
    "unstack",
    "unwrap",
    "vander",
]


def atleast_3d(a: Operand) -> Node:
    """x with at least three axes; a vector becomes the middle axis."""
    node = as_node(a)
    shape = {0: (1, 1, 1), 1: (1, *node.shape, 1), 2: (*node.shape, 1)}
    return reshape(node, shape.get(len(node.shape), node.shape))


def broadcast_arrays(*arrays: Operand) -> tuple[Node, ...]:
    """Arrays broadcast to their common shape."""
    nodes = [as_node(a) for a in arrays]
    try:
        shape = np.broadcast_shapes(*(node.shape for node in nodes))
    except ValueError:
        shapes = ", ".join(f"{describe(n)} {n.shape}" for n in nodes)
        raise ShapeError(f"broadcast_arrays: the shapes do not fit: {shapes}") from None
    return tuple(broadcast_to(node, shape) for node in nodes)


def meshgrid(*vectors: Operand, indexing: str = "xy", sparse: bool = False) -> tuple[Node, ...]:
    """The coordinates of a grid, one array for each axis.

    With `indexing="xy"` the first two axes are exchanged.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is {indexing!r}; choose 'xy' or 'ij'")
    nodes = [ravel(as_node(v)) for v in vectors]
    axes = list(range(len(nodes)))
    if indexing == "xy":
        axes[:2] = axes[:2][::-1]
    coordinates = [
        reshape(node, [-1 if axis == i else 1 for i in range(len(nodes))])
        for node, axis in zip(nodes, axes, strict=True)
    ]
    return tuple(coordinates) if sparse else broadcast_arrays(*coordinates)


def unstack(x: Operand, axis: int = 0) -> tuple[Node, ...]:
    """The parts of x along an axis."""
    node = as_node(x, "unstack")
    (a,) = normalise_axes(node, axis, "unstack")
    return tuple(index(node, (*(slice(None),) * a, i)) for i in range(node.shape[a]))


def rollaxis(a: Operand, axis: int, start: int = 0) -> Node:
    """x with an axis moved before another axis."""
    node = as_node(a)
    ndim = len(node.shape)
    (source,) = normalise_axes(node, axis, "rollaxis")
    if not -ndim <= start <= ndim:
        raise ShapeError(f"rollaxis of {describe(node)}: start {start} is out of range")
    target = start + ndim if start < 0 else start
    order = [i for i in range(ndim) if i != source]
    order.insert(target - (source < target), source)
    return transpose(node, order)


def resize(a: Operand, new_shape: Any) -> Node:
    """The elements in another shape, repeated from the start if needed."""
    node = ravel(as_node(a))
    sizes = tuple(np.empty(new_shape, np.bool_).shape)
    places = np.arange(int(np.prod(sizes))) % max(node.size, 1)
    if not node.size:
        raise ShapeError(f"resize of {describe(node)}: it has no elements")
    return reshape(take(node, places, 0), sizes)


def diagflat(v: Operand, k: int = 0) -> Node:
    """A matrix with all elements on its diagonal."""
    return diag(ravel(as_node(v)), k)


def ediff1d(x: Operand, to_end: Any = None, to_begin: Any = None) -> Node:
    """The differences of neighbours in the flattened array.

    `to_begin` is put before the differences, and `to_end` after them.
    """
    parts: list[Any] = [to_begin, diff(ravel(as_node(x))), to_end]
    return concatenate([ravel(as_node(p)) for p in parts if p is not None], 0)


def delete(arr: Operand, obj: Any, axis: int | None = None) -> Node:
    """x without the elements at places known at build time."""
    node = as_node(arr)
    if axis is None:
        node, axis = ravel(node), 0
    (a,) = normalise_axes(node, axis, "delete")
    deleted = obj if isinstance(obj, slice) else build_time_value(obj, "delete: the places")
    return take(node, np.delete(np.arange(node.shape[a]), deleted), a)


def linspace(
    start: Operand, stop: Operand, num: int = 50, endpoint: bool = True, axis: int = 0
) -> Node:
    """Numbers at equal distances from start to stop."""
    low, high = broadcast_arrays(floating(start), floating(stop))
    part = np.linspace(0.0, 1.0, num, endpoint=endpoint)
    part = part.reshape(-1, *(1,) * len(low.shape)).astype(low.dtype)
    rows = times(1 - part, low), times(part, high)
    return moveaxis(plus(*rows), 0, axis)


def vander(x: Operand, N: int | None = None, increasing: bool = False) -> Node:
    """The powers of a vector as columns, the highest first."""
    node = as_node(x, "vander")
    if len(node.shape) != 1:
        raise ShapeError(f"vander of {describe(node)}: needs a vector, got shape {node.shape}")
    count = node.size if N is None else int(N)
    if not count:
        return broadcast_to(np.zeros(0, node.dtype), (node.size, 0))
    powers: list[Node] = [plus(1, times(0, node))]
    while len(powers) < count:
        powers.append(times(powers[-1], node) if len(powers) > 1 else node)
    return stack(powers if increasing else powers[::-1], 1)


def cumulative_sum(
    name: str, x: Operand, axis: int | None = None, include_initial: bool = False
) -> Node:
    """The running sum or product along an axis.

    With `include_initial`, it begins with the initial value, 0 or 1.
    """
    node = as_node(x)
    if axis is None:
        if len(node.shape) != 1:
            raise ShapeError(f"{name} of {describe(node)}, shape {node.shape}: needs axis=")
        axis = 0
    (a,) = normalise_axes(node, axis, name)
    totals = cumulative(name, node, a)
    if not include_initial:
        return totals
    shape = [1 if i == a else n for i, n in enumerate(node.shape)]
    first = np.full(shape, 0 if name == "cumsum" else 1, totals.dtype)
    return concatenate([first, totals], a)


def fftshift(x: Operand, axes: int | Sequence[int] | None = None, back: bool = False) -> Node:
    """Exchange the halves of axes, which centres frequency 0, or undo it."""
    node = as_node(x)
    over = normalise_axes(node, axes, "fftshift")
    half = [node.shape[a] // 2 for a in over]
    return roll(node, [-h for h in half] if back else half, over) if over else node


def unwrap(
    p: Operand, discont: float | None = None, axis: int = -1, period: float = 2 * np.pi
) -> Node:
    """Angles along an axis without jumps larger than half a period."""
    node = floating(p, "unwrap")
    (a,) = normalise_axes(node, axis, "unwrap")
    step, half = diff(node, 1, a), 0.5 * period
    shifted_step = elementwise("remainder", plus(step, half), period)
    wrapped_step = minus(shifted_step, half)
    up = elementwise(
        "logical_and", elementwise("equal", wrapped_step, -half), elementwise("greater", step, 0)
    )
    limit = half if discont is None else max(discont, half)
    is_small = elementwise("less", elementwise("absolute", step), limit)
    change = where(is_small, 0.0, minus(where(up, half, wrapped_step), step))
    shape = [1 if i == a else n for i, n in enumerate(node.shape)]
    correction = concatenate([np.zeros(shape, node.dtype), cumulative("cumsum", change, a)], a)
    return plus(node, correction)
