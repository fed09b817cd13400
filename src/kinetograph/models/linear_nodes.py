"""Nodes as linear expressions of the states and noises of a system."""

from collections.abc import Callable
from copy import copy
from typing import Any

import jax.numpy as jnp

from ..distributions.variable import Variable
from ..graph.lower import Environment
from ..graph.node import Apply, Node, ancestors
from ..graph.operations.elementwise import ELEMENTWISE
from ..graph.operations.indexing import SLICE
from ..graph.operations.reductions import CUMULATIVE
from ..graph.operations.shaping import CONCATENATE, STACK
from ..graph.rewriting.alike import Column
from ..graph.rewriting.step_columns import NotAlike, StepColumns
from .hierarchies import is_real
from .linear_loops import Loop
from .linear_rows import (
    BEFORE,
    LINEAR,
    NOISE,
    NOW,
    Expression,
    NotLinear,
    Rows,
    at_start,
    combined,
    constant,
    lagged,
    resolved,
    value_of,
    with_start,
)
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
    """The states and noises of a system, while its nodes are read."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.constants: dict[Node, None] = {}
        self.noises: dict[Variable, Expression] = {}  # each unknown by states and noises
        self.starts: list[Callable[[Environment], Any]] = []  # the state before the first step
        self.states: list[Expression | None] = []
        self._moving: dict[Node, bool] = {}
        self._done: dict[Node, Expression] = {}

    def law(self, f: Expression, environment: Environment) -> SystemLaw:
        """The law, from the values of the constants."""
        states = [each.rows(environment) for each in self.states if each is not None]
        rows = [each.rows(environment) for each in self.noises.values()]
        of = [resolved(each, states, len(rows)) for each in (*states, *rows, f.rows(environment))]
        count = len(states)
        starts = [start(environment) for start in self.starts]
        return SystemLaw(self.steps, starts, of[:count], of[count:-1], of[-1])

    def constants_are_known(self) -> bool:
        """Whether no constant depends on a noise."""
        return set(ancestors(self.constants)).isdisjoint(self.noises)

    def finish(self) -> None:
        """Check that each state has an expression."""
        if any(each is None for each in self.states):
            raise NotLinear

    def expression(self, node: Node) -> Expression:
        """The expression of a node with an element for each step, or of a number."""
        if node not in self._done:
            self._done[node] = self._expression(node)
        return self._done[node]

    def _expression(self, node: Node) -> Expression:
        if not self.moves(node):
            return self._constant(node)
        if node.shape not in ((self.steps,), (self.steps + 1,)):
            raise NotLinear
        if isinstance(node, Variable):
            return self._noise(node)
        assert isinstance(node, Apply)
        if node.operation in LINEAR and sum(map(self.moves, node.parents)) == 1:
            return combined(node, [self.expression(parent) for parent in node.parents])
        if node.operation in _ADDITIVE:
            return combined(node, [self.expression(parent) for parent in node.parents])
        if node.operation is CUMULATIVE["cumsum"]:
            return self._sum(self.expression(node.parents[0]))
        if node.operation is CONCATENATE and len(node.parents) == 2:
            return self._joined(*node.parents)
        if node.operation is SLICE:
            return self._part(node)
        if node.operation is STACK:
            return self._stack(node)
        return self._constant(node)

    def moves(self, node: Node) -> bool:
        """Whether a node depends on unknowns that may be noises."""
        if node not in self._moving:
            for each in ancestors([node], self._moving.__contains__):
                if each not in self._moving:
                    own = isinstance(each, Variable) and is_noise(each)
                    fits = own and each.shape == (self.steps,)
                    self._moving[each] = fits or any(self._moving[p] for p in each.parents)
        return self._moving[node]

    def _constant(self, node: Node) -> Expression:
        if node.shape not in ((), (1,), (self.steps,), (self.steps + 1,)):
            raise NotLinear
        self.constants[node] = None
        return Expression(frozenset(), lambda e: constant(e[node], self.steps))

    def new_state(self, start: Callable[[Environment], Any]) -> int:
        self.states.append(None)
        self.starts.append(start)
        if len(self.states) > MOST:
            raise NotLinear
        return len(self.states) - 1

    def _noise(self, unknown: Variable) -> Expression:
        """An unknown with a mean or a value before, and a noise."""
        follows = unknown.distribution
        assert follows is not None
        if follows.family.key == "normal":
            mean, sd = self.expression(follows.arguments["mean"]), follows.arguments["sd"]
            scale, place = self._constant(sd), len(self.noises)

            def value(e: Environment) -> Rows:
                own = Rows({(NOISE, place): usable(jnp.asarray(scale.rows(e).constant))}, 0.0)
                return mean.rows(e).plus(own)

            found = Expression(mean.keys | {(NOISE, place)}, value)
            self.noises[unknown] = found
            return found
        names, law = LAWS[follows.family.key]
        nodes = [follows.arguments[name] for name in names]
        self.constants |= dict.fromkeys(nodes)
        state, place = self.new_state(lambda _: 0.0), len(self.noises)

        def walk(e: Environment) -> Rows:
            made = law(unknown.shape, *(e[node] for node in nodes))
            return Rows({(BEFORE, state): made.slopes, (NOISE, place): made.scales}, made.drifts)

        self.states[state] = Expression(frozenset({(BEFORE, state), (NOISE, place)}), walk)
        self.noises[unknown] = value_of(state)
        return self.noises[unknown]

    def _sum(self, steps: Expression) -> Expression:
        """A running sum."""

        def start(e: Environment) -> Any:
            first = steps.rows(e).first
            return 0.0 if first is None else first

        state = self.new_state(start)

        def value(e: Environment) -> Rows:
            return steps.rows(e).plus(Rows({(BEFORE, state): 1.0}, 0.0))

        self.states[state] = Expression(steps.keys | {(BEFORE, state)}, value)
        return value_of(state, lambda e: steps.rows(e).first)

    def _joined(self, first: Node, rest: Node) -> Expression:
        """A first element, and the rest or the rest of the step before."""
        if first.shape != (1,) or self.moves(first):
            raise NotLinear
        self.constants[first] = None
        if rest.shape == (self.steps,):
            whole = self.expression(rest)
            return whole._replace(rows=lambda e: whole.rows(e)._replace(first=_number(e[first])))
        if not _is_part(rest, slice(None, -1)) or rest.parents[0].shape != (self.steps,):
            raise NotLinear
        return self._lagged(self.expression(rest.parents[0]), lambda e: _number(e[first]))

    def _part(self, node: Apply) -> Expression:
        """A series without its first or its last element."""
        if node.parents[0].shape != (self.steps + 1,):
            raise NotLinear
        whole = self.expression(node.parents[0])
        if _is_part(node, slice(1, None)):
            return whole._replace(rows=lambda e: whole.rows(e)._replace(first=None))
        if _is_part(node, slice(None, -1)):
            return self._lagged(whole, lambda e: whole.rows(e).first)
        raise NotLinear

    def _lagged(self, whole: Expression, first: Callable[[Environment], Any]) -> Expression:
        if any(kind != NOW for kind, _ in whole.keys):
            raise NotLinear
        return Expression(
            frozenset((BEFORE, k) for _, k in whole.keys),
            lambda e: lagged(whole.rows(e), first(e), self.steps),
        )

    def _stack(self, total: Apply) -> Expression:
        """The values of a loop over time."""
        if total.attributes["axis"] != 0 or total.size != len(total.parents):
            raise NotLinear
        whole, (first, *rest) = total.parents, total.parents
        if len(whole) == self.steps + 1:
            value = self._looped(tuple(rest), 0)
            start = self.number(first)
            if start.keys:
                raise NotLinear
            return value._replace(
                rows=lambda e: value.rows(e)._replace(first=start.rows(e).constant)
            )
        before = self._copied()
        try:
            return self._looped(whole, 0)
        except NotLinear:
            self.__dict__.update(before)
        later, start = self._looped(tuple(rest), 1), self.number(first)
        return with_start(later, start, self.steps)

    def _looped(self, column: Column, delay: int) -> Expression:
        """The values of a column, whose first one is that of step 0 or 1."""
        try:
            columns = StepColumns(column, ())
        except NotAlike:
            raise NotLinear from None
        return Loop(self, columns, delay).expression(column)

    def number(self, node: Node) -> Expression:
        """The expression of a number by the states and noises of the first step."""
        if not self.moves(node):
            self.constants[node] = None
            return Expression(frozenset(), lambda e: constant(e[node], self.steps))
        if not isinstance(node, Apply) or node.shape != ():
            raise NotLinear
        if node.operation is SLICE and node.attributes["template"] == (0,):
            series = self.expression(node.parents[0])
            if node.parents[0].shape != (self.steps,):
                raise NotLinear
            return series._replace(rows=lambda e: at_start(series.rows(e)))
        if node.operation in LINEAR:
            return combined(node, [self.number(parent) for parent in node.parents])
        raise NotLinear

    def _copied(self) -> dict[str, Any]:
        return {name: copy(value) for name, value in self.__dict__.items()}


def _number(array: Any) -> Any:
    return jnp.reshape(array, ())


def _is_part(node: Node, part: slice) -> bool:
    if not isinstance(node, Apply) or node.operation is not SLICE:
        return False
    template, length = node.attributes["template"], node.parents[0].shape[:1]
    if len(template) != 1 or not isinstance(template[0], slice) or not length:
        return False
    return bool(template[0].indices(*length) == part.indices(*length))
