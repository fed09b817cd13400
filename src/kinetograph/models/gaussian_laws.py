"""Jointly normal vectors, and maps to standard normal numbers given data.

A law gives a vector x = m + A z with z ~ normal(0, 1). If each x_i is observed with normal noise of
the precision h_i, as r_i / h_i, then

    z | data ~ normal(P^-1 A' (r - h m), P^-1),    P = 1 + A' diag(h) A

and a law maps standard normal numbers u to this distribution: z = P^-1 A' (r - h m) + S u, where
S S' = P^-1. For h = 0 this is z = S u with an orthogonal S. The unknown of a model is x, z, or the
steps of x.

Source   H. Rue, S. Martino, N. Chopin, JRSS B 71 (2009) 319-392, section 2 (normal approximations
         of latent vectors); C. C. Margossian et al., NeurIPS 2020 (the matrix P).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

from ..graph.numerics.small_matrices import small_cholesky, vector_solve
from .markov_smoother import from_normal, to_normal

__all__ = ["DenseLaw", "ElementwiseLaw", "MarkovLaw", "StepLaw"]


class _LinearMap:
    """A law whose unknown is z or x."""

    standard: bool  # whether z is the unknown, otherwise x

    def _from_numbers(self, z: Any) -> Any:
        """x of z."""
        raise NotImplementedError

    def _to_numbers(self, x: Any) -> Any:
        """z of x."""
        raise NotImplementedError

    def value(self, unknown: Any) -> Any:
        """x of the unknown."""
        return self._from_numbers(unknown) if self.standard else unknown

    def written(self, x: Any) -> Any:
        """The unknown of x."""
        return self._to_numbers(x) if self.standard else x

    def numbers(self, unknown: Any) -> Any:
        """z of the unknown."""
        return unknown if self.standard else self._to_numbers(unknown)


@dataclass(frozen=True, eq=False)
class DenseLaw(_LinearMap):
    """x = m + A z with a lower triangular matrix A."""

    mean: Any  # (..., n)
    factor: Any  # A, (..., n, n)
    standard: bool

    def spread(self, u: Any, h: Any, r: Any) -> tuple[Any, Any]:
        """The unknown of u, with the logarithm of the Jacobian."""
        root, shift = self._posterior(h, r)
        z = vector_solve(root, shift + u, transposed=True)
        log_size = -_log_diagonal(root, u)
        if self.standard:
            return z, log_size
        return self._from_numbers(z), log_size + _log_diagonal(self.factor, u)

    def gathered(self, unknown: Any, h: Any, r: Any) -> Any:
        """u of the unknown."""
        root, shift = self._posterior(h, r)
        return _times(root.mT, self.numbers(unknown)) - shift

    def _from_numbers(self, z: Any) -> Any:
        return self.mean + _times(self.factor, z)

    def _to_numbers(self, x: Any) -> Any:
        return vector_solve(self.factor, x - self.mean)

    def _posterior(self, h: Any, r: Any) -> tuple[Any, Any]:
        """The Cholesky factor R of P, and R^-1 A'(r - h m)."""
        weighted = self.factor * jnp.sqrt(h)[..., None]
        identity = jnp.eye(h.shape[-1], dtype=h.dtype)
        root = small_cholesky(jnp.matmul(weighted.mT, weighted) + identity)
        return root, vector_solve(root, _times(self.factor.mT, r - h * self.mean))


@dataclass(frozen=True, eq=False)
class ElementwiseLaw(_LinearMap):
    """x = m + s z, element by element."""

    mean: Any
    scales: Any  # s
    standard: bool

    def spread(self, u: Any, h: Any, r: Any) -> tuple[Any, Any]:
        """The unknown of u, with the logarithm of the Jacobian."""
        precision, shift = self._posterior(h, r)
        z, log_size = shift + u / jnp.sqrt(precision), -0.5 * jnp.sum(jnp.log(precision))
        if self.standard:
            return z, log_size
        return self._from_numbers(z), log_size + jnp.sum(jnp.log(jnp.abs(self.scales)))

    def gathered(self, unknown: Any, h: Any, r: Any) -> Any:
        """u of the unknown."""
        precision, shift = self._posterior(h, r)
        return (self.numbers(unknown) - shift) * jnp.sqrt(precision)

    def _from_numbers(self, z: Any) -> Any:
        return self.mean + self.scales * z

    def _to_numbers(self, x: Any) -> Any:
        return (x - self.mean) / self.scales

    def _posterior(self, h: Any, r: Any) -> tuple[Any, Any]:
        """The precision and the mean of z given data."""
        precision = 1.0 + self.scales**2 * h
        return precision, self.scales * (r - h * self.mean) / precision


class MarkovLaw(NamedTuple):
    """A Markov process, whose values x are the unknown.

    x_t = a_t x_(t-1) + d_t + s_t z_t,  a_1 = 0
    """

    slopes: Any  # a, (..., n)
    drifts: Any  # d
    scales: Any  # s

    def value(self, x: Any) -> Any:
        """x, the unknown."""
        return x

    def written(self, x: Any) -> Any:
        """The unknown, x."""
        return x

    def numbers(self, x: Any) -> Any:
        """z of x."""
        before = jnp.concatenate([jnp.zeros_like(x[..., :1]), x[..., :-1]], -1)
        return (x - self.drifts - self.slopes * before) / self.scales

    def spread(self, u: Any, h: Any, r: Any) -> tuple[Any, Any]:
        """x of u, with the logarithm of the Jacobian."""
        return from_normal(*self, h, r, u)

    def gathered(self, x: Any, h: Any, r: Any) -> Any:
        """u of x."""
        return to_normal(*self, h, r, x)


class StepLaw(NamedTuple):
    """A Markov process, whose steps w are the unknown.

    x_t = a_t x_(t-1) + d_t + s_t z_t,  w_t = m_t + k_t z_t,  a_1 = 0
    """

    slopes: Any  # a, (..., n); None for running sums, where a_t is 1 from the second step on
    drifts: Any  # d
    scales: Any  # s
    means: Any  # m
    sds: Any  # k > 0

    def value(self, steps: Any) -> Any:
        """x of the steps."""
        changes = self.drifts + self.scales * self.numbers(steps)
        if self.slopes is None:
            return jnp.cumsum(changes, -1)

        def step(before: Any, row: Any) -> tuple[Any, Any]:
            slope, change = row
            x = slope * before + change
            return x, x

        rows = [jnp.moveaxis(row, -1, 0) for row in jnp.broadcast_arrays(self.slopes, changes)]
        return jnp.moveaxis(lax.scan(step, jnp.zeros_like(rows[0][0]), rows)[1], 0, -1)

    def written(self, x: Any) -> Any:
        """The steps of x."""
        slopes, drifts, _ = self._process
        before = jnp.concatenate([jnp.zeros_like(x[..., :1]), x[..., :-1]], -1)
        return self.means + self.sds * (x - slopes * before - drifts) / self.scales

    def numbers(self, steps: Any) -> Any:
        """z of the steps."""
        return (steps - self.means) / self.sds

    def spread(self, u: Any, h: Any, r: Any) -> tuple[Any, Any]:
        """The steps of u, with the logarithm of the Jacobian."""
        x, log_size = from_normal(*self._process, h, r, u)
        stretch = jnp.log(self.sds) - jnp.log(jnp.abs(self.scales))
        return self.written(x), log_size + jnp.sum(stretch)

    def gathered(self, steps: Any, h: Any, r: Any) -> Any:
        """u of the steps."""
        return to_normal(*self._process, h, r, self.value(steps))

    @property
    def _process(self) -> tuple[Any, Any, Any]:
        """The slopes, drifts and scales of x."""
        slopes = self.slopes
        if slopes is None:
            slopes = (jnp.arange(self.drifts.shape[-1]) > 0).astype(self.drifts.dtype)
        return slopes, self.drifts, jnp.abs(self.scales)


def _times(matrix: Any, vector: Any) -> Any:
    return jnp.matmul(matrix, vector[..., None])[..., 0]


def _log_diagonal(lower: Any, vectors: Any) -> Any:
    """The sum of the logarithms of the diagonals, over all vectors."""
    logs = jnp.log(jnp.abs(jnp.diagonal(lower, axis1=-2, axis2=-1)))
    return jnp.sum(jnp.broadcast_to(logs, vectors.shape))
