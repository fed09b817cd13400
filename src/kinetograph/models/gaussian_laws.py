"""Jointly normal vectors, and maps to standard normal numbers given data.

A law gives a vector x = m + A z with z ~ normal(0, 1). If each x_i is observed with normal noise of
the precision h_i, as r_i / h_i, then

    z | data ~ normal(P^-1 A' (r - h m), P^-1),    P = 1 + A' diag(h) A

and a law maps standard normal numbers u to this distribution: z = P^-1 A' (r - h m) + S u, where
S S' = P^-1. For h = 0 this is z = S u with an orthogonal S.

Source   H. Rue, S. Martino, N. Chopin, JRSS B 71 (2009) 319-392, section 2 (normal approximations
         of latent vectors); C. C. Margossian et al., NeurIPS 2020 (the matrix P).
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

from ..graph.operations.linear_algebra import small_cholesky
from .markov_smoother import from_normal, to_normal

__all__ = ["DenseLaw", "ElementwiseLaw", "MarkovLaw"]


class DenseLaw(NamedTuple):
    """x = m + A z with a lower triangular matrix A."""

    mean: Any  # (..., n)
    factor: Any  # A, (..., n, n)
    standard: bool  # whether z is the unknown, otherwise x

    def value(self, z: Any) -> Any:
        """x of z."""
        return self.mean + _times(self.factor, z)

    def numbers(self, x: Any) -> Any:
        """z of x."""
        return _solved(self.factor, x - self.mean)

    def spread(self, u: Any, h: Any, r: Any) -> tuple[Any, Any]:
        """The unknown of u, with the logarithm of the Jacobian."""
        root, shift = self._posterior(h, r)
        z = _solved(root, shift + u, transposed=True)
        log_size = -_log_diagonal(root, u)
        if self.standard:
            return z, log_size
        return self.value(z), log_size + _log_diagonal(self.factor, u)

    def gathered(self, unknown: Any, h: Any, r: Any) -> Any:
        """u of the unknown."""
        root, shift = self._posterior(h, r)
        return _times(root.mT, unknown if self.standard else self.numbers(unknown)) - shift

    def _posterior(self, h: Any, r: Any) -> tuple[Any, Any]:
        """The Cholesky factor R of P, and R^-1 A'(r - h m)."""
        weighted = self.factor * jnp.sqrt(h)[..., None]
        identity = jnp.eye(h.shape[-1], dtype=h.dtype)
        root = small_cholesky(jnp.matmul(weighted.mT, weighted) + identity)
        return root, _solved(root, _times(self.factor.mT, r - h * self.mean))


class ElementwiseLaw(NamedTuple):
    """x = m + s z, element by element."""

    mean: Any
    scales: Any  # s
    standard: bool  # whether z is the unknown, otherwise x

    def value(self, z: Any) -> Any:
        """x of z."""
        return self.mean + self.scales * z

    def numbers(self, x: Any) -> Any:
        """z of x."""
        return (x - self.mean) / self.scales

    def spread(self, u: Any, h: Any, r: Any) -> tuple[Any, Any]:
        """The unknown of u, with the logarithm of the Jacobian."""
        precision, shift = self._posterior(h, r)
        z, log_size = shift + u / jnp.sqrt(precision), -0.5 * jnp.sum(jnp.log(precision))
        if self.standard:
            return z, log_size
        return self.value(z), log_size + jnp.sum(jnp.log(jnp.abs(self.scales)))

    def gathered(self, unknown: Any, h: Any, r: Any) -> Any:
        """u of the unknown."""
        precision, shift = self._posterior(h, r)
        z = unknown if self.standard else self.numbers(unknown)
        return (z - shift) * jnp.sqrt(precision)

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

    @property
    def standard(self) -> bool:
        """Whether z is the unknown."""
        return False

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


def _times(matrix: Any, vector: Any) -> Any:
    return jnp.matmul(matrix, vector[..., None])[..., 0]


def _solved(lower: Any, right: Any, *, transposed: bool = False) -> Any:
    """The solution y of L y = right, or with L transposed."""
    lower = jnp.broadcast_to(lower, (*right.shape, right.shape[-1]))
    return lax.linalg.triangular_solve(
        lower, right[..., None], left_side=True, lower=True, transpose_a=transposed
    )[..., 0]


def _log_diagonal(lower: Any, vectors: Any) -> Any:
    """The sum of the logarithms of the diagonals, over all vectors."""
    logs = jnp.log(jnp.abs(jnp.diagonal(lower, axis1=-2, axis2=-1)))
    return jnp.sum(jnp.broadcast_to(logs, vectors.shape))
