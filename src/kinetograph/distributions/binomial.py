"""The binomial distribution of the number of successes, by probability or by log odds."""

from typing import Any

import jax.numpy as jnp

from ..graph.array import Array
from ..graph.gammas import gammaln
from ..graph.node import Data, Node
from ..graph.special import log_expit
from .deviance import log_binomial, weighted_log, weighted_log_expit
from .family import PROBABILITY_FORMS, Family, Parameter, distribute, probability
from .support import NATURALS, Support, WholeNumbers

__all__ = ["binomial"]


def _log_choose(n: Any, k: Any) -> Any:
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def _support(size: Node, parameter: Node) -> Support:
    return WholeNumbers(0, size.value if isinstance(size, Data) else size)


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


SIZE = Parameter("size", NATURALS, integer=True)
BINOMIAL = Family(
    "binomial",
    (SIZE, probability("prob")),
    _prob_terms,
    _support,
    discrete=True,
    forms=PROBABILITY_FORMS,
    small_terms=_small_prob_terms,
    sizes=("size",),
)
BINOMIAL_LOGIT = Family(
    "binomial_logit",
    (SIZE, Parameter("logit")),
    _logit_terms,
    _support,
    discrete=True,
    small_terms=_small_logit_terms,
    sizes=("size",),
)


def binomial(
    size: Any,
    prob: Any = None,
    *,
    logit: Any = None,
    shape: Any = None,
    dims: Any = None,
    name: str | None = None,
) -> Array:
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
    shape, dims, name
        Shape of the counts (default: the parameters'), names of its axes, name in the results.

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
        raise TypeError("binomial: give one of prob= and logit=")
    family, argument = (BINOMIAL, prob) if logit is None else (BINOMIAL_LOGIT, logit)
    return distribute(family, (size, argument), shape=shape, dims=dims, name=name)
