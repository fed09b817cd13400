"""Checks of the parameters of kernels: lengths, periods and scales.

A known parameter that is not positive raises ValueError. An unknown that may be negative gives a
warning: kernels use squares, so both signs of such an unknown have the same density.
"""

from typing import Any

import numpy as np

from ..distributions.generator import Generator
from ..distributions.parameter import Parameter, positive
from ..distributions.support import NONNEGATIVE
from ..graph.array import Array
from ..graph.errors import ShapeError
from ..graph.operations.operands import as_node
from ..graph.source import place_text

__all__ = ["check_length", "check_noise", "check_positive", "check_variance"]

_BOTH_SIGNS = "both signs give the same covariances, so the posterior has a mode for each sign"


def check_positive(title: str, **values: Any) -> None:
    """Check the parameters of a kernel, by name.

    Raises
    ------
    ValueError
        If a known number is not positive.
    """
    _check(title, [positive(name) for name in values], values)


def check_noise(title: str, noise: Any) -> None:
    """Check the standard deviation of noise, which may be 0.

    Raises
    ------
    ValueError
        If a known number is negative.
    """
    _check(title, [Parameter("noise", NONNEGATIVE)], {"noise": noise})


def check_variance(title: str, factor: Any) -> None:
    """Check the number that multiplies a kernel.

    Raises
    ------
    ValueError
        If a known number is negative.
    """
    _check(title, [Parameter("the variance", NONNEGATIVE)], {"": factor}, Generator.outside)


def _check(
    title: str, parameters: list[Parameter], values: dict[str, Any], outside: str = _BOTH_SIGNS
) -> None:
    nodes = [as_node(value, title) for value in values.values()]
    rules = Generator(title, tuple(parameters), outside=outside)
    rules.check_values(nodes)
    rules.check_unknowns(nodes)


def check_length(length: Any, title: str, dimensions: int | None = None) -> None:
    """Raise ShapeError unless `length` is one number or one per dimension.

    `dimensions` is None if the number of dimensions is not known yet.
    """
    shape = length.shape if isinstance(length, Array) else np.shape(length)
    if len(shape) > 1:
        raise ShapeError(
            f"{title}: length must be one number, or one for each dimension of the points, got "
            f"shape {shape}{place_text()}; give points to the kernel, as in kg.gp.{title}(0.5)(x)"
        )
    if shape and dimensions not in (None, *shape):
        raise ShapeError(
            f"{title}: length has {_count(shape[0], 'number')}, but the points have "
            f"{_count(dimensions or 0, 'dimension')}{place_text()}; give one number, or one for "
            "each column of the points, which are the rows of a matrix"
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
