"""Nodes as linear expressions of the states and noises of a system."""

from collections.abc import Callable, Collection, Sequence
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
from ..graph.operations.shaping import CONCATENATE, RESHAPE, STACK
from ..graph.rewriting.filled_arrays import joined_rows
from ..graph.rewriting.step_columns import NotAlike
from .hierarchies import is_real
from .intercept_law import InterceptLaw
from .linear_loops import SeriesLoop
from .linear_rows import (
    BEFORE,
    LINEAR,
    NOISE,
    NOW,
    ZERO,
    Key,
    NotLinearSeries,
    SeriesExpression,
    SeriesRows,
    at_step,
    by_step,
    combined,
    lagged,
    resolved,
    value_of,
    with_ends,
    with_noise,
)
from .linear_scans import ScanLoop
from .linear_starts import FirstValue, element_of
from .normal_vector import SystemNoise
from .scanned_steps import result_of
from .series_columns import steps_of_numbers
from .series_parts import elements_at, read_places, summed_at
from .system_law import SystemLaw
from .vector_laws import LAWS, process_rows, usable

__all__ = ["MOST_STATES", "System", "is_noise"]

MOST_STATES = 13  # a level, its slope, and a season of twelve months
_ADDITIVE = {ELEMENTWISE["add"], ELEMENTWISE["subtract"]}


def is_noise(unknown: Variable) -> bool:
    """Whether an unknown may have a noise for each step."""
    distribution = unknown.distribution
    if distribution is None or not is_real(unknown) or len(unknown.shape) != 1:
        return False
    key = distribution.family.key
    if key == "ar":
        return _order(distribution) <= MOST_STATES
    return key in ("normal", "random_walk")


def _order(process: Distribution) -> int:
    """The number of earlier values that a value depends on."""
    key = process.family.key
    return int(process.arguments["rho"].shape[-1]) if key == "ar" else 1


class System:
    """The states and noises of a system, while its nodes are read.

    A late series has no element for the first steps. Data may be about some elements of a series
    only, at `places`. `numbers` are unknowns that may be the noises of single steps. `firsts` are
    unknowns that may be the noises of the first steps of a loop. `intercepts` are unknown numbers:
    each is a state that stays the same.
    """

    def __init__(
        self,
        steps: int,
        numbers: Collection[Variable],
        places: np.ndarray | None = None,
        firsts: Collection[Variable] = frozenset(),
        intercepts: Collection[Variable] = (),
    ) -> None:
        self.steps, self.numbers, self.places, self.firsts = steps, numbers, places, firsts
        # Unknown first values, and whether the next values are unknowns, too.
        self.possible_firsts: dict[tuple[Variable, ...], bool] = {}
        self.first_values: dict[tuple[Node, int], FirstValue] = {}  # by unknown and place
        self._latest = min(MOST_STATES, steps // 2)  # shorter vectors are not series
        self.data_places = None if places is None else elements_at(places, steps)
        self.constants: dict[Node, None] = {}
        self.noises: dict[SystemNoise, SeriesExpression] = {}  # by states and noises
        self.starts: dict[int, Callable[[Environment], Any]] = {}  # states before the first step
        self.states: list[SeriesExpression | None] = []
        self._late_states: dict[int, int] = {}
        self._moving: dict[Node, bool] = {}
        self._done: dict[Node, SeriesExpression] = {}
        self._read: dict[Node, tuple[Node | None, np.ndarray]] = {}
        self.intercepts: dict[Variable, SeriesExpression] = {}  # their standard deviations
        self._intercepts: dict[Node, SeriesExpression] = {}
        for unknown in intercepts:
            self._intercepts[unknown] = self._intercept(unknown)

    def law(self, f: SeriesExpression, environment: Environment) -> SystemLaw | InterceptLaw:
        """The law, from the values of the constants."""
        states = [each.rows(environment) for each in self.states if each is not None]
        rows = [each.rows(environment) for each in self.noises.values()]
        of_f = f.rows(environment)
        of = [resolved(each, states, len(rows)) for each in (*states, *rows, of_f)]
        count = len(states)
        starts = [self.starts[k](environment) if k in self.starts else 0.0 for k in range(count)]
        system = SystemLaw(self.steps, starts, of[:count], of[count:-1], of[-1])
        sds = [jnp.asarray(sd.rows(environment).constant) for sd in self.intercepts.values()]
        return InterceptLaw(system, [usable(sd) for sd in sds]) if sds else system

    def constants_are_known(self) -> bool:
        """Whether no constant depends on a noise."""
        above = set(ancestors(self.constants))
        return above.isdisjoint(self.noise_unknowns)

    def finish(self) -> None:
        """Check that states are known, and unknowns follow from earlier noises."""
        if any(each is None for each in self.states):
            raise NotLinearSeries
        for place, row in enumerate(self.noises.values()):
            if any(kind == NOISE and k > place for kind, k in self._all_keys(row)):
                raise NotLinearSeries

    def depends_at_once(self, row: SeriesExpression) -> bool:
        """Whether a row depends on a noise of the same step."""
        return any(kind == NOISE for kind, _ in self._all_keys(row))

    def _all_keys(self, row: SeriesExpression) -> set[Key]:
        """The keys of a row and of the states in it."""
        waiting, keys = [*row.keys], set[Key]()
        while waiting:
            key = waiting.pop()
            state = self.states[key[1]] if key[0] == NOW and key not in keys else None
            waiting += () if state is None else state.keys
            keys.add(key)
        return keys

    @property
    def noise_unknowns(self) -> set[Variable]:
        """The unknowns of the noises."""
        return {unknown for noise in self.all_noises for unknown in noise.unknowns}

    @property
    def all_noises(self) -> tuple[SystemNoise, ...]:
        """The intercepts, as noises at the first step, and the noises."""
        return (*(SystemNoise((unknown,), 0) for unknown in self.intercepts), *self.noises)

    def worthwhile_firsts(self) -> frozenset[Variable]:
        """The unknown first values that should be noises.

        A single value that needs a noise of its own is left out: other unknowns given it cost less.
        """
        late = {noise.first for noise in self.noises}
        worthwhile: set[Variable] = set()
        for unknowns, joined in self.possible_firsts.items():
            values = sum(unknown.size for unknown in unknowns)
            if joined or values > 1 or values in late:
                worthwhile.update(unknowns)
        return frozenset(worthwhile)

    def moves(self, node: Node) -> bool:
        """Whether a node depends on unknowns that may be noises."""
        if node not in self._moving:
            for each in ancestors([node], self._moving.__contains__):
                if each not in self._moving:
                    may_be_noise = (
                        isinstance(each, Variable) and is_noise(each) and self.is_series(each)
                    )
                    may_be_noise = may_be_noise or each in self.numbers or each in self.firsts
                    may_be_noise = may_be_noise or each in self._intercepts
                    self._moving[each] = may_be_noise or any(self._moving[p] for p in each.parents)
        return self._moving[node]

    def has_intercept(self, node: Node) -> bool:
        """Whether a node depends on an intercept."""
        return bool(self.intercepts) and not self.intercepts.keys().isdisjoint(ancestors([node]))

    def observed(self, node: Node) -> SeriesExpression:
        """The expression of the numbers that data are about."""
        if self.places is None:
            return self.expression(node)
        if not self.moves(node):
            return self._selected(node)
        series, places = self.read(node)
        if series is not None and np.array_equal(places, self.places):
            return self.expression(series)
        if not isinstance(node, Apply):
            raise NotLinearSeries
        return combined(node, [self.observed(parent) for parent in node.parents])

    def read(self, node: Node) -> tuple[Node | None, np.ndarray]:
        """The series from which a node has elements, and their places."""
        if node not in self._read:
            series, places = read_places(node)
            if series is None:
                series, places = steps_of_numbers(node, self.numbers)
            self._read[node] = series, places
        return self._read[node]

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
        if node in self._intercepts:
            return self._intercepts[node]
        if node.shape == () and isinstance(node, Apply):
            return combined(node, [self.expression(parent) for parent in node.parents])
        if not self.is_series(node):
            raise NotLinearSeries
        if isinstance(node, Variable):
            return self._noise(node)
        assert isinstance(node, Apply)
        node = joined_rows(node)
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
            return ScanLoop(self, scan, self.late(node)).expression(result)
        return self.constant(node)

    def constant(self, node: Node) -> SeriesExpression:
        """A known value."""
        if node.shape not in ((), (1,)) and not self.is_series(node):
            raise NotLinearSeries
        self.constants[node] = None
        return SeriesExpression(frozenset(), lambda e: SeriesRows({}, by_step(e[node], self.steps)))

    def new_state(self, start: SeriesExpression | None = None, late: int = 0) -> int:
        """Another state, whose expression will be known later."""
        state = len(self.states)
        self.states.append(None)
        if start is not None:
            self.starts[state] = lambda e: start.rows(e).constant
        self._late_states[state] = late
        if len(self.states) > MOST_STATES:
            raise NotLinearSeries
        return state

    def delayed(self, state: int, start: SeriesExpression | None = None) -> int:
        """Another state: the value of a state before a step."""
        row = SeriesRows({(BEFORE, state): 1.0}, 0.0)
        later = self.new_state(start, self._late_states[state])
        self.states[later] = SeriesExpression(frozenset(row.terms), lambda _: row)
        return later

    def started(
        self,
        later: SeriesExpression,
        starts: Sequence[SeriesExpression],
        ends: Sequence[SeriesExpression] = (),
    ) -> SeriesExpression:
        """An expression with other ones at the first and the last steps."""
        if not starts and not ends:
            return later

        def rows(e: Environment) -> SeriesRows:
            zeros = {(NOW, k) for k, late in self._late_states.items() if late >= len(starts)}
            if len(starts) == 1:
                zeros |= {(BEFORE, k) for k in range(len(self.states)) if k not in self.starts}
            first, last = ([end.rows(e) for end in each] for each in (starts, ends))
            return with_ends(later.rows(e), first, last, self.steps, zeros)

        return SeriesExpression(later.keys.union(*(end.keys for end in (*starts, *ends))), rows)

    def is_series(self, node: Node) -> bool:
        """Whether a node has an element for each step or late step."""
        if len(node.shape) != 1 or node.shape == (1,):
            return False
        return 0 <= self.late(node) <= self._latest

    def late(self, node: Node) -> int:
        """The number of first steps without an element."""
        return self.steps - node.shape[0]

    def _noise(self, unknown: Variable) -> SeriesExpression:
        """An unknown with a mean or a value before, and a noise."""
        distribution = unknown.distribution
        assert distribution is not None
        if distribution.family.key != "normal":
            return self._process(unknown, distribution)
        mean, sd = self.expression(distribution.arguments["mean"]), distribution.arguments["sd"]
        return self.noise(SystemNoise((unknown,), self.late(unknown)), mean, self.constant(sd))

    def _intercept(self, unknown: Variable) -> SeriesExpression:
        """An unknown number, as a state that stays the same."""
        distribution = unknown.distribution
        assert distribution is not None
        mean, sd = (self.constant(distribution.arguments[name]) for name in ("mean", "sd"))
        state = self.new_state(mean)
        rows = SeriesRows({(BEFORE, state): 1.0}, 0.0)
        self.states[state] = SeriesExpression(frozenset(rows.terms), lambda _: rows)
        self.intercepts[unknown] = sd
        return value_of(state)

    def noise(
        self, noise: SystemNoise, mean: SeriesExpression, sd: SeriesExpression
    ) -> SeriesExpression:
        """Normal unknowns."""
        key = NOISE, len(self.noises)
        return self._add_noise(noise, with_noise(key, mean, sd))

    def _process(self, unknown: Variable, distribution: Distribution) -> SeriesExpression:
        """A process; its latest values are states."""
        key, names = distribution.family.key, LAWS[distribution.family.key][0]
        nodes = [distribution.arguments[name] for name in names]
        late, order = self.late(unknown), _order(distribution)
        *_, constant, first, _ = nodes
        drift = ZERO  # with intercepts
        if self.has_intercept(constant) or self.has_intercept(first):
            starts = [ZERO] * late + [self.expression(first)] * order
            drift = self.started(self.expression(constant), starts)
        moving = [node for node in (constant, first) if drift.keys]
        self.constants |= dict.fromkeys(node for node in nodes if node not in moving)
        states = [self.new_state(late=late)]
        for _ in range(order - 1):
            states.append(self.delayed(states[-1]))
        before, noise = [(BEFORE, k) for k in states], (NOISE, len(self.noises))

        def process(e: Environment) -> SeriesRows:
            zero = jnp.zeros((), unknown.dtype)
            values = [zero if node in moving else e[node] for node in nodes]
            rows = process_rows(key, unknown.shape, values)
            slopes: list[Any] = [jnp.pad(row, (late, 0)) for row in rows.slopes]
            drifts, scales = (jnp.pad(row, (late, 0)) for row in (rows.drifts, rows.scales))
            if len(slopes) == 1:  # The value before the first one is 0, so slopes may be equal.
                slopes = [1.0 if key == "random_walk" else jnp.reshape(e[nodes[0]], ())]
            terms = {**dict(zip(before, slopes, strict=True)), noise: scales}
            value = SeriesRows(terms, drifts)
            return value.plus(drift.rows(e)) if moving else value

        keys = drift.keys.union({*before, noise})
        self.states[states[0]] = SeriesExpression(keys, process)
        return self._add_noise(SystemNoise((unknown,), late), value_of(states[0]))

    def _add_noise(self, noise: SystemNoise, value: SeriesExpression) -> SeriesExpression:
        """Keep the expression of unknowns, with unused numbers at other steps."""
        if not self.noise_unknowns.isdisjoint(noise.unknowns):
            raise NotLinearSeries
        noise_alone = SeriesRows({(NOISE, len(self.noises)): 1.0}, 0.0)
        unused = SeriesExpression(frozenset(noise_alone.terms), lambda _: noise_alone)
        before, after = noise.padding(self.steps)
        self.noises[noise] = self.started(value, [unused] * before, [unused] * after)
        return value

    def _sum(self, node: Node) -> SeriesExpression:
        """A running sum."""
        steps, late = self.expression(node), self.late(node)
        state = self.new_state(late=late)
        earlier_sum = SeriesRows({(BEFORE, state): 1.0}, 0.0)
        total = SeriesExpression(
            steps.keys | {*earlier_sum.terms}, lambda e: steps.rows(e).plus(earlier_sum)
        )
        self.states[state] = self.started(total, [ZERO] * late)
        return value_of(state)

    def _joined(self, first: Node, rest: Node) -> SeriesExpression:
        """First elements, and a late series."""
        late = self.late(rest)
        if first.shape != (late,):
            raise NotLinearSeries
        parts = isinstance(first, Apply) and first.operation in (STACK, RESHAPE, SLICE)
        if parts and first.size == len(first.parents) and first.parents[0].shape == ():
            starts = [self.number(each, step) for step, each in enumerate(first.parents)]
            return self.started(self.expression(rest), starts)
        if self.moves(first):
            raise NotLinearSeries
        self.constants[first] = None

        def start(step: int) -> SeriesExpression:
            return SeriesExpression(frozenset(), lambda e: SeriesRows({}, e[first][step]))

        return self.started(self.expression(rest), list(map(start, range(late))))

    def _part(self, node: Apply) -> SeriesExpression:
        """A late series: a series without its first elements."""
        (whole,), late = node.parents, self.late(node)
        if whole.shape != (self.steps,):
            raise NotLinearSeries
        expression, template = self.expression(whole), node.attributes["template"]
        if len(template) != 1 or not isinstance(template[0], slice):
            raise NotLinearSeries
        first, _, step = template[0].indices(self.steps)
        if step == 1 and first == late:
            return expression
        if step != 1 or first != late - 1 or any(kind != NOW for kind, _ in expression.keys):
            raise NotLinearSeries
        return SeriesExpression(
            frozenset((BEFORE, k) for _, k in expression.keys),
            lambda e: lagged(expression.rows(e), self.steps),
        )

    def _stack(self, total: Apply) -> SeriesExpression:
        """The values of a loop over time."""
        if total.attributes["axis"] != 0 or total.size != len(total.parents):
            raise NotLinearSeries
        late, before = self.late(total), self._copied()
        for first in range(self._latest + 1 - late):
            values, column = total.parents[:first], total.parents[first:]
            try:
                loop = SeriesLoop(self, column, late + first)
                later = loop.expression(column)
                if any(v in self.numbers and v not in loop.starts for v in values):
                    raise NotLinearSeries  # they are earlier steps of the loop
                starts = [self.number(each, late + i) for i, each in enumerate(values)]
                return self.started(later, [ZERO] * late + starts)
            except (NotLinearSeries, NotAlike):
                self.__dict__.update(before)
                before = self._copied()
        raise NotLinearSeries

    def number(self, node: Node, step: int) -> SeriesExpression:
        """The expression of a number at one of the first steps."""
        if (first := self.first_values.get(element_of(node))) is not None:
            return first.at(step)
        if node in self._intercepts:
            return self._intercepts[node]
        if not self.moves(node) or isinstance(node, Variable):
            return self.constant(node)
        if not isinstance(node, Apply) or node.shape != ():
            raise NotLinearSeries
        if node.operation is SLICE and self.is_series(series := node.parents[0]):
            expression = self.expression(series)
            if node.attributes["template"] != (step - self.late(series),):
                raise NotLinearSeries
            return expression._replace(rows=lambda e: at_step(expression.rows(e), step))
        return combined(node, [self.number(parent, step) for parent in node.parents])

    def _copied(self) -> dict[str, Any]:
        return {name: copy(value) for name, value in self.__dict__.items()}
