"""Owners: the element of unknowns on which each computed element depends.

The sum over all values of n unknowns has K**n terms. If each part of the density depends on one
unknown only, n sums of K terms suffice. Owners find these parts: they hold, for each element of a
node, the flat index of the only element of the unknowns that it depends on, or NONE, or SEVERAL.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from ...graph.node import Apply, Data, Node
from ...graph.operations import indexing, shaping
from ...graph.operations.linear_algebra import MATMUL
from ...graph.operations.reductions import LOG_SOFTMAX, REDUCTIONS, SOFTMAX
from ...graph.precision import x64
from ..factor import NUMBER_DENSITIES

__all__ = ["NONE", "SEVERAL", "merged", "merged_along", "owners_of", "thin_shapes"]

NONE, SEVERAL = -1, -2
Owners = np.ndarray | None  # None: no element depends on an unknown

_MOVES = {
    shaping.RESHAPE,
    shaping.TRANSPOSE,
    shaping.BROADCAST,
    shaping.CONCATENATE,
    shaping.STACK,
    shaping.REPEAT,
    shaping.TILE,
    shaping.FLIP,
    shaping.ROLL,
    indexing.SLICE,
    indexing.RAVEL,
}
_REDUCTIONS = {operation for operation, _ in REDUCTIONS.values()}


def merged(*owners: np.ndarray) -> np.ndarray:
    """The owners of elements that are computed from several arrays.

    The owners are broadcast against one another.
    """
    first, *rest = np.broadcast_arrays(*owners)
    result = np.array(first)
    for other in rest:
        free, clash = result == NONE, (other != NONE) & (other != result)
        result = np.where(free, other, np.where(clash, SEVERAL, result))
    return result


def merged_along(owners: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The owners of elements computed from all elements along axes.

    These axes stay, with length 1.
    """
    some = owners != NONE
    top = np.max(owners, axes, keepdims=True, initial=NONE)
    low = np.min(np.where(some, owners, np.iinfo(owners.dtype).max), axes, keepdims=True)
    several = (some & (low != top)).any(axes, keepdims=True) | (owners == SEVERAL).any(
        axes, keepdims=True
    )
    return np.where(several, SEVERAL, top)


def owners_of(root: Node, order: list[Node], given_owners: Mapping[Node, np.ndarray]) -> Owners:
    """The owners of the elements of a node.

    `given_owners` holds the owners of other nodes; `order` has parents first.
    """
    owners: dict[Node, Owners] = dict(given_owners)
    for node in order:
        if node not in owners:
            owners[node] = _owners(node, owners)
    return owners[root]


def _owners(node: Node, by_node: Mapping[Node, Owners]) -> Owners:
    parents = [by_node.get(p) for p in node.parents]
    if all(p is None for p in parents):
        return None
    if not isinstance(node, Apply):
        return np.full(node.shape, SEVERAL)
    operation = node.operation
    filled = [
        np.full(n.shape, NONE) if p is None else p
        for n, p in zip(node.parents, parents, strict=True)
    ]
    if operation.elementwise or operation in NUMBER_DENSITIES:
        return np.array(np.broadcast_to(merged(*filled), node.shape))
    if operation in _MOVES:
        return _moved(operation.lower, filled, node.attributes)
    if operation in indexing.READS:
        return _read(node, filled, parents)
    if operation is indexing.ONE_HOT or operation is indexing.LABELS:
        return np.array(
            np.broadcast_to(filled[0].reshape(*filled[0].shape, *_ones(node)), node.shape)
        )
    if operation in (SOFTMAX, LOG_SOFTMAX):
        along = merged_along(filled[0], _axes(node, filled[0].ndim))
        return np.array(np.broadcast_to(along, node.shape))
    if operation is MATMUL:
        return _product(node, *filled)
    if operation in _REDUCTIONS and len(filled) == 1:
        return merged_along(filled[0], _axes(node, filled[0].ndim)).reshape(node.shape)
    return np.full(node.shape, SEVERAL)


def thin_shapes(
    order: list[Node], given_shapes: Mapping[Node, tuple[int, ...]]
) -> dict[Node, tuple[int, ...]] | None:
    """The shapes of nodes if some nodes have length 1 along axes.

    `given_shapes` holds the shapes of these nodes; parents come first. None if the results,
    broadcast, would not be the same numbers.
    """
    shapes = dict(given_shapes)
    for node in order:
        if node in shapes or not any(p in shapes for p in node.parents):
            continue
        if not isinstance(node, Apply):
            return None
        first, *index_shapes = (shapes.get(p, p.shape) for p in node.parents)
        if node.operation.elementwise:
            shapes[node] = np.broadcast_shapes(first, *index_shapes)
        elif (
            node.operation in indexing.READS and node.parents[0] not in shapes and _all_slots(node)
        ):
            shapes[node] = (*np.broadcast_shapes(*index_shapes), *first[len(index_shapes) :])
        else:
            return None
    return shapes


def _all_slots(node: Apply) -> bool:
    return all(part is indexing.SLOT for part in node.attributes["template"])


def _product(node: Node, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The owners of a product of matrices.

    An element depends on a row and a column.
    """
    rows = merged_along(left if left.ndim > 1 else left[None], (-1,))
    columns = merged_along(right if right.ndim > 1 else right[:, None], (-2,))
    whole = merged(rows, columns)
    if left.ndim == 1:
        whole = whole[..., 0, :]
    if right.ndim == 1:
        whole = whole[..., 0]
    return np.array(np.broadcast_to(whole, node.shape))


def _ones(node: Node) -> tuple[int, ...]:
    return (1,) * (len(node.shape) - len(node.parents[0].shape))


def _axes(node: Apply, ndim: int) -> tuple[int, ...]:
    axis = node.attributes.get("axis")
    axes = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return tuple(a % ndim for a in axes)


def _moved(lower: Callable[..., Any], owners: list[np.ndarray], attributes: Any) -> np.ndarray:
    attributes = {k: v for k, v in attributes.items() if k != "casts"}
    with jax.ensure_compile_time_eval(), x64():
        return np.asarray(lower(*owners, **attributes))


def _read(node: Apply, owners: list[np.ndarray], parents: list[Owners]) -> np.ndarray:
    template = node.attributes["template"]
    source, *indices = owners
    moving = any(p is not None for p in parents[1:])
    if not moving:
        if not all(isinstance(n, Data) for n in node.parents[1:]):
            return np.full(node.shape, SEVERAL)
        places = [n.value for n in node.parents[1:] if isinstance(n, Data)]
        return np.array(source[indexing.rebuilt(template, tuple(map(np.asarray, places)))])
    # An element that is read at a place depends on the owner of the place. If the array has owners,
    # too, all of these must be that owner.
    common = set(np.unique(source)) - {NONE}
    place = merged(*indices)
    if common:
        place = merged(place, np.array(common.pop() if len(common) == 1 else SEVERAL))
    return _placed(template, place, source, node.shape)


def _placed(
    template: tuple[Any, ...], place: np.ndarray, source: np.ndarray, shape: tuple[int, ...]
) -> np.ndarray:
    """The owners of the index arrays, at the result's axes from them."""
    advanced = [
        k
        for k, part in enumerate(template)
        if part is indexing.SLOT or isinstance(part, (int, np.integer))
    ]
    adjacent = advanced[-1] - advanced[0] + 1 == len(advanced)
    before = 0
    if adjacent:
        axis_count = sum(1 for part in template if part is not None and part is not Ellipsis)
        for part in template[: advanced[0]]:
            before += source.ndim - axis_count if part is Ellipsis else 1
    after = len(shape) - before - place.ndim
    wide = place.reshape((*(1 for _ in range(before)), *place.shape, *(1 for _ in range(after))))
    return np.array(np.broadcast_to(wide, shape))
