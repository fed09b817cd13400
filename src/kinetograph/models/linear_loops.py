"""The values of a loop over time, as linear expressions."""

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from ..graph.lower import Environment
from ..graph.node import Apply, Node
from ..graph.rewriting.alike import Column, equal_literals
from ..graph.rewriting.step_columns import (
    ArrayPlaces,
    ColumnOperation,
    DelayedColumn,
    NotAlike,
    StepColumns,
)
from .linear_rows import (
    BEFORE,
    NotLinearSeries,
    SeriesExpression,
    SeriesRows,
    combined,
    known,
    value_of,
)

if TYPE_CHECKING:
    from .linear_nodes import System

__all__ = ["SeriesLoop"]


class SeriesLoop:
    """The columns of a loop over time.

    A column has an element for each step, without the first one after a `delay`, and perhaps
    without the last one, which no other step uses.
    """

    def __init__(
        self, system: "System", columns: StepColumns, delay: int, inner: bool = False
    ) -> None:
        self.system, self.columns, self.delay, self.inner = system, columns, delay, inner
        kinds = columns.kinds.items()
        self._starts = {k.column: c[0] for c, k in kinds if isinstance(k, DelayedColumn)}
        self._done: dict[Column, SeriesExpression] = {}
        self._states: dict[Column, int] = {}

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
            return self._before(kind, column[0])
        if not any(map(system.moves, column)):
            return self._known(column)
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
        try:
            columns = StepColumns(later, ()) if later and not self.inner else None
        except NotAlike:
            columns = None
        if columns is None:
            raise NotLinearSeries
        loop = SeriesLoop(self.system, columns, self.delay, inner=True)
        return loop._before(DelayedColumn(later, 1), column[0])

    def _state(self, column: Column, kind: ColumnOperation) -> SeriesExpression:
        """A column whose values another step reads."""
        system, start = self.system, self.system.number(self._starts[column])
        if start.keys and not self.delay:
            raise NotLinearSeries
        state = system.new_state(None if self.delay else lambda e: start.rows(e).constant)
        self._states[column] = state
        self._done[column] = value_of(state)
        found = self._operation(column, kind)
        system.states[state] = system.started(found, start) if self.delay else found
        return self._done[column]

    def _operation(self, column: Column, kind: ColumnOperation) -> SeriesExpression:
        one = column[0]
        assert isinstance(one, Apply)
        return combined(one, [self.expression(parent) for parent in kind.parents])

    def _known(self, column: Column) -> SeriesExpression:
        """Values that do not depend on noises."""
        node = self.columns.array(column)
        if node is None or node.shape not in ((), (1,), (len(column),)):
            raise NotLinearSeries
        self.system.constants[node] = None
        steps, after = self.system.steps, self.system.steps - self.delay - len(column)

        def rows(e: Environment) -> SeriesRows:
            value = jnp.asarray(e[node])
            if value.shape == (len(column),):
                value = jnp.pad(value, (self.delay, after), mode="edge")
            return SeriesRows({}, known(value, steps))

        return SeriesExpression(frozenset(), rows)

    def _read(self, kind: ArrayPlaces) -> SeriesExpression:
        """The elements of a series, one for each step."""
        whole, places = kind.array, kind.places
        late = self.system.steps - whole.shape[0]  # 1 for a late series
        fits = len(whole.shape) == 1 and late in (0, self.delay)
        if not fits or not np.array_equal(places, self.delay - late + np.arange(len(places))):
            raise NotLinearSeries
        return self.system.expression(whole)

    def _before(self, kind: DelayedColumn, first: Node) -> SeriesExpression:
        self.expression(kind.column)
        start = self._starts.get(kind.column)
        same = start is first or (start is not None and equal_literals((start, first)))
        if kind.lag != 1 or not same:
            raise NotLinearSeries
        key = BEFORE, self._states[kind.column]
        return SeriesExpression(frozenset({key}), lambda _: SeriesRows({key: 1.0}, 0.0))
