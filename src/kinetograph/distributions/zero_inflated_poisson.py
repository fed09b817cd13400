"""Poisson counts of which some are replaced by 0."""

from typing import Any

from ..graph.array import Array
from .poisson import POISSON
from .variable import distribute
from .zeros import zero_inflated

__all__ = ["zero_inflated_poisson"]

ZERO_INFLATED_POISSON = zero_inflated("zero_inflated_poisson", POISSON)


def zero_inflated_poisson(
    zero: Any,
    rate: Any,
    *,
    shape: Any = None,
    truncation: Any = None,
    censoring: Any = None,
    dims: Any = None,
    name: str | None = None,
) -> Array:
    """Counts that are 0 for two reasons: replaced by 0, or a Poisson number that is.

        log p(0) = log(zero + (1 - zero) exp(-rate))
        log p(x) = log(1 - zero) + x log(rate) - rate - log(x!),  x = 1, 2, ...

    Parameters
    ----------
    zero
        The probability, from 0 to 1, that a count is replaced by 0.
    rate
        The mean of those that are not replaced, not negative.
    truncation, censoring
        Pairs of bounds, None where there is none; see `kg.normal`.
    shape, dims, name
        Shape of the counts (default: the parameters'), names of its axes, name in the results.

    Raises
    ------
    ValueError
        If `zero` is known and not between 0 and 1, or `rate` known and negative.
    ShapeError
        If parameters and shape do not fit together.

    Examples
    --------
    >>> import kinetograph as kg
    >>> zero = kg.beta(1, 1, name="zero")
    >>> log_rate = kg.normal(0, 1, name="log_rate")
    >>> likelihood = kg.observe([0, 0, 4], kg.zero_inflated_poisson(zero, kg.exp(log_rate)))
    """
    return distribute(
        ZERO_INFLATED_POISSON,
        (zero, rate),
        shape=shape,
        dims=dims,
        name=name,
        truncation=truncation,
        censoring=censoring,
    )
