"""The positive half of Student's t distribution."""

import math
from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from .declaration import declared
from .family import Family
from .inversion import POSITIVE_LINE, continuous_quantile
from .moments import Moments, infinite_unless, log_half_step_rest
from .parameter import positive, spread
from .student import draw as draw_student
from .student import log_beyond
from .student import terms as student_terms
from .support import NONNEGATIVE
from .tails import Tails, above_zero

__all__ = ["draw", "half_student"]

LOG_2 = 0.6931471805599453


def _terms(x: Any, df: Any, sigma: Any) -> tuple[Any, ...]:
    shape, constant, scale = student_terms(x, df, 0.0, sigma)
    return shape, constant, scale + LOG_2


def draw(source: Source, df: Any, sigma: Any) -> Any:
    """Draw the absolute value of a Student t number."""
    return jnp.abs(draw_student(source, df, 0.0, sigma))


@above_zero
def _tails(x: Any, df: Any, sigma: Any) -> Tails:
    return _standard_tails(x / sigma, df)


def _standard_tails(z: Any, df: Any) -> Tails:
    tiny = z < 1e-18  # the square of such a small number may be 0
    above, below = log_beyond(jnp.where(tiny, 1.0, z), df)
    close = sum(_terms(jnp.zeros_like(z), df, jnp.ones_like(z))) + jnp.log(z)
    return jnp.where(tiny, close, below), jnp.where(tiny, -jnp.exp(close), above)


def _quantile(log_below: Any, log_above: Any, df: Any, sigma: Any) -> Any:
    return sigma * continuous_quantile(_standard_tails, POSITIVE_LINE, log_below, log_above, df)


def _moments(df: Any, sigma: Any) -> Moments:
    # Gamma((df + 1) / 2) / Gamma(df / 2) over the root of df / 2
    ratio = jnp.exp(log_half_step_rest(0.5 * df)) * math.sqrt(2 / math.pi)
    mean = infinite_unless(df > 1.0, ratio * df, df - 1.0)
    near = jnp.where(df > 2.0, mean, 0.0)
    return sigma * mean, sigma * sigma * (infinite_unless(df > 2.0, df, df - 2.0) - near * near)


HALF_STUDENT = Family(
    "half_student",
    (positive("df"), spread("sigma")),
    _terms,
    lambda df, sigma: NONNEGATIVE,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    HALF_STUDENT,
    draws="sigma |t| of Student's t with `df` degrees of freedom.",
    aliases={"": "halfstudentt halft"},
    same={"df": "nu", "sigma": "scale"},
)
def half_student(df: Any, sigma: Any = 1.0):
    """A positive unknown: the absolute value of a Student t number.

        log p(x) = -(df + 1) / 2 log(1 + z**2 / df) + constant(df) - log(sigma) + log(2),
        z = x / sigma,  x > 0

    Parameters
    ----------
    df, sigma
        Degrees of freedom, and scale, both above zero.

    Examples
    --------
    >>> import kinetograph as kg
    >>> tau = kg.half_student(3, 2.5, name="tau")
    """
