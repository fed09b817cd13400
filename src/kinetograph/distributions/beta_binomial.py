"""The beta-binomial distribution: binomial counts whose probability is a beta number."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..bits.source import Source
from ..graph.node import Node
from ..graph.numerics.derivative_rules import by_forward
from ..graph.numerics.deviance import log_binomial
from ..graph.numerics.gammas import gammaln, log_rising
from ..graph.numerics.special import log1mexp
from .binomial import draw as draw_binomial
from .count_numbers import double
from .declaration import declared
from .family import Family
from .gamma_numbers import log_gamma
from .generator import WHOLE
from .inversion import whole_quantile
from .moments import Moments
from .parameter import positive, whole
from .sums import log_sum_outward
from .support import Support, WholeNumbers
from .tails import Tails, of_counts
from .uniform import known_bound

__all__ = ["beta_binomial", "draw"]


def _support(size: Node, alpha: Node, beta: Node) -> Support:
    return WholeNumbers(0, known_bound(size))


def _terms(x: Any, size: Any, alpha: Any, beta: Any) -> tuple[Any, ...]:
    a, b, n = x + alpha, size - x + beta, size + alpha + beta
    # The sum does not depend on the probabilities. With these no term is large; for the
    # derivative they are constants.
    p, q = lax.stop_gradient(a / n), lax.stop_gradient(b / n)
    binomial_terms = sum(log_binomial(x, size - x, p, q))
    prior = sum(log_binomial(alpha, beta, p, q))
    both = sum(log_binomial(a, b, p, q))
    odds = jnp.log(alpha) + jnp.log(beta) - jnp.log(alpha + beta)
    return (binomial_terms + prior - both + odds + jnp.log(n) - jnp.log(a) - jnp.log(b),)


def _small_terms(x: Any, size: Any, alpha: Any, beta: Any) -> tuple[Any, ...]:
    rest = size - x
    ways = gammaln(size + 1.0) - gammaln(x + 1.0) - gammaln(rest + 1.0)
    rising = log_rising(alpha, x) + log_rising(beta, rest)
    return ways, rising - log_rising(alpha + beta, size)


def draw(source: Source, size: Any, alpha: Any, beta: Any) -> Any:
    """Draw a binomial number whose probability is a beta number.

    Both use different parts of the source.
    """
    alpha, beta = double(alpha), double(beta)
    of_beta = source.part(0, jnp.float64)
    logit = log_gamma(of_beta, alpha, 0, 2) - log_gamma(of_beta, beta, 1, 2)
    return draw_binomial(source.part(1), size, jax.nn.sigmoid(logit))


def _ratio(k: Any, left: Any, size: Any, alpha: Any, beta: Any) -> Any:
    from_end = jnp.where(left, k, size - k)
    numerator = jnp.where(left, size - k + beta, k + alpha)
    over = (size - from_end + 1.0) * (from_end - 1.0 + jnp.where(left, alpha, beta))
    inside = from_end > 0
    return jnp.where(inside, from_end * numerator / jnp.where(inside, over, 1.0), 0.0)


def _log_sum(x: Any, size: Any, alpha: Any, beta: Any) -> Any:
    """The logarithm of the smaller tail, relative to its first probability."""
    left = _is_left(x, size, alpha, beta)
    start = jnp.where(left, x, x + 1.0)
    fading = (alpha >= 1) & (beta >= 1)
    return log_sum_outward(
        start,
        left,
        jnp.zeros_like(start),
        lambda k, left: _ratio(k, left, size, alpha, beta),
        fading,
    )


_log_sum_outward = by_forward(_log_sum)


def _is_left(x: Any, size: Any, alpha: Any, beta: Any) -> Any:
    return x * (alpha + beta) < size * alpha


@of_counts
def _tails(x: Any, size: Any, alpha: Any, beta: Any) -> Tails:
    x, size, alpha, beta = jnp.broadcast_arrays(x, size, alpha, beta)
    all_ = x >= size
    left = _is_left(x, size, alpha, beta)
    place, trials = jnp.where(all_, 0.0, x), jnp.where(all_, 1.0, size)
    first = _terms(
        jnp.where(_is_left(place, trials, alpha, beta), place, place + 1.0), trials, alpha, beta
    )[0]
    smaller = jnp.minimum(first + _log_sum_outward(place, trials, alpha, beta), -1e-300)
    larger = log1mexp(-smaller)
    below, above = jnp.where(left, smaller, larger), jnp.where(left, larger, smaller)
    return jnp.where(all_, 0.0, below), jnp.where(all_, -jnp.inf, above)


def _quantile(log_below: Any, log_above: Any, size: Any, alpha: Any, beta: Any) -> Any:
    return whole_quantile(_tails, log_below, log_above, size, alpha, beta, high=size)


def _moments(size: Any, alpha: Any, beta: Any) -> Moments:
    total = alpha + beta
    mean = size * (alpha / total)
    return mean, mean * (beta / total) * ((total + size) / (total + 1.0))


BETA_BINOMIAL = Family(
    "beta_binomial",
    (whole("size"), positive("alpha"), positive("beta")),
    _terms,
    _support,
    dtype=WHOLE,
    small_terms=_small_terms,
    sizes=("size",),
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    BETA_BINOMIAL,
    draws="Numbers of successes in `size` trials whose probability is a beta number.",
    scipy="betabinom",
    advice=dict.fromkeys(
        ("mu", "phi", "kappa"), "give alpha=mu * phi, beta=(1 - mu) * phi of a mean share mu"
    ),
    same={"size": "N n total_count", "alpha": "a concentration1", "beta": "b concentration0"},
)
def beta_binomial(size: Any, alpha: Any, beta: Any):
    """The number of successes in trials whose probability is a beta number.

        log p(x) = log C(size, x) + log B(x + alpha, size - x + beta) - log B(alpha, beta)

    Parameters
    ----------
    size
        The number of trials, a whole number.
    alpha, beta
        Shapes of the beta distribution of the probability, above zero; the mean is
        size alpha / (alpha + beta). For a mean probability p and a precision k they are p k and
        (1 - p) k.

    Raises
    ------
    ValueError
        If `size` is not a whole number, or `alpha` or `beta` is known and not positive.

    Examples
    --------
    >>> import kinetograph as kg
    >>> alpha = kg.gamma(2, 1, name="alpha")
    >>> likelihood = kg.observe(kg.data([3, 5, 2]), kg.beta_binomial(10, alpha, 2.0))
    """
