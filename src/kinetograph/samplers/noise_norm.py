"""The recorded norm of the noise that a step has added."""

from functools import reduce
from operator import add
from typing import Any

from ..graph.functions.mathematics import sqrt
from ..graph.functions.reductions import sum as sum_of

__all__ = ["record_noise"]


def record_noise(sampler: Any, *added: Any) -> None:
    """Record the norm of all noise of the step, if requested.

    The norm is the square root of the sum of all squares.
    """
    squares = reduce(add, (sum_of(noise * noise) for noise in added))
    sampler.record("noise_norm", sqrt(squares), always=False)
