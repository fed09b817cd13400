"""Directions in which a scale differs from that of the coordinates.

    S = D P,  P = I + sum_j (r_j - 1) v_j v_j^T

for a diagonal D and orthonormal v_j: a step of length h goes h r_j far along v_j, in coordinates
that D has scaled. A mass matrix of (S S^T)^-1; a product takes O(n k) for k directions.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

__all__ = ["Directions"]


class Directions(NamedTuple):
    """Some directions, of those that there is room for."""

    vectors: Any  # a row each
    stretches: Any  # r
    count: Any  # how many are in use

    @classmethod
    def none(cls, most: int, size: int, dtype: Any) -> "Directions":
        """Room for so many, in as many dimensions."""
        return cls(np.zeros((most, size), dtype), np.ones(most, dtype), np.int32(0))

    def check(self, owner: str) -> None:
        """Refuse what are no directions.

        Raises
        ------
        ValueError
            If there are more than there is room for, they are not orthonormal, or a stretch is not
            positive and finite.
        """
        count, most = int(self.count), len(self.stretches)
        if not 0 <= count <= most:
            raise ValueError(f"{owner}: directions: count must be from 0 to {most}, got {count}")
        stretches, vectors = np.asarray(self.stretches)[:count], np.asarray(self.vectors)[:count]
        if not np.all((stretches > 0) & np.isfinite(stretches)):
            raise ValueError(f"{owner}: directions: stretches must be positive, got {stretches}")
        with np.errstate(all="ignore"):
            apart = np.abs(vectors @ vectors.T - np.eye(count))
        if not np.all(apart < 1e-3):
            raise ValueError(f"{owner}: directions: vectors must be orthonormal rows")

    def stretched(self, p: Any) -> Any:
        """P p."""

        def add(number: Any, total: Any) -> Any:
            v = lax.dynamic_index_in_dim(self.vectors, number, keepdims=False)
            more = lax.dynamic_index_in_dim(self.stretches, number, keepdims=False) - 1.0
            return total + (more * jnp.sum(v * p)) * v

        return lax.fori_loop(0, self.count, add, p)
