"""Nodes as linear expressions of the states and noises of a system."""

from collections.abc import Callable
from copy import copy
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..distributions.variable import Distribution, Variable
from ..graph.lower import Environment
from ..graph.node import Apply, Node, ancestors
from ..graph.operations.elementwise import ELEMENTWISE
from ..graph.operations.indexing import SLICE
from ..graph.operations.reductions import CUMULATIVE
from ..graph.operations.shaping import CONCATENATE, STACK
from ..graph.rewriting.alike import Column
from ..graph.rewriting.step_columns import NotAlike, StepColumns
from .hierarchies import is_real
from .linear_loops import SeriesLoop
from .linear_rows import (
    BEFORE,
    LINEAR,
    NOISE,
    NOW,
    NotLinearSeries,
    SeriesExpression,
    SeriesRows,
    at_start,
    combined,
    known,
    lagged,
    resolved,
    value_of,
    with_start,
)
from .linear_scans import ScanLoop
from .scanned_steps import result_of
from .series_parts import elements_at, read_places, summed_at
from .system_law import SystemLaw
from .vector_laws import LAWS, usable

__all__ = ["System", "is_noise"]

MOST = 3  # states
_ADDITIVE = {ELEMENTWISE["add"], ELEMENTWISE["subtract"]}


def is_noise(unknown: Variable) -> bool:
    """Whether an unknown may have a noise for each step."""
    follows = unknown.distribution
    if follows is None or not is_real(unknown) or len(unknown.shape) != 1:
        return False
    key = follows.family.key
    return key in ("normal", "random_walk") or (
        key == "ar" and follows.arguments["rho"].shape[-1] == 1
    )


class System:
    """The states and noises of a system, while its nodes are read.

    A late series has no element for the first step. Data may be about some elements of a series
    only, at `places`.
    """

    def __init__(self, steps: int, places: np.ndarray | None = None) -> None:
        self.steps, self.places = steps, places
        self.data_places = None if places is None else elements_at(places, steps)
        self.constants: dict[Node, None] = {}
        self.noises: dict[Variable, SeriesExpression] = {}  # each unknown by states and noises
        self.starts: dict[int, Callable[[Environment], Any]] = {}  # states before the first step
        self.states: list[SeriesExpression | None] = []
        self._late_states: set[int] = set()
        self._moving: dict[Node, bool] = {}
        self._done: dict[Node, SeriesExpression] = {}

    def law(self, f: SeriesExpression, environment: Environment) -> SystemLaw:
        """The law, from the values of the constants."""
        states = [each.rows(environment) for each in self.states if each is not None]
        rows = [each.rows(environment) for each in self.noises.values()]
        of_f = f.rows(environment)
        of = [resolved(each, states, len(rows)) for each in (*states, *rows, of_f)]
        count = len(states)
        starts = [self.starts[k](environment) if k in self.starts else 0.0 for k in range(count)]
        return SystemLaw(self.steps, starts, of[:count], of[count:-1], of[-1])

    def constants_are_known(self) -> bool:
        """Whether no constant depends on a noise."""
        return set(ancestors(self.constants)).isdisjoint(self.noises)

    def finish(self) -> None:
        """Check that each state has an expression."""
        if any(each is None for each in self.states):
            raise NotLinearSeries

    def moves(self, node: Node) -> bool:
        """Whether a node depends on unknowns that may be noises."""
        if node not in self._moving:
            for each in ancestors([node], self._moving.__contains__):
                if each not in self._moving:
                    own = isinstance(each, Variable) and is_noise(each)
                    fits = own and each.shape[0] in (self.steps, self.steps - 1)
                    self._moving[each] = fits or any(self._moving[p] for p in each.parents)
        return self._moving[node]

    def observed(self, node: Node) -> SeriesExpression:
        """The expression of the numbers that data are about."""
        if self.places is None:
            return self.expression(node)
        if not self.moves(node):
            return self._selected(node)
        series, places = read_places(node)
        if series is not None and np.array_equal(places, self.places):
            return self.expression(series)
        if not isinstance(node, Apply):
            raise NotLinearSeries
        return combined(node, [self.observed(parent) for parent in node.parents])

    def _selected(self, node: Node) -> SeriesExpression:
        """A known number, or known values at the places."""
        if node.shape in ((), (1,)):
            return self.constant(node)
        assert self.data_places is not None
        of_steps = self.data_places
        if node.shape != self.places.shape or of_steps.shape[1] > 1:  # type: ignore[union-attr]
            raise NotLinearSeries
        self.constants[node] = None
        return SeriesExpression(frozenset(), lambda e: SeriesRows({}, summed_at(e[node], of_steps)))

    def expression(self, node: Node) -> SeriesExpression:
        """The expression of a series, or of a known number."""
        if node not in self._done:
            self._done[node] = self._expression(node)
        return self._done[node]

    def _expression(self, node: Node) -> SeriesExpression:
        if not self.moves(node):
            return self.constant(node)
        if node.shape not in ((self.steps,), (self.steps - 1,)):
            raise NotLinearSeries
        if isinstance(node, Variable):
            return self._noise(node)
        assert isinstance(node, Apply)
        moving = sum(map(self.moves, node.parents))
        if node.operation in _ADDITIVE or (node.operation in LINEAR and moving == 1):
            return combined(node, [self.expression(parent) for parent in node.parents])
        if node.operation is CUMULATIVE["cumsum"]:
            return self._sum(node.parents[0])
        if node.operation is CONCATENATE and len(node.parents) == 2:
            return self._joined(*node.parents)
        if node.operation is SLICE:
            return self._part(node)
        if node.operation is STACK:
            return self._stack(node)
        if (scanned := result_of(node)) is not None:
            scan, result = scanned
            return ScanLoop(self, scan, int(self._is_late(node))).expression(result)
        return self.constant(node)

    def constant(self, node: Node) -> SeriesExpression:
        """A known value."""
        if node.shape not in ((), (1,), (self.steps,), (self.steps - 1,)):
            raise NotLinearSeries
        self.constants[node] = None
        return SeriesExpression(frozenset(), lambda e: SeriesRows({}, known(e[node], self.steps)))

    def new_state(
        self, start: Callable[[Environment], Any] | None = None, late: bool = False
    ) -> int:
        """Another state, whose expression will be known later."""
        state = len(self.states)
        self.states.append(None)
        if start is not None:
            self.starts[state] = start
        if late:
            self._late_states.add(state)
        if len(self.states) > MOST:
            raise NotLinearSeries
        return state

    def started(self, later: SeriesExpression, start: SeriesExpression) -> SeriesExpression:
        """An expression with another one at the first step."""

        def rows(e: Environment) -> SeriesRows:
            zeros = {(BEFORE, k) for k in range(len(self.states)) if k not in self.starts}
            zeros |= {(NOW, k) for k in self._late_states}
            return with_start(later.rows(e), start.rows(e), self.steps, zeros)

        return SeriesExpression(later.keys | start.keys, rows)

    def _is_late(self, node: Node) -> bool:
        return node.shape == (self.steps - 1,)

    def _noise(self, unknown: Variable) -> SeriesExpression:
        """An unknown with a mean or a value before, and a noise."""
        follows = unknown.distribution
        assert follows is not None
        if follows.family.key != "normal":
            return self._walk(unknown, follows)
        mean, scale = self.expression(follows.arguments["mean"]), follows.arguments["sd"]
        key, sd = (NOISE, len(self.noises)), self.constant(scale)

        def value(e: Environment) -> SeriesRows:
            return mean.rows(e).plus(
                SeriesRows({key: usable(jnp.asarray(sd.rows(e).constant))}, 0.0)
            )

        return self._named(unknown, SeriesExpression(mean.keys | {key}, value))

    def _walk(self, unknown: Variable, follows: Distribution) -> SeriesExpression:
        names, law = LAWS[follows.family.key]
        nodes = [follows.arguments[name] for name in names]
        self.constants |= dict.fromkeys(nodes)
        state = self.new_state(late=self._is_late(unknown))
        before, noise = (BEFORE, state), (NOISE, len(self.noises))

        def walk(e: Environment) -> SeriesRows:
            rows = law(unknown.shape, *(e[node] for node in nodes))
            padding = (self.steps - unknown.shape[0], 0)
            drifts, scales = (jnp.pad(row, padding) for row in (rows.drifts, rows.scales))
            # The state before the first step is 0, so all slopes may be equal.
            slope = 1.0 if follows.family.key == "random_walk" else jnp.reshape(e[nodes[0]], ())
            return SeriesRows({before: slope, noise: scales}, drifts)

        self.states[state] = SeriesExpression(frozenset({before, noise}), walk)
        return self._named(unknown, value_of(state))

    def _named(self, unknown: Variable, value: SeriesExpression) -> SeriesExpression:
        """Keep the expression of an unknown."""
        key, kept = (NOISE, len(self.noises)), value
        if self._is_late(unknown):
            kept = self.started(
                value, SeriesExpression(frozenset({key}), lambda _: SeriesRows({key: 1.0}, 0.0))
            )
        self.noises[unknown] = kept
        return value

    def _sum(self, node: Node) -> SeriesExpression:
        """A running sum."""
        steps, state = self.expression(node), self.new_state(late=self._is_late(node))
        own = SeriesRows({(BEFORE, state): 1.0}, 0.0)
        total = SeriesExpression(steps.keys | {*own.terms}, lambda e: steps.rows(e).plus(own))
        self.states[state] = self.started(total, _ZERO) if self._is_late(node) else total
        return value_of(state)

    def _joined(self, first: Node, rest: Node) -> SeriesExpression:
        """A first element, and a late series."""
        if first.shape != (1,) or self.moves(first):
            raise NotLinearSeries
        return self.started(self.expression(rest), self.constant(first))

    def _part(self, node: Apply) -> SeriesExpression:
        """A late series: another one without its first or its last element."""
        (whole,) = node.parents
        if whole.shape != (self.steps,) or not self._is_late(node):
            raise NotLinearSeries
        found, template = self.expression(whole), node.attributes["template"]
        if len(template) != 1 or not isinstance(template[0], slice):
            raise NotLinearSeries
        first, _, step = template[0].indices(self.steps)
        if step != 1 or (first == 0 and any(kind != NOW for kind, _ in found.keys)):
            raise NotLinearSeries
        if first == 1:
            return found
        return SeriesExpression(
            frozenset((BEFORE, k) for _, k in found.keys),
            lambda e: lagged(found.rows(e), self.steps),
        )

    def _stack(self, total: Apply) -> SeriesExpression:
        """The values of a loop over time."""
        if total.attributes["axis"] != 0 or total.size != len(total.parents):
            raise NotLinearSeries
        if self._is_late(total):
            return self._looped(total.parents, 1)
        before = self._copied()
        try:
            return self._looped(total.parents, 0)
        except NotLinearSeries:
            self.__dict__.update(before)
        later, start = self._looped(total.parents[1:], 1), self.number(total.parents[0])
        return self.started(later, start)

    def _looped(self, column: Column, delay: int) -> SeriesExpression:
        """The values of a column, which begins at step 0 or 1."""
        try:
            columns = StepColumns(column, ())
        except NotAlike:
            raise NotLinearSeries from None
        return SeriesLoop(self, columns, delay).expression(column)

    def number(self, node: Node) -> SeriesExpression:
        """The expression of a number at the first step."""
        if not self.moves(node):
            return self.constant(node)
        if not isinstance(node, Apply) or node.shape != ():
            raise NotLinearSeries
        if node.operation is SLICE and node.attributes["template"] == (0,):
            (series,) = node.parents
            found = self.expression(series)
            if series.shape != (self.steps,):
                raise NotLinearSeries
            return found._replace(rows=lambda e: at_start(found.rows(e)))
        return combined(node, [self.number(parent) for parent in node.parents])

    def _copied(self) -> dict[str, Any]:
        return {name: copy(value) for name, value in self.__dict__.items()}


_ZERO = SeriesExpression(frozenset(), lambda _: SeriesRows({}, 0.0))
