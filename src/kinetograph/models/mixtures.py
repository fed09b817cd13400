"""`kg.mixture`, `kg.responsibilities` and `kg.joint`: distributions made of components."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..distributions import joint as joints
from ..distributions import mixture as mixtures
from ..distributions.derived import family_of
from ..distributions.support import Interval, WholeNumbers
from ..distributions.variable import Distribution, distribute
from ..graph.array import Array
from ..graph.dims import shape_by_dims
from ..graph.errors import ModelError, ShapeError
from ..graph.messages import describe
from ..graph.node import Apply, Node, Operation
from ..graph.operations.operands import as_node
from ..graph.operations.shaping import broadcast_to
from ..graph.public import public
from ..graph.source import place_text
from .data_checks import consume, unused_distribution
from .factor import at_node, evaluated

__all__ = ["RESPONSIBILITIES", "joint", "mixture", "responsibilities", "responsibilities_at"]

_EXAMPLE = "(kg.normal(0, 1), kg.normal(5, 1), weights=w)"


@public
def mixture(
    *distributions: Array,
    weights: Any,
    shape: Any = None,
    dims: Any = None,
    name: str | None = None,
) -> Array:
    """Make a mixture: each value follows one of several distributions.

        log p(x) = log sum_k w_k p_k(x)

    Values are numbers, vectors or matrices. The component of each value is unknown and
    marginalised; see `kg.responsibilities`.

    Parameters
    ----------
    distributions
        Two or more distributions that are not used elsewhere; or a single one whose parameters have
        the components along their last axis (for vectors: along the last axis of the batch).
    weights
        Proportional to the probabilities of the components, (..., number of components); data, or
        unknowns such as `kg.dirichlet`.
    shape, dims, name
        Shape of the result (default: the shape of the components), names of its axes, name in the
        results.

    Raises
    ------
    TypeError
        If a component is not a distribution.
    ModelError
        If there are fewer than two components, if the shapes of a single value differ, or if
        supports differ and are not intervals. A mixture whose components have different intervals
        can be observed, but cannot be an unknown.
    ShapeError
        If weights and components do not fit together.

    Examples
    --------
    >>> import kinetograph as kg
    >>> w = kg.dirichlet([1.0, 1.0], name="w")
    >>> mu = kg.ordered_variable(2, name="mu")
    >>> prior = kg.factor(kg.log_density(kg.normal(0, 5), mu))
    >>> y = kg.observe([-1.2, 3.4, 2.9], kg.mixture(kg.normal(mu, 1), weights=w))
    """
    if not distributions:
        raise ModelError(
            f"mixture: there are no components{place_text()}; write kg.mixture{_EXAMPLE}"
        )
    parts = [_component("mixture", d, k) for k, d in enumerate(distributions)]
    weight_node = as_node(weights, "mixture: weights")
    count = weight_node.shape[-1] if weight_node.shape else 0
    if len(parts) == 1:
        family, nodes, component_shape = _along_axis(parts[0], weight_node, count)
    else:
        family, nodes, component_shape = _of_several(parts, weight_node, count)
    batch = component_shape[: len(component_shape) - family.event_ndim]
    result_shape = (*batch, *component_shape[len(batch) :]) if shape is None else shape
    if shape is None:
        try:
            result_shape = (
                *np.broadcast_shapes(batch, weight_node.shape[:-1]),
                *component_shape[len(batch) :],
            )
        except ValueError:
            raise ShapeError(
                f"mixture: weights {describe(weight_node)} of shape {weight_node.shape} do not fit "
                f"components of shape {component_shape}{place_text()}"
            ) from None
        result_shape = shape_by_dims(dims, result_shape, "mixture") or result_shape
    result = distribute(
        family,
        tuple(Array(n) for n in (weight_node, *nodes)),
        event=component_shape[len(batch) :],
        shape=result_shape,
        dims=dims,
        name=name,
    )
    for d in distributions:
        consume(d, "a component of a mixture", result.node)
    return result


def _component(doing: str, value: Any, number: int) -> Distribution:
    """The distribution of a component."""
    if isinstance(value, (list, tuple)):
        raise TypeError(
            f"{doing}: give components one by one, not in a list{place_text()}; write "
            f"kg.{doing}(*components{', weights=w' if doing == 'mixture' else ''})"
        )
    example = _EXAMPLE if doing == "mixture" else "(kg.normal(0, 1), kg.gamma(2, 1))"
    return unused_distribution(doing, value, _ordinal(number), example)


def _ordinal(number: int) -> str:
    """An ordinal in words, from 0."""
    names = ("first", "second", "third")
    return names[number] if number < len(names) else f"{number + 1}th"


def _along_axis(part: Distribution, weight_node: Node, count: int) -> Any:
    """The family, parameters and shape of components along an axis."""
    batch = part.batch_shape
    if not batch or batch[-1] < 2:
        raise ModelError(
            f"mixture: there is one component, {part.expression()}, of shape {part.shape}"
            f"{place_text()}; give two or more, as in kg.mixture{_EXAMPLE}, or one with the "
            "components along its last axis"
        )
    if count != batch[-1]:
        raise _weights_error(weight_node, batch[-1])
    nodes = []
    for parameter, node in zip(part.family.parameters, part.parents, strict=True):
        batch_shape = node.shape[: len(node.shape) - parameter.event_ndim]
        if batch_shape[-1:] != batch[-1:]:
            target = (*batch_shape[:-1], batch[-1], *node.shape[len(batch_shape) :])
            node = broadcast_to(node, target)
        nodes.append(node)
    family = mixtures.mixture_of(part.family)
    support = mixtures.mixture_of(part.family).support(weight_node, *nodes)
    if any(isinstance(getattr(support, side, 0), Node) for side in ("lower", "upper")):
        raise ModelError(
            f"mixture: the components of {part.expression()} have different supports{place_text()}"
        )
    return family, nodes, (*batch[:-1], *part.event_shape)


def _of_several(parts: Sequence[Distribution], weight_node: Node, count: int) -> Any:
    """The family, parameters and shape of separate components."""
    first, family = parts[0], mixtures.mixture
    for other in parts[1:]:
        texts = f"{first.expression()} and {other.expression()}"
        if other.family.event_ndim != first.family.event_ndim:
            raise ModelError(
                f"mixture: {texts} have values of different kinds (numbers, vectors, matrices); "
                f"components must have values of the same kind{place_text()}"
            )
        if other.family.discrete != first.family.discrete:
            raise ModelError(
                f"mixture: {texts} are a discrete and a continuous distribution, whose mixture "
                f"has no density{place_text()}"
            )
        if other.family.atom != first.family.atom:
            raise ModelError(
                f"mixture: of {texts}, only one gives 0 a positive probability{place_text()}; use "
                "such a distribution for all components, with zero=0 where 0 does not occur"
            )
        if mixtures.same_support(first.support, other.support):
            continue
        if not all(isinstance(p.support, (Interval, WholeNumbers)) for p in (first, other)):
            raise ModelError(
                f"mixture: {texts} have different supports: {first.support.describe()}, and "
                f"{other.support.describe()}{place_text()}"
            )
        family = mixtures.mixture_apart
    if count != len(parts):
        raise _weights_error(weight_node, len(parts))
    try:
        component_shape = np.broadcast_shapes(*(part.shape for part in parts))
    except ValueError:
        shapes = ", ".join(f"{p.expression()} of shape {p.shape}" for p in parts)
        raise ShapeError(
            f"mixture: the components do not fit together: {shapes}{place_text()}"
        ) from None
    nodes = [node for part in parts for node in part.parents]
    return family(*(part.family for part in parts)), nodes, component_shape


def _weights_error(weight_node: Node, count: int) -> ShapeError:
    """The error for weights of a wrong number."""
    return ShapeError(
        f"mixture: weights {describe(weight_node)} must have {count} numbers along the last axis, "
        f"one for each component, got shape {weight_node.shape}{place_text()}"
    )


def _responsibilities(
    x: Any, *operands: Any, family: str, forms: tuple[str, ...], shape: tuple[int, ...]
) -> Any:
    parameters = operands[: len(operands) - len(forms)]
    form_tensors = dict(zip(forms, operands[len(parameters) :], strict=True))
    mixture_family = family_of(family)
    assert isinstance(mixture_family, mixtures.Mixture)
    kinds = [t.dtype for t in (x, *parameters) if t.dtype.kind == "f"]
    dtype = jnp.result_type(*kinds) if kinds else float
    reals = [jnp.asarray(t, dtype) for t in (x, *parameters)]
    return jnp.broadcast_to(
        jax.nn.softmax(mixtures.log_shares(mixture_family, *reals, **form_tensors), -1), shape
    )


RESPONSIBILITIES = Operation("responsibilities", _responsibilities)


@public
def responsibilities(distribution: Array, value: Any) -> Array:
    """The probability of each component of a mixture, given a value.

        r_k = w_k p_k(x) / sum_j w_j p_j(x)

    The result is an ordinary array; `kg.calculate` gives its posterior draws.

    Parameters
    ----------
    distribution
        Made by `kg.mixture`, and not an unknown.
    value
        An array, or numbers.

    Returns
    -------
    Array
        (..., number of components).

    Raises
    ------
    TypeError
        If the first argument is not a mixture.
    ShapeError
        If value and mixture do not fit together.

    Examples
    --------
    >>> import kinetograph as kg
    >>> d = kg.mixture(kg.normal(0, 1), kg.normal(4, 1), weights=[0.5, 0.5])
    >>> kg.compile([], kg.responsibilities(d, [0.0, 2.0, 4.0]))().round(3)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """
    components = unused_distribution(
        "responsibilities", distribution, "first", "(mixture, value)", reads=True
    )
    family, node = components.family, as_node(value, "responsibilities")
    if not isinstance(family, mixtures.Mixture):
        raise TypeError(
            f"responsibilities: {components.expression()} is not a mixture; make one with "
            f"kg.mixture{_EXAMPLE}{place_text()}"
        )
    result = responsibilities_at("responsibilities", components, node)
    consume(distribution, "the distribution of responsibilities", result)
    return Array(result)


def responsibilities_at(doing: str, distribution: Distribution, node: Node) -> Apply:
    """The node of the probabilities of a mixture's components, given a node.

    Raises
    ------
    ShapeError
        If value and mixture do not fit together.
    """
    placed = at_node(doing, distribution, node, "mixture")
    shape = (*placed.batch_shape, distribution.parents[0].shape[-1])
    return evaluated(RESPONSIBILITIES, placed, shape)


@public
def joint(
    *distributions: Array, shape: Any = None, dims: Any = None, name: str | None = None
) -> Array:
    """Make a distribution of vectors with independent, differently distributed elements.

        log p(x) = sum_k log p_k(x_k)

    The k-th element follows the k-th distribution.

    Parameters
    ----------
    distributions
        Two or more distributions of single numbers, all continuous or all discrete, that are not
        used elsewhere.
    shape, dims, name
        Shape of the result (default: the shape of the components, and their number as the last
        axis), names of its axes, name in the results.

    Raises
    ------
    TypeError
        If a component is not a distribution.
    ModelError
        If there are fewer than two components, if one has vectors as values, if discrete and
        continuous components are mixed, or if a bound of a support is not a number.
    ShapeError
        If the components do not fit together.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.joint(kg.normal(0, 1), kg.gamma(2, 1), kg.uniform(0, 1), name="x")
    >>> x.shape
    (3,)
    """
    parts = [_component("joint", d, k) for k, d in enumerate(distributions)]
    if len(parts) < 2:
        raise ModelError(
            f"joint: two or more distributions are needed, got {len(parts)}{place_text()}; write "
            "kg.joint(kg.normal(0, 1), kg.gamma(2, 1))"
        )
    for part in parts:
        support = part.support
        if part.family.event_ndim or not isinstance(support, (Interval, WholeNumbers)):
            raise ModelError(
                f"joint: {part.expression()} is not a distribution of single numbers{place_text()}"
            )
        if isinstance(support.lower, Node) or isinstance(support.upper, Node):
            raise ModelError(
                f"joint: a bound of {part.expression()} is not a number; make it a separate "
                f"unknown{place_text()}"
            )
        if part.family.atom is not None:
            raise ModelError(
                f"joint: {part.expression()} gives {part.family.atom:g} a positive probability"
                f"{place_text()}; observe its numbers by themselves"
            )
        if part.family.discrete != parts[0].family.discrete:
            raise ModelError(
                f"joint: {parts[0].expression()} and {part.expression()} are a discrete and a "
                f"continuous distribution{place_text()}"
            )
    try:
        batch = np.broadcast_shapes(*(part.shape for part in parts))
    except ValueError:
        shapes = ", ".join(f"{p.expression()} of shape {p.shape}" for p in parts)
        raise ShapeError(
            f"joint: the components do not fit together: {shapes}{place_text()}"
        ) from None
    nodes = tuple(Array(node) for part in parts for node in part.parents)
    family = joints.joint(*(part.family for part in parts))
    full_shape = (*batch, len(parts)) if shape is None else shape
    if shape is None:
        full_shape = shape_by_dims(dims, full_shape, "joint") or full_shape
    result = distribute(family, nodes, shape=full_shape, dims=dims, name=name)
    for d in distributions:
        consume(d, "a component of a joint distribution", result.node)
    return result
