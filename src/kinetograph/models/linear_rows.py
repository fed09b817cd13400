"""Linear expressions of the states and noises of a system, over its steps.

A node of n elements has one for each step. A node of n + 1 elements has a known one before them.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..graph.lower import Environment
from ..graph.node import Apply
from ..graph.operations.elementwise import ELEMENTWISE
from .system_law import LinearRow

__all__ = [
    "BEFORE",
    "LINEAR",
    "NOISE",
    "NOW",
    "Expression",
    "NotLinear",
    "Rows",
    "at_start",
    "combined",
    "constant",
    "lagged",
    "resolved",
    "value_of",
    "with_start",
]

_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _NEGATE = (
    ELEMENTWISE[name] for name in ("add", "subtract", "multiply", "divide", "negative")
)
LINEAR = {_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _NEGATE}
NOW, BEFORE, NOISE = "state", "state before", "noise"
Key = tuple[str, int]


class NotLinear(Exception):
    """A node has no linear expression."""


class Rows(NamedTuple):
    """The values of a node: sum of coefficients times states and noises, plus a constant."""

    terms: dict[Key, Any]
    constant: Any
    first: Any = None  # the element before the first step

    def plus(self, other: "Rows") -> "Rows":
        """The sum."""
        terms = dict(self.terms)
        for key, value in other.terms.items():
            terms[key] = terms[key] + value if key in terms else value
        return Rows(terms, self.constant + other.constant, _both(self, other, lambda a, b: a + b))

    def times(self, other: "Rows") -> "Rows":
        """The product; `other` has no terms."""
        factor = other.constant
        terms = {
            key: factor if _is_one(value) else value * factor for key, value in self.terms.items()
        }
        return Rows(terms, self.constant * factor, _both(self, other, lambda a, b: a * b))

    def negative(self) -> "Rows":
        """The rows with the other sign."""
        return self.times(Rows({}, -1.0, -1.0))

    def inverse(self) -> "Rows":
        """1 / x, of rows without terms."""
        return Rows({}, 1.0 / self.constant, None if self.first is None else 1.0 / self.first)


class Expression(NamedTuple):
    """The rows of a node, from the values of other nodes."""

    keys: frozenset[Key]
    rows: Callable[[Environment], Rows]


def constant(value: Any, steps: int) -> Rows:
    """The rows of a known value: a number, or an array over the steps or one more."""
    shape = jnp.shape(value)
    if shape in ((), (1,)):
        number = jnp.reshape(value, ())
        return Rows({}, number, number)
    return Rows({}, value[-steps:], jnp.reshape(value[:1], ()) if shape[0] > steps else None)


def lagged(rows: Rows, first: Any, steps: int) -> Rows:
    """The rows of the step before, of states alone, with another value at the first step."""

    def moved(value: Any, at_start: Any) -> Any:
        whole = jnp.broadcast_to(value, (steps,))
        at_start = jnp.reshape(jnp.asarray(at_start, whole.dtype), (1,))
        return jnp.concatenate([at_start, whole[:-1]])

    terms = {(BEFORE, k): moved(value, 0.0) for (_, k), value in rows.terms.items()}
    return Rows(terms, moved(rows.constant, first))


def at_start(rows: Rows) -> Rows:
    """The rows of the first step, as numbers."""

    def first(value: Any) -> Any:
        return value if jnp.ndim(value) == 0 else jnp.reshape(value[:1], ())

    number = first(rows.constant)
    return Rows({key: first(value) for key, value in rows.terms.items()}, number, number)


def _started(later: Rows, start: Rows, steps: int) -> Rows:
    """The rows with others at the first step."""

    def joined(at_first: Any, value: Any) -> Any:
        value = jnp.broadcast_to(value, (steps,))
        at_first = jnp.reshape(jnp.asarray(at_first, value.dtype), (1,))
        return jnp.concatenate([at_first, value[1:]])

    terms = {
        key: joined(start.terms.get(key, 0.0), later.terms.get(key, 0.0))
        for key in {**later.terms, **start.terms}
    }
    return Rows(terms, joined(start.constant, later.constant))


def resolved(rows: Rows, states: Sequence[Rows], noises: int) -> LinearRow:
    """The row by states before and noises alone; a state is computed from earlier ones."""
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
                found = state if kind == BEFORE else noise
                found[k] = product if _is_zero(found[k]) else found[k] + product
    return LinearRow(state, noise, rest)


def value_of(state: int, first: Callable[[Environment], Any] = lambda _: None) -> Expression:
    """The value of a state after a step."""
    key = NOW, state
    return Expression(frozenset({key}), lambda e: Rows({key: 1.0}, 0.0, first(e)))


def combined(node: Apply, parents: Sequence[Expression]) -> Expression:
    """A line of the expressions of parents."""
    moving = [bool(each.keys) for each in parents]
    operation = node.operation
    known = [place for place, moves in enumerate(moving) if not moves]
    if operation not in LINEAR or (operation in (_MULTIPLY, _DIVIDE) and len(known) != 1):
        raise NotLinear
    if operation is _DIVIDE and not moving[0]:
        raise NotLinear

    def rows(e: Environment) -> Rows:
        values = [each.rows(e) for each in parents]
        if operation is _NEGATE:
            return values[0].negative()
        if operation is _ADD:
            return values[0].plus(values[1])
        if operation is _SUBTRACT:
            return values[0].plus(values[1].negative())
        if operation is _DIVIDE:
            return values[0].times(values[1].inverse())
        return values[1 - known[0]].times(values[known[0]])

    return Expression(frozenset().union(*(each.keys for each in parents)), rows)


def with_start(later: Expression, start: Expression, steps: int) -> Expression:
    """Another value at the first step."""
    return Expression(
        later.keys | start.keys, lambda e: _started(later.rows(e), start.rows(e), steps)
    )


def _both(a: Rows, b: Rows, of: Callable[[Any, Any], Any]) -> Any:
    return None if a.first is None or b.first is None else of(a.first, b.first)


def _is_one(value: Any) -> bool:
    return isinstance(value, float) and value == 1.0


def _is_zero(value: Any) -> bool:
    return isinstance(value, float) and value == 0.0
