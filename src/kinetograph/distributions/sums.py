"""Tails of counts that have no closed form: probabilities added up outward from a point.

    P(X <= x) = p(x) (1 + d(x) + d(x) d(x - 1) + ...),   d(k) = p(k - 1) / p(k)
    P(X > x)  = p(x + 1) (1 + u(x + 1) + u(x + 1) u(x + 2) + ...),   u(k) = p(k + 1) / p(k)

The ratios are 0 at the ends of the support. Takes as many terms as matter.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

__all__ = ["log_sum_outward"]

_TURNS = 4  # terms that a trip of the loop adds


def log_sum_outward(
    start: Any, left: Any, log_start: Any, ratio: Callable[[Any, Any], Any], fading: Any
) -> Any:
    """The logarithm of the sum of the probabilities from `start` on, downward where `left`.

    `log_start` is the first one's logarithm, `ratio(k, left)` that of the next one to the one at k.
    Where they are `fading`, each next ratio the smaller, it ends where the rest does not count.
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
