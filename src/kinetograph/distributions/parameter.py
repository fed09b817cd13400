"""Parameters of distributions: names and supports."""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from .support import NONNEGATIVE, POSITIVE, REAL, Interval, Support, WholeNumbers

__all__ = ["PROBABILITY_FORMS", "Parameter", "positive", "probability", "spread", "whole"]

LARGEST = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Parameter:
    """A parameter: name, support, and number of axes of one value.

    `drawn` is its support in draws, if that differs from the support in a density.
    """

    name: str
    support: Support = REAL
    event_ndim: int = 0
    integer: bool = False
    drawn: Support | None = None


def positive(name: str) -> Parameter:
    """A parameter above zero."""
    return Parameter(name, POSITIVE)


def spread(name: str) -> Parameter:
    """A scale parameter above zero; in draws it may be zero."""
    return Parameter(name, POSITIVE, drawn=NONNEGATIVE)


def whole(name: str, lower: int = 0) -> Parameter:
    """A whole parameter of at least `lower`."""
    return Parameter(name, WholeNumbers(lower), integer=True, drawn=WholeNumbers(lower, LARGEST))


# Forms that densities of trials can use instead of the probability.
PROBABILITY_FORMS = MappingProxyType({"prob": (("logit",), ("log", "log1m"))})


def probability(name: str) -> Parameter:
    """A parameter from 0 to 1."""
    return Parameter(name, Interval(0.0, 1.0, closed=True))
