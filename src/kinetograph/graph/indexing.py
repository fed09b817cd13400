"""Reading and functional writing by index: slices, integers, masks, integer arrays, graph values.

Shapes are found by indexing a zero-stride NumPy array of the same shape, so the rules are NumPy's.
Index arrays known when the graph is built are checked against the bounds at once; an index that is
computed in the graph and falls outside is clipped to the nearest element.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from .elementwise import Operand, as_node
from .errors import ShapeError
from .messages import describe
from .node import Apply, Data, Node, Operation

__all__ = ["index", "take", "update"]

_SLOT = object()  # stands for an index that is a parent of the node


def _rebuild(template: tuple[Any, ...], indices: tuple[Any, ...]) -> tuple[Any, ...]:
    remaining = iter(indices)
    return tuple(next(remaining) if part is _SLOT else part for part in template)


def _read(x: Any, *indices: Any, template: tuple[Any, ...]) -> Any:
    return x.at[_rebuild(template, indices)].get(mode="promise_in_bounds")


def _read_clipped(x: Any, *indices: Any, template: tuple[Any, ...]) -> Any:
    return x.at[_rebuild(template, indices)].get(mode="clip")


def _slice(x: Any, *, template: tuple[Any, ...]) -> Any:
    return x[template]


def _write(x: Any, value: Any, *indices: Any, template: tuple[Any, ...], how: str) -> Any:
    return getattr(x.at[_rebuild(template, indices)], how)(value)


READ = Operation("index", _read)
READ_CLIPPED = Operation("index", _read_clipped)
SLICE = Operation("index", _slice)
WRITE = Operation("update", _write)


def _is_negative(values: np.ndarray) -> bool:
    return values.dtype.kind == "i" and values.size > 0 and bool(values.min() < 0)


def _parse(node: Node, key: Any) -> tuple[tuple[Any, ...], list[Node], tuple[Any, ...], bool]:
    """The static template, the index nodes, the key for NumPy, and whether all values are known."""
    parts = key if isinstance(key, tuple) else (key,)
    consumed = sum(
        _mask_rank(part) for part in parts if part is not None and part is not Ellipsis
    )
    template: list[Any] = []
    nodes: list[Node] = []
    dummy: list[Any] = []
    known = True
    axis = 0
    for part in parts:
        if part is None:
            template.append(None)
            dummy.append(None)
        elif part is Ellipsis:
            template.append(part)
            dummy.append(part)
            axis += len(node.shape) - consumed
        elif isinstance(part, slice):
            fixed = slice(*(None if v is None else int(v) for v in (part.start, part.stop, part.step)))
            template.append(fixed)
            dummy.append(fixed)
            axis += 1
        elif isinstance(part, (int, np.integer)) and not isinstance(part, bool):
            template.append(int(part))
            dummy.append(int(part))
            axis += 1
        else:
            axis, all_known = _array_part(node, part, axis, template, nodes, dummy)
            known = known and all_known
    return tuple(template), nodes, tuple(dummy), known


def _mask_rank(part: Any) -> int:
    part = getattr(part, "node", part)
    if isinstance(part, (int, np.integer, slice)):
        return 1
    if isinstance(part, Node):
        return len(part.shape) if part.dtype.kind == "b" else 1
    array = np.asarray(part)
    return array.ndim if array.dtype.kind == "b" else 1


def _array_part(
    node: Node, part: Any, axis: int, template: list, nodes: list[Node], dummy: list
) -> tuple[int, bool]:
    given = getattr(part, "node", part)
    index = given if isinstance(given, Node) else as_node(np.asarray(given))
    if index.dtype.kind == "f" and index.size == 0:
        index = as_node(np.zeros(index.shape, np.int64))
    if index.dtype.kind == "b":
        if not isinstance(index, Data):
            raise ShapeError(
                f"{describe(node)}[{describe(index)}]: a mask computed in the graph has no known "
                "number of true elements; use where(mask, x, other)"
            )
        for places in np.nonzero(index.value):
            nodes.append(as_node(places))
            template.append(_SLOT)
            dummy.append(places)
            axis += 1
        return axis, True
    if index.dtype.kind not in "iu":
        raise ShapeError(
            f"{describe(node)}[{describe(index)}]: an index must be of integers, got {index.dtype}"
        )
    size = node.shape[axis] if axis < len(node.shape) else 0
    known = isinstance(index, Data)
    if isinstance(index, Data):
        values = index.value
        if values.size and axis < len(node.shape):
            low, high = int(values.min()), int(values.max())
            if low < -size or high >= size:
                bad = low if low < -size else high
                hint = (
                    "; the smallest index is 1: do the labels start at 1? Subtract 1"
                    if low == 1 and high == size
                    else ""
                )
                raise ShapeError(
                    f"{describe(node)}[{describe(index)}]: index {bad} is out of bounds for axis "
                    f"{axis} of size {size}{hint}"
                )
        dummy.append(values)
        if _is_negative(values):
            index = as_node(np.where(values < 0, values + size, values))
    else:
        dummy.append(np.zeros(index.shape, np.int64))
    nodes.append(index)
    template.append(_SLOT)
    return axis + 1, known


def _result_shape(node: Node, dummy: tuple[Any, ...]) -> tuple[int, ...]:
    stand_in = np.broadcast_to(np.zeros((), np.int8), node.shape)
    try:
        return stand_in[dummy].shape
    except IndexError as error:
        raise ShapeError(f"index of {describe(node)}, shape {node.shape}: {error}") from None


def index(x: Operand, key: Any) -> Node:
    """x[key] under NumPy's rules."""
    node = as_node(x)
    template, nodes, dummy, known = _parse(node, key)
    shape = _result_shape(node, dummy)
    operation = SLICE if not nodes else READ if known else READ_CLIPPED
    return Apply(operation, (node, *nodes), shape, node.dtype, {"template": template})


def take(x: Operand, indices: Operand, axis: int | None = None) -> Node:
    """Elements of x along an axis (of the flattened array for None)."""
    node = as_node(x)
    if axis is None:
        from .shaping import reshape

        return index(reshape(node, (-1,)), indices)
    return index(node, (slice(None),) * (axis % len(node.shape)) + (indices,))


def update(x: Operand, key: Any, value: Operand, how: str) -> Node:
    """A copy of x in which the elements at `key` are set to, or combined with, `value`."""
    node, given = as_node(x), as_node(value)
    template, nodes, dummy, _ = _parse(node, key)
    shape = _result_shape(node, dummy)
    try:
        fits = np.broadcast_shapes(shape, given.shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"{describe(node)}.at[...].{how}: a value of shape {given.shape} does not fit the "
            f"selected elements of shape {shape}"
        )
    attributes = {"template": template, "how": how}
    dtype = np.result_type(node.dtype, given.dtype) if not isinstance(value, (int, float)) else node.dtype
    attributes["casts"] = (dtype, dtype, *(n.dtype for n in nodes))
    return Apply(WRITE, (node, given, *nodes), node.shape, dtype, attributes)


def one_hot(x: Operand, size: int) -> Node:
    """Indicator rows: 1 where the label equals the column."""
    node = as_node(x)
    return Apply(ONE_HOT, (node,), (*node.shape, size), np.dtype(np.float64), {"size": size})


ONE_HOT = Operation("one_hot", lambda x, *, size: jnp.equal(x[..., None], jnp.arange(size)) * 1.0)
