"""The probability of a Metropolis test, for the record and for warm-up."""

from typing import Any

from ..graph.functions import where
from ..graph.mathematics import exp, minimum

__all__ = ["probability"]


def probability(gain: Any) -> Any:
    """min(1, exp(gain)); 0 where the gain is not a number, as such a move is refused."""
    return where(gain == gain, minimum(1.0, exp(gain)), 0.0)
