"""Operations that rearrange elements: reshape, transpose, join, split, repeat, diagonal."""

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import ShapeError
from ..messages import describe
from ..node import Apply, Node, Operation
from ..precision import common_dtype
from ..source import place_text
from ..value_texts import in_words
from .bounds import RULES, of_all_parents
from .indexing import ravel, take
from .operands import Operand, as_node
from .reductions import Axis, normalise_axes, reduce

__all__ = ["broadcast_to", "concatenate", "reshape", "stack", "transpose"]


def _reshaped(x: Any, *, shape: tuple[int, ...]) -> Any:
    """The elements in a shape, of fewer rows if x has fewer."""
    return jnp.reshape(x, shape if x.size == math.prod(shape) else (-1, *shape[1:]))


RESHAPE = Operation("reshape", _reshaped)
TRANSPOSE = Operation("transpose", lambda x, *, axes: jnp.transpose(x, axes))
BROADCAST = Operation("broadcast_to", lambda x, *, shape: jnp.broadcast_to(x, shape))
CONCATENATE = Operation("concatenate", lambda *xs, axis: jnp.concatenate(xs, axis))
STACK = Operation("stack", lambda *xs, axis: jnp.stack(xs, axis))
REPEAT = Operation("repeat", lambda x, *, repeats, axis: jnp.repeat(x, repeats, axis))
TILE = Operation("tile", lambda x, *, reps: jnp.tile(x, reps))
FLIP = Operation("flip", lambda x, *, axis: jnp.flip(x, axis))
ROLL = Operation("roll", lambda x, *, shift, axis: jnp.roll(x, shift, axis))
DIAG = Operation("diag", lambda x, *, k: jnp.diag(x, k))
DIAGONAL = Operation(
    "diagonal", lambda x, *, offset, axis1, axis2: jnp.diagonal(x, offset, axis1, axis2)
)
TRIANGLE = {
    "tril": Operation("tril", lambda x, *, k: jnp.tril(x, k)),
    "triu": Operation("triu", lambda x, *, k: jnp.triu(x, k)),
}
SORT = Operation("sort", lambda x, *, axis: jnp.sort(x, axis))
RULES |= dict.fromkeys(
    (RESHAPE, TRANSPOSE, BROADCAST, CONCATENATE, STACK, REPEAT, TILE, FLIP, ROLL, SORT),
    of_all_parents,
)
DIFF = Operation("diff", lambda x, *, n, axis: jnp.diff(x, n, axis))


def _like(node: Node, operation: Operation, sizes: Sequence[int], /, **attributes: Any) -> Node:
    return Apply(operation, (node,), tuple(int(n) for n in sizes), node.dtype, attributes)


def reshape(x: Operand, shape: int | Sequence[int]) -> Node:
    """The elements in another shape, in C order.

    One size may be -1; it is computed from the number of elements.
    """
    node = as_node(x, "reshape")
    sizes = list(as_sizes(shape, "reshape"))
    unknown_places = [i for i, n in enumerate(sizes) if n == -1]
    known_size = math.prod(n for n in sizes if n != -1)
    if len(unknown_places) == 1 and known_size > 0 and node.size % known_size == 0:
        sizes[unknown_places[0]] = node.size // known_size
    if any(n < 0 for n in sizes) or math.prod(sizes) != node.size:
        raise ShapeError(
            f"cannot reshape {describe(node)} of shape {node.shape} "
            f"({node.size} elements) into {tuple(sizes)}"
        )
    if tuple(sizes) == node.shape:
        return node
    return _like(node, RESHAPE, sizes, shape=tuple(sizes))


def as_sizes(shape: int | Sequence[int], operation: str) -> tuple[int, ...]:
    """One size or several sizes as a tuple of integers."""
    try:
        return (operator.index(shape),)  # type: ignore[arg-type]
    except TypeError:
        pass
    try:
        return tuple(operator.index(n) for n in shape)  # type: ignore[union-attr]
    except TypeError:
        raise ShapeError(f"{operation}: {shape!r} is not a tuple of whole numbers") from None


def transpose(x: Operand, axes: Sequence[int] | None = None) -> Node:
    """The array with its axes in another order, reversed for None."""
    node = as_node(x)
    ndim = len(node.shape)
    if axes is None:
        order = tuple(reversed(range(ndim)))
    else:
        axis_numbers = as_sizes(axes, "transpose")
        order = tuple(a % ndim if -ndim <= a < ndim else a for a in axis_numbers)
    if sorted(order) != list(range(ndim)):
        raise ShapeError(
            f"transpose of {describe(node)}, shape {node.shape}: axes {axes} do not fit"
        )
    if order == tuple(range(ndim)):
        return node
    return _like(node, TRANSPOSE, [node.shape[a] for a in order], axes=order)


def swapaxes(x: Operand, axis1: int, axis2: int) -> Node:
    """Exchange two axes."""
    node = as_node(x)
    (a,), (b,) = (normalise_axes(node, axis, "swapaxes") for axis in (axis1, axis2))
    order = list(range(len(node.shape)))
    order[a], order[b] = b, a
    return transpose(node, order)


def moveaxis(x: Operand, source: int, destination: int) -> Node:
    """Move one axis to another place."""
    node = as_node(x)
    (a,), (b,) = (normalise_axes(node, axis, "moveaxis") for axis in (source, destination))
    order = [i for i in range(len(node.shape)) if i != a]
    order.insert(b, a)
    return transpose(node, order)


def broadcast_to(x: Operand, shape: int | Sequence[int]) -> Node:
    """Repeat along new or length-one axes."""
    node = as_node(x, "broadcast_to")
    sizes = as_sizes(shape, "broadcast_to")
    try:
        fits = np.broadcast_shapes(node.shape, sizes) == sizes
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(f"cannot broadcast {describe(node)} of shape {node.shape} to {sizes}")
    if sizes == node.shape:
        return node
    return _like(node, BROADCAST, sizes, shape=sizes)


def expand_dims(x: Operand, axis: int | Sequence[int]) -> Node:
    """Insert axes of length one."""
    node = as_node(x, "expand_dims")
    axes = as_sizes(axis, "expand_dims")
    ndim = len(node.shape) + len(axes)
    places = {a % ndim for a in axes if -ndim <= a < ndim}
    if len(places) < len(axes):
        raise ShapeError(
            f"expand_dims of {describe(node)}: axis {axis} is out of range for {ndim} axes, "
            "or named twice"
        )
    sizes = iter(node.shape)
    return reshape(node, [1 if i in places else next(sizes) for i in range(ndim)])


def squeeze(x: Operand, axis: int | Sequence[int] | None = None) -> Node:
    """Drop axes of length one."""
    node = as_node(x)
    if axis is None:
        axes = tuple(i for i, n in enumerate(node.shape) if n == 1)
    else:
        axes = normalise_axes(node, axis, "squeeze")
    if any(node.shape[a] != 1 for a in axes):
        raise ShapeError(f"squeeze of {describe(node)}: axes {axes} of {node.shape} are not all 1")
    return reshape(node, [n for i, n in enumerate(node.shape) if i not in axes])


def _whole(value: Any, operation: str) -> Node:
    """The node of an operand, as in NumPy.

    A list that contains arrays is stacked.
    """
    return stack(value) if _has_arrays(value) else as_node(value, operation)


def _has_arrays(value: Any) -> bool:
    """Whether a list contains arrays of the graph, at any depth."""
    return isinstance(value, (list, tuple)) and any(
        isinstance(getattr(v, "node", v), Node) or _has_arrays(v) for v in value
    )


def _several(arrays: Any, operation: str, axis: Any) -> Iterable[Any]:
    """The arrays to join.

    Raises TypeError if they are not given as a list.
    """
    candidate = getattr(arrays, "node", arrays)
    is_number = isinstance(candidate, Node) and not candidate.shape
    are_separate = is_number or np.ndim(axis) or isinstance(getattr(axis, "node", None), Node)
    if isinstance(arrays, Iterable) and not isinstance(arrays, (str, bytes)) and not are_separate:
        return arrays
    raise TypeError(
        f"{operation}: takes a list of arrays, as in kg.{operation}([x, y]), got "
        f"{in_words(arrays)}{place_text()}"
    )


def concatenate(arrays: Sequence[Operand], axis: int | None = 0) -> Node:
    """Join arrays along an existing axis; None flattens them first."""
    nodes = [_whole(a, "concatenate") for a in _several(arrays, "concatenate", axis)]
    if not nodes:
        raise ShapeError("concatenate needs at least one array")
    if axis is None:
        nodes, axis = [ravel(node) for node in nodes], 0
    if not nodes[0].shape:
        raise ShapeError(
            f"concatenate: {describe(nodes[0])} is a single number; use kg.stack to join numbers, "
            "and kg.concatenate([x, [number]]) to add one"
        )
    (a,) = normalise_axes(nodes[0], axis, "concatenate")
    other_sizes = {tuple(n for i, n in enumerate(node.shape) if i != a) for node in nodes}
    if len(other_sizes) > 1 or len({len(node.shape) for node in nodes}) > 1:
        shapes = ", ".join(f"{describe(n)} {n.shape}" for n in nodes)
        raise ShapeError(f"concatenate along axis {a}: the other axes differ: {shapes}")
    shape = list(nodes[0].shape)
    shape[a] = sum(node.shape[a] for node in nodes)
    dtype = common_dtype(*(node.dtype for node in nodes))
    attributes = {"axis": a, "casts": (dtype,) * len(nodes)}
    return Apply(CONCATENATE, tuple(nodes), tuple(shape), dtype, attributes)


def stack(arrays: Sequence[Operand], axis: int = 0) -> Node:
    """Join arrays of the same shape along a new axis."""
    nodes = [_whole(a, "stack") for a in _several(arrays, "stack", axis)]
    if not nodes:
        raise ShapeError("stack needs at least one array")
    if len({node.shape for node in nodes}) > 1:
        shapes = ", ".join(f"{describe(n)} {n.shape}" for n in nodes)
        raise ShapeError(f"stack needs arrays of one shape, got {shapes}")
    ndim = len(nodes[0].shape) + 1
    if not -ndim <= axis < ndim:
        raise ShapeError(f"stack: axis {axis} is out of range for {ndim} axes")
    shape = list(nodes[0].shape)
    shape.insert(axis % ndim, len(nodes))
    dtype = common_dtype(*(node.dtype for node in nodes))
    attributes = {"axis": axis % ndim, "casts": (dtype,) * len(nodes)}
    return Apply(STACK, tuple(nodes), tuple(shape), dtype, attributes)


def repeat(x: Operand, repeats: int | Sequence[int], axis: int | None = None) -> Node:
    """Repeat each element along an axis, or of the flattened array.

    `repeats` is one number for all elements, or a number for each element.
    """
    node = as_node(x, "repeat")
    if axis is None:
        node, axis = ravel(node), 0
    (a,) = normalise_axes(node, axis, "repeat")
    counts = as_sizes(repeats, "repeat")
    size = node.shape[a]
    if min(counts, default=0) < 0 or len(counts) not in (1, size):
        raise ShapeError(
            f"repeat of {describe(node)}: repeats {repeats} do not fit axis {a} of length {size}"
        )
    if len(counts) == 1:
        shape = [n * counts[0] if i == a else n for i, n in enumerate(node.shape)]
        return _like(node, REPEAT, shape, repeats=counts[0], axis=a)
    return take(node, np.repeat(np.arange(size), counts), a)


def tile(x: Operand, reps: int | Sequence[int]) -> Node:
    """Repeat the whole array along its axes."""
    node = as_node(x, "tile")
    counts = as_sizes(reps, "tile")
    ndim = max(len(counts), len(node.shape))
    full = (1,) * (ndim - len(counts)) + counts
    sizes = (1,) * (ndim - len(node.shape)) + node.shape
    if min(full, default=0) < 0:
        raise ShapeError(f"tile of {describe(node)}: negative repetitions {reps}")
    return _like(node, TILE, [r * n for r, n in zip(full, sizes, strict=True)], reps=full)


def flip(x: Operand, axis: Axis = None) -> Node:
    """Reverse the order along axes."""
    node = as_node(x, "flip")
    return _like(node, FLIP, node.shape, axis=normalise_axes(node, axis, "flip"))


def roll(x: Operand, shift: int | Sequence[int], axis: Axis = None) -> Node:
    """Shift elements cyclically along axes, or in the flattened array."""
    node = as_node(x, "roll")
    if axis is None:
        return reshape(roll(ravel(node), shift, 0), node.shape)
    axes = as_sizes(axis, "roll")
    normalise_axes(node, axes, "roll")
    shifts = as_sizes(shift, "roll")
    shifts = shifts * len(axes) if len(shifts) == 1 else shifts
    if len(shifts) != len(axes):
        raise ShapeError(f"roll of {describe(node)}: {len(shifts)} shifts for {len(axes)} axes")
    return _like(node, ROLL, node.shape, shift=shifts, axis=axes)


def diag(x: Operand, k: int = 0) -> Node:
    """A matrix with the given diagonal, or the diagonal of a matrix."""
    node = as_node(x)
    if len(node.shape) == 1:
        n = node.shape[0] + abs(k)
        return _like(node, DIAG, (n, n), k=k)
    if len(node.shape) == 2:
        return diagonal(node, k)
    raise ShapeError(f"diag of {describe(node)}: needs a vector or a matrix, got {node.shape}")


def diagonal(x: Operand, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Node:
    """The diagonal over two axes, which becomes the last axis."""
    node = as_node(x)
    (a,), (b,) = (normalise_axes(node, axis, "diagonal") for axis in (axis1, axis2))
    rows, columns = node.shape[a], node.shape[b]
    if a == b:
        raise ShapeError(f"diagonal of {describe(node)}: axis1 and axis2 are both {a}")
    length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    shape = [n for i, n in enumerate(node.shape) if i not in (a, b)] + [length]
    return _like(node, DIAGONAL, shape, offset=offset, axis1=a, axis2=b)


def trace(x: Operand, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Node:
    """The sum of the diagonal over two axes."""
    return reduce("sum", diagonal(x, offset, axis1, axis2), -1)


def triangle(name: str, x: Operand, k: int = 0) -> Node:
    """The lower (tril) or upper (triu) triangle, with zeros elsewhere."""
    node = as_node(x)
    if len(node.shape) < 2:
        raise ShapeError(f"{name} of {describe(node)}: needs a matrix, got shape {node.shape}")
    return _like(node, TRIANGLE[name], node.shape, k=k)


def sort(x: Operand, axis: int | None = -1) -> Node:
    """The elements sorted in ascending order along an axis.

    With `axis=None` the array is flattened first.
    """
    node = as_node(x, "sort")
    if axis is None:
        node, axis = ravel(node), 0
    (a,) = normalise_axes(node, axis, "sort")
    return _like(node, SORT, node.shape, axis=a)


def diff(x: Operand, n: int = 1, axis: int = -1) -> Node:
    """The n-th differences of neighbours along an axis."""
    node = as_node(x)
    (a,) = normalise_axes(node, axis, "diff")
    if n < 0:
        raise ShapeError(f"diff of {describe(node)}: n must not be negative, got {n}")
    shape = [max(s - n, 0) if i == a else s for i, s in enumerate(node.shape)]
    return _like(node, DIFF, shape, n=n, axis=a)
