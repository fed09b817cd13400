"""What follows a distribution: whether it fits, and that the distribution serves nothing else."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..distributions.support import WholeNumbers
from ..distributions.variable import Distribution, Variable
from ..graph.array import Array
from ..graph.errors import DataError, ModelError, ShapeError
from ..graph.messages import describe
from ..graph.node import Data, Node

__all__ = ["check_shape", "check_support", "consume", "unused_distribution"]


def consume(distribution: Array, use: str, node: Node) -> None:
    """Note that a distribution has been put to use, so that it is no unknown of any model."""
    variable = distribution.node
    assert isinstance(variable, Variable)
    variable.observed_by = f"{use}{f' at {node.site}' if node.site else ''}"


def unused_distribution(doing: str, value: Any, which: str, example: str) -> Distribution:
    """The distribution of an array that nothing else uses."""
    variable = getattr(value, "node", None)
    if not isinstance(variable, Variable) or variable.distribution is None:
        raise TypeError(
            f"{doing}: the {which} argument, {_what(value)}, is not a distribution; "
            f"write kg.{doing}{example}"
        )
    if variable.observed_by is not None:
        raise ModelError(
            f"{doing}: this {variable.distribution.family.name} is {variable.observed_by} "
            "already; write the distribution again"
        )
    if any(True for _ in variable.children):
        raise ModelError(
            f"{doing}: {describe(variable)} is used elsewhere in the model as an unknown; "
            f"write the distribution again inside {doing}"
        )
    return variable.distribution


def _what(value: Any) -> str:
    return describe(value.node) if isinstance(value, Array) else f"a {type(value).__name__}"


def _fits(shape: tuple[int, ...], follows: Distribution) -> bool:
    event = follows.event_shape
    try:
        fits = np.broadcast_shapes(shape, follows.shape) == shape
    except ValueError:
        return False
    return fits and shape[len(shape) - len(event) :] == event


def check_shape(node: Node, follows: Distribution) -> None:
    if _fits(node.shape, follows):
        return
    family, own = follows.family, follows.shape
    hint = ""
    if len(node.shape) == 2 and _fits(node.shape[::-1], follows):
        hint = "\n  The data look transposed: each row is a separate realisation."
    raise ShapeError(
        f"observe: the data do not fit the distribution\n"
        f"    {follows.expression():<40}  shape {own}\n"
        f"    {describe(node):<40}  shape {node.shape}\n"
        f"  {family.name}'s parameters must broadcast to the shape of the data.{hint}"
    )


def check_support(
    doing: str,
    node: Data,
    follows: Distribution,
    whole: Node | None = None,
    placed: Callable[[tuple[int, ...]], tuple[int, ...]] = tuple,
) -> None:
    """Refuse known values at which the density is not a finite number.

    If they are a part of a `whole`, `placed` tells from where in it.
    """
    value, support = node.value, follows.family.support(*follows.parents)
    inside = np.asarray(support.contains(value))
    if inside.all():
        return
    if value.shape[: inside.ndim] != inside.shape:  # the bounds have more elements
        value = np.broadcast_to(value, inside.shape)
    place = tuple(int(i) for i in np.argwhere(~inside)[0])
    told = placed(place)
    where = f" at index {told[0] if len(told) == 1 else told}" if told else ""
    if isinstance(support, WholeNumbers):
        support = support.at(place, value.shape)
    raise DataError(
        f"{doing}: {follows.family.name} data must be {support.describe()}, but "
        f"{describe(node if whole is None else whole)} is {value[place]}{where}"
    )
