"""The lognormal distribution."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from .declaration import declared
from .family import Family
from .moments import Moments
from .normal import draw as draw_normal
from .normal import terms as normal_terms
from .parameter import Parameter, spread
from .support import POSITIVE
from .tails import Tails, above_zero, normal_quantile, normal_tails

__all__ = ["draw", "lognormal"]


def _terms(x: Any, meanlog: Any, sdlog: Any, log_x: Any = None) -> tuple[Any, ...]:
    log_x = jnp.log(x) if log_x is None else log_x
    return (*normal_terms(log_x, meanlog, sdlog), -log_x)


def draw(source: Source, meanlog: Any, sdlog: Any) -> Any:
    """Draw exp(meanlog + sdlog z) with a standard normal z."""
    return jnp.exp(draw_normal(source, meanlog, sdlog))


@above_zero
def _tails(x: Any, meanlog: Any, sdlog: Any) -> Tails:
    return normal_tails((jnp.log(x) - meanlog) / sdlog)


def _quantile(log_below: Any, log_above: Any, meanlog: Any, sdlog: Any) -> Any:
    return jnp.exp(meanlog + sdlog * normal_quantile(log_below, log_above))


def _moments(meanlog: Any, sdlog: Any) -> Moments:
    square = sdlog * sdlog
    mean = jnp.exp(meanlog + 0.5 * square)
    return mean, mean * mean * jnp.expm1(square)


LOGNORMAL = Family(
    "lognormal",
    (Parameter("meanlog"), spread("sdlog")),
    _terms,
    lambda meanlog, sdlog: POSITIVE,
    forms={"x": (("log",),)},
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


# Parameters of other libraries, with the advice for each.
ADVICE = {
    "mean": "give meanlog=kg.log(mean) - sdlog**2 / 2",
    "median": "give meanlog=kg.log(median)",
    "loc": "give meanlog=, the mean of the logarithm; a shift is loc + kg.lognormal(...)",
    "scale": "give sdlog=, the sd of the logarithm; SciPy's scale is kg.exp(meanlog)",
}


@declared(
    LOGNORMAL,
    draws="Exponentials of normal numbers with mean `meanlog` and standard deviation `sdlog`.",
    scipy="lognorm",
    advice=ADVICE,
    same={"meanlog": "mu", "sdlog": "s sigma"},
)
def lognormal(meanlog: Any = 0.0, sdlog: Any = 1.0):
    """A positive unknown whose logarithm is normal.

        log p(x) = log normal(log x | meanlog, sdlog) - log x,  x > 0

    Parameters
    ----------
    meanlog, sdlog
        Mean and standard deviation (above zero) of log x.

    Examples
    --------
    >>> import kinetograph as kg
    >>> rate = kg.lognormal(0, 1, name="rate")
    """
