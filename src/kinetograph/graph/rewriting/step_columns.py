"""Columns of alike steps: one node of each step.

A column is *constant* if all its nodes are one node, or are computed from one node in the same way.
It is *delayed* if its nodes are the nodes of another column some steps before.
"""

from collections.abc import Container, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..node import Apply, Data, Node, Operation
from ..operations.elementwise import ELEMENTWISE
from ..operations.indexing import SLICE, index
from .alike import Column, equal_literals, hashable, is_batchable, is_single
from .linear_steps import LinearSteps, linear_steps

__all__ = [
    "DelayedColumn",
    "NotAlike",
    "ColumnOperation",
    "ArrayPlaces",
    "StepSum",
    "StepColumns",
    "array_places",
]

_MOST_DEPTH = 4  # operations between equal nodes and their common node
_ADD = ELEMENTWISE["add"]


class ArrayPlaces(NamedTuple):
    """Elements of one array along one axis."""

    array: Node
    axis: int
    places: np.ndarray
    rest: tuple[Any, ...]  # the index of the other axes


class DelayedColumn(NamedTuple):
    """The nodes of another column, some steps before."""

    column: Column
    lag: int


class ColumnOperation(NamedTuple):
    """One operation on the nodes of other columns."""

    parents: tuple[Column, ...]


class StepSum(NamedTuple):
    """A value, to which a step is added at a time."""

    before: Node
    steps: tuple[Column, ...]  # the addends of a step


class NotAlike(Exception):
    """The elements of a stack are not alike."""


class StepColumns:
    """The columns from which the last column is computed.

    Attributes
    ----------
    column
        The last column.
    kinds
        How each column is computed: from a node, an array, `ArrayPlaces`, a `DelayedColumn` or a
        `ColumnOperation`; None for nodes that are computed one by one.
    order
        The columns in the order in which a step computes them.
    free
        The columns that do not depend on themselves, or on such columns.
    """

    def __init__(self, column: Column, computed: Container[Node]) -> None:
        self.column = column
        self._computed = computed
        self.kinds: dict[Column, Any] = {}
        self.places: dict[Node, tuple[Column, int]] = {}
        self._parts: dict[tuple[Node, int], Node] = {}
        self._plan()
        self.order = self._sorted()
        self.free = self._independent()

    def _plan(self) -> None:
        pending = [self.column]
        while pending:
            column = pending.pop()
            if column not in self.kinds:
                kind = self.kinds[column] = self._kind_of(column)
                if isinstance(kind, ColumnOperation):
                    self.places |= {node: (column, i) for i, node in enumerate(column)}
                    pending += kind.parents
        if not isinstance(self.kinds[self.column], ColumnOperation):
            raise NotAlike

    def _kind_of(self, column: Column) -> Any:
        one = column[0]
        if _is_constant((one, column[-1])) and _is_constant(column):
            return one
        if len({(node.shape, node.dtype) for node in column}) > 1:
            raise NotAlike
        place, i = self.places.get(column[-1], (None, 0))
        lag = len(column) - 1 - i
        if place is not None and lag > 0 and column[lag:] == place[:-lag]:
            return DelayedColumn(place, lag)
        if all(isinstance(node, Data) and node.literal for node in column):
            return np.stack([node.value for node in column])  # type: ignore[attr-defined]
        if any(node in self._computed for node in column):
            return None
        places = array_places(column)
        if places is not None:
            return places
        keys = {_key(node) for node in column}
        if len(keys) > 1 or None in keys:
            return None
        return ColumnOperation(tuple(zip(*(node.parents for node in column), strict=True)))

    def roots(self) -> Iterator[Node]:
        """The nodes from which the columns are computed."""
        for column, kind in self.kinds.items():
            if isinstance(kind, Node):
                yield kind
            elif isinstance(kind, ArrayPlaces):
                yield kind.array
            elif isinstance(kind, DelayedColumn):
                yield from column[: kind.lag]
            elif kind is None:
                yield from column

    def _sorted(self) -> list[Column]:
        """The columns in the order in which a step computes them."""
        order: list[Column] = []
        visited: set[Column] = set()
        pending: list[tuple[Column, bool]] = [(c, False) for c in self.kinds]
        while pending:
            column, done = pending.pop()
            if done:
                order.append(column)
            elif column not in visited:
                visited.add(column)
                kind = self.kinds[column]
                pending.append((column, True))
                if isinstance(kind, ColumnOperation):
                    pending += ((parent, False) for parent in kind.parents)
        return order

    def _independent(self) -> set[Column]:
        """The columns that do not depend on themselves, or on such columns."""
        free: set[Column] = set()
        while True:
            count = len(free)
            for column in self.order:
                kind = self.kinds[column]
                needs: tuple[Column, ...] = ()
                if isinstance(kind, DelayedColumn):
                    needs = (kind.column,)
                elif isinstance(kind, ColumnOperation):
                    needs = kind.parents
                if free.issuperset(needs):
                    free.add(column)
            if len(free) == count:
                return free

    @property
    def running_sum(self) -> StepSum | None:
        """The running sum that the stack is, if it is one."""
        column, steps = self.column, []
        while isinstance(kind := self.kinds[column], ColumnOperation):
            moving = [c for c in kind.parents if c not in self.free]
            if column[0].operation is not _ADD or len(moving) != 1:  # type: ignore[attr-defined]
                return None
            steps += [c for c in kind.parents if c in self.free]
            (column,) = moving
        whole = kind == DelayedColumn(self.column, 1)
        return StepSum(column[0], tuple(steps)) if steps and whole else None

    @property
    def linear_steps(self) -> LinearSteps | None:
        """The steps, if they are linear in the value before."""
        return linear_steps(self.column, self)

    @cached_property
    def _state(self) -> Column | None:
        """The only column that later steps read, if there is one."""
        kinds = ((column, kind) for column, kind in self.kinds.items() if column not in self.free)
        read = {kind.column for _, kind in kinds if isinstance(kind, DelayedColumn)}
        return read.pop() if len(read) == 1 else None

    def is_state(self, column: Column) -> bool:
        """Whether the nodes are the values that the next steps read."""
        return column == self._state

    def before(self, column: Column) -> Node | None:
        """The state before the first step.

        None for columns that are not the states before.
        """
        whole = self._state is not None and self.kinds[column] == DelayedColumn(self._state, 1)
        return column[0] if whole else None

    def constant(self, column: Column) -> Node | None:
        """The node of a column with the same value in all steps."""
        kind = self.kinds[column]
        return kind if isinstance(kind, Node) else None

    def moves(self, column: Column) -> bool:
        """Whether the nodes depend on the states before."""
        return column not in self.free

    def inputs(self, column: Column) -> tuple[Operation, Sequence[Column]] | None:
        """The operation of a column, and its operands."""
        kind, one = self.kinds[column], column[0]
        if not isinstance(kind, ColumnOperation) or not isinstance(one, Apply):
            return None
        return one.operation, kind.parents

    def whole(self, column: Column) -> Node | None:
        """A node for all steps, with the axes of the stack."""
        of_steps = not isinstance(self.kinds[column], Node)
        if of_steps and len(column[0].shape) != len(self.column[0].shape):
            return None
        return self.array(column)

    def array(self, column: Column) -> Node | None:
        """A node for all steps of a column, if there is one."""
        kind, one, count = self.kinds[column], column[0], len(column)
        if isinstance(kind, Node):
            return kind
        if isinstance(kind, np.ndarray):
            return Data(kind, literal=True)
        if isinstance(kind, ArrayPlaces):
            return None if kind.axis or kind.rest else self._part(kind, count)
        if not isinstance(kind, ColumnOperation) or not isinstance(one, Apply):
            return None
        if not one.operation.elementwise:
            return None
        parents = [self.array(parent) for parent in kind.parents]
        shape = (count, *one.shape)
        for node, parent in zip(parents, kind.parents, strict=True):
            if node is None or (not isinstance(self.kinds[parent], Node) and node.shape != shape):
                return None
        return Apply(one.operation, tuple(filter(None, parents)), shape, one.dtype, one.attributes)

    def _part(self, places: ArrayPlaces, count: int) -> Node | None:
        """The rows of an array, if they follow one another."""
        first, whole = int(places.places[0]), places.array
        if not np.array_equal(places.places, np.arange(first, first + count)):
            return None
        if count == whole.shape[0]:
            return whole
        key = whole, first
        if key not in self._parts:
            self._parts[key] = index(whole, (slice(first, first + count),))
        return self._parts[key]


def _key(node: Node) -> Any:
    """A key of the operation and its attributes; None without one."""
    if not is_batchable(node):
        return None
    assert isinstance(node, Apply)
    attributes = hashable(node.attributes)
    shapes = tuple((parent.shape, parent.dtype) for parent in node.parents)
    return None if attributes is None else (type(node), id(node.operation), attributes, shapes)


def array_places(column: Column) -> ArrayPlaces | None:
    """The elements of one array that a column reads, if so."""
    one = column[0]
    if not all(isinstance(n, Apply) and n.operation is SLICE for n in column):
        return None
    templates = [node.attributes["template"] for node in column]  # type: ignore[attr-defined]
    if Ellipsis in templates[0] or len({len(template) for template in templates}) > 1:
        return None
    parts = [{repr(part) for part in each} for each in zip(*templates, strict=True)]
    moving = [i for i, each in enumerate(parts) if len(each) > 1]
    if len(moving) != 1:
        return None
    place = moving[0]
    chosen = [template[place] for template in templates]
    if not all(isinstance(i, (int, np.integer)) and not isinstance(i, bool) for i in chosen):
        return None
    before = templates[0][:place]
    if not _is_constant(tuple(node.parents[0] for node in column)):
        return None
    axis = sum(part is not None for part in before)
    index = np.array(chosen) % one.parents[0].shape[axis]
    return ArrayPlaces(one.parents[0], axis, index, (*before, *templates[0][place + 1 :]))


def _is_constant(column: Column, depth: int = 0) -> bool:
    """Whether nodes are computed from one node in one way."""
    if is_single(column) or equal_literals(column):
        return True
    keys = {_key(node) for node in column}
    if depth == _MOST_DEPTH or len(keys) > 1 or None in keys:
        return False
    parents = zip(*(node.parents for node in column), strict=True)
    return bool(column[0].parents) and all(_is_constant(each, depth + 1) for each in parents)
