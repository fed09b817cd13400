"""The values of a loop over time, as linear expressions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from ..distributions.variable import Variable
from ..graph.lower import Environment
from ..graph.node import Apply, Node
from ..graph.operations.shaping import stack
from ..graph.rewriting.alike import Column, equal_literals
from ..graph.rewriting.step_columns import (
    ArrayPlaces,
    ColumnOperation,
    DelayedColumn,
)
from .linear_rows import (
    BEFORE,
    ZERO,
    NotLinearSeries,
    SeriesExpression,
    SeriesRows,
    by_step,
    combined,
    value_of,
)
from .linear_starts import FirstValue, element_of, first_noises, first_unknowns, laws_of
from .normal_vector import SystemNoise
from .series_columns import SeriesColumns

if TYPE_CHECKING:
    from .linear_nodes import System

__all__ = ["SeriesLoop"]


class SeriesLoop:
    """The columns of a loop over time, from the last column.

    A column has an element for each step after the first ones, of the number `delay`, and perhaps
    none for the last step, which no other step uses. NotAlike is raised if steps are not alike.
    """

    def __init__(self, system: "System", column: Column, delay: int, inner: bool = False) -> None:
        self.system, self.delay, self.inner = system, delay, inner
        self.columns = columns = SeriesColumns(column, system.numbers)
        # The values of columns at the steps before their first one.
        self._starts: dict[Column, dict[int, Node]] = {}
        for column, kind in columns.kinds.items():
            if isinstance(kind, DelayedColumn):
                starts = self._starts.setdefault(kind.column, {})
                for i, node in enumerate(column[: kind.lag]):
                    other = starts.setdefault(delay - kind.lag + i, node)
                    if other is not node and not equal_literals((other, node)):
                        raise NotLinearSeries
        self.starts = {node for starts in self._starts.values() for node in starts.values()}
        self._done: dict[Column, SeriesExpression] = {}
        self._states: dict[Column, list[int]] = {}  # of the value, and of earlier values

    def expression(self, column: Column) -> SeriesExpression:
        """The expression of a column."""
        if column not in self._done:
            self._done[column] = self._expression(column)
        return self._done[column]

    def _expression(self, column: Column) -> SeriesExpression:
        kind, system = self.columns.kinds[column], self.system
        if column[0].shape != ():
            raise NotLinearSeries
        if isinstance(kind, DelayedColumn):
            return self._before(kind)
        if isinstance(kind, Node) and system.has_intercept(kind):
            return system.expression(kind)
        if isinstance(kind, Node) or not any(map(system.moves, column)):
            return self._without_noise(column)
        if isinstance(kind, ArrayPlaces):
            return self._read(kind)
        if kind is None:
            return self._before_later(column)
        if not isinstance(kind, ColumnOperation):
            raise NotLinearSeries
        if column not in self._starts:
            return self._operation(column, kind)
        return self._state(column, kind)

    def _before_later(self, column: Column) -> SeriesExpression:
        """The values one step before a column of another loop."""
        later = column[1:]
        if not later or self.inner:
            raise NotLinearSeries
        loop = SeriesLoop(self.system, later, self.delay, inner=True)
        loop.expression(later)
        start = loop._starts.get(later, {}).get(self.delay - 1)
        if start is None or (start is not column[0] and not equal_literals((start, column[0]))):
            raise NotLinearSeries
        return loop._before(DelayedColumn(later, 1))

    def _state(self, column: Column, kind: ColumnOperation) -> SeriesExpression:
        """A column whose values other steps read."""
        system, starts = self.system, self._starts[column]
        firsts = first_unknowns(starts, self.delay)
        if firsts:
            system.possible_firsts[firsts] = isinstance(column[0], Variable)
        noisy = bool(firsts) and all(unknown in system.firsts for unknown in firsts)
        noisy = noisy and system.noise_unknowns.isdisjoint(firsts)
        steps_before = [step for step in starts if step < 0 or not noisy]
        earlier = {step: system.number(starts[step], step) for step in steps_before}
        if any(value.keys for step, value in earlier.items() if step < 0):
            raise NotLinearSeries
        states = self._states[column] = []
        for lag in range(self.delay - min(starts)):
            start = earlier.get(-1 - lag)
            states.append(system.delayed(states[-1], start) if lag else system.new_state(start))
        self._done[column] = value_of(states[0])
        if noisy:
            values = [starts[step] for step in range(self.delay)]
            later = self._after_unknowns(column, kind, firsts, values)
            earlier = {step: system.number(node, step) for step, node in enumerate(values)}
        else:
            later = self._operation(column, kind)
        first = [earlier.get(step, ZERO) for step in range(self.delay)]
        system.states[states[0]] = system.started(later, first)
        return self._done[column]

    def _after_unknowns(
        self,
        column: Column,
        kind: ColumnOperation,
        unknowns: tuple[Variable, ...],
        values: Sequence[Node],
    ) -> SeriesExpression:
        """A column whose values at the first steps are elements of unknowns."""
        system, states = self.system, tuple(self._states[column])
        places = [element_of(node) for node in values]
        for step, place in enumerate(places):
            system.first_values[place] = FirstValue(step, states)
        laws = [laws_of(system, node, step) for step, node in enumerate(values)]
        if isinstance(column[0], Variable):
            later = noises = self._operation(column, kind, unknowns, laws)
        else:
            later = self._operation(column, kind)
            noises = first_noises(system, unknowns, laws)
        for step, place in enumerate(places):
            system.first_values[place] = FirstValue(step, states, noises)
        return later

    def _operation(
        self,
        column: Column,
        kind: ColumnOperation,
        firsts: tuple[Variable, ...] = (),
        laws: Sequence[tuple[SeriesExpression, SeriesExpression]] = (),
    ) -> SeriesExpression:
        """The operation of a column; `firsts` come before its unknowns."""
        one, parents = column[0], [self.expression(parent) for parent in kind.parents]
        if isinstance(one, Apply):
            return combined(one, parents)
        system, unknowns = self.system, tuple(v for v in column if isinstance(v, Variable))
        mean, sd = (
            system.started(each, [law[k] for law in laws]) for k, each in enumerate(parents)
        )
        first = 0 if firsts else self.delay
        return system.noise(SystemNoise((*firsts, *unknowns), first), mean, sd)

    def _without_noise(self, column: Column) -> SeriesExpression:
        """Values that do not depend on noises."""
        node = self.columns.array(column)
        if node is None:
            node = stack(column)
        if node.shape not in ((), (1,), (len(column),)):
            raise NotLinearSeries
        self.system.constants[node] = None
        steps, after = self.system.steps, self.system.steps - self.delay - len(column)

        def rows(e: Environment) -> SeriesRows:
            value = jnp.asarray(e[node])
            if value.shape == (len(column),):
                value = jnp.pad(value, (self.delay, after), mode="edge")
            return SeriesRows({}, by_step(value, steps))

        return SeriesExpression(frozenset(), rows)

    def _read(self, kind: ArrayPlaces) -> SeriesExpression:
        """The elements of a series, one for each step."""
        whole, places = kind.array, kind.places
        late = self.system.late(whole)
        fits = self.system.is_series(whole) and late <= self.delay
        if not fits or not np.array_equal(places, self.delay - late + np.arange(len(places))):
            raise NotLinearSeries
        return self.system.expression(whole)

    def _before(self, kind: DelayedColumn) -> SeriesExpression:
        self.expression(kind.column)
        if kind.column not in self._states:
            raise NotLinearSeries
        key = BEFORE, self._states[kind.column][kind.lag - 1]
        return SeriesExpression(frozenset({key}), lambda _: SeriesRows({key: 1.0}, 0.0))
