"""The negative binomial distribution by mean and dispersion.

The variance is mean + dispersion mean**2.
"""

from functools import partial
from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.deviance import log_binomial, weighted_log, weighted_log_expit
from ..graph.numerics.gammas import gammaln, log_rising
from ..graph.numerics.incomplete import log_beta_tails
from ..graph.numerics.special import divide, log_expit
from .count_numbers import double
from .family import Family
from .gamma_numbers import log_gamma
from .generator import WHOLE
from .inversion import whole_quantile
from .moments import Moments
from .parameter import positive
from .poisson import draw as draw_poisson
from .support import NATURALS
from .tails import Tails, of_counts

__all__ = ["NEGATIVE_BINOMIAL_MEAN", "draw"]


def _shares(mean: Any, dispersion: Any) -> tuple[Any, Any]:
    """The probabilities of success and of failure for size 1 / dispersion."""
    ratio = mean * dispersion
    return 1.0 / (1.0 + ratio), divide(ratio, 1.0 + ratio)


def _terms(x: Any, mean: Any, dispersion: Any, log_mean: Any = None) -> tuple[Any, ...]:
    size = 1.0 / dispersion
    if log_mean is None:
        density, constant = log_binomial(size, x, *_shares(mean, dispersion))
    else:
        logit = -jnp.log(dispersion) - log_mean
        density, constant = log_binomial(size, x, None, None, log_expit(logit), log_expit(-logit))
    # The last of the x + size trials is a success.
    return (density + constant - jnp.log1p(x * dispersion),)


def _small_terms(x: Any, mean: Any, dispersion: Any, log_mean: Any = None) -> tuple[Any, ...]:
    size = 1.0 / dispersion
    counts = log_rising(size, x) - gammaln(x + 1.0)
    if log_mean is not None:
        return (counts + weighted_log_expit(size, x, -jnp.log(dispersion) - log_mean),)
    log_failure = jnp.log(_shares(jnp.where(x == 0, 1.0, mean), dispersion)[1])
    return counts - size * jnp.log1p(mean * dispersion), weighted_log(x, log_failure)


def draw(source: Source, mean: Any, dispersion: Any) -> Any:
    """Draw a Poisson number of the rate mean dispersion g.

    The number g is a gamma number of shape 1 / dispersion.
    """
    mean, dispersion = double(mean), double(dispersion)
    valid = (mean > 0) & jnp.isfinite(mean) & (dispersion > 0) & jnp.isfinite(1 / dispersion)
    log_g = log_gamma(source.part(0, jnp.float64), jnp.where(valid, 1 / dispersion, 1.0))
    rate = jnp.exp(log_g + jnp.log(mean) + jnp.log(dispersion))
    return draw_poisson(source.part(1), jnp.where(valid, rate, -1.0))


@of_counts
def _tails(x: Any, mean: Any, dispersion: Any) -> Tails:
    return log_beta_tails(1.0 / dispersion, x + 1.0, *_shares(mean, dispersion))


def _moments(mean: Any, dispersion: Any) -> Moments:
    return mean, mean * (1.0 + dispersion * mean)


NEGATIVE_BINOMIAL_MEAN = Family(
    "negative_binomial_mean",
    (positive("mean"), positive("dispersion")),
    _terms,
    lambda mean, dispersion: NATURALS,
    dtype=WHOLE,
    forms={"mean": (("log",),)},
    small_terms=_small_terms,
    sizes=("x",),
    draw=draw,
    tails=_tails,
    quantile=partial(whole_quantile, _tails),
    moments=_moments,
)
