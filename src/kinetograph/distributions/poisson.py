"""The Poisson distribution of counts, by rate or by log rate."""

from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..bits.rejection import first_accepted
from ..bits.source import Source
from ..graph.functions.mathematics import exp
from ..graph.numerics.derivative_rules import partials
from ..graph.numerics.deviance import deviance_of_log, log_peak
from ..graph.numerics.gammas import bd0, gammaln
from ..graph.numerics.incomplete import log_gamma_tails
from ..graph.source import place_text
from .count_numbers import (
    SEARCH,
    counts,
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
from .parameter import Parameter
from .support import NATURALS, NONNEGATIVE, Interval
from .tails import Tails, between, of_counts, turned

__all__ = ["draw", "draw_by_log_rate", "poisson", "rate_of"]

LARGEST_RATE = 1e18  # larger numbers may exceed 64 bits


def _rate_terms(x: Any, rate: Any, log_rate: Any = None) -> tuple[Any, ...]:
    if log_rate is not None:
        return _log_rate_terms(x, log_rate)
    return -bd0(x, rate), log_peak(x)


def _small_rate_terms(x: Any, rate: Any, log_rate: Any = None) -> tuple[Any, ...]:
    if log_rate is not None:
        return _small_log_rate_terms(x, log_rate)
    finite = jnp.minimum(rate, float(jnp.finfo(rate.dtype).max))
    return x * jnp.log(jnp.where(x == 0, 1.0, finite)) - rate, -gammaln(x + 1.0)


def _log_rate_terms(x: Any, log_rate: Any) -> tuple[Any, ...]:
    return -deviance_of_log(x, log_rate), log_peak(x)


def _small_log_rate_terms(x: Any, log_rate: Any) -> tuple[Any, ...]:
    return _counted(x, log_rate) - jnp.exp(log_rate), -gammaln(x + 1.0)


@partials(lambda x, log_rate: jnp.where(x == 0, 0.0, log_rate), lambda x, log_rate: x)
def _counted(x: Any, log_rate: Any) -> Any:
    """The product x log_rate for counts x.

    It is 0 at x = 0 even for a rate of 0, and finite if the rate overflows. The result -inf arises
    by overflow in a product, because XLA sums products faster than selections.
    """
    least = float(jnp.finfo(log_rate.dtype).min)
    return 2.0**40 * (x * jnp.clip(2.0**-40 * log_rate, least, 1.0))


def draw(source: Source, rate: Any) -> Any:
    """Draw Poisson numbers, P(k) = rate**k exp(-rate) / k!.

    Sequential search below a rate of 10, else Hoermann's transformed rejection PTRS. Source: W.
    Hoermann, The transformed rejection method for generating Poisson random variables, Insurance:
    Mathematics and Economics 12 (1993) 39-45.
    """
    rate = double(rate)
    valid = (rate >= 0) & (rate <= LARGEST_RATE)
    few = valid & (rate < SEARCH)
    small = jnp.where(few, rate, 0.0)
    searched = search(source, few, jnp.exp(-small), lambda k: small / (k + 1), small)

    many = valid & ~few
    rate = jnp.where(many, rate, SEARCH)

    def proposal(source: Source, attempt: Any, rate: Any) -> tuple[Any, ...]:
        u, v, edge = transformed(source, attempt)
        b = 0.931 + 2.53 * jnp.sqrt(rate)
        a = -0.059 + 0.02483 * b
        return jnp.floor((2 * a / edge + b) * u + rate + 0.43), v, edge, a, b

    def sure(source: Source, attempt: Any, rate: Any) -> tuple[Any, Any]:
        k, v, edge, _, b = proposal(source, attempt, rate)
        return k, (k >= 0) & (edge >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))

    def propose(source: Source, attempt: Any, rate: Any) -> tuple[Any, Any]:
        k, v, edge, a, b = proposal(source, attempt, rate)
        inside = (k >= 0) & ((edge >= 0.013) | (v <= edge))
        k = jnp.maximum(k, 0)
        inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
        height = jnp.log(v * inverse_alpha / (a / (edge * edge) + b))
        return k, inside & (height <= -deviance(k, rate) - log_factorial_rest(k))

    large = first_accepted(source, propose, [rate], many, np.float64(0), sure)
    return counts(valid, jnp.where(few, searched, large))


def draw_by_log_rate(source: Source, log_rate: Any) -> Any:
    return draw(source, jnp.exp(double(log_rate)))


@of_counts
def _tails(x: Any, rate: Any) -> Tails:
    return turned(log_gamma_tails(x + 1.0, rate))


def _log_rate_tails(x: Any, log_rate: Any) -> Tails:
    return _tails(x, jnp.exp(log_rate))


def _moments(rate: Any) -> Moments:
    return rate, rate


def _log_rate_moments(log_rate: Any) -> Moments:
    rate = jnp.exp(log_rate)
    return rate, rate


def _truncated_moments(lower: Any, upper: Any, rate: Any) -> Moments:
    """The moments between two bounds, from factorial moments.

    E[X (X - 1) ...] with k factors is rate**k p_k / p_0, p_k = P(lower - k <= X <= upper - k).
    """

    def log_share(k: int) -> Any:
        nowhere = jnp.full_like(rate, -jnp.inf), jnp.zeros_like(rate)
        low = nowhere if lower is None else _tails(lower - (k + 1.0), rate)
        high = turned(nowhere) if upper is None else _tails(upper - k, rate)
        return between(low, high)

    whole = log_share(0)
    mean = rate * jnp.exp(log_share(1) - whole)
    return mean, rate * rate * jnp.exp(log_share(2) - whole) - mean * (mean - 1.0)


def _truncated_log_moments(lower: Any, upper: Any, log_rate: Any) -> Moments:
    return _truncated_moments(lower, upper, jnp.exp(log_rate))


POISSON = Family(
    "poisson",
    (
        Parameter(
            "rate",
            NONNEGATIVE,
            drawn=Interval(0.0, LARGEST_RATE, closed=True),
        ),
    ),
    _rate_terms,
    lambda rate: NATURALS,
    dtype=WHOLE,
    forms={"rate": (("log",),)},
    small_terms=_small_rate_terms,
    sizes=("x",),
    draw=draw,
    tails=_tails,
    quantile=partial(whole_quantile, _tails),
    moments=_moments,
    truncated_moments=_truncated_moments,
)
POISSON_LOG = Family(
    "poisson_log_rate",
    (Parameter("log_rate"),),
    _log_rate_terms,
    lambda log_rate: NATURALS,
    dtype=WHOLE,
    small_terms=_small_log_rate_terms,
    sizes=("x",),
    draw=draw_by_log_rate,
    tails=_log_rate_tails,
    quantile=partial(whole_quantile, _log_rate_tails),
    moments=_log_rate_moments,
    truncated_moments=_truncated_log_moments,
)


def _check_one(name: str, rate: Any, log_rate: Any) -> None:
    if (rate is None) == (log_rate is None):
        raise TypeError(f"{name}: give one of rate= and log_rate={place_text()}")


def rate_of(name: str, rate: Any, log_rate: Any) -> Any:
    """The rate of a family that is made of Poisson counts.

    Densities read the log rate, which they find above its exponential.

    Raises
    ------
    TypeError
        If not exactly one of `rate` and `log_rate` is given.
    """
    _check_one(name, rate, log_rate)
    return rate if log_rate is None else exp(log_rate)


@declared(
    POISSON,
    scipy="poisson",
    aliases={"(log_rate=...)": "poissonlog poissonlogglm"},
    same={"rate": "lam mu"},
)
def poisson(rate: Any = None, *, log_rate: Any = None) -> Chosen:
    """The number of independent events.

        log p(x) = x log(rate) - rate - log(x!),  x = 0, 1, ...

    Parameters
    ----------
    rate
        The expected number, not negative. If it is a result of `kg.exp`, possibly times an
        exposure, it is as exact as with `log_rate`.
    log_rate
        Instead of `rate`: its logarithm, any real number.

    Raises
    ------
    ValueError
        If `rate` is known and negative.
    TypeError
        If not exactly one of `rate` and `log_rate` is given.

    Examples
    --------
    >>> import kinetograph as kg
    >>> log_rate = kg.normal(0, 1, name="log_rate")
    >>> y = kg.data([3, 0, 1])
    >>> likelihood = kg.observe(y, kg.poisson(log_rate=log_rate))
    """
    _check_one("poisson", rate, log_rate)
    family, argument = (POISSON, rate) if log_rate is None else (POISSON_LOG, log_rate)
    return Chosen(family, (argument,))
