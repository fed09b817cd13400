"""Stacks of alike arrays, computed as one batch or loop.

    kg.stack([f(x[t]) for t in range(n)])           a batch over t
    for t in range(n):                              a loop, whose output is `kg.stack(levels)`
        level = rho * level + steps[t]
        levels.append(level)

XLA compiles such a stack in time that grows faster than n, as it sees n separate expressions. The
nodes in one place of all steps form a column. A column is computed for all steps at once if its
operation is the same in each step. A column is *delayed* if its nodes are the nodes of another
column some steps before; columns that depend on themselves through a delay are computed in a loop.

The change is made while the graph is lowered, and leaves the graph as it is. The numbers are the
same up to rounding.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..node import Apply, Data, Node, ancestors
from ..operations.elementwise import ELEMENTWISE
from ..operations.indexing import SLICE
from ..operations.shaping import STACK
from .alike import Column, at, equal_literals, hashable, is_batchable, is_single
from .participation import read

__all__ = ["StackedSteps", "plan_steps", "stacked_steps", "with_steps"]

FEWEST = 24  # smallest number of steps
_MOST_FIRST = 3  # largest number of first elements that are computed alone
_MOST_DEPTH = 4  # operations between equal nodes and their common node
_UNROLLED = 8  # steps in one trip of the loop
_ADD = ELEMENTWISE["add"]


class _Places(NamedTuple):
    """Elements of one array along one axis."""

    array: Node
    axis: int
    places: np.ndarray
    rest: tuple[Any, ...]  # the index of the other axes


class _Delayed(NamedTuple):
    """The nodes of another column, some steps before."""

    column: Column
    lag: int


class _Operation(NamedTuple):
    """One operation on the nodes of other columns."""

    parents: tuple[Column, ...]


class RunningSum(NamedTuple):
    """A value, to which a step is added at a time."""

    before: Node
    steps: tuple[Column, ...]  # the addends of a step


class _Other(Exception):
    """The elements of a stack are not alike."""


class StackedSteps:
    """The computation of a stack, and of the nodes below it.

    Attributes
    ----------
    inside
        The nodes that are computed as columns.
    inputs
        The nodes from which they are computed.
    outputs
        The columns that other nodes use, with those nodes.
    """

    def __init__(self, stack: Apply, first: int, computed: Container[Node]) -> None:
        self.stack = stack
        self.first = stack.parents[:first]
        self.column = stack.parents[first:]
        self._computed = computed
        self._kinds: dict[Column, Any] = {}
        self._places: dict[Node, tuple[Column, int]] = {}
        self._plan()
        operations = [c for c, kind in self._kinds.items() if isinstance(kind, _Operation)]
        self.inside = {node for column in operations for node in column}
        self.inputs = (*self.first, *dict.fromkeys(self._inputs()))
        above = ancestors(self.inputs, computed.__contains__)
        if not self.inside.isdisjoint(above):
            raise _Other
        self.alone = len(above)  # nodes that are computed one by one
        self._order = self._sorted()
        self._free = self._independent()
        self.outputs: dict[Column, list[tuple[int, Node]]] = {}

    def _plan(self) -> None:
        pending = [self.column]
        while pending:
            column = pending.pop()
            if column not in self._kinds:
                kind = self._kinds[column] = self._kind(column)
                if isinstance(kind, _Operation):
                    self._places |= {node: (column, i) for i, node in enumerate(column)}
                    pending += kind.parents
        if not isinstance(self._kinds[self.column], _Operation):
            raise _Other

    def _kind(self, column: Column) -> Any:
        one = column[0]
        if _is_constant((one, column[-1])) and _is_constant(column):
            return one
        if len({(node.shape, node.dtype) for node in column}) > 1:
            raise _Other
        place, i = self._places.get(column[-1], (None, 0))
        lag = len(column) - 1 - i
        if place is not None and lag > 0 and column[lag:] == place[:-lag]:
            return _Delayed(place, lag)
        if all(isinstance(node, Data) and node.literal for node in column):
            return np.stack([node.value for node in column])  # type: ignore[attr-defined]
        if any(node in self._computed for node in column):
            return None
        places = _places(column)
        if places is not None:
            return places
        keys = {_key(node) for node in column}
        if len(keys) > 1 or None in keys:
            return None
        return _Operation(tuple(zip(*(node.parents for node in column), strict=True)))

    def _inputs(self) -> Iterator[Node]:
        for column, kind in self._kinds.items():
            if isinstance(kind, Node):
                yield kind
            elif isinstance(kind, _Places):
                yield kind.array
            elif isinstance(kind, _Delayed):
                yield from column[: kind.lag]
            elif kind is None:
                yield from column

    def _sorted(self) -> list[Column]:
        """The columns in the order in which a step computes them."""
        order: list[Column] = []
        visited: set[Column] = set()
        pending: list[tuple[Column, bool]] = [(c, False) for c in self._kinds]
        while pending:
            column, done = pending.pop()
            if done:
                order.append(column)
            elif column not in visited:
                visited.add(column)
                kind = self._kinds[column]
                pending.append((column, True))
                if isinstance(kind, _Operation):
                    pending += ((parent, False) for parent in kind.parents)
        return order

    def _independent(self) -> set[Column]:
        """The columns that do not depend on themselves, or on such columns."""
        free: set[Column] = set()
        while True:
            count = len(free)
            for column in self._order:
                kind = self._kinds[column]
                needs: tuple[Column, ...] = ()
                if isinstance(kind, _Delayed):
                    needs = (kind.column,)
                elif isinstance(kind, _Operation):
                    needs = kind.parents
                if free.issuperset(needs):
                    free.add(column)
            if len(free) == count:
                return free

    @property
    def running_sum(self) -> RunningSum | None:
        """The running sum that the stack is, if it is one."""
        column, steps = self.column, []
        while isinstance(kind := self._kinds[column], _Operation):
            moving = [c for c in kind.parents if c not in self._free]
            if column[0].operation is not _ADD or len(moving) != 1:  # type: ignore[attr-defined]
                return None
            steps += [c for c in kind.parents if c in self._free]
            (column,) = moving
        whole = kind == _Delayed(self.column, 1) and self.outputs.keys() <= {self.column}
        return RunningSum(column[0], tuple(steps)) if steps and whole else None

    def array(self, column: Column) -> Node | None:
        """A node for all steps of a column, if there is one."""
        kind, one, count = self._kinds[column], column[0], len(column)
        if isinstance(kind, Node):
            return kind
        if isinstance(kind, _Places):
            whole = np.array_equal(kind.places, np.arange(count)) and not kind.rest
            return kind.array if whole and kind.array.shape[kind.axis] == count else None
        if not isinstance(kind, _Operation) or not one.operation.elementwise:  # type: ignore[attr-defined]
            return None
        parents = [self.array(parent) for parent in kind.parents]
        shape = (count, *one.shape)
        for node, parent in zip(parents, kind.parents, strict=True):
            if node is None or (node is not self._kinds[parent] and node.shape != shape):
                return None
        assert isinstance(one, Apply)
        return Apply(one.operation, tuple(filter(None, parents)), shape, one.dtype, one.attributes)

    def give(self, nodes: Iterable[Node]) -> None:
        """Add nodes to the outputs."""
        for node in nodes:
            column, i = self._places[node]
            self.outputs.setdefault(column, []).append((i, node))

    def compute(self, environment: dict[Node, Any]) -> dict[Node, Any]:
        """The tensors of the stack and of the outputs."""
        arrays = self._arrays(environment)
        dtype, axis = self.stack.dtype, self.stack.attributes["axis"]
        rows = arrays[self.column].astype(dtype)
        if self.first:
            first = [jnp.asarray(read(environment[n])).astype(dtype) for n in self.first]
            rows = jnp.concatenate([jnp.stack(first), rows])
        tensors: dict[Node, Any] = {self.stack: jnp.moveaxis(rows, 0, axis)}
        for column, wanted in self.outputs.items():
            tensors |= {node: arrays[column][i] for i, node in wanted}
        return tensors

    def _arrays(self, environment: dict[Node, Any]) -> dict[Column, Any]:
        """The arrays of columns, over the steps."""
        count = len(self.column)
        arrays: dict[Column, Any] = {}
        single: dict[Column, Any] = {}

        def one(node: Node) -> Any:
            return jnp.asarray(read(environment[node]))

        def ready(column: Column) -> tuple[Any, int | None]:
            return (single[column], None) if column in single else (arrays[column], 0)

        # An independent column may depend on one that comes later in a step, by a delay.
        left = [column for column in self._order if column in self._free]
        while left:
            later = []
            for column in left:
                kind = self._kinds[column]
                if isinstance(kind, Node):
                    single[column] = one(kind)
                elif isinstance(kind, np.ndarray):
                    arrays[column] = jnp.asarray(kind)
                elif isinstance(kind, _Places):
                    arrays[column] = _taken(one(kind.array), kind)
                elif kind is None:
                    arrays[column] = jnp.stack([one(node) for node in column])
                elif isinstance(kind, _Delayed):
                    if kind.column not in arrays:
                        later.append(column)
                        continue
                    start = jnp.stack([one(node) for node in column[: kind.lag]])
                    arrays[column] = jnp.concatenate([start, arrays[kind.column][: -kind.lag]])
                elif any(p not in arrays and p not in single for p in kind.parents):
                    later.append(column)
                else:
                    tensors, axes = zip(*map(ready, kind.parents), strict=True)
                    lowered = jax.vmap(_lower(column[0]), axes, axis_size=count)
                    arrays[column] = lowered(*tensors)
            left = later
        if self.column not in self._free:
            arrays |= self._looped(arrays, single, one)
        return arrays

    def _looped(
        self, arrays: dict[Column, Any], single: dict[Column, Any], one: Callable[[Node], Any]
    ) -> dict[Column, Any]:
        """The arrays of the columns that depend on themselves."""
        steps = [c for c in self._order if c not in self._free]
        delayed = {c: k for c in steps if isinstance(k := self._kinds[c], _Delayed)}
        operations = [c for c in steps if c not in delayed]
        if (total := self.running_sum) is not None:
            each = [arrays[c] if c in arrays else single[c] for c in total.steps]
            shape, dtype = (len(self.column), *self.column[0].shape), self.column[0].dtype
            whole = jnp.broadcast_to(sum(each[1:], start=each[0]), shape).astype(dtype)
            return {self.column: jnp.cumsum(whole.at[0].add(one(total.before).astype(dtype)), 0)}
        needed = [p for c in operations for p in self._kinds[c].parents if p in arrays]
        rows = {c: arrays[c] for c in needed}
        wanted = [c for c in operations if c in self.outputs or c == self.column]

        def trip(before: Any, inputs: Any) -> tuple[Any, Any]:
            values = {**single, **dict(zip(rows, inputs, strict=True))}
            values |= {c: held[0] for c, held in zip(delayed, before, strict=True)}
            for column in operations:
                parents = self._kinds[column].parents
                values[column] = _lower(column[0])(*(values[p] for p in parents))
            pairs = zip(before, delayed.values(), strict=True)
            after = [(*held[1:], values[kind.column]) for held, kind in pairs]
            return after, [values[c] for c in wanted]

        start = [tuple(map(one, c[: kind.lag])) for c, kind in delayed.items()]
        count = len(self.column)
        _, outputs = lax.scan(trip, start, [*rows.values()], count, unroll=_UNROLLED)
        return dict(zip(wanted, outputs, strict=True))


def stacked_steps(
    order: Sequence[Node],
    wanted: Iterable[Node],
    computed: Container[Node],
    excluded: Container[Node],
) -> list[StackedSteps]:
    """The stacks of alike steps among nodes, parents first.

    Parameters
    ----------
    order
        The nodes that are evaluated, parents first.
    wanted
        The nodes that are also used outside of this evaluation.
    computed
        The nodes that have tensors.
    excluded
        Nodes that have to be computed one by one.
    """
    stacks = [n for n in order if isinstance(n, Apply) and n.operation is STACK]
    stacks = [n for n in stacks if len(n.parents) >= FEWEST and n not in computed]
    found: list[StackedSteps] = []
    inside: set[Node] = set()
    for stack in reversed(stacks):
        if stack in inside or stack in excluded or not is_batchable(stack):
            continue
        steps = plan_steps(stack, computed)
        if steps is not None and not any(node in excluded for node in steps.inside):
            found.insert(0, steps)
            inside |= steps.inside | {stack}
    uses = {p for n in order if n not in inside for p in n.parents}
    uses |= {p for steps in found for p in steps.inputs}
    uses |= set(wanted)
    for steps in found:
        steps.give(uses & steps.inside)
    return found


def with_steps(
    nodes: Iterable[Node], computed: Container[Node], steps: Iterable[StackedSteps]
) -> Iterator[Node | StackedSteps]:
    """The nodes to compute, parents first, with the steps in their places."""
    done: set[Node] = set()

    def before(needed: Iterable[Node]) -> list[Node]:
        order = ancestors(needed, lambda node: node in computed or node in done)
        done.update(order)
        return order

    for each in steps:
        yield from before(each.inputs)
        yield each
        done.add(each.stack)
        done.update(node for wanted in each.outputs.values() for _, node in wanted)
    yield from before(nodes)


def plan_steps(stack: Apply, computed: Container[Node] = ()) -> StackedSteps | None:
    """The computation with the fewest nodes outside of the steps."""
    plans = []
    for first in range(min(_MOST_FIRST, len(stack.parents) - FEWEST) + 1):
        with suppress(_Other):
            plans.append(StackedSteps(stack, first, computed))
            if plans[-1].alone < FEWEST:
                break
    return min(plans, key=lambda plan: plan.alone, default=None)


def _key(node: Node) -> Any:
    """A key of the operation and its attributes; None without one."""
    if not is_batchable(node):
        return None
    assert isinstance(node, Apply)
    attributes = hashable(node.attributes)
    shapes = tuple((parent.shape, parent.dtype) for parent in node.parents)
    return None if attributes is None else (type(node), id(node.operation), attributes, shapes)


def _places(column: Column) -> _Places | None:
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
    return _Places(one.parents[0], axis, index, (*before, *templates[0][place + 1 :]))


def _is_constant(column: Column, depth: int = 0) -> bool:
    """Whether nodes are computed from one node in one way."""
    if is_single(column) or equal_literals(column):
        return True
    keys = {_key(node) for node in column}
    if depth == _MOST_DEPTH or len(keys) > 1 or None in keys:
        return False
    parents = zip(*(node.parents for node in column), strict=True)
    return bool(column[0].parents) and all(_is_constant(each, depth + 1) for each in parents)


def _taken(array: Any, places: _Places) -> Any:
    rows = at(jnp.moveaxis(array, places.axis, 0), places.places)
    return jax.vmap(lambda row: row[places.rest])(rows) if places.rest else rows


def _lower(node: Node) -> Callable[..., Any]:
    """The function that computes a node from the tensors of its parents."""
    assert isinstance(node, Apply)
    attributes = dict(node.attributes)
    casts = attributes.pop("casts", None)

    def lower(*tensors: Any) -> Any:
        if casts is not None:
            tensors = tuple(jnp.asarray(t, d) for t, d in zip(tensors, casts, strict=True))
        return jnp.asarray(node.operation.lower(*tensors, **attributes), node.dtype)

    return lower
