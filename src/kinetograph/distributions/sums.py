"""Tails of counts without a closed form, by sums of probabilities.

    P(X <= x) = p(x) (1 + d(x) + d(x) d(x - 1) + ...),   d(k) = p(k - 1) / p(k)
    P(X > x)  = p(x + 1) (1 + u(x + 1) + u(x + 1) u(x + 2) + ...),   u(k) = p(k + 1) / p(k)

The ratios are 0 at the ends of the support. The sum stops at negligible terms.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

__all__ = ["log_sum_outward"]

_TURNS = 4  # terms that one trip of the loop adds


def log_sum_outward(
    start: Any, left: Any, log_start: Any, ratio: Callable[[Any, Any], Any], fading: Any
) -> Any:
    """The logarithm of a sum of probabilities from `start` outward.

    The sum goes downward where `left`, else upward. `log_start` is the logarithm of the first
    probability, and `ratio(k, left)` the ratio of the next probability to that at k. Where
    `fading`, the ratios decrease, so that the sum can stop at a negligible term; elsewhere it stops
    at 0.
    """

    def counts(term: Any, total: Any) -> Any:
        return term > jnp.where(fading, 1e-20 * total, 0.0)

    def step(state: Any) -> Any:
        k, term, total = state
        for _ in range(_TURNS):
            term = jnp.where(counts(term, total), term * ratio(k, left), 0.0)
            total = total + term
            k = k + jnp.where(left, -1.0, 1.0)
        return k, term, total

    one = jnp.ones_like(log_start)
    begin = (start * one, one, one)
    total = lax.while_loop(lambda state: jnp.any(counts(*state[1:])), step, begin)[2]
    return log_start + jnp.log(total)
