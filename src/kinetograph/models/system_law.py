"""Linear systems, and their maps to standard normal numbers given data.

    x_t = F_t x_(t-1) + S_t z_t + b_t,   z_t ~ normal(0, 1)
    f_t = w_t' x_(t-1) + v_t' z_t + c_t

If f_t is observed with normal noise of the precision h_t, as r_t / h_t, then the log likelihood of
the data from t + 1 on is -x_t' A x_t / 2 + a' x_t plus a constant, and

    z_t | x_(t-1), data ~ normal(Q^-1 (q - B x_(t-1)), Q^-1)
    Q = 1 + S' A S + h v v',   B = S' A F + h v w',   q = S' (a - A b) + v (r - h c)

A step back in time gives, with K = Q^-1 B,

    (F - S K)' A (F - S K) + K' K + h (w - K' v)(w - K' v)'   instead of A
    F' (a - A b) + w (r - h c) - K' q                         instead of a

Matrices are written out, because an operation on a small array costs more than its arithmetic.

Source   S. Sarkka, Bayesian Filtering and Smoothing, 2013, chapter 8.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

__all__ = ["LinearRow", "SystemLaw"]

Vector = Sequence[Any]
Matrix = Sequence[Vector]


class LinearRow(NamedTuple):
    """A number of each step, linear in states before and noises."""

    state: Vector
    noise: Vector
    constant: Any


class SystemLaw(NamedTuple):
    """A linear system, whose unknowns are linear in its states and noises.

    Unknown j depends on the noises up to j. A coefficient is a number, or an array over the steps.
    """

    steps: int
    start: Vector  # the state before the first step
    states: Sequence[LinearRow]  # each element of the next state
    unknowns: Sequence[LinearRow]
    observed: LinearRow  # f

    def spread(self, u: Any, h: Any, r: Any) -> tuple[Any, Any]:
        """The unknowns of u, with the logarithm of the Jacobian."""
        root, gain, shift = self._posterior(h, r)

        def step(x: Vector, row: Any) -> tuple[Vector, Any]:
            u, root, gain, shift, states = row
            z = _plus(_solved_transposed(root, u), _minus(shift, _times(gain, x)))
            return [_value(each, x, z) for each in states], (x, z)

        x, z = self._scan(step, self.start, (list(u), root, gain, shift, self.states))
        values = [_value(row, x, z) for row in self.unknowns]
        own = [row.noise[j] for j, row in enumerate(self.unknowns)]
        sizes = [jnp.log(jnp.abs(each)) for each in own]
        sizes += [-jnp.log(root[j][j]) for j in range(len(own))]
        log_size = sum(jnp.sum(jnp.broadcast_to(each, self.steps)) for each in sizes)
        return jnp.stack([jnp.broadcast_to(v, self.steps) for v in values]), log_size

    def gathered(self, unknowns: Any, h: Any, r: Any) -> Any:
        """u of the unknowns."""
        root, gain, shift = self._posterior(h, r)
        x, z = self.numbers(unknowns)
        return jnp.stack(_times(_transposed(root), _minus(z, _minus(shift, _times(gain, x)))))

    def value(self, unknowns: Any) -> Any:
        """f of the unknowns."""
        return jnp.broadcast_to(_value(self.observed, *self.numbers(unknowns)), self.steps)

    def numbers(self, unknowns: Any) -> tuple[Any, Any]:
        """The states before each step, and the noises."""

        def step(x: Vector, row: Any) -> tuple[Vector, Any]:
            values, unknowns, states = row
            z: list[Any] = []
            for j, (value, each) in enumerate(zip(values, unknowns, strict=True)):
                known = _value(each._replace(noise=each.noise[:j]), x, z)
                z.append((value - known) / each.noise[j])
            return [_value(each, x, z) for each in states], (x, z)

        return self._scan(step, self.start, (list(unknowns), self.unknowns, self.states))

    def _posterior(self, h: Any, r: Any) -> tuple[Any, Any, Any]:
        """R, K and Q^-1 q of each step; R R' = Q."""
        count = len(self.start)
        none = [0.0] * count

        def step(later: Any, row: Any) -> tuple[Any, Any]:
            precision, slope = later
            states, observed, h, r = row
            f, s = [each.state for each in states], [each.noise for each in states]
            w, v, b = observed.state, observed.noise, [each.constant for each in states]
            datum = r - _product(h, observed.constant)
            slope = _minus(slope, _times(precision, b))
            weighted = _multiplied(precision, s)
            q = _added(_symmetric(s, weighted), _outer(v, v, h))
            q = [[_sum(e, float(i == j)) for j, e in enumerate(line)] for i, line in enumerate(q)]
            cross = _added(_multiplied(_transposed(weighted), f), _outer(v, w, h))
            linear = _plus(_times(_transposed(s), slope), _scaled(v, datum))
            root = _cholesky(q)
            columns = [_solved(root, column) for column in _transposed(cross)]
            gain = _transposed([_solved_transposed(root, column) for column in columns])
            shift = _solved_transposed(root, _solved(root, linear))
            moved = _subtracted(f, _multiplied(s, gain))
            seen = _minus(w, _times(_transposed(gain), v))
            precision = _symmetric(moved, _multiplied(precision, moved))
            precision = _added(precision, _symmetric(gain, gain))
            precision = _added(precision, _outer(seen, seen, h))
            slope = _plus(_times(_transposed(f), slope), _scaled(w, datum))
            slope = _minus(slope, _times(_transposed(gain), linear))
            return (precision, slope), (root, gain, shift)

        rows = (self.states, self.observed, h, r)
        return self._scan(step, ([none] * count, none), rows, reverse=True)

    def _scan(
        self, step: Callable[..., Any], start: Any, rows: Any, *, reverse: bool = False
    ) -> Any:
        """The outputs of a loop over the steps."""
        leaves, tree = jax.tree.flatten(rows)
        moving = [jnp.ndim(leaf) > 0 for leaf in leaves]
        dtype = jnp.result_type(*leaves)

        def trip(before: Any, inputs: Any) -> Any:
            values = iter(inputs)
            row = [next(values) if m else leaf for m, leaf in zip(moving, leaves, strict=True)]
            return jax.tree.map(_array(dtype), step(before, jax.tree.unflatten(tree, row)))

        first = jax.tree.map(_array(dtype), start)
        inputs = [leaf for m, leaf in zip(moving, leaves, strict=True) if m]
        # XLA compiles a derivative with many kept values for long.
        trip = jax.checkpoint(trip, prevent_cse=False)
        return lax.scan(trip, first, inputs, self.steps, reverse=reverse)[1]


def _array(dtype: Any) -> Callable[[Any], Any]:
    return lambda value: jnp.asarray(value, dtype)


def _is(number: Any, value: float) -> bool:
    return isinstance(number, float) and number == value


def _product(a: Any, b: Any) -> Any:
    if _is(a, 0.0) or _is(b, 0.0):
        return 0.0
    return b if _is(a, 1.0) else a if _is(b, 1.0) else a * b


def _sum(a: Any, b: Any) -> Any:
    return b if _is(a, 0.0) else a if _is(b, 0.0) else a + b


def _difference(a: Any, b: Any) -> Any:
    return a if _is(b, 0.0) else a - b


def _dot(a: Vector, b: Vector) -> Any:
    total: Any = 0.0
    for one, other in zip(a, b, strict=True):
        total = _sum(total, _product(one, other))
    return total


def _plus(a: Vector, b: Vector) -> list[Any]:
    return [_sum(*pair) for pair in zip(a, b, strict=True)]


def _minus(a: Vector, b: Vector) -> list[Any]:
    return [_difference(*pair) for pair in zip(a, b, strict=True)]


def _scaled(a: Vector, factor: Any) -> list[Any]:
    return [_product(each, factor) for each in a]


def _value(row: LinearRow, x: Vector, z: Vector) -> Any:
    return _sum(_sum(_dot(row.state, x), _dot(row.noise, z)), row.constant)


def _times(a: Matrix, b: Vector) -> list[Any]:
    return [_dot(row, b) for row in a]


def _transposed(a: Matrix) -> list[list[Any]]:
    return [list(row) for row in zip(*a, strict=True)]


def _multiplied(a: Matrix, b: Matrix) -> list[list[Any]]:
    return [[_dot(row, column) for column in _transposed(b)] for row in a]


def _symmetric(a: Matrix, b: Matrix) -> list[list[Any]]:
    """A' B, which is symmetric."""
    left, right = _transposed(a), _transposed(b)
    lower = [[_dot(row, right[j]) for j in range(i + 1)] for i, row in enumerate(left)]
    return [[lower[max(i, j)][min(i, j)] for j in range(len(left))] for i in range(len(left))]


def _added(a: Matrix, b: Matrix) -> list[list[Any]]:
    return [_plus(*rows) for rows in zip(a, b, strict=True)]


def _subtracted(a: Matrix, b: Matrix) -> list[list[Any]]:
    return [_minus(*rows) for rows in zip(a, b, strict=True)]


def _outer(a: Vector, b: Vector, factor: Any) -> list[list[Any]]:
    return [[_product(_product(one, factor), other) for other in b] for one in a]


def _cholesky(a: Matrix) -> list[list[Any]]:
    """The lower factor, with zeros above the diagonal."""
    root: list[list[Any]] = [[0.0] * len(a) for _ in a]
    for i in range(len(a)):
        for j in range(i + 1):
            rest = _difference(a[i][j], _dot(root[i][:j], root[j][:j]))
            root[i][j] = jnp.sqrt(rest) if i == j else _product(rest, 1.0 / root[j][j])
    return root


def _solved(root: Matrix, right: Vector) -> list[Any]:
    x: list[Any] = []
    for row, value in zip(root, right, strict=True):
        x.append(_product(_difference(value, _dot(row[: len(x)], x)), 1.0 / row[len(x)]))
    return x


def _solved_transposed(root: Matrix, right: Vector) -> list[Any]:
    turned = [row[::-1] for row in _transposed(root)][::-1]
    return _solved(turned, right[::-1])[::-1]
