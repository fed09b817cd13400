"""The binomial distribution, parametrised by probability or by log odds."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import xlog1py

from ..bits.rejection import first_accepted
from ..bits.source import Source
from ..graph.node import Node
from ..graph.numerics.deviance import log_binomial, weighted_log, weighted_log_expit
from ..graph.numerics.gammas import gammaln
from ..graph.numerics.incomplete import log_beta_tails
from ..graph.numerics.special import expit, log_expit
from ..graph.source import place_text
from .count_numbers import (
    SEARCH,
    deviance,
    double,
    log_factorial_rest,
    search,
    transformed,
)
from .declaration import Chosen, declared
from .family import Family
from .generator import WHOLE
from .inversion import whole_quantile
from .moments import Moments
from .parameter import PROBABILITY_FORMS, Parameter, probability, whole
from .support import Support, WholeNumbers
from .tails import Tails, of_counts
from .uniform import known_bound

__all__ = ["binomial", "draw", "draw_by_logit"]


def _log_choose(n: Any, k: Any) -> Any:
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def _support(size: Node, parameter: Node) -> Support:
    return WholeNumbers(0, known_bound(size))


def _prob_terms(
    x: Any,
    size: Any,
    prob: Any,
    logit_prob: Any = None,
    log_prob: Any = None,
    log1m_prob: Any = None,
) -> tuple[Any, ...]:
    if logit_prob is not None:
        return _logit_terms(x, size, logit_prob)
    return log_binomial(x, size - x, prob, 1.0 - prob, log_prob, log1m_prob)


def _small_prob_terms(
    x: Any,
    size: Any,
    prob: Any,
    logit_prob: Any = None,
    log_prob: Any = None,
    log1m_prob: Any = None,
) -> tuple[Any, ...]:
    if logit_prob is not None:
        return _small_logit_terms(x, size, logit_prob)
    if log_prob is None:
        log_prob = jnp.log(jnp.where(x == 0, 1.0, prob))
        log1m_prob = jnp.log1p(-jnp.where(x == size, 0.0, prob))
    successes, failures = weighted_log(x, log_prob), weighted_log(size - x, log1m_prob)
    return successes + failures, _log_choose(size, x)


def _logit_terms(x: Any, size: Any, logit: Any) -> tuple[Any, ...]:
    log_p, log_q = log_expit(logit), log_expit(-logit)
    return log_binomial(x, size - x, None, None, log_p, log_q)


def _small_logit_terms(x: Any, size: Any, logit: Any) -> tuple[Any, ...]:
    return weighted_log_expit(x, size - x, logit), _log_choose(size, x)


def draw(source: Source, size: Any, prob: Any) -> Any:
    """Draw numbers of successes.

    P(k) = C(size, k) prob**k (1 - prob)**(size - k). For prob > 1/2 the failures are counted. The
    method is sequential search if the mean is below 10, else Hoermann's transformed rejection BTRS.
    Source: W. Hoermann, The generation of binomial random variates, Journal of Statistical
    Computation and Simulation 46 (1993) 101-110.
    """
    trials = jnp.asarray(size).astype(np.int64)
    size, p = trials.astype(np.float64), double(prob)
    valid = (size >= 0) & (p >= 0) & (p <= 1)
    mirrored = p > 0.5
    p = jnp.where(mirrored, 1 - p, p)
    few = valid & (size * p < SEARCH)
    n_few, p_few = jnp.where(few, size, 0.0), jnp.where(few, p, 0.0)
    odds = p_few / (1 - p_few)
    none = jnp.exp(xlog1py(n_few, -p_few))
    searched = search(
        source, few, none, lambda k: (n_few - k) / (k + 1) * odds, jnp.minimum(n_few, n_few * p_few)
    )

    many = valid & ~few
    size, p = jnp.where(many, size, 40.0), jnp.where(many, p, 0.5)

    def log_probability(k: Any, size: Any, p: Any) -> Any:
        # Up to a term that does not depend on k.
        spread = deviance(k, size * p) + deviance(size - k, size * (1 - p))
        return -spread - log_factorial_rest(k) - log_factorial_rest(size - k)

    top = log_probability(jnp.floor((size + 1) * p), size, p)

    def proposal(source: Source, attempt: Any, size: Any, p: Any) -> tuple[Any, ...]:
        u, v, edge = transformed(source, attempt)
        deviation = jnp.sqrt(size * p * (1 - p))
        b = 1.15 + 2.53 * deviation
        a = -0.0873 + 0.0248 * b + 0.01 * p
        k = jnp.floor((2 * a / edge + b) * u + size * p + 0.5)
        return k, (k >= 0) & (k <= size), v, edge, a, b, deviation

    def sure(source: Source, attempt: Any, size: Any, p: Any, _: Any) -> tuple[Any, Any]:
        k, inside, v, edge, _, b, _ = proposal(source, attempt, size, p)
        return k, inside & (edge >= 0.07) & (v <= 0.92 - 4.2 / b)

    def propose(source: Source, attempt: Any, size: Any, p: Any, top: Any) -> tuple[Any, Any]:
        k, inside, v, edge, a, b, deviation = proposal(source, attempt, size, p)
        k = jnp.clip(k, 0, size)
        alpha = (2.83 + 5.1 / b) * deviation
        height = jnp.log(v * alpha / (a / (edge * edge) + b))
        return k, inside & (height <= log_probability(k, size, p) - top)

    large = first_accepted(source, propose, [size, p, top], many, np.float64(0), sure)
    count = jnp.minimum(jnp.where(few, searched, large).astype(np.int64), trials)
    return jnp.where(valid, jnp.where(mirrored, trials - count, count), -1)


def draw_by_logit(source: Source, size: Any, logit: Any) -> Any:
    return draw(source, size, jax.nn.sigmoid(double(logit)))


SIZE = whole("size")


def _tails(x: Any, size: Any, prob: Any) -> Tails:
    return _tails_of(x, size, prob, 1.0 - prob)


def _logit_tails(x: Any, size: Any, logit: Any) -> Tails:
    return _tails_of(x, size, expit(logit), expit(-logit))


@of_counts
def _tails_of(x: Any, size: Any, p: Any, q: Any) -> Tails:
    all_ = x >= size
    below, above = log_beta_tails(jnp.where(all_, 1.0, size - x), x + 1.0, q, p)
    return jnp.where(all_, 0.0, below), jnp.where(all_, -jnp.inf, above)


def _quantile(log_below: Any, log_above: Any, size: Any, prob: Any) -> Any:
    return whole_quantile(_tails, log_below, log_above, size, prob, high=size)


def _logit_quantile(log_below: Any, log_above: Any, size: Any, logit: Any) -> Any:
    return whole_quantile(_logit_tails, log_below, log_above, size, logit, high=size)


def _moments(size: Any, prob: Any) -> Moments:
    mean = size * prob
    return mean, mean * (1.0 - prob)


def _moments_by_logit(size: Any, logit: Any) -> Moments:
    mean = size * expit(logit)
    return mean, mean * expit(-logit)


BINOMIAL = Family(
    "binomial",
    (SIZE, probability("prob")),
    _prob_terms,
    _support,
    dtype=WHOLE,
    forms=PROBABILITY_FORMS,
    small_terms=_small_prob_terms,
    sizes=("size",),
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)
BINOMIAL_LOGIT = Family(
    "binomial_logit",
    (SIZE, Parameter("logit")),
    _logit_terms,
    _support,
    dtype=WHOLE,
    small_terms=_small_logit_terms,
    sizes=("size",),
    draw=draw_by_logit,
    tails=_logit_tails,
    quantile=_logit_quantile,
    moments=_moments_by_logit,
)


@declared(
    BINOMIAL,
    scipy="binom",
    aliases={"(size, logit=...)": "binomiallogit binomiallogits"},
    same={"size": "N n total_count", "prob": "p probs theta", "logit": "logit_p logits"},
)
def binomial(size: Any, prob: Any = None, *, logit: Any = None) -> Chosen:
    """The number of successes in `size` independent trials.

        log p(x) = log C(size, x) + x log(prob) + (size - x) log(1 - prob),  x = 0 .. size

    Parameters
    ----------
    size
        The number of trials, a whole number.
    prob
        The probability of success, from 0 to 1.
    logit
        Instead of `prob`: the log odds, any real number.

    Raises
    ------
    ValueError
        If `size` is not a whole number or `prob` is known and not between 0 and 1.
    TypeError
        If not exactly one of `prob` and `logit` is given.

    Examples
    --------
    >>> import kinetograph as kg
    >>> p = kg.beta(1, 1, name="p")
    >>> y = kg.data([3, 5, 2])
    >>> likelihood = kg.observe(y, kg.binomial(10, p))
    """
    if (prob is None) == (logit is None):
        raise TypeError(f"binomial: give one of prob= and logit={place_text()}")
    family, argument = (BINOMIAL, prob) if logit is None else (BINOMIAL_LOGIT, logit)
    return Chosen(family, (size, argument))
