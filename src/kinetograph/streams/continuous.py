"""Real numbers: one function a distribution, from the bits of a `Source` and its parameters.

Parameters broadcast to the shape of the source and are of its type. Where they are impossible (a
negative scale) the number is NaN. The numbers are differentiable with respect to all parameters:
the bits stay what they are and the parameters move the number. By the shape of a gamma number the
derivative is that of its quantile, x' = -(dF(x; a) / da) / f(x; a) (Figurnov, Mohamed, Mnih,
Implicit reparameterization gradients, NeurIPS 2018).
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import digamma, log_ndtr

from ..bits.quantile import upper_quantile
from ..bits.rejection import first_accepted
from ..bits.source import Source

__all__ = [
    "beta",
    "cauchy",
    "dirichlet",
    "exponential",
    "gamma",
    "half_normal",
    "laplace",
    "log_gamma",
    "logistic",
    "lognormal",
    "normal",
    "student",
    "truncated_normal",
    "uniform",
]

_LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)


def uniform(source: Source, low: Any, high: Any) -> Any:
    """low + (high - low) u in [low, high), also where the sum rounds to high; low if they agree."""
    low, high = _reals(source, low, high)
    value = low + (high - low) * source.uniform()
    span = high - low
    return _valid((span >= 0) & jnp.isfinite(span), _clamped(value, low, jnp.nextafter(high, low)))


def normal(source: Source, loc: Any, scale: Any) -> Any:
    """loc + scale z with a standard normal z."""
    loc, scale = _reals(source, loc, scale)
    return _valid(_possible(loc, scale), loc + scale * source.normal())


def lognormal(source: Source, loc: Any, scale: Any) -> Any:
    """exp(loc + scale z)."""
    return jnp.exp(normal(source, loc, scale))


def half_normal(source: Source, scale: Any) -> Any:
    """scale |z|."""
    (scale,) = _reals(source, scale)
    z = source.normal()
    # Not jnp.abs, for which XLA's compiler takes half a minute on the quantile.
    return _valid(_possible(0, scale), scale * jnp.where(z < 0, -z, z))


def exponential(source: Source, rate: Any) -> Any:
    """-log(u) / rate for u in (0, 1]."""
    (rate,) = _reals(source, rate)
    return _valid((rate > 0) & jnp.isfinite(rate), -jnp.log(source.positive()) / rate)


def laplace(source: Source, loc: Any, scale: Any) -> Any:
    """loc +- scale e with a standard exponential e: density exp(-|x - loc| / scale) / (2 scale)."""
    loc, scale = _reals(source, loc, scale)
    u, v = source.uniforms()
    return _valid(_possible(loc, scale), loc + scale * _signed(v, -jnp.log(1 - u)))


def cauchy(source: Source, loc: Any, scale: Any) -> Any:
    """loc +- scale / tan(pi u / 2) for u in (0, 1], which is right in both tails."""
    loc, scale = _reals(source, loc, scale)
    u, v = source.uniforms()
    return _valid(
        _possible(loc, scale), loc + scale * _signed(v, 1 / jnp.tan((math.pi / 2) * (1 - u)))
    )


def logistic(source: Source, loc: Any, scale: Any) -> Any:
    """loc + scale log(u / (1 - u))."""
    loc, scale = _reals(source, loc, scale)
    u = _open(source)
    return _valid(_possible(loc, scale), loc + scale * (jnp.log(u) - jnp.log1p(-u)))


def truncated_normal(source: Source, loc: Any, scale: Any, lower: Any, upper: Any) -> Any:
    """A normal number, given that it lies in [lower, upper], by the inverse of its cdf.

    With S(z) = P(Z > z), a and b the standardised bounds: the z with
    S(z) = S(a) - u (S(a) - S(b)), all in logarithms, and from the side nearer to the centre, so
    that it is right however far out the bounds are. Bounds may be infinite.
    """
    loc, scale, lower, upper = _reals(source, loc, scale, lower, upper)
    no_lower, no_upper = jnp.isneginf(lower), jnp.isposinf(upper)
    # Infinite bounds are left out, as their derivatives are NaN.
    a = (jnp.where(no_lower, 0, lower) - loc) / scale
    b = (jnp.where(no_upper, 0, upper) - loc) / scale
    turned = jnp.where(no_lower | no_upper, no_lower & ~no_upper, a + b < 0)
    near, far = jnp.where(turned, -b, a), jnp.where(turned, -a, b)
    # If the nearer bound is infinite, both are.
    log_near = jnp.where(no_lower & no_upper, 0, log_ndtr(-near))
    log_far = jnp.where(no_lower | no_upper, -jnp.inf, log_ndtr(-far))
    share = -jnp.expm1(log_far - log_near)
    z = _tail_quantile(log_near, share, _open(source))
    value = loc + scale * jnp.where(turned, -z, z)
    bounds = (lower <= upper) & (lower < jnp.inf) & (upper > -jnp.inf)
    return _valid(_possible(loc, scale) & (scale > 0) & bounds, _clamped(value, lower, upper))


def gamma(source: Source, concentration: Any, rate: Any) -> Any:
    """Density proportional to x**(concentration - 1) exp(-rate x)."""
    concentration, rate = _reals(source, concentration, rate)
    large, log_boost = _gamma_parts(source, concentration, 0, 1)
    value = large * jnp.exp(log_boost)
    value = _follow(value, jnp.log(large) + log_boost, concentration)
    return _valid((rate > 0) & jnp.isfinite(rate), value / rate)


def log_gamma(source: Source, concentration: Any, first: int = 0, step: int = 1) -> Any:
    """The logarithm of a gamma number of rate 1, finite where the number itself is too small.

    It uses the attempts `first`, `first + step`, ... of the source.
    """
    (concentration,) = _reals(source, concentration)
    large, log_boost = _gamma_parts(source, concentration, first, step)
    return _follow_log(jnp.log(large) + log_boost, concentration)


def beta(source: Source, a: Any, b: Any) -> Any:
    """x / (x + y) for gamma numbers x of a and y of b, by their logarithms."""
    return jax.nn.sigmoid(log_gamma(source, a, 0, 2) - log_gamma(source, b, 1, 2))


def dirichlet(source: Source, concentration: Any) -> Any:
    """Gamma numbers divided by their sum along the last axis, by their logarithms."""
    return jax.nn.softmax(log_gamma(source, concentration), axis=-1)


def student(source: Source, df: Any, loc: Any, scale: Any) -> Any:
    """loc + scale z / sqrt(g / (df / 2)) with z normal and g a gamma number of df / 2."""
    df, loc, scale = _reals(source, df, loc, scale)
    half = df / 2
    ratio = jnp.exp((jnp.log(half) - log_gamma(source, half, 1)) / 2)
    return _valid(_possible(loc, scale), loc + scale * source.normal() * ratio)


def _gamma_parts(source: Source, concentration: Any, first: int, step: int) -> tuple[Any, Any]:
    """A gamma number of `concentration`, or of one more, and the logarithm that makes up for it.

    For at least 1: d v with v = (1 + c x)^3, d = concentration - 1/3, c = 1 / sqrt(9 d), accepted
    if log u < x^2 / 2 + d (1 - v + log v). Below: that of concentration + 1, times
    u**(1 / concentration).
    Source: G. Marsaglia, W. W. Tsang, A simple method for generating gamma variables, ACM TOMS 26
    (2000) 363-372.
    """
    a = lax.stop_gradient(concentration)
    valid = (a > 0) & jnp.isfinite(a)
    a = jnp.where(valid, a, 1)
    small = a < 1
    d = jnp.where(small, a + 1, a) - 1 / 3

    def proposal(source: Source, attempt: Any, d: Any) -> tuple[Any, Any, Any, Any]:
        # The first attempt is that of the boost.
        x, u = source.normal_and_uniform(np.uint32(first) + np.uint32(step) * (attempt + 1))
        w = 1 / (3 * jnp.sqrt(d)) * x
        inside = w > -1
        return x, u, jnp.where(inside, w, 0), inside

    def sure(source: Source, attempt: Any, d: Any) -> tuple[Any, Any]:
        x, u, w, inside = proposal(source, attempt, d)
        return d * (1 + w) ** 3, inside & (u > 0.0331 * (x * x) * (x * x))

    def propose(source: Source, attempt: Any, d: Any) -> tuple[Any, Any]:
        x, u, w, inside = proposal(source, attempt, d)
        # 1 - v + log v, written so that it is right for large d.
        gap = 3 * (jnp.log1p(w) - w) - w * w * (3 + w)
        return d * (1 + w) ** 3, inside & (jnp.log1p(-u) < 0.5 * x * x + d * gap)

    large = first_accepted(source, propose, [d], valid, np.asarray(np.nan, source.dtype), sure)

    def boost() -> Any:
        return jnp.where(small, jnp.log(source.positive(np.uint32(first))) / a, 0)

    nothing = jnp.zeros(source.shape, source.dtype)
    return large, lax.cond(jnp.any(small), boost, lambda: nothing)


@jax.custom_jvp
def _follow(x: Any, log_x: Any, concentration: Any) -> Any:
    """The gamma number x, with the derivative of its quantile."""
    return x


@_follow.defjvp
def _follow_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    x, log_x, concentration = primals
    return x, x * _log_gamma_slope(concentration, log_x) * tangents[2]


@jax.custom_jvp
def _follow_log(log_x: Any, concentration: Any) -> Any:
    """The logarithm of a gamma number, with the derivative of its quantile."""
    return log_x


@_follow_log.defjvp
def _follow_log_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    log_x, concentration = primals
    return log_x, _log_gamma_slope(concentration, log_x) * tangents[1]


def _log_gamma_slope(concentration: Any, log_x: Any) -> Any:
    """d log x / d concentration at a fixed probability F(x).

    Near 0, F(x) is x**a / Gamma(a + 1) (1 + O(x)), which gives (digamma(a + 1) - log x) / a.
    """
    concentration = jnp.broadcast_to(concentration, log_x.shape)
    tiny = log_x < (-12 if log_x.dtype == np.float32 else -30)
    x = jnp.exp(jnp.where(tiny, 0, log_x))
    near_zero = (digamma(concentration + 1) - log_x) / concentration
    return jnp.where(tiny, near_zero, lax.random_gamma_grad(concentration, x) / x)


@jax.custom_jvp
def _tail_quantile(log_near: Any, share: Any, u: Any) -> Any:
    """The z with P(Z > z) = exp(log_near) (1 - u share), of which 0 < u, share, 1 - u share < 1."""
    log_limit = -80.0 if u.dtype == np.float32 else -600.0
    tail = jnp.exp(log_near) * (1 - u * share)
    above = tail > 0.5
    # Below the median the other tail is the small one.
    lower = -jnp.expm1(log_near) + jnp.exp(log_near) * (u * share)
    limit = math.exp(log_limit)
    z = upper_quantile(jnp.clip(jnp.where(above, lower, tail), limit, 0.5))
    z = jnp.where(above, -z, z)

    def far_out(state: Any) -> Any:
        # Newton's method on the logarithm, where it is almost a parabola.
        log_tail = jnp.minimum(log_near + jnp.log1p(-u * share), log_limit)
        far = jnp.sqrt(-2 * log_tail - jnp.log(-4 * math.pi * log_tail))
        for _ in range(3):
            far = far + (log_ndtr(-far) - log_tail) / (far + 1 / far)
        return jnp.bool_(False), jnp.where(tail > limit, z, far)

    # A loop of at most one trip: in a batch, unlike a branch, it is skipped where none is far out.
    return lax.while_loop(lambda state: state[0], far_out, (jnp.any(tail <= limit), z))[1]


@_tail_quantile.defjvp
def _tail_quantile_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    log_near, share, u = primals
    z = _tail_quantile(log_near, share, u)
    log_tail = log_near + jnp.log1p(-u * share)
    slope = tangents[0] - u * tangents[1] / (1 - u * share)
    far = z > 12
    safe = jnp.where(far, 1, z)
    near = jnp.exp(jnp.where(far, 0, log_tail) + 0.5 * safe * safe + _LOG_ROOT_TWO_PI)
    # S(z) / phi(z) far out: 1 / (z + 1 / (z + 2 / (z + 3 / z))).
    large = jnp.where(far, z, 1)
    ratio = jnp.where(far, 1 / (large + 1 / (large + 2 / (large + 3 / large))), near)
    return z, -ratio * slope


@jax.custom_jvp
def _clamped(value: Any, low: Any, high: Any) -> Any:
    """The value, moved to the bounds if rounding took it out; the derivative is the value's."""
    return jnp.clip(value, low, high)


@_clamped.defjvp
def _clamped_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    return _clamped(*primals), tangents[0]


def _reals(source: Source, *parameters: Any) -> tuple[Any, ...]:
    return tuple(jnp.asarray(p, source.dtype) for p in parameters)


def _valid(condition: Any, value: Any) -> Any:
    return jnp.where(condition, value, jnp.nan)


def _possible(loc: Any, scale: Any) -> Any:
    return jnp.isfinite(loc) & jnp.isfinite(scale) & (scale >= 0)


def _signed(u: Any, value: Any) -> Any:
    return jnp.where(u < 0.5, -value, value)


def _open(source: Source) -> Any:
    """Numbers in (0, 1): half a cell in place of 0."""
    half = 2.0**-25 if source.dtype == np.float32 else 2.0**-54
    return jnp.maximum(source.uniform(), half)
