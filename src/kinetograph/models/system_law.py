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

Matrices of few states are written out, because an operation on a small array costs more than its
arithmetic.

Source   S. Sarkka, Bayesian Filtering and Smoothing, 2013, chapter 8.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from .system_arrays import SystemArrays
from .written_matrices import (
    Vector,
    cholesky,
    dot,
    matrix_difference,
    matrix_product,
    matrix_sum,
    matrix_vector,
    number_product,
    number_quotient,
    number_sum,
    outer_product,
    scaled_vector,
    solve_lower,
    solve_upper,
    symmetric_product,
    transposed,
    vector_difference,
    vector_sum,
)

__all__ = ["MOST_WRITTEN", "LinearRow", "SystemLaw"]

MOST_WRITTEN = 3  # states of a system whose matrices are written out


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

    @property
    def has_many_states(self) -> bool:
        """Whether matrices are arrays."""
        return len(self.start) > MOST_WRITTEN

    def spread(self, u: Any, h: Any, r: Any) -> tuple[Any, Any]:
        """The unknowns of u, with the logarithm of the Jacobian."""
        if self.has_many_states:
            return SystemArrays(self).spread(u, h, r)
        return self.moved(u, self.posterior(h, r)[0])

    def moved(self, u: Any, gains: Any) -> tuple[Any, Any]:
        """The unknowns of u and the logarithm of the Jacobian.

        `gains` are R, K and Q^-1 q.
        """
        root, gain, shift = gains

        def step(x: Vector, row: Any) -> tuple[Vector, Any]:
            u, root, gain, shift, states = row
            z = vector_sum(solve_upper(root, u), vector_difference(shift, matrix_vector(gain, x)))
            return [_value(each, x, z) for each in states], (x, z)

        x, z = self._scan(step, self.start, (list(u), root, gain, shift, self.states))
        values = [_value(row, x, z) for row in self.unknowns]
        diagonal = [row.noise[j] for j, row in enumerate(self.unknowns)]
        sizes = [jnp.log(jnp.abs(each)) for each in diagonal]
        sizes += [-jnp.log(root[j][j]) for j in range(len(diagonal))]
        log_size = sum(jnp.sum(jnp.broadcast_to(each, self.steps)) for each in sizes)
        return jnp.stack([jnp.broadcast_to(v, self.steps) for v in values]), log_size

    def gathered(self, unknowns: Any, h: Any, r: Any) -> Any:
        """u of the unknowns."""
        if self.has_many_states:
            return SystemArrays(self).gathered(unknowns, h, r)
        return self.moved_back(unknowns, self.posterior(h, r)[0])

    def moved_back(self, unknowns: Any, gains: Any) -> Any:
        """u of the unknowns, with the gains R, K and Q^-1 q."""
        root, gain, shift = gains
        x, z = self.path(unknowns)
        return jnp.stack(
            matrix_vector(
                transposed(root),
                vector_difference(z, vector_difference(shift, matrix_vector(gain, x))),
            )
        )

    def value(self, unknowns: Any) -> Any:
        """f of the unknowns."""
        if self.has_many_states:
            return SystemArrays(self).value(unknowns)
        return jnp.broadcast_to(_value(self.observed, *self.path(unknowns)), self.steps)

    def written(self, f: Any, unknowns: Any) -> Any:
        """The unknowns for which f has the given values.

        They differ from `unknowns` in one noise, the first on which f depends at once.
        """
        place = next(j for j, value in enumerate(self.observed.noise) if not _is_zero(value))
        _, noises = self.path(unknowns)

        def step(x: Vector, row: Any) -> tuple[Vector, Any]:
            f, z, observed, states = row
            z, change = list(z), f - _value(observed, x, z)
            z[place] = z[place] + number_quotient(change, observed.noise[place])
            return [_value(each, x, z) for each in states], (x, z)

        x, z = self._scan(step, self.start, (f, noises, self.observed, self.states))
        values = [jnp.broadcast_to(_value(row, x, z), self.steps) for row in self.unknowns]
        return jnp.stack(values)

    def numbers(self, unknowns: Any) -> Any:
        """The noises of the unknowns."""
        return jnp.stack(self.path(unknowns)[1])

    def path(self, unknowns: Any) -> tuple[Any, Any]:
        """The states before each step, and the noises."""

        def step(x: Vector, row: Any) -> tuple[Vector, Any]:
            values, unknowns, states = row
            z: list[Any] = []
            for j, (value, each) in enumerate(zip(values, unknowns, strict=True)):
                mean = _value(each._replace(noise=each.noise[:j]), x, z)
                z.append((value - mean) / each.noise[j])
            return [_value(each, x, z) for each in states], (x, z)

        return self._scan(step, self.start, (list(unknowns), self.unknowns, self.states))

    def posterior(self, h: Any, r: Any) -> tuple[Any, Any]:
        """R, K and Q^-1 q of each step; R R' is Q.

        The second result is A and a before the first step.
        """
        count = len(self.start)
        none = [0.0] * count

        def step(later: Any, row: Any) -> tuple[Any, Any]:
            precision, slope = later
            states, observed, h, r = row
            f, s = [each.state for each in states], [each.noise for each in states]
            w, v, b = observed.state, observed.noise, [each.constant for each in states]
            datum = r - number_product(h, observed.constant)
            slope = vector_difference(slope, matrix_vector(precision, b))
            weighted = matrix_product(precision, s)
            q = matrix_sum(symmetric_product(s, weighted), outer_product(v, v, h))
            q = [
                [number_sum(e, float(i == j)) for j, e in enumerate(line)]
                for i, line in enumerate(q)
            ]
            cross = matrix_sum(matrix_product(transposed(weighted), f), outer_product(v, w, h))
            linear = vector_sum(matrix_vector(transposed(s), slope), scaled_vector(v, datum))
            root = cholesky(q)
            columns = [solve_lower(root, column) for column in transposed(cross)]
            gain = transposed([solve_upper(root, column) for column in columns])
            shift = solve_upper(root, solve_lower(root, linear))
            state_map = matrix_difference(f, matrix_product(s, gain))
            datum_map = vector_difference(w, matrix_vector(transposed(gain), v))
            precision = symmetric_product(state_map, matrix_product(precision, state_map))
            precision = matrix_sum(precision, symmetric_product(gain, gain))
            precision = matrix_sum(precision, outer_product(datum_map, datum_map, h))
            slope = vector_sum(matrix_vector(transposed(f), slope), scaled_vector(w, datum))
            slope = vector_difference(slope, matrix_vector(transposed(gain), linear))
            return (precision, slope), (root, gain, shift)

        rows = (self.states, self.observed, h, r)
        information, gains = self._loop(step, ([none] * count, none), rows, reverse=True)
        return gains, information

    def _scan(self, step: Callable[..., Any], start: Any, rows: Any) -> Any:
        """The outputs of a loop over the steps."""
        return self._loop(step, start, rows)[1]

    def _loop(
        self, step: Callable[..., Any], start: Any, rows: Any, *, reverse: bool = False
    ) -> Any:
        """The last carried values and the outputs of a loop."""
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
        return lax.scan(trip, first, inputs, self.steps, reverse=reverse)


def _array(dtype: Any) -> Callable[[Any], Any]:
    return lambda value: jnp.asarray(value, dtype)


def _is_zero(value: Any) -> bool:
    return isinstance(value, float) and value == 0.0


def _value(row: LinearRow, x: Vector, z: Vector) -> Any:
    return number_sum(number_sum(dot(row.state, x), dot(row.noise, z)), row.constant)
