"""The Metropolis test: its acceptance probability, and divergences."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..graph.functions.mathematics import exp, log1p, minimum, where

__all__ = ["divergent", "divergences", "is_accepted", "probability", "record_bad"]

DIVERGENT = 1000.0  # an energy error above this is a divergence, as in NUTS


def probability(gain: Any) -> Any:
    """The acceptance probability min(1, exp(gain)).

    It is 0 where the gain is not finite, because such a move is rejected.
    """
    return where(abs(gain) < np.inf, minimum(1.0, exp(gain)), 0.0)


def is_accepted(sampler: Any, gain: Any) -> Any:
    """Whether a move with this log of the Metropolis ratio is accepted.

    One uniform number is drawn for each gain. A move with gain +inf is rejected: it comes from an
    energy that overflowed, and the reverse move would never be accepted.
    """
    u = sampler.noise.uniform(like=gain, name="accept")
    return (log1p(-u) < gain) & (abs(gain) < np.inf)


def divergent(error: Any) -> Any:
    """Whether an energy error, times beta, is above 1000 or not finite."""
    return ~(error < DIVERGENT) | (error == -np.inf)


def divergences(names: Iterable[str]) -> list[str]:
    """The records of divergences, of a sampler and its inner samplers."""
    return [name for name in names if name == "diverging" or name.endswith("_diverging")]


def record_bad(sampler: Any, gain: Any) -> None:
    """Record whether the energy of each proposal was not finite, if requested."""
    sampler.record("bad", ~(abs(gain) < np.inf), always=False)
