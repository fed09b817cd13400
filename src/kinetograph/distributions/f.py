"""The F distribution of a quotient of variances."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.deviance import log_binomial
from ..graph.numerics.gammas import betaln
from ..graph.numerics.incomplete import log_beta_tails
from ..graph.numerics.special import expit, log_expit, xlogy
from .declaration import declared
from .family import Family
from .gamma_numbers import log_gamma
from .inversion import POSITIVE_LINE, continuous_quantile
from .moments import Moments, infinite_unless
from .numbers import reals
from .parameter import positive
from .support import POSITIVE, powers
from .tails import Tails, above_zero

__all__ = ["draw", "f"]


def _terms(x: Any, df1: Any, df2: Any, log_x: Any = None) -> tuple[Any, ...]:
    # y = expit(logit) is a beta number with shapes a and b; its density is explained in `beta`.
    a, b = 0.5 * df1, 0.5 * df2
    constant = jnp.log(a) + jnp.log(b) - jnp.log(a + b)
    if log_x is not None:
        return (*_parts(log_x, df1, df2), constant)
    zero = x == 0
    density = sum(_parts(jnp.log(jnp.where(zero, 1.0, x)), df1, df2))
    # At 0 the single terms are infinite even if the density is finite.
    z = df1 / df2 * jnp.where(zero, x, 0.0)
    plain = xlogy(a - 1.0, jnp.where(zero, x, 1.0)) + a * jnp.log(df1 / df2)
    plain = plain - (a + b) * jnp.log1p(z) - betaln(a, b)
    return (jnp.where(zero, plain, density + constant),)


def _parts(log_x: Any, df1: Any, df2: Any) -> tuple[Any, ...]:
    logit = jnp.log(df1) - jnp.log(df2) + log_x
    logs = log_expit(logit), log_expit(-logit)
    density, constant = log_binomial(0.5 * df1, 0.5 * df2, None, None, *logs)
    return density - log_x, constant


def draw(source: Source, df1: Any, df2: Any) -> Any:
    """Draw the quotient of two gamma numbers, each divided by its mean.

    The quotient is computed from logarithms.
    """
    df1, df2 = reals(source, df1, df2)
    log_ratio = log_gamma(source, 0.5 * df1, 0, 2) - log_gamma(source, 0.5 * df2, 1, 2)
    return jnp.exp(log_ratio + jnp.log(df2) - jnp.log(df1))


def _standard_tails(x: Any, df1: Any, df2: Any) -> Tails:
    logit = jnp.log(df1) - jnp.log(df2) + jnp.log(x)
    return log_beta_tails(0.5 * df1, 0.5 * df2, expit(logit), expit(-logit))


_tails = above_zero(_standard_tails)


def _quantile(log_below: Any, log_above: Any, df1: Any, df2: Any) -> Any:
    return continuous_quantile(_standard_tails, POSITIVE_LINE, log_below, log_above, df1, df2)


def _moments(df1: Any, df2: Any) -> Moments:
    mean = infinite_unless(df2 > 2.0, df2, df2 - 2.0)
    some = df2 > 4.0
    square = jnp.where(some, mean, 1.0) ** 2
    ratio = 2.0 * (df1 + df2 - 2.0) / df1
    return mean, infinite_unless(some, square * ratio, df2 - 4.0)


F = Family(
    "f",
    (positive("df1"), positive("df2")),
    _terms,
    lambda df1, df2: powers(POSITIVE, df1, one=2),
    forms={"x": (("log",),)},
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    F,
    draws="Quotients of two chi-squared numbers, each divided by its degrees of freedom.",
    scipy="f",
    same={"df1": "dfn", "df2": "dfd"},
)
def f(df1: Any, df2: Any):
    """A positive unknown that follows an F distribution.

    It is the distribution of a quotient of two variances.

        log p(x) = (df1 log(df1) + df2 log(df2) - (df1 + df2) log(df1 x + df2)) / 2
                   + (df1 / 2 - 1) log(x) - log B(df1 / 2, df2 / 2),  x > 0

    Parameters
    ----------
    df1, df2
        Degrees of freedom of the numerator and of the denominator, above zero.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.f(3, 10, name="x")
    """
