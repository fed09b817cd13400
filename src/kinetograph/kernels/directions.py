"""Directions whose scale differs from the scale of the coordinates.

    S = D P,  P = I + sum_j (r_j - 1) v_j v_j^T

for a diagonal D and orthonormal v_j: a step of length h moves by h r_j along v_j, in coordinates
scaled by D. The mass matrix is (S S^T)^-1. A product takes O(n k) operations for k directions.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

__all__ = ["Directions"]


class Directions(NamedTuple):
    """Some directions, in arrays with room for a fixed number."""

    vectors: Any  # one row for each direction
    stretches: Any  # r, one for each direction
    count: Any  # number of directions in use

    @classmethod
    def none(cls, most: int, size: int, dtype: Any) -> "Directions":
        """Return no directions, with room for `most` in `size` dimensions."""
        return cls(np.zeros((most, size), dtype), np.ones(most, dtype), np.int32(0))

    def check(self, owner: str) -> None:
        """Refuse invalid directions.

        Raises
        ------
        ValueError
            If there are more directions than room for them, the vectors are not orthonormal, or a
            stretch is not positive and finite.
        """
        count, most = int(self.count), len(self.stretches)
        if not 0 <= count <= most:
            raise ValueError(f"{owner}: directions: count must be from 0 to {most}, got {count}")
        stretches, vectors = np.asarray(self.stretches)[:count], np.asarray(self.vectors)[:count]
        if not np.all((stretches > 0) & np.isfinite(stretches)):
            raise ValueError(f"{owner}: directions: stretches must be positive, got {stretches}")
        with np.errstate(all="ignore"):
            deviations = np.abs(vectors @ vectors.T - np.eye(count))
        if not np.all(deviations < 1e-3):
            raise ValueError(f"{owner}: directions: vectors must be orthonormal rows")

    def stretched(self, p: Any) -> Any:
        """Return P p."""

        def add(number: Any, total: Any) -> Any:
            v = lax.dynamic_index_in_dim(self.vectors, number, keepdims=False)
            excess = lax.dynamic_index_in_dim(self.stretches, number, keepdims=False) - 1.0
            return total + (excess * jnp.sum(v * p)) * v

        return lax.fori_loop(0, self.count, add, p)
