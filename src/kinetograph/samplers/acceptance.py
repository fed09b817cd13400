"""The probability of a Metropolis test and its divergence, for the record and for warm-up."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..graph.functions.mathematics import exp, log1p, minimum, where

__all__ = ["divergent", "divergences", "is_accepted", "probability", "record_bad"]

DIVERGENT = 1000.0  # an energy error above this, as NUTS has it


def probability(gain: Any) -> Any:
    """min(1, exp(gain)); 0 where the gain is not finite, as such a move is refused."""
    return where(abs(gain) < np.inf, minimum(1.0, exp(gain)), 0.0)


def is_accepted(sampler: Any, gain: Any) -> Any:
    """Whether a move is accepted, by one uniform number for each gain, the log of a ratio.

    A gain of +inf is an energy that overflowed, not a better point: no move to it can be undone.
    """
    u = sampler.noise.uniform(like=gain, name="accept")
    return (log1p(-u) < gain) & (abs(gain) < np.inf)


def divergent(error: Any) -> Any:
    """Whether a trajectory's energy error, times beta, is above 1000 or not finite."""
    return ~(error < DIVERGENT) | (error == -np.inf)


def divergences(names: Iterable[str]) -> list[str]:
    """The records that tell of divergences: a sampler's, and those of samplers within it."""
    return [name for name in names if name == "diverging" or name.endswith("_diverging")]


def record_bad(sampler: Any, gain: Any) -> None:
    """Whether a proposal, or each of an ensemble's, had no finite energy, where it is asked for."""
    sampler.record("bad", ~(abs(gain) < np.inf), always=False)
