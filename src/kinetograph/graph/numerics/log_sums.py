"""Logarithms of sums of exponentials, where terms may be -inf.

If all terms are -inf, the sum is 0. Its logarithm is -inf and has derivative 0, so that an
unreachable state does not affect the gradient. A term of +inf dominates all other terms.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax.lax import stop_gradient

from .derivative_rules import derivatives

__all__ = ["log_softmax", "logsumexp", "softmax"]


def _scaled(x: Any, axis: Any) -> tuple[Any, Any]:
    """x minus its largest element, and this element.

    The subtraction avoids overflow of exp.
    """
    top = jnp.max(x, axis, keepdims=True, initial=-jnp.inf)
    finite = jnp.isfinite(top)
    log_is_largest = jnp.where(x == top, 0.0, -jnp.inf)
    return jnp.where(finite, x - jnp.where(finite, top, 0.0), log_is_largest).astype(x.dtype), top


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """log(sum(exp(x))) over axes."""
    scaled, top = _scaled(x, axis)
    parts = jnp.exp(scaled)
    total = jnp.sum(parts, axis, keepdims=True)
    shares = jnp.where(top == -jnp.inf, 0.0, parts / total)
    result = _by_shares(stop_gradient(jnp.log(total) + top), x, shares)
    return result if keepdims else jnp.squeeze(result, axis)


@jax.custom_jvp
def _by_shares(value: Any, x: Any, shares: Any) -> Any:
    """Give a value the derivatives `shares` by x.

    Derivatives are summed over the axes where value has length 1 and x has not.
    """
    return value


@_by_shares.defjvp
def _slope_by_shares(primals: Any, tangents: Any) -> Any:
    (value, x, shares), (_, t, _) = primals, tangents
    summed = tuple(i for i, (n, m) in enumerate(zip(value.shape, x.shape, strict=True)) if n != m)
    return _by_shares(value, x, shares), jnp.sum(t * shares, summed, keepdims=True)


def softmax(x: Any, axis: Any = -1) -> Any:
    """exp(x) / sum(exp(x)) along an axis; NaN if all x are -inf."""

    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        shares = value(x)
        return shares * (t - jnp.sum(shares * t, axis, keepdims=True))

    @derivatives(rule)
    def value(x: Any) -> Any:
        scaled, top = _scaled(x, axis)
        parts = jnp.exp(scaled)
        return jnp.where(top == -jnp.inf, jnp.nan, parts / jnp.sum(parts, axis, keepdims=True))

    return value(x)


def log_softmax(x: Any, axis: Any = -1) -> Any:
    """x - logsumexp(x) along an axis; NaN if all x are -inf."""

    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return t - jnp.sum(softmax(x, axis) * t, axis, keepdims=True)

    @derivatives(rule)
    def function(x: Any) -> Any:
        scaled, top = _scaled(x, axis)
        result = scaled - jnp.log(jnp.sum(jnp.exp(scaled), axis, keepdims=True))
        return jnp.where(top == -jnp.inf, jnp.nan, result)

    return function(x)
