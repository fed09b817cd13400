"""The geometric distribution of the failures before the first success."""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.deviance import weighted_log
from ..graph.numerics.special import log_expit
from .count_numbers import counts, double, uniforms
from .declaration import declared
from .family import Family
from .generator import WHOLE
from .moments import Moments
from .parameter import PROBABILITY_FORMS, probability
from .support import NATURALS, Interval
from .tails import Tails, by_survival, of_counts

__all__ = ["draw", "geometric"]

SMALLEST = 1e-17  # for smaller probabilities numbers may exceed 64 bits


def _terms(
    x: Any, prob: Any, logit_prob: Any = None, log_prob: Any = None, log1m_prob: Any = None
) -> tuple[Any, ...]:
    if logit_prob is not None:
        return weighted_log(x, log_expit(-logit_prob)), log_expit(logit_prob)
    if log_prob is not None:
        return weighted_log(x, log1m_prob), log_prob
    return x * jnp.log1p(-jnp.where(x == 0, 0.0, prob)), jnp.log(prob)


def draw(source: Source, prob: Any) -> Any:
    """Draw e / -log(1 - prob), rounded down.

    The number e is standard exponential.
    """
    prob = double(prob)
    valid = (prob >= SMALLEST) & (prob <= 1)
    safe = jnp.where(valid, prob, 1.0)
    number = jnp.log1p(-uniforms(source)[0]) / jnp.log1p(-safe)
    return counts(valid, jnp.floor(jnp.broadcast_to(number, source.shape)))


@of_counts
def _tails(x: Any, prob: Any) -> Tails:
    return by_survival((x + 1.0) * jnp.log1p(-prob))


def _quantile(log_below: Any, log_above: Any, prob: Any) -> Any:
    number = jnp.ceil(log_above / jnp.log1p(-prob)) - 1.0
    # If rounding errors decide about the quotient, compare the tails.
    less = jnp.maximum(number - 1.0, 0.0)
    below, above = _tails(less, prob)
    left = log_below <= log_above
    enough = jnp.where(left, below >= log_below, above <= log_above)
    return jnp.where(enough, less, jnp.maximum(number, 0.0))


def _moments(prob: Any) -> Moments:
    mean = (1.0 - prob) / prob
    return mean, mean / prob


GEOMETRIC = Family(
    "geometric",
    (replace(probability("prob"), drawn=Interval(SMALLEST, 1.0, closed=True)),),
    _terms,
    lambda prob: NATURALS,
    dtype=WHOLE,
    forms=PROBABILITY_FORMS,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    GEOMETRIC,
    draws="Numbers of failures before the first success.",
    scipy="geom",
    advice={
        "logits": "give prob=kg.ilogit(logits)",
        "p": (
            "give prob=p; counts begin at 0 here, and at 1 in PyMC and SciPy: observe y - 1 for "
            "such counts"
        ),
    },
    same={"prob": "probs"},
)
def geometric(prob: Any):
    """The number of failures before the first success.

        log p(x) = log(prob) + x log(1 - prob),  x = 0, 1, ...

    Parameters
    ----------
    prob
        The probability of success in one trial, above 0 and at most 1; the mean is 1 / prob - 1.
        Some libraries count the trials up to the first success instead, which is one more.

    Examples
    --------
    >>> import kinetograph as kg
    >>> p = kg.beta(1, 1, name="p")
    >>> likelihood = kg.observe(kg.data([3, 0, 7]), kg.geometric(p))
    """
