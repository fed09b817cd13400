"""Ordered classes with a logistic latent number."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.special import expit, log1mexp, log_expit
from .declaration import declared
from .family import Family
from .generator import WHOLE
from .moments import Moments, of_labels
from .numbers import unit_open
from .ordered import draw_by, log_tails_by, ordered_support, pick_bounds, quantile_by
from .parameter import Parameter
from .support import Ordered
from .tails import Tails

__all__ = ["draw", "ordered_logistic"]


def _terms(x: Any, eta: Any, cutpoints: Any) -> tuple[Any, ...]:
    low, high, some_low, some_high, width = pick_bounds(x, eta, cutpoints)
    # expit(high) - expit(low) = expit(high) expit(-low) (1 - exp(low - high))
    upper = jnp.where(some_high, log_expit(high), 0.0)
    lower = jnp.where(some_low, log_expit(-low), 0.0)
    between = jnp.where(some_low & some_high, log1mexp(width), 0.0)
    return (upper + lower + between,)


def _logistic_tails(z: Any) -> Tails:
    return log_expit(z), log_expit(-z)


def _logistic_number(source: Source) -> Any:
    u = unit_open(source)
    return jnp.log(u) - jnp.log1p(-u)


def draw(source: Source, eta: Any, cutpoints: Any) -> Any:
    """Draw the number of cutpoints below a logistic number around eta."""
    return draw_by(_logistic_number, source, eta, cutpoints)


def _tails(x: Any, eta: Any, cutpoints: Any) -> Tails:
    return log_tails_by(_logistic_tails, x, eta, cutpoints)


def _quantile(log_below: Any, log_above: Any, eta: Any, cutpoints: Any) -> Any:
    return quantile_by(_logistic_tails, log_below, log_above, eta, cutpoints)


def _moments(eta: Any, cutpoints: Any) -> Moments:
    z = cutpoints - eta[..., None]
    return of_labels(expit(z), expit(-z))


ORDERED_LOGISTIC = Family(
    "ordered_logistic",
    (Parameter("eta"), Parameter("cutpoints", Ordered(), event_ndim=1)),
    _terms,
    ordered_support,
    dtype=WHOLE,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    ORDERED_LOGISTIC,
    draws="Numbers of cutpoints below a logistic number around `eta`.",
    same={"eta": "predictor"},
)
def ordered_logistic(eta: Any, cutpoints: Any):
    """A label from 0 to K - 1 of ordered classes.

    It depends on a linear predictor and on K - 1 cutpoints.

        log p(x) = log(ilogit(cutpoints[x] - eta) - ilogit(cutpoints[x - 1] - eta))

        where cutpoints[-1] stands for -infinity and cutpoints[K - 1] for infinity.

    Parameters
    ----------
    eta
        The linear predictor; a larger one makes higher labels more likely.
    cutpoints
        K - 1 increasing numbers along the last axis, such as `kg.ordered_variable(K - 1)`.
    shape, dims, name
        Shape of the labels (default: that of the parameters without the last axis of the
        cutpoints), names of its axes, name in the results.

    Raises
    ------
    ValueError
        If the cutpoints are known and do not increase.

    Notes
    -----
    Source: P. McCullagh, Regression models for ordinal data, Journal of the Royal Statistical
    Society B 42 (1980) 109-142.

    Examples
    --------
    >>> import kinetograph as kg
    >>> c = kg.ordered_variable(3, name="c")
    >>> eta = kg.normal(0, 1, name="eta")
    >>> likelihood = kg.observe(kg.data([0, 3, 2]), kg.ordered_logistic(eta, c))
    """
