"""The results of `kg.scan`, as linear expressions."""

from typing import TYPE_CHECKING

from ..graph.control.scan import Scan
from ..graph.node import Apply, Node, within
from .linear_rows import (
    BEFORE,
    ZERO,
    NotLinearSeries,
    SeriesExpression,
    SeriesRows,
    combined,
    value_of,
)
from .scanned_steps import ScanParts

if TYPE_CHECKING:
    from .linear_nodes import System

__all__ = ["ScanLoop"]


class ScanLoop:
    """The body of a scan; its carried values are states.

    The first trip is the step after the first ones, of the number `delay`.
    """

    def __init__(self, system: "System", scan: Scan, delay: int) -> None:
        self.system, self.scan, self.delay = system, scan, delay
        (body,) = scan.subgraphs
        self._before = {node: i for i, node in enumerate(body.inputs[: scan.carried])}
        self._next = body.outputs[: scan.carried]
        self._states: dict[int, int] = {}
        self._done: dict[Node, SeriesExpression] = {}
        with within(None):
            self._parts = ScanParts(scan)

    def expression(self, node: Node) -> SeriesExpression:
        """The expression of a node of the body."""
        if node not in self._done:
            if node.shape != ():
                raise NotLinearSeries
            if node in self._next and node not in self._before:
                self._state(self._next.index(node))
            else:
                self._done[node] = self._expression(node)
        return self._done[node]

    def _expression(self, node: Node) -> SeriesExpression:
        if node in self._before:
            key = BEFORE, self._state(self._before[node])
            return SeriesExpression(frozenset({key}), lambda _: SeriesRows({key: 1.0}, 0.0))
        whole = self._parts.whole(node)
        if whole is not None:
            return self.system.expression(whole)
        if not isinstance(node, Apply):
            raise NotLinearSeries
        return combined(node, [self.expression(parent) for parent in node.parents])

    def _state(self, place: int) -> int:
        """The state of a carried value."""
        if place not in self._states:
            system, following = self.system, self._next[place]
            start = system.number(self.scan.parents[place], self.delay - 1)
            if start.keys and not self.delay:
                raise NotLinearSeries
            state = system.new_state(None if self.delay else start)
            self._states[place] = state
            if following in self._before or following in self._done:
                expression = self.expression(following)
            else:
                self._done[following] = value_of(state)
                expression = self._expression(following)
            first = [ZERO] * (self.delay - 1) + [start] * min(self.delay, 1)
            system.states[state] = system.started(expression, first)
        return self._states[place]
