"""The probability of a Metropolis test and its divergence, for the record and for warm-up."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..graph.functions.mathematics import exp, minimum, where

__all__ = ["divergent", "divergences", "probability", "record_bad"]

DIVERGENT = 1000.0  # an energy error above this, as NUTS has it


def probability(gain: Any) -> Any:
    """min(1, exp(gain)); 0 where the gain is not a number, as such a move is refused."""
    return where(gain == gain, minimum(1.0, exp(gain)), 0.0)


def divergent(error: Any) -> Any:
    """Whether a trajectory's energy error, times beta, is above 1000 or not a number."""
    return ~(error < DIVERGENT)


def divergences(names: Iterable[str]) -> list[str]:
    """The records that tell of divergences: a sampler's, and those of samplers within it."""
    return [name for name in names if name == "diverging" or name.endswith("_diverging")]


def record_bad(sampler: Any, gain: Any) -> None:
    """Whether a proposal, or each of an ensemble's, had no finite energy, where it is asked for."""
    sampler.record("bad", ~(abs(gain) < np.inf), always=False)
