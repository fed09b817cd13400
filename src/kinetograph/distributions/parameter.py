"""A parameter of a distribution: its name, and where it must lie."""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from .support import NONNEGATIVE, POSITIVE, REAL, Interval, Support, WholeNumbers

__all__ = ["PROBABILITY_FORMS", "Parameter", "positive", "probability", "spread", "whole"]

LARGEST = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Parameter:
    """A parameter's name, where it must lie, and how many axes one value of it has.

    `drawn` is where it may lie for drawing, if that is not where a density is defined.
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
    """A parameter above zero; numbers are drawn at zero, too, where all are the same."""
    return Parameter(name, POSITIVE, drawn=NONNEGATIVE)


def whole(name: str, lower: int = 0) -> Parameter:
    """A whole number."""
    return Parameter(name, WholeNumbers(lower), integer=True, drawn=WholeNumbers(lower, LARGEST))


# What densities of a trial's outcome can use instead of its probability.
PROBABILITY_FORMS = MappingProxyType({"prob": (("logit",), ("log", "log1m"))})


def probability(name: str) -> Parameter:
    """A parameter from 0 to 1."""
    return Parameter(name, Interval(0.0, 1.0, closed=True))
