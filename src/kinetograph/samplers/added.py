"""The norm of the noise that a step has added, for the record."""

from functools import reduce
from operator import add
from typing import Any

from ..graph.functions.mathematics import sqrt
from ..graph.functions.reductions import sum as sum_of

__all__ = ["record_noise"]


def record_noise(sampler: Any, *added: Any) -> None:
    """The root of the sum of the squares of all noises of the step, where it is asked for."""
    squares = reduce(add, (sum_of(noise * noise) for noise in added))
    sampler.record("noise_norm", sqrt(squares), always=False)
