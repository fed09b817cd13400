"""The zero-inflated beta distribution: 0, or a beta number."""

from typing import Any

from .atoms import with_zeros
from .beta import ADVICE, BETA
from .declaration import declared
from .zeros import SHARE

__all__ = ["zero_inflated_beta"]

ZERO_INFLATED_BETA = with_zeros("zero_inflated_beta", BETA)


@declared(
    ZERO_INFLATED_BETA,
    draws="A share `zero` of 0, and beta numbers with mean shape1 / (shape1 + shape2).",
    advice=SHARE | ADVICE,
    same={
        "zero": "gate",
        "shape1": "a alpha concentration1",
        "shape2": "b beta concentration0",
    },
)
def zero_inflated_beta(zero: Any, shape1: Any, shape2: Any):
    """Numbers that are 0 or follow a beta distribution.

        log p(0) = log(zero)
        log p(x) = log(1 - zero) + log beta(x | shape1, shape2),  0 < x < 1

    Data can follow this distribution, such as shares of land with a crop. An unknown cannot.

    Parameters
    ----------
    zero
        The probability of 0, from 0 to 1.
    shape1, shape2
        Parameters of the numbers above 0, both above zero; the mean of these numbers is
        shape1 / (shape1 + shape2).

    Examples
    --------
    >>> import kinetograph as kg
    >>> zero = kg.beta(1, 1, name="zero")
    >>> a = kg.exponential(0.5, name="a")
    >>> cover = kg.observe([0.0, 0.3, 0.0, 0.12], kg.zero_inflated_beta(zero, a, 3.0))
    """
