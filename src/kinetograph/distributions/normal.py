"""The normal distribution, its positive half, and the lognormal."""

from typing import Any

import jax.numpy as jnp

from ..graph.array import Array
from ..graph.special import divide
from .family import Family, Parameter, distribute, positive
from .support import NONNEGATIVE, POSITIVE

__all__ = ["half_normal", "lognormal", "normal"]

HALF_LOG_2PI = 0.9189385332046727
LOG_2 = 0.6931471805599453


def _normal_terms(x: Any, mean: Any, sd: Any) -> tuple[Any, ...]:
    z = divide(x - mean, sd)
    return -0.5 * z * z, -jnp.log(sd) - HALF_LOG_2PI


def _half_normal_terms(x: Any, sd: Any) -> tuple[Any, ...]:
    z = divide(x, sd)
    return -0.5 * z * z, LOG_2 - HALF_LOG_2PI - jnp.log(sd)


def _lognormal_terms(x: Any, meanlog: Any, sdlog: Any, log_x: Any = None) -> tuple[Any, ...]:
    log_x = jnp.log(x) if log_x is None else log_x
    return (*_normal_terms(log_x, meanlog, sdlog), -log_x)


NORMAL = Family("normal", (Parameter("mean"), positive("sd")), _normal_terms)
HALF_NORMAL = Family("half_normal", (positive("sd"),), _half_normal_terms, lambda sd: NONNEGATIVE)
LOGNORMAL = Family(
    "lognormal",
    (Parameter("meanlog"), positive("sdlog")),
    _lognormal_terms,
    lambda meanlog, sdlog: POSITIVE,
    forms={"x": (("log",),)},
)


def normal(
    mean: Any = 0.0, sd: Any = 1.0, *, shape: Any = None, dims: Any = None, name: str | None = None
) -> Array:
    """A normal (Gaussian) unknown.

        log p(x) = -((x - mean) / sd)**2 / 2 - log(sd) - log(2 pi) / 2

    Parameters
    ----------
    mean, sd
        Location, and standard deviation above zero; numbers or arrays, broadcast together.
    shape, dims, name
        Shape of the unknown (default: the parameters'), names of its axes, name in the results.

    Raises
    ------
    ValueError
        If `sd` is known and not positive.
    ShapeError
        If parameters and shape do not fit together.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.normal(0, [1.0, 2.0, 3.0], name="x").shape
    (3,)
    """
    return distribute(NORMAL, (mean, sd), shape=shape, dims=dims, name=name)


def half_normal(
    sd: Any = 1.0, *, shape: Any = None, dims: Any = None, name: str | None = None
) -> Array:
    """A positive unknown: the absolute value of a normal with mean 0.

        log p(x) = log(2) - (x / sd)**2 / 2 - log(sd) - log(2 pi) / 2,  x > 0

    Parameters
    ----------
    sd
        Standard deviation of the whole normal, above zero.
    shape, dims, name
        As for `normal`.

    Raises
    ------
    ValueError
        If `sd` is known and not positive.

    Examples
    --------
    >>> import kinetograph as kg
    >>> sigma = kg.half_normal(1, name="sigma")
    """
    return distribute(HALF_NORMAL, (sd,), shape=shape, dims=dims, name=name)


def lognormal(
    meanlog: Any = 0.0,
    sdlog: Any = 1.0,
    *,
    shape: Any = None,
    dims: Any = None,
    name: str | None = None,
) -> Array:
    """A positive unknown whose logarithm is normal.

        log p(x) = log normal(log x | meanlog, sdlog) - log x,  x > 0

    Parameters
    ----------
    meanlog, sdlog
        Mean and standard deviation (above zero) of log x.
    shape, dims, name
        As for `normal`.

    Raises
    ------
    ValueError
        If `sdlog` is known and not positive.

    Examples
    --------
    >>> import kinetograph as kg
    >>> rate = kg.lognormal(0, 1, name="rate")
    """
    return distribute(LOGNORMAL, (meanlog, sdlog), shape=shape, dims=dims, name=name)
