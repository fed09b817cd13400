"""Hurdle negative binomial counts: 0, or a negative binomial count above 0."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.special import log1mexp
from .count_numbers import double, uniforms
from .declaration import Chosen, declared
from .gamma_numbers import log_gamma
from .negative_binomial import ADVICE, NEGATIVE_BINOMIAL, two_of
from .negative_binomial_mean import NEGATIVE_BINOMIAL_MEAN
from .parameter import Parameter, positive
from .poisson import draw as draw_poisson
from .support import UNIT
from .zeros import SHARE, hurdle

__all__ = ["hurdle_negative_binomial"]


def _draw_positive(source: Source, size: Any, log_prob: Any, valid: Any) -> Any:
    """Draw a negative binomial count, given that it is above 0.

    The number of events of a Polya process in a unit of time is negative binomial. The result is 1
    plus the number of events after the first one. That number is negative binomial as well, with
    size + 1 and prob / survival**(1 / size), where survival is the probability that the first event
    comes later.
    """
    size, log_prob = jnp.where(valid, size, 1.0), jnp.where(valid, log_prob, -1.0)
    log_survival = jnp.log1p(uniforms(source)[0] * jnp.expm1(size * log_prob))
    log_rest = jnp.minimum(log_prob - log_survival / size, -1e-300)
    log_g = log_gamma(source.part(0, jnp.float64), size + 1.0)
    rate = jnp.exp(log_g + log1mexp(-log_rest) - log_rest)
    return jnp.where(valid, draw_poisson(source.part(1), rate) + 1, -1)


def _draw_by_prob(source: Source, size: Any, prob: Any) -> Any:
    size, prob = double(size), double(prob)
    valid = (size > 0) & jnp.isfinite(size) & (prob > 0) & (prob < 1)
    return _draw_positive(source, size, jnp.log(prob), valid)


def _draw_by_mean(source: Source, mean: Any, dispersion: Any) -> Any:
    mean, dispersion = double(mean), double(dispersion)
    valid = (mean > 0) & jnp.isfinite(mean) & (dispersion > 0) & jnp.isfinite(1 / dispersion)
    return _draw_positive(source, 1 / dispersion, -jnp.log1p(mean * dispersion), valid)


HURDLE_NEGATIVE_BINOMIAL = hurdle(
    "hurdle_negative_binomial",
    NEGATIVE_BINOMIAL,
    (positive("size"), Parameter("prob", UNIT)),
    _draw_by_prob,
)
HURDLE_NEGATIVE_BINOMIAL_MEAN = hurdle(
    "hurdle_negative_binomial_mean",
    NEGATIVE_BINOMIAL_MEAN,
    NEGATIVE_BINOMIAL_MEAN.parameters,
    _draw_by_mean,
)


@declared(
    HURDLE_NEGATIVE_BINOMIAL,
    draws="""A share `zero` of 0, and negative binomial numbers above 0.

    See `negative_binomial` for the parameters.
    """,
    advice=SHARE | ADVICE,
    same={"size": "alpha concentration n phi total_count", "prob": "p", "mean": "mu"},
)
def hurdle_negative_binomial(
    zero: Any,
    size: Any = None,
    prob: Any = None,
    *,
    mean: Any = None,
    log_mean: Any = None,
    dispersion: Any = None,
) -> Chosen:
    """Counts that are 0 or negative binomial numbers above 0.

        log p(0) = log(zero)
        log p(x) = log(1 - zero) + log f(x) - log(1 - f(0)),  x = 1, 2, ...,

        with f the density of `kg.negative_binomial`.

    Parameters
    ----------
    zero
        The probability of 0, from 0 to 1.
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
    >>> distribution = kg.hurdle_negative_binomial(zero, mean=3.0, dispersion=0.5)
    >>> likelihood = kg.observe([0, 0, 4], distribution)
    """
    by_mean, parameters = two_of("hurdle_negative_binomial", size, prob, mean, log_mean, dispersion)
    family = HURDLE_NEGATIVE_BINOMIAL_MEAN if by_mean else HURDLE_NEGATIVE_BINOMIAL
    return Chosen(family, (zero, *parameters))
