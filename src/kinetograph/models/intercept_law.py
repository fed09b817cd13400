"""Linear systems with unknown numbers, such as the mean of an autoregression.

    m = d + k z_0,   x_t = F_t x_(t-1) + G_t m + S_t z_t + b_t,   z ~ normal(0, 1)

Each number is a state that stays the same, so that the recursion of `system_law` gives the
information of all data about it, A and a:

    z_0 | data ~ normal(Q^-1 q, Q^-1),   Q = 1 + k A k,   q = k (a - A d)

Given m, the unknowns of the steps belong to a system with other constants.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from .system_law import LinearRow, SystemLaw
from .written_matrices import (
    Vector,
    cholesky,
    dot,
    matrix_vector,
    number_sum,
    solve_lower,
    solve_upper,
    transposed,
    vector_difference,
    vector_sum,
)

__all__ = ["InterceptLaw"]


class InterceptLaw(NamedTuple):
    """A linear system, whose first states are unknown numbers.

    The unknowns are rows: first the numbers, each the first element of its row, and then the
    unknowns of the steps.
    """

    whole: SystemLaw  # its first states start at the means of the numbers
    sds: Vector

    def spread(self, u: Any, h: Any, r: Any) -> tuple[Any, Any]:
        """The unknowns of u, with the logarithm of the Jacobian."""
        gains, information = self.whole.posterior(h, r)
        root, shift = self._first(*information)
        z = vector_sum(solve_upper(root, [row[0] for row in u[: self.leading]]), shift)
        values = [d + sd * each for d, sd, each in zip(self.whole.start, self.sds, z)]
        rows, log_size = self._given(values).moved(u[self.leading :], self._gains(gains, values))
        for j, sd in enumerate(self.sds):
            log_size = log_size + jnp.log(sd) - jnp.log(root[j][j])
        return self._with_numbers(values, rows), log_size

    def gathered(self, unknowns: Any, h: Any, r: Any) -> Any:
        """u of the unknowns."""
        gains, information = self.whole.posterior(h, r)
        root, shift = self._first(*information)
        values = self._values(unknowns)
        u = matrix_vector(transposed(root), vector_difference(self._standard(values), shift))
        system = self._given(values)
        rows = system.moved_back(unknowns[self.leading :], self._gains(gains, values))
        return self._with_numbers(u, rows)

    def value(self, unknowns: Any) -> Any:
        """f of the unknowns."""
        return self._given(self._values(unknowns)).value(unknowns[self.leading :])

    def written(self, f: Any, unknowns: Any) -> Any:
        """The unknowns of f, with the same intercepts."""
        values = self._values(unknowns)
        return self._with_numbers(values, self._given(values).written(f, unknowns[self.leading :]))

    def numbers(self, unknowns: Any) -> Any:
        """z of the unknowns."""
        values = self._values(unknowns)
        z = self._given(values).numbers(unknowns[self.leading :])
        return self._with_numbers(self._standard(values), z)

    @property
    def leading(self) -> int:
        """The number of states that are unknown numbers."""
        return len(self.sds)

    def _values(self, unknowns: Any) -> Vector:
        return [row[0] for row in unknowns[: self.leading]]

    def _standard(self, values: Vector) -> Vector:
        return [(v - d) / sd for v, d, sd in zip(values, self.whole.start, self.sds)]

    def _with_numbers(self, numbers: Vector, rows: Any) -> Any:
        first = [jnp.broadcast_to(number, self.whole.steps) for number in numbers]
        return jnp.concatenate([jnp.stack(first), rows])

    def _first(self, precision: Any, slope: Any) -> tuple[Any, Vector]:
        """R and Q^-1 q of z_0; R R' = Q."""
        sds = self.sds
        linear = vector_difference(slope, matrix_vector(precision, self.whole.start))
        q = [
            [number_sum(float(i == j), a * precision[i][j] * b) for j, b in enumerate(sds)]
            for i, a in enumerate(sds)
        ]
        root = cholesky(q)
        scaled = [sd * each for sd, each in zip(sds, linear)]
        return root, solve_upper(root, solve_lower(root, scaled))

    def _given(self, values: Vector) -> SystemLaw:
        """The system of the other states, with the numbers in its constants."""
        whole, n = self.whole, self.leading

        def row(each: LinearRow) -> LinearRow:
            constant = number_sum(each.constant, dot(each.state[:n], values))
            return LinearRow(each.state[n:], each.noise, constant)

        def rows(every: Sequence[LinearRow]) -> list[LinearRow]:
            return [row(each) for each in every]

        states, unknowns = rows(whole.states[n:]), rows(whole.unknowns)
        return SystemLaw(whole.steps, whole.start[n:], states, unknowns, row(whole.observed))

    def _gains(self, gains: Any, values: Vector) -> Any:
        """R, K and Q^-1 q of the other states."""
        (root, gain, shift), n = gains, self.leading
        known = [dot(line[:n], values) for line in gain]
        return root, [line[n:] for line in gain], vector_difference(shift, known)
