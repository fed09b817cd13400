"""`kg.expectation` and `kg.variance`: moments as functions of parameters."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..distributions.derived import family_of
from ..distributions.truncation import Truncated
from ..graph.array import Array
from ..graph.node import Apply, Operation
from ..graph.precision import float_dtype
from ..graph.public import public
from ..graph.source import place_text
from .data_checks import consume, unused_distribution

__all__ = ["expectation", "variance"]


def _moment(
    place: int, *parameters: Any, family: str, event: tuple[int, ...], shape: tuple[int, ...]
) -> Any:
    moment = family_of(family).mean_and_variance(event, *parameters)[place]
    return jnp.broadcast_to(moment, shape)


def _expectation(*parameters: Any, **attributes: Any) -> Any:
    return _moment(0, *parameters, **attributes)


def _variance(*parameters: Any, **attributes: Any) -> Any:
    return _moment(1, *parameters, **attributes)


EXPECTATION = Operation("expectation", _expectation)
VARIANCE = Operation("variance", _variance)


@public
def expectation(distribution: Array) -> Array:
    """The mean of a distribution, as an array computed from its parameters.

        E[X] = integral of x p(x | parameters) dx

    It is an ordinary quantity of the model: the mean of a prior, or, with unknown parameters, a
    quantity that `kg.calculate` gives draws of. It is differentiable in the parameters.

    Parameters
    ----------
    distribution
        A distribution that is not an unknown: `kg.gamma(alpha, rate)`. It may be a mixture, a
        joint distribution, or a distribution of vectors and matrices. For a distribution of labels
        the mean is over their numbers. Truncation is allowed for the normal, half normal,
        exponential, uniform, discrete uniform and Poisson distributions.

    Returns
    -------
    Array
        With the shape of the distribution. Infinite means (Pareto with a <= 1) are inf, undefined
        means (Cauchy, Student's t with df <= 1) are NaN.

    Raises
    ------
    TypeError
        If the argument is not a distribution, or its mean has no closed form.
    ModelError
        If the distribution has been used before.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.compile([], kg.expectation(kg.gamma(2.0, [0.5, 0.1])))()
    array([ 4., 20.])
    """
    return _moment_array("expectation", EXPECTATION, distribution)


@public
def variance(distribution: Array) -> Array:
    """The variance of each element of a distribution, computed from its parameters.

        var X = E[(X - E[X])**2]

    Parameters
    ----------
    distribution
        As for `kg.expectation`.

    Returns
    -------
    Array
        With the shape of the distribution, also for vectors and matrices: the variance of each
        element. Infinite variances (Student's t with 1 < df <= 2) are inf, undefined ones are NaN.

    Raises
    ------
    TypeError, ModelError
        As `kg.expectation`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> halves = kg.mixture(kg.normal(-1, 1), kg.normal(1, 1), weights=[0.5, 0.5])
    >>> kg.compile([], kg.variance(halves))().round(3)
    np.float64(2.0)
    """
    return _moment_array("variance", VARIANCE, distribution)


def _moment_array(doing: str, operation: Operation, distribution: Array) -> Array:
    """The array of a moment of a distribution."""
    law = unused_distribution(doing, distribution, "first", "(kg.gamma(2, 1))", reads=True)
    family = law.family
    if family.moments is None:
        is_truncated = isinstance(family, Truncated) and family.base.moments is not None
        reason = "has no closed form here" if is_truncated else "is not known"
        raise TypeError(
            f"{doing}: the {doing} of {law.expression()} {reason}; average draws instead, "
            f"kg.calculate(x, draws=10_000){place_text()}"
        )
    kinds = [n.dtype for n in law.parents if n.dtype.kind == "f"]
    dtype = np.result_type(*kinds) if kinds else float_dtype()
    attributes = {"family": family.key, "event": law.event_shape, "shape": law.shape}
    result = Apply(operation, law.parents, law.shape, dtype, attributes)
    result.dims = distribution.node.dims
    consume(distribution, f"the distribution of {doing}", result)
    return Array(result)
