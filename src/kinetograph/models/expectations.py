"""`kg.expectation` and `kg.variance`: moments of a distribution, of its parameters."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..distributions.derived import family_of
from ..distributions.truncation import Truncated
from ..graph.array import Array
from ..graph.node import Apply, Operation
from ..graph.precision import float_dtype
from ..graph.source import place_text
from .followed import consume, unused_distribution

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


def expectation(distribution: Array) -> Array:
    """The mean of a distribution, as an array of its parameters.

        E[X] = integral of x p(x | parameters) dx

    A quantity of the model as any other: the mean that a prior says, or, with unknown parameters,
    one that `kg.calculate` gives draws of. Differentiable in the parameters.

    Parameters
    ----------
    distribution
        A distribution used for nothing else: `kg.gamma(alpha, rate)`. Mixtures, joint ones and
        those of vectors and matrices, too; of labels it is the mean of their numbers. Truncated
        may be the normal, half normal, exponential, uniform, discrete uniform and Poisson one.

    Returns
    -------
    Array
        Of the shape of the distribution. Where the mean is infinite (Pareto's of a <= 1) it is inf,
        where there is none (Cauchy's, Student's of df <= 1) NaN.

    Raises
    ------
    TypeError
        If the argument is no distribution, or one whose mean has no closed form.
    ModelError
        If the distribution has been used before.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.compile([], kg.expectation(kg.gamma(2.0, [0.5, 0.1])))()
    array([ 4., 20.])
    """
    return _of("expectation", EXPECTATION, distribution)


def variance(distribution: Array) -> Array:
    """The variance of a distribution, element by element, as an array of its parameters.

        var X = E[(X - E[X])**2]

    Parameters
    ----------
    distribution
        As for `kg.expectation`.

    Returns
    -------
    Array
        Of the shape of the distribution, also of vectors and matrices: of each element its own
        variance. inf where it is infinite (Student's of 1 < df <= 2), NaN where there is no mean.

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
    return _of("variance", VARIANCE, distribution)


def _of(doing: str, operation: Operation, distribution: Array) -> Array:
    follows = unused_distribution(doing, distribution, "first", "(kg.gamma(2, 1))")
    family = follows.family
    if family.moments is None:
        known = isinstance(family, Truncated) and family.base.moments is not None
        why = "has no closed form here" if known else "is not known"
        raise TypeError(
            f"{doing}: that of {follows.expression()} {why}; average draws of it, "
            f"kg.calculate(x, draws=10_000){place_text()}"
        )
    kinds = [n.dtype for n in follows.parents if n.dtype.kind == "f"]
    dtype = np.result_type(*kinds) if kinds else float_dtype()
    attributes = {"family": family.key, "event": follows.event_shape, "shape": follows.shape}
    result = Apply(operation, follows.parents, follows.shape, dtype, attributes)
    consume(distribution, f"the distribution of {doing}", result)
    return Array(result)
