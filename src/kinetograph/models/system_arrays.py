"""The maps of linear systems with many states.

`system_law` has the formulas. Matrices are arrays, because XLA needs long to compile many
operations on numbers. Their products are sums of products of elements: a matrix product would be
a call in each step, at several times the cost.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import lax

from .written_matrices import cholesky, solve_lower, solve_upper

if TYPE_CHECKING:
    from .system_law import SystemLaw

__all__ = ["SystemArrays"]


class SystemArrays:
    """The matrices of a system, one for each step."""

    def __init__(self, law: "SystemLaw") -> None:
        self.steps, self.noises = law.steps, len(law.unknowns)
        rows = (law.states, law.unknowns, [law.observed])
        leaves = jax.tree.leaves((rows, law.start))
        self.dtype = jnp.result_type(*leaves)
        self.start = jnp.stack([jnp.asarray(each, self.dtype) for each in law.start])
        # F, S and b of the next states, of the unknowns, and of f.
        self.states, self.unknowns, self.observed = (
            [
                self._matrix([row.state for row in some]),
                self._matrix([row.noise for row in some]),
                self._matrix([[row.constant] for row in some])[..., 0],
            ]
            for some in rows
        )

    def spread(self, u: Any, h: Any, r: Any) -> tuple[Any, Any]:
        """The unknowns of u, with the logarithm of the Jacobian."""
        root, gain, shift = self._posterior(h, r)

        def step(x: Any, row: Any) -> Any:
            u, root, gain, shift, states = row
            z = jnp.stack(solve_upper(root, [*u])) + shift - _applied(gain, x)
            return _line(states, x, z), (x, z)

        x, z = self._scan(step, self.start, (u.T, root, gain, shift, self.states))
        sizes = jnp.log(jnp.abs(jnp.diagonal(self.unknowns[1], axis1=-2, axis2=-1)))
        log_size = jnp.sum(jnp.broadcast_to(sizes, (self.steps, self.noises)))
        log_size = log_size - sum(jnp.sum(jnp.log(row[j])) for j, row in enumerate(root))
        return _line(self.unknowns, x, z).T, log_size

    def gathered(self, unknowns: Any, h: Any, r: Any) -> Any:
        """u of the unknowns."""
        root, gain, shift = self._posterior(h, r)
        x, z = self.path(unknowns)
        rest = (z - shift + _applied(gain, x)).T
        lower = [[row[j] for row in root[j:]] for j in range(self.noises)]
        return jnp.stack([sum(map(jnp.multiply, row, rest[j:])) for j, row in enumerate(lower)])

    def path(self, unknowns: Any) -> tuple[Any, Any]:
        """The states before each step, and the noises."""

        def step(x: Any, row: Any) -> Any:
            values, (of_states, of_noises, constant), states = row
            rest = values - _applied(of_states, x) - constant
            z = jnp.stack(solve_lower([[*line] for line in of_noises], [*rest]))
            return _line(states, x, z), (x, z)

        states_and_noises: tuple[Any, Any] = self._scan(
            step, self.start, (jnp.asarray(unknowns).T, self.unknowns, self.states)
        )
        return states_and_noises

    def value(self, unknowns: Any) -> Any:
        """f of the unknowns."""
        return _line(self.observed, *self.path(unknowns))[:, 0]

    def _posterior(self, h: Any, r: Any) -> tuple[Any, Any, Any]:
        """R, K and Q^-1 q of each step; R R' = Q."""
        count = len(self.start)
        unit = jnp.eye(self.noises, dtype=self.dtype)
        h, r = (jnp.broadcast_to(each, (self.steps,)) for each in (h, r))

        def step(later: Any, row: Any) -> Any:
            precision, slope = later
            (f, s, b), (w, v, constant), h, r = row
            datum, slope = r - h * constant, slope - _applied(precision, b)
            weighted = _times(precision, s)
            q = unit + _times(s.T, weighted) + h * v.T * v
            linear = _applied(s.T, slope) + v[0] * datum
            cross = _times(weighted.T, f) + h * v.T * w
            root = cholesky([[*line] for line in q])
            right = solve_lower(root, [*jnp.concatenate([cross, linear[:, None]], 1)])
            gain, shift = jnp.split(jnp.stack(solve_upper(root, right)), [count], 1)
            state_map, datum_map = f - _times(s, gain), w - _times(v, gain)
            precision = _times(state_map.T, _times(precision, state_map)) + _times(gain.T, gain)
            precision = precision + h * datum_map.T * datum_map
            slope = _applied(f.T, slope) + w[0] * datum - _applied(gain.T, linear)
            return ((precision + precision.T) / 2, slope), (root, gain, shift[:, 0])

        start = jnp.zeros((count, count), self.dtype), jnp.zeros(count, self.dtype)
        posterior: tuple[Any, Any, Any] = self._scan(
            step, start, (self.states, self.observed, h, r), reverse=True
        )
        return posterior

    def _matrix(self, rows: Sequence[Sequence[Any]]) -> Any:
        """A matrix of each step."""
        values = [[jnp.broadcast_to(each, (self.steps,)) for each in row] for row in rows]
        return jnp.stack([jnp.stack(row, -1) for row in values], -2).astype(self.dtype)

    def _scan(
        self, step: Callable[..., Any], start: Any, rows: Any, *, reverse: bool = False
    ) -> Any:
        """The outputs of a loop over the steps."""

        def trip(before: Any, row: Any) -> Any:
            return jax.tree.map(lambda value: jnp.asarray(value, self.dtype), step(before, row))

        # XLA compiles a derivative with many kept values for long.
        trip = jax.checkpoint(trip, prevent_cse=False)
        return lax.scan(trip, start, rows, self.steps, reverse=reverse)[1]


def _times(a: Any, b: Any) -> Any:
    return jnp.sum(a[:, :, None] * b[None], 1)


def _applied(a: Any, x: Any) -> Any:
    return jnp.sum(a * x[..., None, :], -1)


def _line(row: Sequence[Any], x: Any, z: Any) -> Any:
    of_states, of_noises, constant = row
    return _applied(of_states, x) + _applied(of_noises, z) + constant
