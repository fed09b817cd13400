"""The Bernoulli distribution of one trial, by probability or by log odds."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from ..bits.source import Source
from ..graph.numerics.deviance import weighted_log
from ..graph.numerics.gaussian import log_ndtr
from ..graph.numerics.special import expit, softplus
from ..graph.source import place_text
from .count_numbers import double, uniforms
from .declaration import Chosen, declared
from .family import Family
from .moments import Moments
from .parameter import Parameter, probability
from .support import Support, WholeNumbers
from .tails import Tails, of_counts

__all__ = ["bernoulli", "draw", "draw_by_logit"]

# The product of this many factors in [1, 2] cannot overflow in float32 (2**100 < 3.4e38).
_FACTORS = 100
TRUTH = np.dtype(np.bool_)


def _binary(parameter: Any) -> Support:
    return WholeNumbers(0, 1)


def _prob_terms(
    x: Any,
    prob: Any,
    logit_prob: Any = None,
    probit_prob: Any = None,
    log_prob: Any = None,
    log1m_prob: Any = None,
) -> tuple[Any, ...]:
    if logit_prob is not None:
        return _logit_terms(x, logit_prob)
    if probit_prob is not None:
        return (log_ndtr((2.0 * x - 1.0) * probit_prob),)
    if log_prob is None:
        # The unused logarithm gets a constant, so that it has no derivative by the probability.
        log_prob = jnp.log(jnp.where(x == 0, 1.0, prob))
        log1m_prob = jnp.log1p(-jnp.where(x == 1, 0.0, prob))
    return (weighted_log(x, log_prob) + weighted_log(1.0 - x, log1m_prob),)


def _prob_total(x: Any, prob: Any, logit_prob: Any = None, **forms: Any) -> Any:
    return None if logit_prob is None else _logit_total(x, logit_prob)


def _logit_terms(x: Any, logit: Any) -> tuple[Any, ...]:
    return (-softplus((1.0 - 2.0 * x) * logit),)


def _sum_log1p_exp(logit: Any) -> Any:
    """The sum of log(1 + exp(-|logit|)), with one logarithm per `_FACTORS` elements.

    The sum of logarithms is the logarithm of a product of factors in [1, 2].
    """
    flat = logit.reshape(-1)
    factors = 1.0 + jnp.exp(-jnp.where(flat >= 0, flat, -flat))
    rows = -(-flat.size // _FACTORS)
    padded = jnp.pad(factors, (0, rows * _FACTORS - flat.size), constant_values=1.0)
    # The factors of one product are one row apart, so that all products run in parallel.
    return jnp.sum(jnp.log(jnp.prod(padded.reshape(_FACTORS, rows), axis=0)))


def _copies(x: Any, logit: Any) -> int:
    """The number of x that share an element of the log odds."""
    return math.prod(jnp.broadcast_shapes(x.shape, logit.shape)) // max(1, logit.size)


@jax.custom_jvp
def _logit_total(x: Any, logit: Any) -> Any:
    """The sum of the log densities of all elements of x.

    One element has -log(1 + exp(t)) with t = (1 - 2 x) logit, and

    log(1 + exp(t)) = max(t, 0) + log(1 + exp(-|t|)), also for infinite t.
    """
    wrong = jnp.sum(jnp.maximum((1.0 - 2.0 * x) * logit, 0.0))
    return -wrong - _copies(x, logit) * _sum_log1p_exp(logit)


def _logit_total_jvp(primals: Any, tangents: Any) -> Any:
    (x, logit), (of_x, of_logit) = primals, tangents
    total = jnp.zeros((), logit.dtype)
    if not isinstance(of_logit, SymbolicZero):
        # Not abs: the derivative at 0 must be one-sided.
        e = jnp.exp(-jnp.where(logit >= 0, logit, -logit))
        sigmoid = jnp.where(logit >= 0, 1.0, e) / (1.0 + e)
        total = jnp.sum(x * of_logit) - _copies(x, logit) * jnp.sum(sigmoid * of_logit)
    if not isinstance(of_x, SymbolicZero):
        total = total + jnp.sum(logit * of_x)
    return _logit_total(x, logit), total


_logit_total.defjvp(_logit_total_jvp, symbolic_zeros=True)


def draw(source: Source, prob: Any) -> Any:
    """Draw u < prob with a uniform u in [0, 1).

    It is never true for prob = 0 and always true for prob = 1.
    """
    prob = double(prob)
    return jnp.broadcast_to((uniforms(source)[0] < prob) & (prob <= 1), source.shape)


def draw_by_logit(source: Source, logit: Any) -> Any:
    return draw(source, jax.nn.sigmoid(double(logit)))


@of_counts
def _tails(x: Any, prob: Any) -> Tails:
    one = x >= 1
    inside = jnp.where(one, 0.5, prob)
    below, above = jnp.log1p(-inside), jnp.log(inside)
    return jnp.where(one, 0.0, below), jnp.where(one, -jnp.inf, above)


@of_counts
def _logit_tails(x: Any, logit: Any) -> Tails:
    one = x >= 1
    below, above = -softplus(logit), -softplus(-logit)
    return jnp.where(one, 0.0, below), jnp.where(one, -jnp.inf, above)


def _quantile(log_below: Any, log_above: Any, prob: Any) -> Any:
    return jnp.where(log_below > jnp.log1p(-prob), 1.0, 0.0)


def _quantile_by_logit(log_below: Any, log_above: Any, logit: Any) -> Any:
    return jnp.where(log_below > -softplus(logit), 1.0, 0.0)


def _moments(prob: Any) -> Moments:
    return prob, prob * (1.0 - prob)


def _moments_by_logit(logit: Any) -> Moments:
    prob = expit(logit)
    return prob, prob * expit(-logit)


BERNOULLI = Family(
    "bernoulli",
    (probability("prob"),),
    _prob_terms,
    _binary,
    dtype=TRUTH,
    total=_prob_total,
    forms={"prob": (("logit",), ("probit",), ("log", "log1m"))},
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)
BERNOULLI_LOGIT = Family(
    "bernoulli_logit",
    (Parameter("logit"),),
    _logit_terms,
    _binary,
    dtype=TRUTH,
    total=_logit_total,
    draw=draw_by_logit,
    tails=_logit_tails,
    quantile=_quantile_by_logit,
    moments=_moments_by_logit,
)


@declared(
    BERNOULLI,
    scipy="bernoulli",
    aliases={"(logit=...)": "bernoullilogit bernoullilogitglm bernoullilogits"},
    same={"prob": "p probs theta", "logit": "logit_p logits"},
)
def bernoulli(prob: Any = None, *, logit: Any = None) -> Chosen:
    """The outcome, 0 or 1, of one trial.

        log p(x) = x log(prob) + (1 - x) log(1 - prob)
                 = x logit - log(1 + exp(logit))

    Parameters
    ----------
    prob
        The probability of 1, from 0 to 1. If it is the result of an inverse link (`kg.ilogit`,
        `kg.iprobit`, `kg.icloglog`, `kg.icauchit`), the density is computed from the linear
        predictor and is as exact as with `logit`.
    logit
        Instead of `prob`: the log odds log(prob / (1 - prob)), any real number. Exact where the
        probability would round to 0 or 1.

    Raises
    ------
    TypeError
        If not exactly one of `prob` and `logit` is given.

    Examples
    --------
    >>> import kinetograph as kg
    >>> y = kg.data([0, 1, 1])
    >>> a = kg.normal(0, 1, name="a")
    >>> likelihood = kg.observe(y, kg.bernoulli(logit=a))
    """
    if (prob is None) == (logit is None):
        raise TypeError(f"bernoulli: give one of prob= and logit={place_text()}")
    family, argument = (BERNOULLI, prob) if logit is None else (BERNOULLI_LOGIT, logit)
    return Chosen(family, (argument,))
