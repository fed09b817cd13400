"""Hurdle Poisson counts: 0, or a Poisson count above 0."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from .count_numbers import double, uniforms
from .declaration import Chosen, declared
from .parameter import Parameter
from .poisson import LARGEST_RATE, POISSON, rate_of
from .poisson import draw as draw_poisson
from .support import POSITIVE, Interval
from .zeros import SHARE, hurdle

__all__ = ["hurdle_poisson"]


def _draw_positive(source: Source, rate: Any) -> Any:
    """Draw a Poisson count, given that it is above 0.

    The time of the first event is exponential, given that it is before the end. The result is 1
    plus a Poisson number for the remaining time.
    """
    rate = double(rate)
    valid = (rate > 0) & (rate <= LARGEST_RATE)
    safe = jnp.where(valid, rate, 1.0)
    first = -jnp.log1p(uniforms(source)[0] * jnp.expm1(-safe))
    count = draw_poisson(source.part(0), jnp.maximum(safe - first, 0.0)) + 1
    return jnp.where(valid, count, -1)


RATE = Parameter("rate", POSITIVE, drawn=Interval(0.0, LARGEST_RATE, (False, True)))
HURDLE_POISSON = hurdle("hurdle_poisson", POISSON, (RATE,), _draw_positive)


@declared(
    HURDLE_POISSON,
    draws="A share `zero` of 0, and Poisson numbers above 0.",
    advice=SHARE,
    same={"rate": "lam mu"},
)
def hurdle_poisson(zero: Any, rate: Any = None, *, log_rate: Any = None) -> Chosen:
    """Counts that are 0 or Poisson numbers above 0.

        log p(0) = log(zero)
        log p(x) = log(1 - zero) + x log(rate) - rate - log(x!) - log(1 - exp(-rate))

    Parameters
    ----------
    zero
        The probability of 0, from 0 to 1.
    rate
        The mean of the Poisson distribution before it is restricted to counts above 0; positive.
    log_rate
        Instead of `rate`: its logarithm, any real number.

    Raises
    ------
    ValueError
        If `zero` is known and not between 0 and 1, or `rate` known and not positive.
    TypeError
        If not exactly one of `rate` and `log_rate` is given.

    Examples
    --------
    >>> import kinetograph as kg
    >>> zero = kg.beta(1, 1, name="zero")
    >>> log_rate = kg.normal(0, 1, name="log_rate")
    >>> likelihood = kg.observe([0, 0, 4], kg.hurdle_poisson(zero, log_rate=log_rate))
    """
    return Chosen(HURDLE_POISSON, (zero, rate_of("hurdle_poisson", rate, log_rate)))
