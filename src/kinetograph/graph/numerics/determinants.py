"""Determinants with derivatives that are accurate at singular matrices, too."""

from typing import Any

import jax
import jax.numpy as jnp

from .derivative_rules import derivatives

__all__ = ["determinant"]

CLOSED = 4  # up to this size the determinant is written out as a polynomial


def determinant(a: Any) -> Any:
    """The determinant of each matrix."""
    n = a.shape[-1]
    if n > CLOSED:
        return _factored(a)
    rows = [[a[..., i, j] for j in range(n)] for i in range(n)]
    if n == 4:
        # Laplace's expansion by the 2 x 2 minors of the upper and the lower two rows.
        upper, lower = _minors(*rows[:2]), _minors(*rows[2:])
        signs = (1, -1, 1, 1, -1, 1)
        return sum(s * u * v for s, u, v in zip(signs, upper, lower[::-1], strict=True))
    if n == 3:
        upper = _minors(*rows[:2])
        return sum(s * u * v for s, u, v in zip((1, -1, 1), upper, rows[2][::-1], strict=True))
    if n == 2:
        return _minors(*rows)[0]
    return rows[0][0] if n else jnp.ones(a.shape[:-2], a.dtype)


def _minors(x: list[Any], y: list[Any]) -> list[Any]:
    """The 2 x 2 minors of two rows.

    Their columns are 01, 02, .., 12, ..
    """
    n = len(x)
    return [x[i] * y[j] - x[j] * y[i] for i in range(n) for j in range(i + 1, n)]


@derivatives(lambda primals, tangents: _trace(_adjugate(*primals), *tangents))
def _factored(a: Any) -> Any:
    return jnp.linalg.det(a)


def _trace(a: Any, b: Any) -> Any:
    return jnp.einsum("...ij,...ji", a, b)


def _balanced(a: Any) -> tuple[Any, Any, Any]:
    """Divide rows and columns by powers of 2.

    Returns the balanced matrix and the divisors of rows and columns.
    """

    def scale(a: Any, axis: int) -> Any:
        largest = jnp.max(jnp.abs(a), axis, keepdims=True)
        is_regular = (largest > 0) & jnp.isfinite(largest)
        return jnp.exp2(jnp.round(jnp.log2(jnp.where(is_regular, largest, 1.0))))

    rows = scale(jax.lax.stop_gradient(a), -1)
    columns = scale(jax.lax.stop_gradient(a) / rows, -2)
    return a / rows / columns, rows, columns


def _products_of_others(s: Any) -> Any:
    """The product of all other elements, for each element.

    Products are taken along the last axis.
    """
    return jnp.prod(jnp.where(jnp.eye(s.shape[-1], dtype=bool), 1.0, s[..., None, :]), -1)


def _around(s: Any, middle: Any) -> Any:
    """adj(columns) middle adj(rows): the adjugate of the matrix before balancing."""
    rows, columns = s
    return (
        _products_of_others(columns[..., 0, :])[..., :, None]
        * middle
        * _products_of_others(rows[..., 0])[..., None, :]
    )


def _rotations(a: Any) -> tuple[Any, Any, Any, Any, Any]:
    """The factors of the singular value decomposition of the balanced matrix.

    Returns V times the sign of the determinants, the singular values, the transpose of U, the
    transpose of V, and the divisors of rows and columns.
    """
    balanced, *scales = _balanced(a)
    u, s, vt = jnp.linalg.svd(balanced)
    sign = jnp.sign(jnp.linalg.det(u) * jnp.linalg.det(vt))[..., None, None]
    return sign * jnp.swapaxes(vt, -1, -2), s, jnp.swapaxes(u, -1, -2), vt, scales


def _adjugate_slope(primals: Any, tangents: Any) -> Any:
    """The derivative of the adjugate.

    For a diagonal matrix S and a direction F, an element off the diagonal is -F_ij times the
    product of all s except s_i and s_j. An element on the diagonal is the sum over j of F_jj times
    these products.
    """
    ((a,), (t,)) = primals, tangents
    v, s, ut, vt, scales = _rotations(a)
    rows, columns = scales
    f = ut @ (t / rows / columns) @ jnp.swapaxes(vt, -1, -2)
    n = s.shape[-1]
    is_diagonal = jnp.eye(n, dtype=bool)
    left_out = is_diagonal[:, None, :] | is_diagonal[None, :, :]
    pairs = jnp.prod(jnp.where(left_out, 1.0, s[..., None, None, :]), -1)
    pairs = jnp.where(is_diagonal, 0.0, pairs)
    diagonal = jnp.einsum("...ij,...jj->...i", pairs, f)
    return _around(scales, v @ (jnp.where(is_diagonal, diagonal[..., None], -pairs * f)) @ ut)


@derivatives(_adjugate_slope)
def _adjugate(a: Any) -> Any:
    """The adjugate of a matrix of any rank.

    With the singular value decomposition U S V', adj(a) = det(U V) V P U', where P is diagonal and
    holds the products of all other singular values.
    """
    v, s, ut, _, scales = _rotations(a)
    return _around(scales, v @ (_products_of_others(s)[..., None] * ut))
