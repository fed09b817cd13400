"""Zero-inflated Poisson counts: some are replaced by 0."""

from typing import Any

from .declaration import Chosen, declared
from .poisson import POISSON, rate_of
from .zeros import SHARE, zero_inflated

__all__ = ["zero_inflated_poisson"]

ZERO_INFLATED_POISSON = zero_inflated("zero_inflated_poisson", POISSON)


@declared(
    ZERO_INFLATED_POISSON,
    draws="Poisson numbers with a share `zero` replaced by 0.",
    advice=SHARE,
    same={"zero": "gate", "rate": "lam mu"},
)
def zero_inflated_poisson(zero: Any, rate: Any = None, *, log_rate: Any = None) -> Chosen:
    """Poisson counts with additional zeros.

    A count is replaced by 0 with probability `zero`.

        log p(0) = log(zero + (1 - zero) exp(-rate))
        log p(x) = log(1 - zero) + x log(rate) - rate - log(x!),  x = 1, 2, ...

    Parameters
    ----------
    zero
        The probability, from 0 to 1, that a count is replaced by 0.
    rate
        The mean of the Poisson numbers before replacement, not negative.
    log_rate
        Instead of `rate`: its logarithm, any real number.

    Raises
    ------
    ValueError
        If `zero` is known and not between 0 and 1, or `rate` known and negative.
    TypeError
        If not exactly one of `rate` and `log_rate` is given.

    Examples
    --------
    >>> import kinetograph as kg
    >>> zero = kg.beta(1, 1, name="zero")
    >>> log_rate = kg.normal(0, 1, name="log_rate")
    >>> likelihood = kg.observe([0, 0, 4], kg.zero_inflated_poisson(zero, log_rate=log_rate))
    """
    return Chosen(ZERO_INFLATED_POISSON, (zero, rate_of("zero_inflated_poisson", rate, log_rate)))
