"""The hurdle lognormal distribution: 0, or a lognormal number."""

from typing import Any

from .atoms import with_zeros
from .declaration import declared
from .lognormal import ADVICE, LOGNORMAL
from .zeros import SHARE

__all__ = ["hurdle_lognormal"]

HURDLE_LOGNORMAL = with_zeros("hurdle_lognormal", LOGNORMAL)


@declared(
    HURDLE_LOGNORMAL,
    draws="A share `zero` of 0, and exponentials of normal numbers.",
    advice=SHARE | ADVICE,
    same={"meanlog": "mu", "sdlog": "s sigma"},
)
def hurdle_lognormal(zero: Any, meanlog: Any = 0.0, sdlog: Any = 1.0):
    """Numbers that are 0 or positive with a normal logarithm.

        log p(0) = log(zero)
        log p(x) = log(1 - zero) + log normal(log x | meanlog, sdlog) - log x,  x > 0

    Data can follow this distribution, such as amounts that people spend. An unknown cannot.

    Parameters
    ----------
    zero
        The probability of 0, from 0 to 1.
    meanlog, sdlog
        Mean and standard deviation (above zero) of log x for the positive numbers x.

    Examples
    --------
    >>> import kinetograph as kg
    >>> zero = kg.beta(1, 1, name="zero")
    >>> mu = kg.normal(0, 2, name="mu")
    >>> spent = kg.observe([0.0, 12.5, 0.0, 3.1], kg.hurdle_lognormal(zero, mu, 1.0))
    """
