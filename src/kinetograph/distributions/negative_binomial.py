"""The negative binomial distribution of counts."""

from dataclasses import replace
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..bits.source import Source
from ..graph.array import Array
from ..graph.functions.mathematics import exp
from ..graph.node import Data
from ..graph.numerics.deviance import log_binomial, weighted_log, weighted_log_expit
from ..graph.numerics.gammas import gammaln, log_rising
from ..graph.numerics.incomplete import log_beta_tails
from ..graph.numerics.special import divide, log_expit
from ..graph.operations.operands import as_node
from ..graph.source import place_text
from .count_numbers import double
from .declaration import Chosen, declared
from .family import Family
from .gamma_numbers import log_gamma
from .generator import WHOLE
from .inversion import whole_quantile
from .moments import Moments
from .negative_binomial_mean import NEGATIVE_BINOMIAL_MEAN
from .parameter import PROBABILITY_FORMS, positive, probability
from .poisson import draw as draw_poisson
from .support import NATURALS, Interval
from .tails import Tails, of_counts

__all__ = ["ADVICE", "draw", "negative_binomial", "two_of"]


def _logs(x: Any, prob: Any, forms: dict[str, Any]) -> tuple[Any, Any]:
    """The logarithms of the probabilities of success and of failure."""
    if "logit_prob" in forms:
        logit = forms["logit_prob"]
        return log_expit(logit), log_expit(-logit)
    if "log_prob" in forms:
        return forms["log_prob"], forms["log1m_prob"]
    return jnp.log(prob), jnp.log1p(-jnp.where(x == 0, 0.0, prob))


def _terms(x: Any, size: Any, prob: Any, **forms: Any) -> tuple[Any, ...]:
    log_p, log_q = _logs(x, prob, forms) if forms else (None, None)
    density, constant = log_binomial(size, x, prob, 1.0 - prob, log_p, log_q)
    # The last of the x + size trials is a success.
    return (density + constant - jnp.log1p(divide(x, size)),)


def _small_terms(x: Any, size: Any, prob: Any, **forms: Any) -> tuple[Any, ...]:
    # For Poisson counts an unknown size is bounded by its prior only, and may become huge.
    counts = log_rising(size, x) - gammaln(x + 1.0)
    if "logit_prob" in forms:
        return (counts + weighted_log_expit(size, x, forms["logit_prob"]),)
    log_p, log_q = _logs(x, prob, forms)
    return counts + size * log_p, weighted_log(x, log_q)


def draw(source: Source, size: Any, prob: Any) -> Any:
    """Draw a Poisson number with a random rate.

    The rate is g (1 - prob) / prob, where g is a gamma number of shape `size`.
    """
    size, prob = double(size), double(prob)
    valid = (size > 0) & jnp.isfinite(size) & (prob > 0) & (prob <= 1)
    log_g = log_gamma(source.part(0, np.float64), jnp.where(valid, size, 1.0))
    rate = jnp.exp(log_g + jnp.log1p(-prob) - jnp.log(prob))
    return draw_poisson(source.part(1), jnp.where(valid, rate, -1.0))


@of_counts
def _tails(x: Any, size: Any, prob: Any) -> Tails:
    return log_beta_tails(size, x + 1.0, prob, 1.0 - prob)


def _moments(size: Any, prob: Any) -> Moments:
    mean = size * ((1.0 - prob) / prob)
    return mean, mean / prob


NEGATIVE_BINOMIAL = Family(
    "negative_binomial",
    (
        positive("size"),
        replace(probability("prob"), drawn=Interval(0.0, 1.0, (False, True))),
    ),
    _terms,
    lambda size, prob: NATURALS,
    dtype=WHOLE,
    forms=PROBABILITY_FORMS,
    small_terms=_small_terms,
    sizes=("x", "size"),
    draw=draw,
    tails=_tails,
    quantile=partial(whole_quantile, _tails),
    moments=_moments,
)


def two_of(
    name: str, size: Any, prob: Any, mean: Any, log_mean: Any, dispersion: Any
) -> tuple[bool, tuple[Any, Any]]:
    """Whether the distribution is given by its mean, and its two parameters.

    Raises
    ------
    TypeError
        If the given parameters do not determine the distribution, or are too many.
    ValueError
        If the mean is given, and `size` is known and not positive.
    """
    words = ("size", "prob", "mean", "log_mean", "dispersion")
    values = (size, prob, mean, log_mean, dispersion)
    given = {word for word, value in zip(words, values, strict=True) if value is not None}
    if given == {"size", "prob"}:
        return False, (size, prob)
    if len(given) != 2 or len(given & {"mean", "log_mean"}) != 1 or "prob" in given:
        raise TypeError(
            f"{name}: give size= and prob=, or mean= or log_mean= and one of size= and "
            f"dispersion={place_text()}"
        )
    if dispersion is None:
        dispersion = _inverse(name, size)
    return True, (mean if log_mean is None else exp(log_mean), dispersion)


def _inverse(name: str, size: Any) -> Any:
    """The dispersion 1 / size."""
    node = as_node(size, f"{name}: size")
    sized = (positive("size"),)
    replace(NEGATIVE_BINOMIAL, name=name, parameters=sized).check_values((node,))
    return 1.0 / node.value if isinstance(node, Data) and node.literal else 1.0 / Array(node)


# Parameters of other libraries, for all negative binomial families.
ADVICE = {
    **{word: f"give prob={word} / ({word} + 1)" for word in ("beta", "rate")},
    "probs": "give prob=1 - probs: prob is the probability of a success, which ends the failures",
    "logits": (
        "give prob=kg.ilogit(-logits): prob is the probability of a success, which ends the "
        "failures"
    ),
}


@declared(
    NEGATIVE_BINOMIAL,
    draws="""Numbers of failures before `size` successes; or by mean and dispersion.

    The variance is mean + dispersion mean**2, as for `kg.negative_binomial`.
    """,
    scipy="nbinom",
    aliases={
        "": "nbinom negbinomial",
        "(log_mean=..., size=phi)": "negbinomial2log",
        "(mean=..., size=phi)": "negativebinomial2 negbinomial2",
        "(size=alpha, prob=beta / (beta + 1))": "gammapoisson",
    },
    advice=ADVICE,
    same={"size": "alpha concentration n phi total_count", "prob": "p", "mean": "mu"},
)
def negative_binomial(
    size: Any = None,
    prob: Any = None,
    *,
    mean: Any = None,
    log_mean: Any = None,
    dispersion: Any = None,
) -> Chosen:
    """The number of failures before `size` successes.

    It is also parametrised by its mean and dispersion.

        log p(x) = log Gamma(x + size) - log Gamma(size) - log(x!)
                   + size log(prob) + x log(1 - prob),  x = 0, 1, ...

    Parameters
    ----------
    size
        The number of successes, above zero; it need not be whole. It is `phi` of Stan's
        neg_binomial_2 and `alpha` of PyMC, and the inverse of the dispersion.
    prob
        The probability of success in one trial.
    mean
        Instead of `prob`: the mean, above zero; prob = size / (size + mean), and the variance is
        mean + mean**2 / size.
    dispersion
        Instead of `size`, with the mean: 1 / size, above zero. The variance is
        mean + dispersion mean**2, so that a small dispersion is close to a Poisson distribution.
    log_mean
        Instead of `mean`: its logarithm. A mean that is a result of `kg.exp` is as exact.

    Raises
    ------
    ValueError
        If `size`, `mean` or `dispersion` is known and not positive, or `prob` known and not
        between 0 and 1.
    TypeError
        If neither size and prob, nor size or dispersion and one of mean and log_mean are given.

    Examples
    --------
    >>> import kinetograph as kg
    >>> p = kg.beta(1, 1, name="p")
    >>> y = kg.data([3, 0, 7])
    >>> likelihood = kg.observe(y, kg.negative_binomial(2.0, p))
    >>> log_mean = kg.normal(0, 1, name="log_mean")
    >>> by_mean = kg.negative_binomial(log_mean=log_mean, dispersion=0.5)
    >>> the_same = kg.negative_binomial(log_mean=log_mean, phi=2.0)
    """
    by_mean, parameters = two_of("negative_binomial", size, prob, mean, log_mean, dispersion)
    family = NEGATIVE_BINOMIAL_MEAN if by_mean else NEGATIVE_BINOMIAL
    return Chosen(family, parameters)
