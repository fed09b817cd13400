"""Normal vectors with a tridiagonal precision matrix.

With the Cholesky factor L of the precision P, L L' = P, and the information r = P mean,

    x = L'^-1 (L^-1 r + u),    u ~ normal(0, 1)

L has two diagonals, so that n elements take of the order of n operations, one after another.

Source   H. Rue, L. Held, Gaussian Markov Random Fields, 2005, section 2.4.
"""

from typing import Any

import jax.numpy as jnp
from jax import lax

__all__ = ["from_normal", "to_normal"]


def from_normal(diagonal: Any, off: Any, information: Any, u: Any) -> tuple[Any, Any]:
    """Map u to x; also the sum of log |dx / du|."""
    root, below, shift = _factor(diagonal, off, information)

    def step(after: Any, row: Any) -> tuple[Any, Any]:
        root, below, value = row
        x = (value - below * after) / root
        return x, x

    rows = (root, _ahead(below), shift + jnp.moveaxis(u, -1, 0))
    x = lax.scan(step, jnp.zeros_like(shift[0]), rows, reverse=True)[1]
    return jnp.moveaxis(x, 0, -1), -jnp.sum(jnp.log(root))


def to_normal(diagonal: Any, off: Any, information: Any, x: Any) -> Any:
    """u of x."""
    root, below, shift = _factor(diagonal, off, information)
    x = jnp.moveaxis(x, -1, 0)
    return jnp.moveaxis(root * x + _ahead(below) * _ahead(x) - shift, 0, -1)


def _factor(diagonal: Any, off: Any, information: Any) -> tuple[Any, Any, Any]:
    """The diagonal of L, the elements left of it, and L^-1 r.

    The elements of a vector are along the first axis.
    """

    def step(before: Any, row: Any) -> tuple[Any, Any]:
        root, shift = before
        diagonal, off, information = row
        below = off / root
        root = jnp.sqrt(diagonal - below * below)
        shift = (information - below * shift) / root
        return (root, shift), (root, below, shift)

    edges = [(0, 0)] * (off.ndim - 1) + [(1, 0)]
    given = jnp.broadcast_arrays(diagonal, jnp.pad(off, edges), information)
    rows = tuple(jnp.moveaxis(row, -1, 0) for row in given)
    start = jnp.ones_like(rows[0][0]), jnp.zeros_like(rows[0][0])
    found: tuple[Any, Any, Any] = lax.scan(step, start, rows)[1]
    return found


def _ahead(rows: Any) -> Any:
    """The next row of each row; 0 for the last one."""
    return jnp.concatenate([rows[1:], jnp.zeros_like(rows[:1])])
