"""The inverse gamma distribution."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.deviance import deviance_of_log, log_peak
from ..graph.numerics.gammas import gammaln
from ..graph.numerics.incomplete import log_gamma_tails
from ..graph.numerics.special import divide
from .declaration import declared
from .family import Family
from .gamma import quantile as quantile_of_gamma
from .gamma_numbers import log_gamma
from .moments import Moments, infinite_unless
from .numbers import nan_unless, reals
from .parameter import positive
from .support import POSITIVE
from .tails import Tails, above_zero, turned

__all__ = ["draw", "inverse_gamma"]


def _log(value: Any, log: Any) -> Any:
    return jnp.log(value) if log is None else log


def _terms(
    x: Any, alpha: Any, beta: Any, log_x: Any = None, log_beta: Any = None
) -> tuple[Any, ...]:
    log_x, log_beta = _log(x, log_x), _log(beta, log_beta)
    cost = deviance_of_log(alpha, log_beta - log_x)
    return -cost - log_x, log_peak(alpha) + jnp.log(alpha)


def _small_terms(
    x: Any, alpha: Any, beta: Any, log_x: Any = None, log_beta: Any = None
) -> tuple[Any, ...]:
    power = -(alpha + 1.0) * _log(x, log_x)
    return power - divide(beta, x), alpha * _log(beta, log_beta), -gammaln(alpha)


def draw(source: Source, alpha: Any, beta: Any) -> Any:
    """Draw beta divided by a gamma number of shape alpha."""
    alpha, beta = reals(source, alpha, beta)
    value = beta * jnp.exp(-log_gamma(source, alpha))
    return nan_unless((beta > 0) & jnp.isfinite(beta), value)


@above_zero
def _tails(x: Any, alpha: Any, beta: Any) -> Tails:
    return turned(log_gamma_tails(alpha, beta / x))


def _quantile(log_below: Any, log_above: Any, alpha: Any, beta: Any) -> Any:
    return 1 / quantile_of_gamma(log_above, log_below, alpha, beta)


def _moments(alpha: Any, beta: Any) -> Moments:
    mean = infinite_unless(alpha > 1.0, beta, alpha - 1.0)
    square = jnp.where(alpha > 2.0, mean, 1.0) ** 2
    return mean, infinite_unless(alpha > 2.0, square, alpha - 2.0)


INVERSE_GAMMA = Family(
    "inverse_gamma",
    (positive("alpha"), positive("beta")),
    _terms,
    lambda alpha, beta: POSITIVE,
    forms={"x": (("log",),), "beta": (("log",),)},
    small_terms=_small_terms,
    sizes=("alpha",),
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)

_MOMENTS = "give alpha=(mu / sigma)**2 + 2, beta=mu * ((mu / sigma)**2 + 1)"


@declared(
    INVERSE_GAMMA,
    draws="Inverse gamma numbers, with mean beta / (alpha - 1).",
    scipy="invgamma",
    aliases={
        "": "invgamma",
        "(1 / 2, c / 2)": "levy",
        "(df / 2, 1 / 2)": "invchisquare",
        "(df / 2, df * s**2 / 2)": "scaledinvchisquare",
    },
    same={"alpha": "a concentration", "beta": "rate scale"},
    advice=dict.fromkeys(("mu", "mean", "sigma", "sd"), _MOMENTS),
)
def inverse_gamma(alpha: Any, beta: Any = 1.0):
    """A positive unknown whose inverse follows gamma(alpha, beta).

        log p(x) = alpha log(beta) - log Gamma(alpha) - (alpha + 1) log(x) - beta / x,  x > 0

    Parameters
    ----------
    alpha, beta
        Shape and scale, both above zero; the mean is beta / (alpha - 1) for alpha > 1.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.inverse_gamma(3, 2, name="x")
    """
