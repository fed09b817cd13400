"""Unknowns that are jointly normal given scales and data.

    eta = X b + A (s * z) + B (z' L')        coefficients b, effects z of unknown scales s, L

Coefficients and effects have the values f = m + C z with standard normal z, where C depends on
other unknowns, and enter the density through sums with known factors. If the log likelihood were
v'f - f'G f / 2, then

    z | data ~ normal(P^-1 C'(v - G m), P^-1),    P = 1 + C'G C

A member of the block is written by its numbers z or by its values f. The map takes standard normal
numbers u to z = P^-1 C'(v - G m) + R^-T u, where R R' = P. It is one to one for all G and v.

Source   H. Rue, S. Martino, N. Chopin, JRSS B 71 (2009) 319-392, section 2; C. C. Margossian et
         al., NeurIPS 2020.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import block_diag

from ..distributions.variable import Variable
from ..graph.lower import Environment
from ..graph.node import Node
from ..graph.numerics.small_matrices import small_cholesky, triangular_solve, vector_solve

if TYPE_CHECKING:
    pass

__all__ = ["JointNormal", "Member"]

_LARGEST = 1e12  # of an element of C


class Member(NamedTuple):
    """An unknown of the block."""

    unknown: Variable
    standard: bool  # whether the unknown is z, otherwise f
    nodes: tuple[Node, ...]
    law: Callable[[Environment], tuple[Any, Any]]  # m, and C as a vector (a diagonal) or a matrix


class JointNormal:
    """A block of unknowns, and its map.

    Information about the block is an array of shape (p + 1, p): G, and below it v. It is not used
    if its first number is negative.
    """

    def __init__(self, members: tuple[Member, ...], slices: Mapping[Variable, slice]) -> None:
        self.members = members
        self.unknowns = tuple(member.unknown for member in members)
        self.nodes = tuple(node for member in members for node in member.nodes)
        ranges = [slices[unknown] for unknown in self.unknowns]
        self.places = np.concatenate([np.arange(r.start, r.stop) for r in ranges])
        sizes = [r.stop - r.start for r in ranges]
        self.ends = np.cumsum(sizes)[:-1].tolist()
        self.standard = np.repeat([member.standard for member in members], sizes)

    @property
    def size(self) -> int:
        """The number of elements."""
        return len(self.places)

    @cached_property
    def written(self) -> np.ndarray:
        """The information of a block as the model has it."""
        blank = np.zeros((self.size + 1, self.size))
        blank[0, 0] = -1.0
        return blank

    def law(self, environment: Environment) -> tuple[Any, Any]:
        """m and C of the block.

        C is a vector if it is diagonal.
        """
        means, factors = zip(*(m.law(environment) for m in self.members), strict=True)
        if all(jnp.ndim(factor) == 1 for factor in factors):
            factor = jnp.concatenate(factors)
        else:
            factor = block_diag(*(jnp.diag(f) if jnp.ndim(f) == 1 else f for f in factors))
        limited = jnp.clip(jnp.where(jnp.isfinite(factor), factor, 0.0), -_LARGEST, _LARGEST)
        mean = jnp.concatenate(means)
        return jnp.where(jnp.isfinite(mean), mean, 0.0), limited

    def spread(self, u: Any, information: Any, environment: Environment) -> tuple[Any, Any]:
        """The unknowns of u, with the logarithm of the Jacobian."""
        mean, factor = self.law(environment)
        root, shift = _posterior(mean, factor, information)
        z = vector_solve(root, shift + u, transposed=True)
        log_size = -jnp.sum(jnp.log(jnp.diagonal(root)))
        diagonal = factor if factor.ndim == 1 else jnp.diagonal(factor)
        by_value = jnp.where(self.standard, 1.0, _usable(diagonal))
        value = mean + _times(factor, z)
        return jnp.where(self.standard, z, value), log_size + jnp.sum(jnp.log(jnp.abs(by_value)))

    def gathered(self, x: Any, information: Any, environment: Environment) -> Any:
        """u of the unknowns."""
        mean, factor = self.law(environment)
        root, shift = _posterior(mean, factor, information)
        return root.T @ self._numbers(x, mean, factor) - shift

    def information(self, x: Any, gradient: Any, curvature: Any, environment: Environment) -> Any:
        """G and v at a point of the block.

        `gradient` has the derivatives of the log density with respect to x, and `curvature` minus
        the second derivatives. Negative eigenvalues of G become 0.
        """
        mean, factor = self.law(environment)
        c = jnp.diag(factor) if factor.ndim == 1 else factor
        identity = jnp.eye(self.size, dtype=x.dtype)
        z = self._numbers(x, mean, factor)
        # In units of z, in which the prior has the curvature 1.
        units = jnp.where(self.standard[:, None], identity, c)
        likelihood = units.T @ curvature @ units - identity
        slope = units.T @ gradient + z
        inverse = triangular_solve(c, identity)
        g = inverse.T @ likelihood @ inverse
        values, vectors = jnp.linalg.eigh((g + g.T) / 2)
        g = (vectors * jnp.maximum(values, 0.0)) @ vectors.T
        v = inverse.T @ slope + g @ (mean + c @ z)
        return jnp.concatenate([g, v[None]])

    def _numbers(self, x: Any, mean: Any, factor: Any) -> Any:
        """z of the unknowns."""
        if factor.ndim == 1:
            return jnp.where(self.standard, x, (x - mean) / _usable(factor))
        identity = jnp.eye(self.size, dtype=x.dtype)
        units = jnp.where(self.standard[:, None], identity, factor)  # members do not mix
        return vector_solve(units, jnp.where(self.standard, x, x - mean))


def _usable(scale: Any) -> Any:
    return jnp.where(scale == 0, 1.0, scale)


def _times(factor: Any, vector: Any) -> Any:
    return factor * vector if factor.ndim == 1 else factor @ vector


def _posterior(mean: Any, factor: Any, information: Any) -> tuple[Any, Any]:
    """R, and R^-1 C'(v - G m)."""
    g, v = information[:-1], information[-1]
    identity = jnp.eye(len(v), dtype=v.dtype)
    if factor.ndim == 1:
        precision = identity + factor[:, None] * g * factor
        right = factor * (v - g @ mean)
    else:
        precision = identity + factor.T @ g @ factor
        right = factor.T @ (v - g @ mean)
    root = small_cholesky(precision)
    return root, vector_solve(root, right)
