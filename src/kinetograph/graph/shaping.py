"""Operations that rearrange elements: reshape, transpose, join, split, repeat, diagonal."""

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from .elementwise import Operand, as_node
from .errors import ShapeError
from .messages import describe
from .node import Apply, Node, Operation
from .reductions import normalise_axes

__all__ = ["broadcast_to", "concatenate", "reshape", "stack", "transpose"]

RESHAPE = Operation("reshape", lambda x, *, shape: jnp.reshape(x, shape))
TRANSPOSE = Operation("transpose", lambda x, *, axes: jnp.transpose(x, axes))
BROADCAST = Operation("broadcast_to", lambda x, *, shape: jnp.broadcast_to(x, shape))
CONCATENATE = Operation("concatenate", lambda *xs, axis: jnp.concatenate(xs, axis))
STACK = Operation("stack", lambda *xs, axis: jnp.stack(xs, axis))
REPEAT = Operation("repeat", lambda x, *, repeats, axis: jnp.repeat(x, repeats, axis))
TILE = Operation("tile", lambda x, *, reps: jnp.tile(x, reps))
FLIP = Operation("flip", lambda x, *, axis: jnp.flip(x, axis))
ROLL = Operation("roll", lambda x, *, shift, axis: jnp.roll(x, shift, axis))
DIAG = Operation("diag", lambda x, *, k: jnp.diag(x, k))
DIAGONAL = Operation("diagonal", lambda x, *, offset, axis1, axis2: jnp.diagonal(x, offset, axis1, axis2))
TRIANGLE = {
    "tril": Operation("tril", lambda x, *, k: jnp.tril(x, k)),
    "triu": Operation("triu", lambda x, *, k: jnp.triu(x, k)),
}
DIFF = Operation("diff", lambda x, *, n, axis: jnp.diff(x, n, axis))


def _like(node: Node, operation: Operation, shape: Sequence[int], **attributes: Any) -> Node:
    return Apply(operation, (node,), tuple(int(n) for n in shape), node.dtype, attributes)


def reshape(x: Operand, shape: int | Sequence[int]) -> Node:
    """The same elements, in C order, in another shape; one size may be -1."""
    node = as_node(x)
    wanted = [shape] if isinstance(shape, (int, np.integer)) else list(shape)
    unknown = [i for i, n in enumerate(wanted) if n == -1]
    known = math.prod(n for n in wanted if n != -1)
    if len(unknown) == 1 and known > 0 and node.size % known == 0:
        wanted[unknown[0]] = node.size // known
    elif unknown or known != node.size:
        raise ShapeError(
            f"cannot reshape {describe(node)} of shape {node.shape} "
            f"({node.size} elements) into {tuple(wanted)}"
        )
    if tuple(wanted) == node.shape:
        return node
    return _like(node, RESHAPE, wanted, shape=tuple(int(n) for n in wanted))


def transpose(x: Operand, axes: Sequence[int] | None = None) -> Node:
    """The axes in another order (reversed for None)."""
    node = as_node(x)
    ndim = len(node.shape)
    if axes is None:
        order = tuple(reversed(range(ndim)))
    else:
        order = tuple(int(a) % ndim if -ndim <= a < ndim else int(a) for a in axes)
    if sorted(order) != list(range(ndim)):
        raise ShapeError(f"transpose of {describe(node)}, shape {node.shape}: axes {axes} do not fit")
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
    node = as_node(x)
    wanted = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    try:
        fits = np.broadcast_shapes(node.shape, wanted) == wanted
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(f"cannot broadcast {describe(node)} of shape {node.shape} to {wanted}")
    if wanted == node.shape:
        return node
    return _like(node, BROADCAST, wanted, shape=wanted)


def expand_dims(x: Operand, axis: int | Sequence[int]) -> Node:
    """Insert axes of length one."""
    node = as_node(x)
    axes = [axis] if isinstance(axis, (int, np.integer)) else list(axis)
    ndim = len(node.shape) + len(axes)
    if any(not -ndim <= a < ndim for a in axes):
        raise ShapeError(f"expand_dims of {describe(node)}: axis {axis} is out of range")
    places = {a % ndim for a in axes}
    sizes = iter(node.shape)
    return reshape(node, [1 if i in places else next(sizes) for i in range(ndim)])


def squeeze(x: Operand, axis: int | Sequence[int] | None = None) -> Node:
    """Drop axes of length one."""
    node = as_node(x)
    if axis is None:
        axes = tuple(i for i, n in enumerate(node.shape) if n == 1)
    else:
        axes = normalise_axes(node, axis if isinstance(axis, int) else tuple(axis), "squeeze")
    if any(node.shape[a] != 1 for a in axes):
        raise ShapeError(f"squeeze of {describe(node)}: axes {axes} of {node.shape} are not all 1")
    return reshape(node, [n for i, n in enumerate(node.shape) if i not in axes])


def _common(nodes: Sequence[Node]) -> np.dtype:
    return np.result_type(*(n.dtype for n in nodes))


def concatenate(arrays: Sequence[Operand], axis: int = 0) -> Node:
    """Join arrays along an existing axis."""
    nodes = [as_node(a) for a in arrays]
    if not nodes:
        raise ShapeError("concatenate needs at least one array")
    (a,) = normalise_axes(nodes[0], axis, "concatenate")
    rest = {tuple(n for i, n in enumerate(node.shape) if i != a) for node in nodes}
    if len(rest) > 1 or len({len(node.shape) for node in nodes}) > 1:
        shapes = ", ".join(f"{describe(n)} {n.shape}" for n in nodes)
        raise ShapeError(f"concatenate along axis {a}: the other axes differ: {shapes}")
    shape = list(nodes[0].shape)
    shape[a] = sum(node.shape[a] for node in nodes)
    dtype = _common(nodes)
    attributes = {"axis": a, "casts": (dtype,) * len(nodes)}
    return Apply(CONCATENATE, tuple(nodes), tuple(shape), dtype, attributes)


def stack(arrays: Sequence[Operand], axis: int = 0) -> Node:
    """Join arrays of one shape along a new axis."""
    nodes = [as_node(a) for a in arrays]
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
    dtype = _common(nodes)
    attributes = {"axis": axis % ndim, "casts": (dtype,) * len(nodes)}
    return Apply(STACK, tuple(nodes), tuple(shape), dtype, attributes)


def repeat(x: Operand, repeats: int, axis: int | None = None) -> Node:
    """Repeat each element along an axis (flattened for None)."""
    node = as_node(x)
    if axis is None:
        node, axis = reshape(node, (-1,)), 0
    (a,) = normalise_axes(node, axis, "repeat")
    shape = [n * repeats if i == a else n for i, n in enumerate(node.shape)]
    return _like(node, REPEAT, shape, repeats=int(repeats), axis=a)


def tile(x: Operand, reps: int | Sequence[int]) -> Node:
    """Repeat the whole array along its axes."""
    node = as_node(x)
    counts = (reps,) if isinstance(reps, (int, np.integer)) else tuple(reps)
    ndim = max(len(counts), len(node.shape))
    full = (1,) * (ndim - len(counts)) + counts
    sizes = (1,) * (ndim - len(node.shape)) + node.shape
    return _like(node, TILE, [r * n for r, n in zip(full, sizes, strict=True)], reps=full)


def flip(x: Operand, axis: int | tuple[int, ...] | None = None) -> Node:
    """Reverse the order along axes."""
    node = as_node(x)
    return _like(node, FLIP, node.shape, axis=normalise_axes(node, axis, "flip"))


def roll(x: Operand, shift: int, axis: int = 0) -> Node:
    """Shift elements along an axis, around the end."""
    node = as_node(x)
    (a,) = normalise_axes(node, axis, "roll")
    return _like(node, ROLL, node.shape, shift=int(shift), axis=a)


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
    """The diagonal over two axes, as the last axis."""
    node = as_node(x)
    (a,), (b,) = (normalise_axes(node, axis, "diagonal") for axis in (axis1, axis2))
    rows, columns = node.shape[a], node.shape[b]
    length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    shape = [n for i, n in enumerate(node.shape) if i not in (a, b)] + [length]
    return _like(node, DIAGONAL, shape, offset=offset, axis1=a, axis2=b)


def triangle(name: str, x: Operand, k: int = 0) -> Node:
    """The lower (tril) or upper (triu) triangle, the rest zero."""
    node = as_node(x)
    if len(node.shape) < 2:
        raise ShapeError(f"{name} of {describe(node)}: needs a matrix, got shape {node.shape}")
    return _like(node, TRIANGLE[name], node.shape, k=k)


def diff(x: Operand, n: int = 1, axis: int = -1) -> Node:
    """Differences of neighbours along an axis."""
    node = as_node(x)
    (a,) = normalise_axes(node, axis, "diff")
    shape = [max(s - n, 0) if i == a else s for i, s in enumerate(node.shape)]
    return _like(node, DIFF, shape, n=n, axis=a)
