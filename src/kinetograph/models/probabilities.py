"""`kg.log_cdf`, `kg.cdf`, `kg.log_survival`, `kg.quantile`: what a distribution says of a point."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..distributions.derived import family_of
from ..distributions.variable import Distribution
from ..graph.array import Array
from ..graph.errors import ShapeError
from ..graph.messages import describe
from ..graph.node import Apply, Data, Node, Operation
from ..graph.operations.elementwise import elementwise
from ..graph.operations.operands import as_node
from ..graph.precision import float_dtype
from ..graph.source import place_text
from .followed import consume, shapes_of, unused_distribution

__all__ = ["cdf", "log_cdf", "log_survival", "quantile"]


def _log_cdf(x: Any, *parameters: Any, family: str) -> Any:
    return family_of(family).log_tails(x, *parameters)[0]


def _log_survival(x: Any, *parameters: Any, family: str) -> Any:
    return family_of(family).log_tails(x, *parameters)[1]


def _quantile(p: Any, *parameters: Any, family: str, dtype: np.dtype) -> Any:
    own = family_of(family)
    assert own.quantile is not None
    p, *reals = (jnp.asarray(t, dtype) for t in (p, *parameters))
    value = own.quantile(jnp.log(p), jnp.log1p(-p), *reals)
    return jnp.where((p >= 0) & (p <= 1), value, jnp.nan)


LOG_CDF = Operation("log_cdf", _log_cdf)
LOG_SURVIVAL = Operation("log_survival", _log_survival)
QUANTILE = Operation("quantile", _quantile)


def log_cdf(distribution: Array, value: Any) -> Array:
    """The logarithm of the probability of numbers up to a value.

        log P(X <= value)

    Right in both tails: log_cdf(normal, -40) is -804.608..., and near the top it is not rounded
    to 0 before the probability is. Differentiable in value and parameters.

    Parameters
    ----------
    distribution
        A distribution of single numbers, used for nothing else: `kg.normal(mu, sd)`; truncated
        ones, too.
    value
        An array, or numbers.

    Returns
    -------
    Array
        Of the shape to which value and parameters broadcast.

    Raises
    ------
    TypeError
        If the first argument is no distribution, or one of which this is not known.
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


def log_survival(distribution: Array, value: Any) -> Array:
    """The logarithm of the probability of numbers above a value.

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


def cdf(distribution: Array, value: Any) -> Array:
    """The probability of numbers up to a value.

        P(X <= value)

    Parameters, Returns, Raises
    ---------------------------
    As for `kg.log_cdf`, which is right where this is too small for a number.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.compile([], kg.cdf(kg.poisson(2.0), [0, 3]))().round(4)
    array([0.1353, 0.8571])
    """
    return Array(elementwise("exp", _at("cdf", LOG_CDF, distribution, value).node))


def quantile(distribution: Array, probability: Any) -> Array:
    """The value up to which lies a share of the probability.

        x with P(X <= x) = probability, or the smallest whole number with at least that much

    Differentiable in probability and parameters where numbers are real.

    Parameters
    ----------
    distribution
        As for `kg.log_cdf`.
    probability
        From 0 to 1; others give NaN.

    Returns
    -------
    Array
        Of the shape to which probability and parameters broadcast.

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
            f"quantile: a probability lies between 0 and 1, got {np.asarray(node.value)!s}"
            f"{place_text()}"
        )
    return _at("quantile", QUANTILE, distribution, probability)


def _at(doing: str, operation: Operation, distribution: Array, value: Any) -> Array:
    what = "probability" if operation is QUANTILE else "value"
    example = f"(kg.normal(mean, sd), {what})"
    follows = unused_distribution(doing, distribution, "first", example, value)
    family, node = follows.family, as_node(value, doing)
    if (family.quantile if operation is QUANTILE else family.tails) is None:
        raise TypeError(
            f"{doing}: the {doing} of {follows.expression()} is not known{place_text()}; those of "
            "most distributions of single numbers are"
        )
    shape = _shape(doing, follows, node)
    kinds = [n.dtype for n in (node, *follows.parents) if n.dtype.kind == "f"]
    dtype = np.result_type(*kinds) if kinds else float_dtype()
    attributes: dict[str, Any] = {"family": family.key}
    if operation is QUANTILE:
        attributes["dtype"] = dtype
    result = Apply(operation, (node, *follows.parents), shape, dtype, attributes)
    consume(distribution, f"the distribution of a {doing}", result)
    return Array(result)


def _shape(doing: str, follows: Distribution, node: Node) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(node.shape, follows.shape)
    except ValueError:
        raise ShapeError(
            f"{doing}: the value does not fit the distribution{place_text()}\n"
            f"{shapes_of(follows.expression(), follows.shape, describe(node), node.shape)}"
        ) from None
