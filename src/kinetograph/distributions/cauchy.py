"""The Cauchy distribution and its positive half."""

from typing import Any

import jax.numpy as jnp

from ..graph.array import Array
from ..graph.derivative_rules import derivative
from ..graph.special import divide
from .family import Family, Parameter, distribute, positive
from .support import NONNEGATIVE

__all__ = ["cauchy", "half_cauchy"]

LOG_PI = 1.1447298858494002
LOG_2 = 0.6931471805599453


_FAR = 1e100  # from where z**2 is near overflow, and 1 + z is z


def _slope_of_log1p_square(z: Any) -> Any:
    far = jnp.abs(z) > _FAR
    near = jnp.where(far, 0.0, z)
    return 2.0 * jnp.where(far, 1.0 / jnp.where(far, z, 1.0), near / (1.0 + near * near))


@derivative(_slope_of_log1p_square)
def log1p_square(z: Any) -> Any:
    """log(1 + z**2), also where z**2 overflows."""
    far = jnp.abs(z) > _FAR
    return jnp.where(far, 2.0, 1.0) * jnp.log1p(jnp.where(far, jnp.abs(z), z * z))


def _cauchy_terms(x: Any, location: Any, scale: Any) -> tuple[Any, ...]:
    z = divide(x - location, scale)
    return -log1p_square(z), -jnp.log(scale) - LOG_PI


def _half_cauchy_terms(x: Any, scale: Any) -> tuple[Any, ...]:
    z = divide(x, scale)
    return -log1p_square(z), LOG_2 - LOG_PI - jnp.log(scale)


CAUCHY = Family("cauchy", (Parameter("location"), positive("scale")), _cauchy_terms)
HALF_CAUCHY = Family(
    "half_cauchy", (positive("scale"),), _half_cauchy_terms, lambda scale: NONNEGATIVE
)


def cauchy(
    location: Any = 0.0,
    scale: Any = 1.0,
    *,
    shape: Any = None,
    dims: Any = None,
    name: str | None = None,
) -> Array:
    """A Cauchy unknown.

        log p(x) = -log(1 + z**2) - log(pi scale),  z = (x - location) / scale

    Parameters
    ----------
    location, scale
        Median, and half the distance between the quartiles (above zero).
    shape, dims, name
        Shape of the unknown (default: the parameters'), names of its axes, name in the results.

    Raises
    ------
    ValueError
        If `scale` is known and not positive.
    ShapeError
        If parameters and shape do not fit together.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.cauchy(0, 2.5, name="x")
    """
    return distribute(CAUCHY, (location, scale), shape=shape, dims=dims, name=name)


def half_cauchy(
    scale: Any = 1.0, *, shape: Any = None, dims: Any = None, name: str | None = None
) -> Array:
    """A positive unknown: the absolute value of a Cauchy with location 0.

        log p(x) = log(2) - log(1 + (x / scale)**2) - log(pi scale),  x > 0

    Parameters
    ----------
    scale
        Median, above zero.
    shape, dims, name
        Shape of the unknown (default: the parameters'), names of its axes, name in the results.

    Raises
    ------
    ValueError
        If `scale` is known and not positive.
    ShapeError
        If parameters and shape do not fit together.

    Examples
    --------
    >>> import kinetograph as kg
    >>> tau = kg.half_cauchy(5, name="tau")
    """
    return distribute(HALF_CAUCHY, (scale,), shape=shape, dims=dims, name=name)
