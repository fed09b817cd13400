"""Logarithms of sums of exponentials, with terms of -inf, and none but these, allowed.

Where all terms are -inf the sum is 0: its logarithm is -inf and has derivative 0, so that a state
that cannot be reached takes no part. A term of +inf outweighs all others.
"""

from typing import Any

import jax.numpy as jnp

from .derivative_rules import derivatives

__all__ = ["log_softmax", "logsumexp", "softmax"]


def _scaled(x: Any, axis: Any) -> tuple[Any, Any]:
    """x less its largest element, so that exp does not overflow, and that element."""
    top = jnp.max(x, axis, keepdims=True, initial=-jnp.inf)
    finite = jnp.isfinite(top)
    among = jnp.where(x == top, 0.0, -jnp.inf)
    return jnp.where(finite, x - jnp.where(finite, top, 0.0), among).astype(x.dtype), top


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """log(sum(exp(x))) over axes."""

    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        scaled, top = _scaled(x, axis)
        parts = jnp.exp(scaled)
        shares = jnp.where(top == -jnp.inf, 0.0, parts / jnp.sum(parts, axis, keepdims=True))
        return jnp.sum(t * shares, axis, keepdims=keepdims)

    @derivatives(rule)
    def function(x: Any) -> Any:
        scaled, top = _scaled(x, axis)
        result = jnp.log(jnp.sum(jnp.exp(scaled), axis, keepdims=True)) + top
        return result if keepdims else jnp.squeeze(result, axis)

    return function(x)


def softmax(x: Any, axis: Any = -1) -> Any:
    """exp(x) / sum(exp(x)) along an axis; NaN where all x are -inf."""

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
    """x - logsumexp(x) along an axis; NaN where all x are -inf."""

    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return t - jnp.sum(softmax(x, axis) * t, axis, keepdims=True)

    @derivatives(rule)
    def function(x: Any) -> Any:
        scaled, top = _scaled(x, axis)
        result = scaled - jnp.log(jnp.sum(jnp.exp(scaled), axis, keepdims=True))
        return jnp.where(top == -jnp.inf, jnp.nan, result)

    return function(x)
