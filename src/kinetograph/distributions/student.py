"""Student's t distribution."""

import math
from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.gammas import gammaln
from ..graph.numerics.incomplete import log_beta_tails
from ..graph.numerics.special import log1mexp
from .cauchy import log1p_square
from .declaration import declared
from .family import Family
from .gamma_numbers import log_gamma
from .inversion import LINE, continuous_quantile
from .moments import HALF_STEP, Moments, infinite_unless
from .numbers import nan_unless, possible, reals
from .parameter import Parameter, positive, spread
from .tails import Tails, by_density

__all__ = ["draw", "log_beyond", "moments_by", "student", "terms"]

FAR = 1e15  # beyond this |z| / sqrt(df) the leading term of the tail suffices


def _log_gamma_half_step(a: Any) -> Any:
    """log Gamma(a + 1/2) - log Gamma(a).

    For large a it is a series, as the difference of the two functions would cancel.
    """
    large = a > 16.0
    small_a, inverse = jnp.where(large, 1.0, a), 1.0 / jnp.where(large, a, 16.0)
    total, power = 0.5 * jnp.log(jnp.where(large, a, 16.0)), inverse
    for coefficient in HALF_STEP:
        total = total + coefficient * power
        power = power * inverse * inverse
    return jnp.where(large, total, gammaln(small_a + 0.5) - gammaln(small_a))


def terms(x: Any, df: Any, mu: Any, sigma: Any) -> tuple[Any, ...]:
    constant = _log_gamma_half_step(0.5 * df) - 0.5 * jnp.log(jnp.pi * df)
    return -0.5 * (df + 1.0) * log1p_square(x - mu, sigma * jnp.sqrt(df)), constant, -jnp.log(sigma)


def _total(x: Any, df: Any, mu: Any, sigma: Any) -> Any:
    """The total log density if `df` is a single number, else None.

    Then its derivative needs only the sum of the logarithms.
    """
    if df.ndim:
        return None
    logs = log1p_square(x - mu, sigma * jnp.sqrt(df))
    constant = _log_gamma_half_step(0.5 * df) - 0.5 * jnp.log(jnp.pi * df)
    spread = jnp.sum(jnp.log(sigma)) * (logs.size / max(sigma.size, 1))
    return -0.5 * (df + 1.0) * jnp.sum(logs) + logs.size * constant - spread


def draw(source: Source, df: Any, mu: Any, sigma: Any) -> Any:
    """Draw mu + sigma z / sqrt(g / (df / 2)).

    The number z is standard normal and g is a gamma number of shape df / 2.
    """
    df, mu, sigma = reals(source, df, mu, sigma)
    half = df / 2
    ratio = jnp.exp((jnp.log(half) - log_gamma(source, half, 1)) / 2)
    return nan_unless(possible(mu, sigma), mu + sigma * source.normal() * ratio)


def _tails(x: Any, df: Any, mu: Any, sigma: Any) -> Tails:
    return _standard_tails((x - mu) / sigma, df)


def log_beyond(z: Any, df: Any) -> Tails:
    """log P(|T| > |z|) and log P(|T| <= |z|) for standard t."""
    far = jnp.abs(z) > FAR * jnp.sqrt(df)
    square = jnp.where(far, 1.0, z) ** 2
    # The function of beta tails uses the smaller of the two shares.
    whole = df + square
    beyond, within = log_beta_tails(0.5 * df, 0.5, df / whole, square / whole)
    # Far out P(|T| > z) is 2 / (df B(df / 2, 1 / 2)) (df / z^2)^(df / 2); squares would overflow.
    half = 0.5 * df
    log_beta = 0.5 * jnp.log(jnp.pi) - _log_gamma_half_step(half)
    log_z = jnp.log(jnp.where(far, jnp.abs(z), 1.0))
    tail = df * (0.5 * jnp.log(df) - log_z) - jnp.log(half) - log_beta
    rest = log1mexp(jnp.where(far, -tail, 1.0))
    return jnp.where(far, tail, beyond), jnp.where(far, rest, within)


def _both_tails(z: Any, df: Any) -> Tails:
    left, tail = z < 0, log_beyond(z, df)[0] - math.log(2)
    rest = jnp.log1p(-jnp.exp(tail))
    return jnp.where(left, tail, rest), jnp.where(left, rest, tail)


def _standard_density(z: Any, df: Any) -> Any:
    return sum(terms(z, df, jnp.zeros_like(z), jnp.ones_like(z)))


# Derivatives from the density: those through z**2 would be 0 at 0.
_standard_tails = by_density(_both_tails, _standard_density)


def _quantile(log_below: Any, log_above: Any, df: Any, mu: Any, sigma: Any) -> Any:
    return mu + sigma * continuous_quantile(_standard_tails, LINE, log_below, log_above, df)


def moments_by(df: Any, mean: Any, variance: Any) -> Moments:
    """Moments for `df`, from the mean and the variance for infinite df."""
    some = jnp.where(df > 1.0, infinite_unless(df > 2.0, df, df - 2.0), jnp.nan)
    return jnp.where(df > 1.0, mean, jnp.nan), some * variance


def _moments(df: Any, mu: Any, sigma: Any) -> Moments:
    return moments_by(df, mu, sigma * sigma)


STUDENT = Family(
    "student",
    (positive("df"), Parameter("mu"), spread("sigma")),
    terms,
    total=_total,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    STUDENT,
    draws="mu + sigma t of Student's t with `df` degrees of freedom.",
    scipy="t",
    aliases={"": "studentt t tdist"},
    same={"df": "nu", "mu": "loc", "sigma": "scale"},
)
def student(df: Any, mu: Any = 0.0, sigma: Any = 1.0):
    """An unknown that follows Student's t distribution.

        log p(x) = -(df + 1) / 2 log(1 + z**2 / df) + constant(df) - log(sigma),
        z = (x - mu) / sigma

    Parameters
    ----------
    df, mu, sigma
        Degrees of freedom (above zero), location, and scale (above zero).

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.student(3, 0, 2.5, name="x")
    """
