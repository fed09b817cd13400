"""Zero-inflated negative binomial counts: some are replaced by 0."""

from typing import Any

from .declaration import Chosen, declared
from .negative_binomial import ADVICE, NEGATIVE_BINOMIAL, two_of
from .negative_binomial_mean import NEGATIVE_BINOMIAL_MEAN
from .zeros import SHARE, zero_inflated

__all__ = ["zero_inflated_negative_binomial"]

ZERO_INFLATED_NEGATIVE_BINOMIAL = zero_inflated(
    "zero_inflated_negative_binomial", NEGATIVE_BINOMIAL
)
ZERO_INFLATED_NEGATIVE_BINOMIAL_MEAN = zero_inflated(
    "zero_inflated_negative_binomial_mean", NEGATIVE_BINOMIAL_MEAN
)


@declared(
    ZERO_INFLATED_NEGATIVE_BINOMIAL,
    draws="""Negative binomial numbers with a share `zero` replaced by 0.

    See `negative_binomial` for the parameters.
    """,
    advice=SHARE | ADVICE,
    same={
        "zero": "gate",
        "size": "alpha concentration n phi total_count",
        "prob": "p",
        "mean": "mu",
    },
)
def zero_inflated_negative_binomial(
    zero: Any,
    size: Any = None,
    prob: Any = None,
    *,
    mean: Any = None,
    log_mean: Any = None,
    dispersion: Any = None,
) -> Chosen:
    """Negative binomial counts with additional zeros.

    A count is replaced by 0 with probability `zero`.

        log p(0) = log(zero + (1 - zero) f(0))
        log p(x) = log(1 - zero) + log f(x),  x = 1, 2, ...,

        with f the density of `kg.negative_binomial`.

    Parameters
    ----------
    zero
        The probability, from 0 to 1, that a count is replaced by 0.
    size, prob
        Parameters of the negative binomial, as in `kg.negative_binomial`.
    mean, log_mean, dispersion
        Other parameters of the negative binomial, as in `kg.negative_binomial`.

    Raises
    ------
    ValueError
        If a parameter is known and impossible.
    TypeError
        If neither size and prob, nor size or dispersion and one of mean and log_mean are given.

    Examples
    --------
    >>> import kinetograph as kg
    >>> zero = kg.beta(1, 1, name="zero")
    >>> distribution = kg.zero_inflated_negative_binomial(zero, mean=3.0, dispersion=0.5)
    >>> likelihood = kg.observe([0, 0, 4], distribution)
    """
    by_mean, parameters = two_of(
        "zero_inflated_negative_binomial", size, prob, mean, log_mean, dispersion
    )
    family = ZERO_INFLATED_NEGATIVE_BINOMIAL_MEAN if by_mean else ZERO_INFLATED_NEGATIVE_BINOMIAL
    return Chosen(family, (zero, *parameters))
