"""Checks of values that follow a distribution, and of a distribution's use."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..distributions.atoms import WITH_ZEROS
from ..distributions.support import Interval, Support, WholeNumbers
from ..distributions.variable import Distribution, Variable
from ..graph.array import Array
from ..graph.errors import DataError, ModelError, ShapeError
from ..graph.memory_maps import holds_in_parts, is_in_a_file
from ..graph.messages import describe, index_text, site_text
from ..graph.node import Data, Node
from ..graph.source import place_text
from ..graph.value_texts import in_words
from .shape_advice import shape_advice

__all__ = ["check_shape", "check_support", "consume", "shapes_of", "unused_distribution"]


_READ = "the distribution of "  # uses that read parameters only, as for a quantile


def consume(distribution: Array, use: str, node: Node) -> None:
    """Record that a distribution is used.

    It is then not an unknown of any model.
    """
    variable = distribution.node
    assert isinstance(variable, Variable)
    if variable.observed_by is not None and use.startswith(_READ):
        return
    variable.observed_by = f"{use}{place_text() or site_text(node)}"


def unused_distribution(
    doing: str, value: Any, which: str, example: str, other: Any = None, reads: bool = False
) -> Distribution:
    """The distribution of an array that is not an unknown.

    Densities, probabilities, quantiles and moments read the parameters alone (`reads`), so that
    one distribution can have several of them, in addition to one likelihood. A likelihood after a
    log density is refused, because both are usually meant to be one term.

    `other` is the argument that is to follow the distribution. The message names the right order if
    the two arguments have been exchanged.
    """
    variable = getattr(value, "node", None)
    if not isinstance(variable, Variable) or variable.distribution is None:
        exchanged = getattr(getattr(other, "node", None), "distribution", None)
        if exchanged is not None:
            raise TypeError(
                f"{doing}: the arguments are the wrong way round{place_text()}; write "
                f"kg.{doing}{example}"
            )
        way = f"write kg.{doing}{example}"
        if doing == "log_density" and any(hasattr(each, "log_prob") for each in (value, other)):
            way = "the log density of a model is a method: model.log_prob({name: value, ...})"
        if callable(value) and not hasattr(value, "node"):
            way = "call it with its parameters, as kg.normal(mean, sd) or kg.distribution(f)(mean)"
        raise TypeError(
            f"{doing}: the {which} argument, {_what(value)}, is not a distribution"
            f"{place_text()}; {way}"
        )
    use = variable.observed_by or ""
    reads = reads or (use.startswith(_READ) and not use.startswith(f"{_READ}a log_density"))
    if use and not reads:
        raise ModelError(
            f"{doing}: this {variable.distribution.family.name} is {variable.observed_by} "
            f"already{place_text()}; write the distribution again"
        )
    if any(True for _ in variable.children):
        raise ModelError(
            f"{doing}: {describe(variable)} is used elsewhere in the model as an unknown"
            f"{place_text()}; write the distribution again inside {doing}"
        )
    return variable.distribution


def _what(value: Any) -> str:
    return describe(value.node) if isinstance(value, Array) else in_words(value)


def _fits(shape: tuple[int, ...], distribution: Distribution) -> bool:
    event = distribution.event_shape
    try:
        fits = np.broadcast_shapes(shape, distribution.shape) == shape
    except ValueError:
        return False
    return fits and shape[len(shape) - len(event) :] == event


def check_shape(node: Node, distribution: Distribution) -> None:
    """Refuse data whose shape does not fit a distribution."""
    if _fits(node.shape, distribution):
        return
    family, own_shape = distribution.family, distribution.shape
    raise ShapeError(
        f"observe: the data do not fit the distribution{place_text()}\n"
        f"{shapes_of(distribution.expression(), own_shape, describe(node), node.shape)}\n"
        f"  {family.name}'s parameters must broadcast to the shape of the data."
        f"{shape_advice(node, distribution, _fits)}"
    )


def shapes_of(
    expression: str, expression_shape: tuple[int, ...], value: str, shape: tuple[int, ...]
) -> str:
    """Two lines with a distribution and a value, and their shapes."""
    width = max(len(expression), len(value))
    return (
        f"    {expression:<{width}}  shape {expression_shape}\n    {value:<{width}}  shape {shape}"
    )


def check_support(
    doing: str,
    node: Data,
    distribution: Distribution,
    whole: Node | None = None,
    placed: Callable[[tuple[int, ...]], tuple[int, ...]] = tuple,
) -> None:
    """Refuse known values at which the density is not a finite number.

    If the values are a part of `whole`, `placed` gives the place in it of a place in the part.
    """
    value, support = node.value, distribution.family.support(*distribution.parents)
    by_parts = is_in_a_file(value) and _has_single_bounds(support)
    if by_parts and holds_in_parts(support.contains, value):
        return
    inside = np.asarray(support.contains(value))
    if inside.all():
        return
    if value.shape[: inside.ndim] != inside.shape:  # the bounds have more elements
        value = np.broadcast_to(value, inside.shape)
    place = tuple(int(i) for i in np.argwhere(~inside)[0])
    shown_place = placed(place)
    if isinstance(support, WholeNumbers):
        support = support.at(place, value.shape)
    raise DataError(
        f"{doing}: {distribution.family.name} data must be {support.describe()}, but "
        f"{describe(node if whole is None else whole)} is {value[place]}{index_text(shown_place)}"
        f"{place_text()}{_labels_from_one(value, support)}{_zeros(value[place], distribution)}"
        f"{_logarithms(value[place], distribution)}{_other_size(value, distribution)}"
    )


def _has_single_bounds(support: Support) -> bool:
    """Whether all numbers have the same two bounds."""
    if not isinstance(support, (Interval, WholeNumbers)):
        return False
    bounds = (support.lower, support.upper)
    return all((b.size if isinstance(b, Node) else np.size(b)) == 1 for b in bounds)


def _zeros(value: Any, distribution: Distribution) -> str:
    """Advice for a 0 that a family of positive numbers excludes."""
    name = WITH_ZEROS.get(distribution.family.name)
    return f"; for data with zeros use kg.{name}" if name and value == 0 else ""


def _logarithms(value: Any, distribution: Distribution) -> str:
    """Advice for a negative number that may be a logarithm."""
    if not distribution.family.name.endswith("lognormal") or not value < 0:
        return ""
    mean, sd = distribution.family.parameters[-2:]
    return (
        f"; {distribution.family.name} takes the numbers themselves: of their logarithms observe "
        f"kg.normal({mean.name}, {sd.name})"
    )


def _other_size(value: np.ndarray, distribution: Distribution) -> str:
    """The order of the parameters if another parameter fits as `size`."""
    parameters, parents = distribution.family.parameters, distribution.parents
    numbers = {
        parameter.name: parent.value
        for parameter, parent in zip(parameters, parents, strict=True)
        if isinstance(parent, Data) and not parent.shape
    }
    size = numbers.pop("size", None)
    if size is None or np.max(value) <= size or np.min(value) < 0:
        return ""
    if not any(number == np.floor(number) >= np.max(value) for number in numbers.values()):
        return ""
    order = ", ".join(parameter.name for parameter in parameters)
    return f"; the order of the values is {distribution.family.name}({order})"


def _labels_from_one(value: np.ndarray, support: Support) -> str:
    """A question about labels whose values are one too large."""
    upper = support.upper if isinstance(support, WholeNumbers) else None
    if isinstance(upper, (int, np.integer)) and value.min() == 1 and value.max() == upper + 1:
        return "; the smallest is 1: do the labels start at 1? Subtract 1"
    return ""
