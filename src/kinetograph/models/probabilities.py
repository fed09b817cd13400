"""Probabilities, quantiles and normal scores of distributions."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..distributions.derived import family_of
from ..distributions.tails import normal_quantile
from ..distributions.variable import Distribution
from ..graph.array import Array
from ..graph.errors import ShapeError
from ..graph.messages import describe
from ..graph.node import Apply, Data, Node, Operation
from ..graph.operations.elementwise import elementwise
from ..graph.operations.operands import as_node
from ..graph.operations.shaping import broadcast_to
from ..graph.precision import float_dtype
from ..graph.public import public
from ..graph.source import place_text
from .data_checks import consume, shapes_of, unused_distribution

__all__ = ["cdf", "log_cdf", "log_survival", "normal_score", "quantile"]


def _log_cdf(x: Any, *parameters: Any, family: str) -> Any:
    return family_of(family).log_tails(x, *parameters)[0]


def _log_survival(x: Any, *parameters: Any, family: str) -> Any:
    return family_of(family).log_tails(x, *parameters)[1]


def _normal_score(x: Any, *parameters: Any, family: str) -> Any:
    return normal_quantile(*family_of(family).log_tails(x, *parameters))


def _quantile(p: Any, *parameters: Any, family: str, dtype: np.dtype) -> Any:
    distribution_family = family_of(family)
    assert distribution_family.quantile is not None
    p, *reals = (jnp.asarray(t, dtype) for t in (p, *parameters))
    value = distribution_family.quantile(jnp.log(p), jnp.log1p(-p), *reals)
    return jnp.where((p >= 0) & (p <= 1), value, jnp.nan)


LOG_CDF = Operation("log_cdf", _log_cdf)
LOG_SURVIVAL = Operation("log_survival", _log_survival)
NORMAL_SCORE = Operation("normal_score", _normal_score)
QUANTILE = Operation("quantile", _quantile)


@public
def log_cdf(distribution: Array, value: Any) -> Array:
    """The logarithm of the cumulative distribution function.

        log P(X <= value)

    Accurate in both tails: log_cdf(normal, -40) is -804.608..., and near probability 1 the result
    keeps its relative precision. It is differentiable in value and parameters.

    Parameters
    ----------
    distribution
        A distribution of single numbers, which is not an unknown: `kg.normal(mu, sd)`; it may be
        truncated.
    value
        An array, or numbers.

    Returns
    -------
    Array
        With the shape to which value and parameters broadcast.

    Raises
    ------
    TypeError
        If the first argument is not a distribution, or its distribution function is not available.
    ShapeError
        If value and parameters do not fit together.
    ModelError
        If the distribution has been used before.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.compile([], kg.log_cdf(kg.normal(0, 1), -40.0))().round(4)
    np.float64(-804.6084)
    """
    return _at("log_cdf", LOG_CDF, distribution, value)


@public
def log_survival(distribution: Array, value: Any) -> Array:
    """The logarithm of the survival function.

        log P(X > value)

    Parameters, Returns, Raises
    ---------------------------
    As for `kg.log_cdf`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.compile([], kg.log_survival(kg.exponential(2.0), [1.0, 500.0]))()
    array([   -2., -1000.])
    """
    return _at("log_survival", LOG_SURVIVAL, distribution, value)


@public
def cdf(distribution: Array, value: Any) -> Array:
    """The cumulative distribution function.

        P(X <= value)

    Parameters, Returns, Raises
    ---------------------------
    As for `kg.log_cdf`, which stays accurate if this probability underflows.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.compile([], kg.cdf(kg.poisson(2.0), [0, 3]))().round(4)
    array([0.1353, 0.8571])
    """
    return Array(elementwise("exp", _at("cdf", LOG_CDF, distribution, value).node))


@public
def quantile(distribution: Array, probability: Any) -> Array:
    """The quantile function.

        x with P(X <= x) = probability, or the smallest whole number with at least that probability

    It is differentiable in probability and parameters for continuous distributions.

    Parameters
    ----------
    distribution
        As for `kg.log_cdf`.
    probability
        Numbers from 0 to 1. If it is computed and lies outside, the result is NaN.

    Returns
    -------
    Array
        With the shape to which probability and parameters broadcast.

    Raises
    ------
    ValueError
        If a known probability does not lie between 0 and 1.
    TypeError, ShapeError, ModelError
        As `kg.log_cdf`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.compile([], kg.quantile(kg.gamma(2.0, 1.0), [0.05, 0.95]))().round(4)
    array([0.3554, 4.7439])
    """
    node = as_node(probability, "quantile")
    if isinstance(node, Data) and not np.all((node.value >= 0) & (node.value <= 1)):
        raise ValueError(
            f"quantile: a probability must lie between 0 and 1, got {np.asarray(node.value)!s}"
            f"{place_text()}"
        )
    return _at("quantile", QUANTILE, distribution, probability)


@public
def normal_score(distribution: Array, value: Any) -> Array:
    """The number with the same place in the standard normal distribution.

        z with P(Z <= z) = P(X <= value),  Z ~ normal(0, 1)

    If X follows the distribution, z is standard normal. So a Gaussian copula joins distributions of
    any kind: observe each of them, and give their scores a joint normal density. The score is
    computed from the logarithm of the smaller tail, so it stays finite and accurate far out, where
    P(X <= value) is 0 or 1 in floating-point numbers. It is differentiable in value and parameters.

    Parameters
    ----------
    distribution
        A continuous distribution of single numbers, as for `kg.log_cdf`.
    value
        An array, or numbers.

    Returns
    -------
    Array
        With the shape to which value and parameters broadcast.

    Raises
    ------
    TypeError
        If the distribution is discrete: then no z has that probability.
    TypeError, ShapeError, ModelError
        As `kg.log_cdf`.

    Notes
    -----
    The log density of a Gaussian copula with the correlation matrix R at scores z is
    log normal(z; 0, R) - sum_i log normal(z_i; 0, 1). Source: P. X.-K. Song, Multivariate
    dispersion models generated from Gaussian copula, Scandinavian Journal of Statistics 27 (2000).

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.compile([], kg.normal_score(kg.exponential(1.0), [0.1, 1.0, 800.0]))().round(4)
    array([-1.3096,  0.3375, 39.8847])
    """
    if isinstance(distribution, Array) and getattr(distribution.node, "distribution", None):
        law: Distribution = distribution.node.distribution  # type: ignore[attr-defined]
        if law.family.discrete or law.family.atom is not None:
            kind = "is discrete"
            if law.family.atom is not None:
                kind = f"gives {law.family.atom:g} a positive probability"
            raise TypeError(
                f"normal_score: {law.expression()} {kind}, so that its distribution function "
                f"jumps, and a value has no normal score{place_text()}; use kg.log_cdf at both "
                "sides of the value"
            )
    return _at("normal_score", NORMAL_SCORE, distribution, value)


def _at(doing: str, operation: Operation, distribution: Array, value: Any) -> Array:
    """The array of a probability or quantile."""
    argument_name = "probability" if operation is QUANTILE else "value"
    example = f"(kg.normal(mean, sd), {argument_name})"
    law = unused_distribution(doing, distribution, "first", example, value, reads=True)
    family, node = law.family, as_node(value, doing)
    if (family.quantile if operation is QUANTILE else family.tails) is None:
        raise TypeError(
            f"{doing}: the {doing} of {law.expression()} is not available{place_text()}; it is "
            "available for most distributions of single numbers"
        )
    shape = _shape(doing, law, node)
    needed = np.broadcast_shapes(node.shape, law.family.full_shape(law.parents))
    kinds = [n.dtype for n in (node, *law.parents) if n.dtype.kind == "f"]
    dtype = np.result_type(*kinds) if kinds else float_dtype()
    attributes: dict[str, Any] = {"family": family.key}
    if operation is QUANTILE:
        attributes["dtype"] = dtype
    result: Node = Apply(operation, (node, *law.parents), needed, dtype, attributes)
    if needed != shape:  # `shape=` of the distribution replicates equal numbers
        result = broadcast_to(result, shape)
    consume(distribution, f"the distribution of a {doing}", result)
    if len(shape) == len(law.shape):  # else the value may have names of its further axes
        result.dims = distribution.node.dims
    return Array(result)


def _shape(doing: str, law: Distribution, node: Node) -> tuple[int, ...]:
    """The shape to which a value and a distribution broadcast."""
    try:
        return np.broadcast_shapes(node.shape, law.shape)
    except ValueError:
        raise ShapeError(
            f"{doing}: the value does not fit the distribution{place_text()}\n"
            f"{shapes_of(law.expression(), law.shape, describe(node), node.shape)}"
        ) from None
