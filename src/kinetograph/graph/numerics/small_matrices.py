"""Factors of small matrices, and solutions, as plain arithmetic.

A call of the linear algebra library prevents XLA from compiling a loop into one function. The
derivatives are products of matrices: the derivative of each number by itself would take several
times as many operations.

Source   S. P. Smith, Differentiation of the Cholesky algorithm, Journal of Computational and
         Graphical Statistics 4 (1995); I. Murray, arXiv:1602.07527, section 3.1.
"""

from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl

from .derivative_rules import derivatives

__all__ = ["small_cholesky", "triangular_solve", "vector_solve"]

SMALL = 6  # larger matrices are passed to the library


def small_cholesky(a: Any) -> Any:
    """The lower Cholesky factor.

    Only the lower triangle of the matrix is read.
    """
    n = a.shape[-1]
    if n == 0:
        return a
    return _factor(a) if n <= SMALL else jax.lax.linalg.cholesky(_full(a), symmetrize_input=False)


def triangular_solve(a: Any, b: Any) -> Any:
    """Solve a @ x = b for lower triangular a."""
    if 0 < a.shape[-1] <= SMALL:
        return jnp.stack(_rows(a, b), -2)
    batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(x, batch + x.shape[-2:]) for x in (a, b))
    return jsl.solve_triangular(a, b, lower=True)


def vector_solve(lower: Any, right: Any, *, transposed: bool = False) -> Any:
    """The solution of L x = right for lower triangular L.

    With `transposed` it is that of L' x = right.
    """
    if 0 < right.shape[-1] <= SMALL:
        inverse = _inverse(lower)
        return _product(inverse.mT if transposed else inverse, right[..., None])[..., 0]
    lower = jnp.broadcast_to(lower, (*right.shape, right.shape[-1]))
    return jax.lax.linalg.triangular_solve(
        lower, right[..., None], left_side=True, lower=True, transpose_a=transposed
    )[..., 0]


def _tangent_of_factor(primals: Any, tangents: Any) -> Any:
    """The tangent L H of L, with d = L^-1 dA L^-T.

    H is the lower triangle of d with half of its diagonal.
    """
    factor, t = _factor(*primals), _full(*tangents)
    inverse = _inverse(factor)
    change = _product(_product(inverse, t), inverse.mT)
    ones = jnp.ones(t.shape[-2:], t.dtype)
    return _product(factor, change * (jnp.tril(ones) - 0.5 * jnp.eye(len(ones), dtype=t.dtype)))


def _tangent_of_inverse(primals: Any, tangents: Any) -> Any:
    """The tangent -L^-1 dL L^-1 of L^-1."""
    inverse = _inverse(*primals)
    return -_product(_product(inverse, jnp.tril(*tangents)), inverse)


@derivatives(_tangent_of_factor)
def _factor(a: Any) -> Any:
    n = a.shape[-1]
    rows: list[list[Any]] = [[None] * n for _ in range(n)]
    zero = jnp.zeros(a.shape[:-2], a.dtype)
    for i in range(n):
        for j in range(i + 1):
            difference = a[..., i, j] - sum((rows[i][k] * rows[j][k] for k in range(j)), start=zero)
            rows[i][j] = jnp.sqrt(difference) if i == j else difference / rows[j][j]
    filled = [jnp.stack([zero if e is None else e for e in row], -1) for row in rows]
    return jnp.stack(filled, -2)


@derivatives(_tangent_of_inverse)
def _inverse(a: Any) -> Any:
    identity = jnp.eye(a.shape[-1], dtype=a.dtype)
    return jnp.stack(_rows(a, jnp.broadcast_to(identity, a.shape)), -2)


def _rows(a: Any, b: Any) -> list[Any]:
    """The rows of a^-1 b."""
    rows: list[Any] = []
    for i in range(a.shape[-1]):
        right_side = b[..., i, :]
        for k in range(i):
            right_side = right_side - a[..., i, k, None] * rows[k]
        rows.append(right_side / a[..., i, i, None])
    return rows


def _product(a: Any, b: Any) -> Any:
    """a @ b, as a sum.

    XLA compiles a sum together with the operations around it.
    """
    return jnp.sum(a[..., :, :, None] * b[..., None, :, :], -2)


def _full(a: Any) -> Any:
    """The symmetric matrix with this lower triangle."""
    return jnp.tril(a) + jnp.swapaxes(jnp.tril(a, -1), -1, -2)
