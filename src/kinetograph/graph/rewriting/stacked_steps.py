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

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cached_property
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..node import Apply, Node, ancestors
from ..operations.shaping import STACK
from .alike import Column, at, is_batchable, is_single, lowered
from .guarded_columns import GuardedColumn, is_where
from .linear_steps import LinearSteps
from .participation import read
from .slopes import has_finite_slopes
from .step_columns import (
    ArrayPlaces,
    ColumnOperation,
    DelayedColumn,
    NotAlike,
    StepColumns,
)

__all__ = ["StackedSteps", "plan_steps", "stacked_steps", "with_steps"]

FEWEST = 24  # smallest number of steps
LARGEST = 2**23  # numbers of a column that is computed for all steps at once
_MOST_FIRST = 3  # largest number of first elements that are computed alone
_UNROLLED = 8  # steps in one trip of the loop


class StackedSteps:
    """The computation of a stack, and of the nodes below it.

    Attributes
    ----------
    inside
        The nodes that are computed as columns.
    replaced
        The nodes that are not computed one by one.
    inputs
        The nodes from which they are computed.
    outputs
        The columns that other nodes use, with those nodes.
    """

    def __init__(self, stack: Apply, first: int, computed: Container[Node]) -> None:
        self.stack = stack
        self.first = stack.parents[:first]
        self.column = stack.parents[first:]
        self._columns = StepColumns(self.column, computed)
        operations = [c for c, k in self._columns.kinds.items() if isinstance(k, ColumnOperation)]
        self.inside = {node for column in operations for node in column}
        self.inputs = (*self.first, *dict.fromkeys(self._columns.roots()))
        above = ancestors(self.inputs, computed.__contains__)
        if not self.inside.isdisjoint(above):
            raise NotAlike
        self.alone = len(above)  # nodes that are computed one by one
        self.replaced = set(ancestors(self.column, {*above}.__contains__)).difference(above)
        together = [c for c in operations if c in self._columns.free]
        self.largest = max((len(c) * c[0].size for c in together), default=0)
        self.outputs: dict[Column, list[tuple[int, Node]]] = {}

    @property
    def linear_steps(self) -> LinearSteps | None:
        """The steps, if they are linear in the value before."""
        return self._columns.linear_steps

    @property
    def has_finite_slopes(self) -> bool:
        """Whether the slopes of all operations are finite."""
        return all(map(has_finite_slopes, self.inside))

    def chooses(self, guards: Mapping[Node, Set[Node]]) -> bool:
        """Whether the columns contain the choices of all nodes that they replace.

        `guards` has the operations `where` on which the derivatives by a node's operands depend.
        """
        kinds = self._columns.kinds.items()
        copies: set[Node] = set()  # of equal nodes; one copy is computed for all
        for column, kind in kinds:
            if isinstance(kind, Apply) and not is_single(column):
                copies |= {*ancestors([kind])}.difference(ancestors([column[-1]]))
        read = {node for column, kind in kinds if isinstance(kind, ArrayPlaces) for node in column}
        columns = self.inside | read
        return all(
            node in columns and guards[node] <= self.inside
            for node in self.replaced | copies
            if node in guards
        )

    def give(self, nodes: Iterable[Node]) -> None:
        """Add nodes to the outputs."""
        for node in nodes:
            column, i = self._columns.places[node]
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
        for column, nodes_at in self.outputs.items():
            tensors |= {node: arrays[column][i] for i, node in nodes_at}
        return tensors

    @cached_property
    def _functions(self) -> dict[Column, tuple[Callable[..., Any], Sequence[Column]]]:
        """The function of one step of each column, and its inputs."""
        kinds = self._columns.kinds

        def inputs(column: Column) -> Sequence[Column] | None:
            kind = kinds[column]
            return kind.parents if isinstance(kind, ColumnOperation) else None

        functions: dict[Column, tuple[Callable[..., Any], Sequence[Column]]] = {}
        for column, kind in kinds.items():
            if isinstance(kind, ColumnOperation):
                functions[column] = lowered(column[0]), kind.parents
            if is_where(column[0]) and column in functions:
                guarded = GuardedColumn(column, inputs, itemgetter(0))
                if guarded.guards:
                    functions[column] = guarded, guarded.leaves
        return functions

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
        left = [column for column in self._columns.order if column in self._columns.free]
        while left:
            later = []
            for column in left:
                kind = self._columns.kinds[column]
                if isinstance(kind, Node):
                    single[column] = one(kind)
                elif isinstance(kind, np.ndarray):
                    arrays[column] = jnp.asarray(kind)
                elif isinstance(kind, ArrayPlaces):
                    arrays[column] = _taken(one(kind.array), kind)
                elif kind is None:
                    arrays[column] = jnp.stack([one(node) for node in column])
                elif isinstance(kind, DelayedColumn):
                    if kind.column not in arrays:
                        later.append(column)
                        continue
                    start = jnp.stack([one(node) for node in column[: kind.lag]])
                    arrays[column] = jnp.concatenate([start, arrays[kind.column][: -kind.lag]])
                else:
                    function, parents = self._functions[column]
                    if any(p not in arrays and p not in single for p in parents):
                        later.append(column)
                        continue
                    tensors, axes = zip(*map(ready, parents), strict=True)
                    arrays[column] = jax.vmap(function, axes, axis_size=count)(*tensors)
            left = later
        if self.column not in self._columns.free:
            arrays |= self._looped(arrays, single, one)
        return arrays

    def _looped(
        self, arrays: dict[Column, Any], single: dict[Column, Any], one: Callable[[Node], Any]
    ) -> dict[Column, Any]:
        """The arrays of the columns that depend on themselves."""
        steps = [c for c in self._columns.order if c not in self._columns.free]
        delayed = {c: k for c in steps if isinstance(k := self._columns.kinds[c], DelayedColumn)}
        operations = [c for c in steps if c not in delayed]
        alone = self.outputs.keys() <= {self.column}
        if alone and (total := self._columns.running_sum) is not None:
            one_step = self.column[0]
            shape, dtype = (len(self.column), *one_step.shape), one_step.dtype
            whole = jnp.zeros(shape, dtype)
            for c in total.steps:
                if c in arrays:  # the axis of the steps comes before the axes of a step
                    new = (1,) * (len(one_step.shape) - len(c[0].shape))
                    step = arrays[c].reshape(len(c), *new, *c[0].shape)
                else:
                    step = single[c]
                whole = whole + step.astype(dtype)
            return {self.column: jnp.cumsum(whole.at[0].add(one(total.before).astype(dtype)), 0)}
        needed = [p for c in operations for p in self._functions[c][1] if p in arrays]
        rows = {c: arrays[c] for c in needed}
        output_columns = [c for c in operations if c in self.outputs or c == self.column]

        def trip(before: Any, inputs: Any) -> tuple[Any, Any]:
            values = {**single, **dict(zip(rows, inputs, strict=True))}
            values |= {c: earlier[0] for c, earlier in zip(delayed, before, strict=True)}
            for column in operations:
                function, parents = self._functions[column]
                values[column] = function(*(values[p] for p in parents))
            pairs = zip(before, delayed.values(), strict=True)
            after = [(*earlier[1:], values[kind.column]) for earlier, kind in pairs]
            return after, [values[c] for c in output_columns]

        start = [tuple(map(one, c[: kind.lag])) for c, kind in delayed.items()]
        count = len(self.column)
        _, outputs = lax.scan(trip, start, [*rows.values()], count, unroll=_UNROLLED)
        return dict(zip(output_columns, outputs, strict=True))


def stacked_steps(
    order: Sequence[Node],
    outputs: Iterable[Node],
    computed: Container[Node],
    excluded: Set[Node],
    guards: Mapping[Node, Set[Node]] = MappingProxyType({}),
) -> list[StackedSteps]:
    """The stacks of alike steps among nodes, parents first.

    Parameters
    ----------
    order
        The nodes that are evaluated, parents first.
    outputs
        The nodes that are also used outside of this evaluation.
    computed
        The nodes that have tensors.
    excluded
        Nodes that have to be computed one by one.
    guards
        The operations `where` on which the derivatives by a node's operands depend.
    """
    stacks = [n for n in order if isinstance(n, Apply) and n.operation is STACK]
    stacks = [n for n in stacks if len(n.parents) >= FEWEST and n not in computed]
    every: list[StackedSteps] = []
    inside: set[Node] = set()
    for stack in reversed(stacks):
        if stack in inside or stack in excluded or not is_batchable(stack):
            continue
        steps = plan_steps(stack, computed)
        if steps is None or steps.largest > LARGEST:
            continue
        if excluded.isdisjoint(steps.replaced) and steps.chooses(guards):
            every.insert(0, steps)
            inside |= steps.inside | {stack}
    while every:
        inside = {node for steps in every for node in (steps.stack, *steps.inside)}
        uses = {p for n in order if n not in inside for p in n.parents}
        uses |= {p for steps in every for p in steps.inputs}
        uses |= set(outputs)
        # A slope that is not finite would reach rows of a column that only the stack uses, and the
        # stack need not take part in the derivative.
        remaining = [s for s in every if uses.isdisjoint(s.inside) or s.has_finite_slopes]
        if len(remaining) == len(every):
            break
        every = remaining
    for steps in every:
        steps.give(uses & steps.inside)
    return every


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
        done.update(node for pairs in each.outputs.values() for _, node in pairs)
    yield from before(nodes)


def plan_steps(stack: Apply, computed: Container[Node] = ()) -> StackedSteps | None:
    """The computation with the fewest nodes outside of the steps."""
    plans = []
    for first in range(min(_MOST_FIRST, len(stack.parents) - FEWEST) + 1):
        with suppress(NotAlike):
            plans.append(StackedSteps(stack, first, computed))
            if plans[-1].alone < FEWEST:
                break
    return min(plans, key=lambda plan: plan.alone, default=None)


def _taken(array: Any, places: ArrayPlaces) -> Any:
    rows = at(jnp.moveaxis(array, places.axis, 0), places.places)
    return jax.vmap(lambda row: row[places.rest])(rows) if places.rest else rows
