"""Reductions by group: `segment_sum(x, index, n)` sums x for each label.

Labels lie in 0 .. n - 1. The first axes of x match the axes of the labels; the remaining axes are
kept. If the labels are known and sorted, XLA uses that. An empty group has sum 0, product 1,
maximum -inf, minimum inf and mean NaN. If a computed label lies outside 0 .. n - 1, the result is
NaN and a compiled function raises an error.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import ShapeError
from ..messages import describe
from ..node import Apply, Data, Node, Operation
from ..numerics.special import segment_prod
from .elementwise import floating
from .indexing import bad_value, check_labels
from .indexing import labels as known_labels
from .operands import Operand, as_node
from .shaping import as_sizes, reshape

__all__ = ["JOINED_LABELS", "SEGMENTS", "segment"]

INT = np.dtype(np.int64)


def _mean(x: Any, index: Any, size: int, **options: Any) -> Any:
    total = jax.ops.segment_sum(x, index, size, **options)
    count = jax.ops.segment_sum(jnp.ones(index.shape, x.dtype), index, size, **options)
    count = count.reshape(count.shape + (1,) * (total.ndim - 1))
    return jnp.where(count > 0, total / jnp.maximum(count, 1), jnp.nan)


def _segment(name: str, lower: Any) -> Operation:
    def lowered(x: Any, index: Any, *, size: int, is_sorted: bool, checked: bool = False) -> Any:
        flat = x.reshape((index.size, *x.shape[index.ndim :]))
        result = lower(flat, index.reshape(-1), size, indices_are_sorted=is_sorted)
        return jnp.where(jnp.any(index < 0), bad_value(result.dtype), result) if checked else result

    return Operation(f"segment_{name}", lowered)


def _joined(*labels: Any, sizes: tuple[int, ...]) -> Any:
    joined: Any = 0
    for each, size in zip(labels, sizes, strict=True):
        joined = joined * size + each.astype(INT)
    return joined


JOINED_LABELS = Operation("joined_labels", _joined, elementwise=True)  # several labels as one
SEGMENTS = {
    "sum": _segment("sum", jax.ops.segment_sum),
    "mean": _segment("mean", _mean),
    "max": _segment("max", jax.ops.segment_max),
    "min": _segment("min", jax.ops.segment_min),
    "prod": _segment("prod", segment_prod),
}


def segment(name: str, x: Operand, index: Any, num_segments: int | Sequence[int]) -> Node:
    """Combine the elements of x by a label or several labels.

    Several labels are given as a tuple.
    """
    operation = f"segment_{name}"
    indices = [
        as_node(i, operation) for i in (index if isinstance(index, (tuple, list)) else [index])
    ]
    sizes = as_sizes(num_segments, operation)
    if isinstance(index, list) and len(sizes) == 1 and all(not i.shape for i in indices):
        indices = [as_node(np.asarray(index), operation)]
    if len(indices) != len(sizes):
        raise ShapeError(
            f"{operation}: {len(indices)} indices, but {len(sizes)} numbers of segments"
        )
    node = as_node(x, operation)
    node = node if name == "sum" and node.dtype.kind in "iu" else floating(node)
    for i, size in zip(indices, sizes, strict=True):
        _check(operation, node, i, size, indices[0].shape)
    given_indices = indices
    indices = [known_labels(i, size) for i, size in zip(indices, sizes, strict=True)]
    labels = indices[0]
    if len(indices) > 1:
        labels = Apply(JOINED_LABELS, tuple(indices), labels.shape, INT, {"sizes": sizes})
    known_values = labels.value.reshape(-1) if isinstance(labels, Data) else None
    total = int(np.prod(sizes))
    attributes = {
        "size": total,
        "is_sorted": known_values is not None
        and labels.literal  # type: ignore[attr-defined]
        and bool((np.diff(known_values) >= 0).all()),
    }
    if indices != given_indices:
        attributes["checked"] = True
    remaining_shape = node.shape[len(labels.shape) :]
    result = Apply(
        SEGMENTS[name], (node, labels), (total, *remaining_shape), node.dtype, attributes
    )
    return reshape(result, (*sizes, *remaining_shape))


def _check(operation: str, x: Node, index: Node, size: int, shape: tuple[int, ...]) -> None:
    if index.dtype.kind not in "iu":
        raise ShapeError(f"{operation}: labels are integers, {describe(index)} has {index.dtype}")
    if index.shape != shape or x.shape[: len(shape)] != index.shape:
        raise ShapeError(
            f"{operation}: the labels {describe(index)} of shape {index.shape} do not fit the "
            f"first axes of {describe(x)}, shape {x.shape}"
        )
    check_labels(operation, index, size)
