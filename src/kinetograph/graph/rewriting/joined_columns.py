"""Columns of alike nodes, written as arrays of the graph.

    where(0 < s, a, b), where(1 < s, a, b), ...        where([0, 1, ...] < s, a, b)
    mu[z0], mu[z1], ...                                mu[z],  z = [z0, z1, ...]

The first axis of an array is that of the pieces; the axes of a piece follow. The arrays are the
nodes that a user would have written without the loop, so that all that reads the graph of an array
can read them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..node import Apply, Data, Node, Operation, ancestors
from ..operations.elementwise import elementwise
from ..operations.indexing import ONE_HOT, READ, READ_CHECKED, SLICE, SLOT, index, one_hot
from ..operations.linear_algebra import MATMUL, matmul
from ..operations.reductions import LOG_SOFTMAX, REDUCTIONS, SOFTMAX, reduce
from ..operations.shaping import BROADCAST, STACK, broadcast_to, reshape, stack, transpose
from .alike import Column, equal_literals, is_plain, is_single
from .gaps import stacked_values
from .step_columns import NotAlike, array_places

__all__ = ["JoinedColumn", "JoinedColumns"]

_SUMS = {operation: name for name, (operation, _) in REDUCTIONS.items()}


class JoinedColumn(NamedTuple):
    """The node of a column, without another axis for equal pieces."""

    node: Node
    moves: bool
    ndim: int  # axes of a piece

    def aligned(self, ndim: int) -> Node:
        """The node with `ndim` axes for a piece."""
        if not self.moves or self.ndim == ndim:
            return self.node
        count, *rest = self.node.shape
        return reshape(self.node, (count, *(1,) * (ndim - self.ndim), *rest))


class JoinedColumns:
    """The arrays of columns with one number of pieces.

    `given` has the arrays of some columns. Columns of nodes in `needed` have to be operations on
    arrays; other columns may be stacks.
    """

    def __init__(self, given: Mapping[Column, Node], needed: Collection[Node]) -> None:
        self._needed = needed
        self._joined_columns = {
            column: JoinedColumn(node, True, len(column[0].shape)) for column, node in given.items()
        }

    def of(self, column: Column) -> JoinedColumn:
        """The array of a column.

        Raises
        ------
        NotAlike
            If the nodes are not alike.
        """
        if column not in self._joined_columns:
            joined = self._joined_columns[column] = self._joined(column)
            if joined.node is not column[0] and isinstance(joined.node, Apply):
                joined.node._place = column[0]._place
        return self._joined_columns[column]

    def _joined(self, column: Column) -> JoinedColumn:
        first = column[0]
        ndim = len(first.shape)
        if is_single(column) or equal_literals(column):
            return JoinedColumn(first, False, ndim)
        if len({(node.shape, node.dtype) for node in column}) > 1:
            raise NotAlike
        if all(isinstance(node, Data) and node.literal for node in column):
            values = np.stack([node.value for node in column])  # type: ignore[attr-defined]
            return JoinedColumn(Data(values, literal=True), True, ndim)
        needed = any(node in self._needed for node in column)
        if not needed and column[-2] in ancestors(column[-1:]):  # computed one from the other
            return JoinedColumn(stacked_values(column), True, ndim)
        joined = self._places(column) or self._operation(column)
        if joined is not None:
            return joined
        if needed:
            raise NotAlike
        distinct = list(dict.fromkeys(column))
        if len(distinct) == len(column):
            return JoinedColumn(stack(column), True, ndim)
        place = {node: i for i, node in enumerate(distinct)}
        places = np.array([place[node] for node in column])
        return JoinedColumn(index(stack(distinct), (places,)), True, ndim)

    def _places(self, column: Column) -> JoinedColumn | None:
        """Elements of one array, such as x[0], x[1], ..."""
        source = array_places(column)
        if source is None or source.axis:
            return None
        first, last, count = int(source.places[0]), int(source.places[-1]), len(column)
        in_a_row = np.array_equal(source.places, np.arange(first, first + count))
        if in_a_row and (first, last) == (0, source.array.shape[0] - 1) and not source.rest:
            return JoinedColumn(source.array, True, len(column[0].shape))
        part = slice(first, last + 1) if in_a_row else source.places
        if in_a_row or not any(part is None for part in source.rest):
            node = index(source.array, (part, *source.rest))
            return JoinedColumn(node, True, len(column[0].shape))
        return None

    def _operation(self, column: Column) -> JoinedColumn | None:
        """One operation on the arrays of other columns."""
        one = column[0]
        if not isinstance(one, Apply) or not all(map(is_plain, column)):
            return None
        nodes = [node for node in column if isinstance(node, Apply)]
        same = all(
            node.operation is one.operation
            and len(node.parents) == len(one.parents)
            and [p.shape for p in node.parents] == [p.shape for p in one.parents]
            and _same(node.attributes, one.attributes)
            for node in nodes
        )
        write = _writer(one.operation)
        if not same or write is None:
            return None
        parents = [self.of(each) for each in zip(*(node.parents for node in nodes), strict=True)]
        if not any(parent.moves for parent in parents):
            return JoinedColumn(one, False, len(one.shape))
        node = write(one, parents, len(column))
        if node is None or (node.shape, node.dtype) != ((len(column), *one.shape), one.dtype):
            return None
        return JoinedColumn(node, True, len(one.shape))


def _same(one: object, other: object) -> bool:
    """Whether attributes are equal, which may hold arrays."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, (tuple, list)) and type(one) is type(other):
        return len(one) == len(other) and all(map(_same, one, other))  # type: ignore[arg-type]
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)  # type: ignore[arg-type]
    return type(one) is type(other) and one == other


Writer = Callable[[Apply, Sequence[JoinedColumn], int], Node | None]


def _writer(operation: Operation) -> Writer | None:
    """The function that writes an operation with another axis, or None."""
    return _elementwise if operation.elementwise else _WRITERS.get(operation)


def _elementwise(one: Apply, parents: Sequence[JoinedColumn], count: int) -> Node:
    ndim = len(one.shape)
    aligned = tuple(parent.aligned(ndim) for parent in parents)
    return Apply(one.operation, aligned, (count, *one.shape), one.dtype, one.attributes)


def _read(one: Apply, parents: Sequence[JoinedColumn], count: int) -> Node | None:
    template = one.attributes["template"]
    source, *indices = parents
    last = len(template) - 1 - template[::-1].index(SLOT)
    if not all(part is SLOT or isinstance(part, (int, np.integer)) for part in template[:last]):
        return None  # the axes of the indices do not come first
    ndim = max(i.ndim for i in indices)
    slots = iter([i.aligned(ndim) for i in indices])
    key = tuple(next(slots) if part is SLOT else part for part in template)
    if source.moves:
        rows = np.arange(count).reshape(count, *(1,) * ndim)
        return index(source.node, (rows, *key))
    return index(source.node, key)


def _slice(one: Apply, parents: Sequence[JoinedColumn], count: int) -> Node:
    return index(parents[0].node, (slice(None), *one.attributes["template"]))


def _stack(one: Apply, parents: Sequence[JoinedColumn], count: int) -> Node:
    shape = (count, *one.parents[0].shape)
    whole = [p.node if p.moves else broadcast_to(p.node, shape) for p in parents]
    return stack(whole, one.attributes["axis"] + 1)


def _broadcast(one: Apply, parents: Sequence[JoinedColumn], count: int) -> Node:
    return broadcast_to(parents[0].aligned(len(one.shape)), (count, *one.shape))


def _one_hot(one: Apply, parents: Sequence[JoinedColumn], count: int) -> Node:
    return one_hot(parents[0].node, one.attributes["size"])


def _later_axes(one: Apply) -> dict[str, object]:
    """The attributes with axes after that of the pieces."""
    axis, ndim = one.attributes["axis"], len(one.parents[0].shape)
    several = isinstance(axis, tuple)
    axes = tuple(range(ndim)) if axis is None else axis if several else (axis,)
    later = tuple(a % ndim + 1 for a in axes)
    return {**one.attributes, "axis": later if several or axis is None else later[0]}


def _softmax(one: Apply, parents: Sequence[JoinedColumn], count: int) -> Node:
    shape, attributes = (count, *one.shape), _later_axes(one)
    return Apply(one.operation, (parents[0].node,), shape, one.dtype, attributes)


def _reduction(one: Apply, parents: Sequence[JoinedColumn], count: int) -> Node | None:
    name = _SUMS[one.operation]
    if name in ("argmax", "argmin"):
        return None
    options = _later_axes(one)
    options.pop("casts", None)
    return reduce(name, parents[0].node, **options)  # type: ignore[arg-type]


def _matmul(one: Apply, parents: Sequence[JoinedColumn], count: int) -> Node | None:
    left, right = parents
    if left.moves and right.moves:
        if left.ndim == right.ndim == 1:
            return reduce("sum", elementwise("multiply", left.node, right.node), 1)
        return None
    if left.moves:
        return matmul(left.node, right.node) if right.ndim <= 2 else None
    if right.ndim > 1:
        return None
    if left.ndim == 1:
        return matmul(right.node, left.node)
    return matmul(right.node, transpose(left.node)) if left.ndim == 2 else None


_WRITERS: dict[Operation, Writer] = {
    READ: _read,
    READ_CHECKED: _read,
    SLICE: _slice,
    STACK: _stack,
    BROADCAST: _broadcast,
    ONE_HOT: _one_hot,
    SOFTMAX: _softmax,
    LOG_SOFTMAX: _softmax,
    MATMUL: _matmul,
    **dict.fromkeys(_SUMS, _reduction),
}
