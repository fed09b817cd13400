"""The hurdle gamma distribution: 0, or a gamma number."""

from typing import Any

from .atoms import with_zeros
from .declaration import declared
from .gamma import GAMMA, MOMENTS
from .zeros import SHARE

__all__ = ["hurdle_gamma"]

HURDLE_GAMMA = with_zeros("hurdle_gamma", GAMMA)


@declared(
    HURDLE_GAMMA,
    draws="A share `zero` of 0, and gamma numbers with mean alpha / rate.",
    advice=SHARE | MOMENTS,
    same={"alpha": "a concentration", "rate": "beta"},
)
def hurdle_gamma(zero: Any, alpha: Any, rate: Any = 1.0):
    """Numbers that are 0 or follow a gamma distribution.

        log p(0) = log(zero)
        log p(x) = log(1 - zero) + log gamma(x | alpha, rate),  x > 0

    Data can follow this distribution, such as amounts of rain or costs. An unknown cannot.

    Parameters
    ----------
    zero
        The probability of 0, from 0 to 1.
    alpha, rate
        Shape and rate of the positive numbers, both above zero; their mean is alpha / rate.

    Examples
    --------
    >>> import kinetograph as kg
    >>> zero = kg.beta(1, 1, name="zero")
    >>> rate = kg.exponential(1.0, name="rate")
    >>> rain = kg.observe([0.0, 0.0, 4.2, 0.7], kg.hurdle_gamma(zero, 2.0, rate))
    """
