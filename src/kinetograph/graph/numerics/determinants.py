"""Determinants whose derivatives are right at singular matrices, too."""

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
        # Laplace's expansion by the 2 x 2 minors of the upper and of the lower two rows.
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
    """The determinants of each two columns of two rows: 01, 02, .., 12, .."""
    n = len(x)
    return [x[i] * y[j] - x[j] * y[i] for i in range(n) for j in range(i + 1, n)]


@derivatives(lambda primals, tangents: _trace(_adjugate(*primals), *tangents))
def _factored(a: Any) -> Any:
    return jnp.linalg.det(a)


def _trace(a: Any, b: Any) -> Any:
    return jnp.einsum("...ij,...ji", a, b)


def _balanced(a: Any) -> tuple[Any, Any, Any]:
    """The matrix with rows and columns divided by powers of 2, and these."""

    def scale(a: Any, axis: int) -> Any:
        largest = jnp.max(jnp.abs(a), axis, keepdims=True)
        known = (largest > 0) & jnp.isfinite(largest)
        return jnp.exp2(jnp.round(jnp.log2(jnp.where(known, largest, 1.0))))

    rows = scale(jax.lax.stop_gradient(a), -1)
    columns = scale(jax.lax.stop_gradient(a) / rows, -2)
    return a / rows / columns, rows, columns


def _others(s: Any) -> Any:
    """For each element, the product of the others along the last axis."""
    return jnp.prod(jnp.where(jnp.eye(s.shape[-1], dtype=bool), 1.0, s[..., None, :]), -1)


def _around(s: Any, middle: Any) -> Any:
    """adj(columns) middle adj(rows), the adjugate of what was balanced."""
    rows, columns = s
    return _others(columns[..., 0, :])[..., :, None] * middle * _others(rows[..., 0])[..., None, :]


def _rotations(a: Any) -> tuple[Any, Any, Any, Any, Any]:
    """The sign times V, the singular values, U transposed, and the scales, of the balanced a."""
    balanced, *scales = _balanced(a)
    u, s, vt = jnp.linalg.svd(balanced)
    sign = jnp.sign(jnp.linalg.det(u) * jnp.linalg.det(vt))[..., None, None]
    return sign * jnp.swapaxes(vt, -1, -2), s, jnp.swapaxes(u, -1, -2), vt, scales


def _adjugate_slope(primals: Any, tangents: Any) -> Any:
    """The derivative of the adjugate.

    That of a diagonal S has, in direction F, -F_ij times the product of the s other than s_i and
    s_j off the diagonal, and on it the sum over j of F_jj times these products.
    """
    ((a,), (t,)) = primals, tangents
    v, s, ut, vt, scales = _rotations(a)
    rows, columns = scales
    f = ut @ (t / rows / columns) @ jnp.swapaxes(vt, -1, -2)
    n = s.shape[-1]
    same = jnp.eye(n, dtype=bool)
    left_out = same[:, None, :] | same[None, :, :]
    pairs = jnp.prod(jnp.where(left_out, 1.0, s[..., None, None, :]), -1)
    pairs = jnp.where(same, 0.0, pairs)
    diagonal = jnp.einsum("...ij,...jj->...i", pairs, f)
    return _around(scales, v @ (jnp.where(same, diagonal[..., None], -pairs * f)) @ ut)


@derivatives(_adjugate_slope)
def _adjugate(a: Any) -> Any:
    """adj(a) = det(U V) V (the product of the other singular values) U', at any rank."""
    v, s, ut, _, scales = _rotations(a)
    return _around(scales, v @ (_others(s)[..., None] * ut))
