"""The beta distribution."""

from typing import Any

import jax
import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.deviance import log_binomial, weighted_log
from ..graph.numerics.gammas import betaln
from ..graph.numerics.incomplete import log_beta_tails
from ..graph.numerics.special import divide, xlog1py, xlogy
from .declaration import declared
from .family import Family
from .gamma_numbers import log_gamma
from .inversion import UNIT_LINE, continuous_quantile
from .moments import Moments
from .parameter import positive
from .support import UNIT, powers
from .tails import Tails, above_zero

__all__ = ["beta", "draw"]


def _terms(
    x: Any, shape1: Any, shape2: Any, log_x: Any = None, log1m_x: Any = None
) -> tuple[Any, ...]:
    edge = (x == 0) | (x == 1)
    plain = None
    if log_x is None:
        # At the bounds the single terms are infinite even if the density is finite.
        plain = sum(_small_terms(x, shape1, shape2))
        x = jnp.where(edge, 0.5, x)
    density, constant = log_binomial(shape1, shape2, x, 1.0 - x, log_x, log1m_x)
    if log_x is None:
        log_x, log1m_x = jnp.log(x), jnp.log1p(-x)
    # The density of x is a b / (a + b) / (x (1 - x)) times the binomial probability of a
    # successes in a + b trials.
    trials = jnp.log(shape1) - jnp.log1p(divide(shape1, shape2))
    careful = density - log_x - log1m_x
    if plain is not None:
        return (jnp.where(edge, plain, careful + constant + trials),)
    return careful, constant + trials


def _small_terms(
    x: Any, shape1: Any, shape2: Any, log_x: Any = None, log1m_x: Any = None
) -> tuple[Any, ...]:
    if log_x is None:
        powers = xlogy(shape1 - 1.0, x) + xlog1py(shape2 - 1.0, -x)
    else:
        powers = weighted_log(shape1 - 1.0, log_x) + weighted_log(shape2 - 1.0, log1m_x)
    return powers, -betaln(shape1, shape2)


def draw(source: Source, shape1: Any, shape2: Any) -> Any:
    """Draw x / (x + y) with gamma numbers x and y.

    Their shapes are shape1 and shape2. The quotient is computed from the logarithms.
    """
    return jax.nn.sigmoid(log_gamma(source, shape1, 0, 2) - log_gamma(source, shape2, 1, 2))


@above_zero
def _tails(x: Any, shape1: Any, shape2: Any) -> Tails:
    return log_beta_tails(shape1, shape2, x, jnp.maximum(1.0 - x, 0.0))


def _quantile(log_below: Any, log_above: Any, shape1: Any, shape2: Any) -> Any:
    return continuous_quantile(_tails, UNIT_LINE, log_below, log_above, shape1, shape2)


def _moments(shape1: Any, shape2: Any) -> Moments:
    total = shape1 + shape2
    mean = shape1 / total
    return mean, mean * (shape2 / total) / (total + 1.0)


BETA = Family(
    "beta",
    (positive("shape1"), positive("shape2")),
    _terms,
    lambda shape1, shape2: powers(UNIT, shape1, shape2),
    forms={"x": (("log", "log1m"),)},
    small_terms=_small_terms,
    sizes=("shape1", "shape2"),
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


_MOMENTS = (
    "give shape1=mu * kappa, shape2=(1 - mu) * kappa; the precision kappa is "
    "mu * (1 - mu) / sigma**2 - 1 for a standard deviation sigma"
)
# Parameters of other libraries, with the advice for each.
ADVICE = dict.fromkeys(("mu", "mean", "sigma", "sd"), _MOMENTS) | dict.fromkeys(
    ("nu", "kappa", "phi", "precision"), "give shape1=mu * kappa, shape2=(1 - mu) * kappa"
)


@declared(
    BETA,
    draws="Beta numbers, with mean shape1 / (shape1 + shape2).",
    scipy="beta",
    aliases={"(mu * kappa, (1 - mu) * kappa)": "betaproportion"},
    advice=ADVICE,
    same={"shape1": "a alpha concentration1", "shape2": "b beta concentration0"},
)
def beta(shape1: Any, shape2: Any):
    """An unknown between 0 and 1 that follows a beta distribution.

        log p(x) = (shape1 - 1) log(x) + (shape2 - 1) log(1 - x) - log B(shape1, shape2)

    Parameters
    ----------
    shape1, shape2
        Both above zero; the mean is shape1 / (shape1 + shape2).

    Examples
    --------
    >>> import kinetograph as kg
    >>> p = kg.beta(2, 2, name="p")
    """
