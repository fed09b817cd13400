"""Markov processes given independent normal data of their elements.

    x_t = a_t x_(t-1) + d_t + s_t z_t,  a_1 = 0

Data of the precision h_t, as r_t / h_t, give x_t, given the data up to t, the variance p_t and the
mean m_t (the Kalman filter),

    v_t = a_t^2 p_(t-1) + s_t^2,   p_t = v_t / (1 + h_t v_t)
    m_t = (a_t m_(t-1) + d_t + v_t r_t) / (1 + h_t v_t)

and x_t given x_(t+1) and all data is normal,

    x_t = m_t + g_t (x_(t+1) - a_(t+1) m_t - d_(t+1)) + q_t u_t,
    g_t = p_t a_(t+1) / v_(t+1),   q_t = s_(t+1) (p_t / v_(t+1))^(1/2)

with q_n = p_n^(1/2). Only positive numbers are added, so that scales of very different sizes lose
no digits.

Source   S. Sarkka, Bayesian Filtering and Smoothing, 2013, sections 4.3 and 8.2.
"""

from typing import Any

import jax.numpy as jnp
from jax import lax

__all__ = ["from_normal", "to_normal"]


def from_normal(slopes: Any, drifts: Any, scales: Any, h: Any, r: Any, u: Any) -> tuple[Any, Any]:
    """Map u to x; also the sum of log |dx / du|."""
    gains, constants, sizes = _backward(slopes, drifts, scales, h, r)

    def step(after: Any, row: Any) -> tuple[Any, Any]:
        gain, constant, noise = row
        x = constant + gain * after + noise
        return x, x

    rows = (gains, constants, sizes * jnp.moveaxis(u, -1, 0))
    x = lax.scan(step, jnp.zeros_like(constants[0]), rows, reverse=True)[1]
    return jnp.moveaxis(x, 0, -1), jnp.sum(jnp.log(sizes))


def to_normal(slopes: Any, drifts: Any, scales: Any, h: Any, r: Any, x: Any) -> Any:
    """u of x."""
    gains, constants, sizes = _backward(slopes, drifts, scales, h, r)
    x = jnp.moveaxis(x, -1, 0)
    return jnp.moveaxis((x - constants - gains * _ahead(x)) / sizes, 0, -1)


def _backward(slopes: Any, drifts: Any, scales: Any, h: Any, r: Any) -> tuple[Any, Any, Any]:
    """The gains g, the constants and the sizes q.

    The elements of a vector are along the first axis.
    """

    def step(before: Any, row: Any) -> tuple[Any, Any]:
        mean, variance = before
        slope, drift, scale, h, r = row
        v = slope**2 * variance + scale**2
        total_precision = 1.0 + h * v
        mean, variance = (slope * mean + drift + v * r) / total_precision, v / total_precision
        return (mean, variance), (mean, variance, v)

    given = jnp.broadcast_arrays(slopes, drifts, scales, h, r)
    rows = tuple(jnp.moveaxis(row, -1, 0) for row in given)
    start = jnp.zeros_like(rows[0][0])
    mean, variance, v = lax.scan(step, (start, start), rows)[1]
    slope, drift, scale = (_ahead(row) for row in rows[:3])
    share = variance / jnp.concatenate([v[1:], jnp.ones_like(v[:1])])
    last = jnp.arange(len(v)).reshape(-1, *[1] * (v.ndim - 1)) == len(v) - 1
    gain = share * slope
    size = jnp.sqrt(share) * jnp.where(last, 1.0, scale)
    return gain, mean - gain * (slope * mean + drift), size


def _ahead(rows: Any) -> Any:
    """The next row of each row; 0 for the last one."""
    return jnp.concatenate([rows[1:], jnp.zeros_like(rows[:1])])
