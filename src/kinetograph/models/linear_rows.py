"""Linear expressions of the states and noises of a system.

A node of n elements has one for each of n steps. A *late* node has fewer elements, none for the
first steps; its rows at these steps have no meaning.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..graph.lower import Environment
from ..graph.node import Apply
from ..graph.operations.elementwise import ELEMENTWISE
from .system_law import LinearRow
from .vector_laws import usable

__all__ = [
    "BEFORE",
    "LINEAR",
    "NOISE",
    "NOW",
    "ONE",
    "ZERO",
    "SeriesExpression",
    "Key",
    "NotLinearSeries",
    "SeriesRows",
    "at_step",
    "combined",
    "by_step",
    "lagged",
    "resolved",
    "value_of",
    "with_ends",
    "with_noise",
]

_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _NEGATE = (
    ELEMENTWISE[name] for name in ("add", "subtract", "multiply", "divide", "negative")
)
LINEAR = {_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _NEGATE}
NOW, BEFORE, NOISE = "state", "state before", "noise"
Key = tuple[str, int]


class NotLinearSeries(Exception):
    """A node has no linear expression."""


class SeriesRows(NamedTuple):
    """A node by coefficients of states and noises, and a constant."""

    terms: dict[Key, Any]
    constant: Any

    def plus(self, other: "SeriesRows") -> "SeriesRows":
        """The sum."""
        terms = dict(self.terms)
        for key, value in other.terms.items():
            terms[key] = terms[key] + value if key in terms else value
        return SeriesRows(terms, self.constant + other.constant)

    def times(self, factor: Any) -> "SeriesRows":
        """The product with a known value."""
        terms = {
            key: factor if _is_one(value) else value * factor for key, value in self.terms.items()
        }
        return SeriesRows(terms, self.constant * factor)


class SeriesExpression(NamedTuple):
    """The rows of a node, from the values of other nodes."""

    keys: frozenset[Key]
    rows: Callable[[Environment], SeriesRows]


ZERO = SeriesExpression(frozenset(), lambda _: SeriesRows({}, 0.0))
ONE = SeriesExpression(frozenset(), lambda _: SeriesRows({}, 1.0))


def by_step(value: Any, steps: int) -> Any:
    """A known value: a number, or an array over the steps."""
    if jnp.shape(value) in ((), (1,)):
        return jnp.reshape(value, ())
    return jnp.pad(value, (steps - len(value), 0), mode="edge")


def lagged(rows: SeriesRows, steps: int) -> SeriesRows:
    """The rows of the step before, of states alone."""

    def shifted(value: Any) -> Any:
        if jnp.ndim(value) == 0:
            return value
        value = jnp.broadcast_to(value, (steps,))
        return jnp.concatenate([value[:1], value[:-1]])

    terms = {(BEFORE, k): shifted(value) for (_, k), value in rows.terms.items()}
    return SeriesRows(terms, shifted(rows.constant))


def at_step(rows: SeriesRows, step: int) -> SeriesRows:
    """The rows of one step, as numbers."""

    def one(value: Any) -> Any:
        return value if jnp.ndim(value) == 0 else jnp.reshape(value[step : step + 1], ())

    return SeriesRows({key: one(value) for key, value in rows.terms.items()}, one(rows.constant))


def with_ends(
    rows: SeriesRows,
    first: Sequence[SeriesRows],
    last: Sequence[SeriesRows],
    steps: int,
    zeros: Collection[Key] = (),
) -> SeriesRows:
    """The rows with other rows at the first and the last steps.

    `zeros` are states that are 0 at these steps.
    """
    start, stop, ends = len(first), steps - len(last), (*first, *last)

    def joined(end_values: Sequence[Any], value: Any) -> Any:
        value = jnp.broadcast_to(value, (steps,))

        def filled(values: Sequence[Any]) -> list[Any]:
            runs = [[*run] for _, run in groupby(values, key=id)]
            return [jnp.full(len(run), run[0], value.dtype) for run in runs]

        middle = value[start:stop]
        return jnp.concatenate([*filled(end_values[:start]), middle, *filled(end_values[start:])])

    terms = {
        key: rows.terms[key]
        if key in zeros and key in rows.terms
        else joined([end.terms.get(key, 0.0) for end in ends], rows.terms.get(key, 0.0))
        for key in dict.fromkeys(key for each in (rows, *ends) for key in each.terms)
    }
    constants = [end.constant for end in ends]
    zero = all(map(_is_zero, (rows.constant, *constants)))
    return SeriesRows(terms, 0.0 if zero else joined(constants, rows.constant))


def resolved(rows: SeriesRows, states: Sequence[SeriesRows], noises: int) -> LinearRow:
    """The row by states before and noises alone.

    The value of a state after the step is computed from earlier states.
    """
    state: list[Any] = [0.0] * len(states)
    noise: list[Any] = [0.0] * noises
    rest: Any = 0.0
    waiting = [(1.0, rows)]
    while waiting:
        factor, each = waiting.pop()
        rest = rest + (each.constant if _is_one(factor) else factor * each.constant)
        for (kind, k), value in each.terms.items():
            product = value if _is_one(factor) else factor if _is_one(value) else factor * value
            if kind == NOW:
                waiting.append((product, states[k]))
            else:
                coefficients = state if kind == BEFORE else noise
                coefficients[k] = (
                    product if _is_zero(coefficients[k]) else coefficients[k] + product
                )
    return LinearRow(state, noise, rest)


def with_noise(key: Key, mean: SeriesExpression, sd: SeriesExpression) -> SeriesExpression:
    """A mean plus a standard deviation times a noise."""
    if sd.keys:
        raise NotLinearSeries

    def value(e: Environment) -> SeriesRows:
        scale = usable(jnp.asarray(sd.rows(e).constant))
        return mean.rows(e).plus(SeriesRows({key: scale}, 0.0))

    return SeriesExpression(mean.keys | {key}, value)


def value_of(state: int) -> SeriesExpression:
    """The value of a state after a step."""
    rows = SeriesRows({(NOW, state): 1.0}, 0.0)
    return SeriesExpression(frozenset(rows.terms), lambda _: rows)


def combined(node: Apply, parents: Sequence[SeriesExpression]) -> SeriesExpression:
    """A line of the expressions of parents."""
    operation = node.operation
    fixed = [not each.keys for each in parents]
    if operation not in LINEAR or (operation is _MULTIPLY and not any(fixed)):
        raise NotLinearSeries
    if operation is _DIVIDE and not fixed[1]:
        raise NotLinearSeries

    def rows(e: Environment) -> SeriesRows:
        first, *second = (each.rows(e) for each in parents)
        if operation is _NEGATE:
            return first.times(-1.0)
        (other,) = second
        if operation is _ADD:
            return first.plus(other)
        if operation is _SUBTRACT:
            return first.plus(other.times(-1.0))
        if operation is _DIVIDE:
            return first.times(1.0 / other.constant)
        return other.times(first.constant) if fixed[0] else first.times(other.constant)

    return SeriesExpression(frozenset().union(*(each.keys for each in parents)), rows)


def _is_one(value: Any) -> bool:
    return isinstance(value, float) and value == 1.0


def _is_zero(value: Any) -> bool:
    return isinstance(value, float) and value == 0.0
