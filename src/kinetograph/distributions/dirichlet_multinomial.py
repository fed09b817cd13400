"""The Dirichlet-multinomial distribution: class probabilities are a Dirichlet vector."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..bits.source import Source
from ..graph.node import Node
from ..graph.numerics.deviance import log_peak
from ..graph.numerics.gammas import bd0, gammaln, log_rising
from .count_numbers import double
from .declaration import declared
from .dirichlet import check_concentrations
from .family import Family
from .gamma_numbers import log_gamma
from .generator import WHOLE
from .moments import Moments, sums_of_others
from .multinomial import draw as draw_multinomial
from .parameter import Parameter, whole
from .support import POSITIVE, Support, Totals
from .uniform import known_bound

__all__ = ["dirichlet_multinomial", "draw"]


def _support(size: Node, alpha: Node) -> Support:
    return Totals(known_bound(size))


def _ways(x: Any, total: Any, share: Any) -> Any:
    """The logarithm of total! / prod x! times prod share**x.

    The numbers x are any real ones with this total.
    """
    return jnp.sum(log_peak(x) - bd0(x, total[..., None] * share), -1) - log_peak(total)


def _terms(x: Any, size: Any, alpha: Any) -> tuple[Any, ...]:
    weight = jnp.sum(alpha, -1)
    total, both = size + weight, x + alpha
    # The sum does not depend on the probabilities. With these no term is large; for the
    # derivative they are constants.
    share = lax.stop_gradient(both / total[..., None])
    ways = _ways(x, size, share) + _ways(alpha, weight, share) - _ways(both, total, share)
    odds = jnp.log(total) - jnp.log(weight)
    return (ways + odds + jnp.sum(jnp.log(alpha) - jnp.log(both), -1),)


def _small_terms(x: Any, size: Any, alpha: Any) -> tuple[Any, ...]:
    rising = jnp.sum(log_rising(alpha, x) - gammaln(x + 1.0), -1)
    return rising, gammaln(size + 1.0) - log_rising(jnp.sum(alpha, -1), size)


def _check(size: Node, alpha: Node) -> None:
    check_concentrations("dirichlet_multinomial", alpha)


def draw(source: Source, size: Any, alpha: Any) -> Any:
    """Draw a multinomial vector with Dirichlet probabilities.

    Both use different parts of the source.
    """
    log_g = log_gamma(source.part(0, jnp.float64), double(alpha))
    return draw_multinomial(source.part(1), size, jax.nn.softmax(log_g, axis=-1))


def _moments(size: Any, alpha: Any, event: tuple[int, ...]) -> Moments:
    total, size = jnp.sum(alpha, -1, keepdims=True), size[..., None]
    mean = size * (alpha / total)
    return mean, mean * (sums_of_others(alpha) / total) * ((total + size) / (total + 1.0))


DIRICHLET_MULTINOMIAL = Family(
    "dirichlet_multinomial",
    (whole("size"), Parameter("alpha", POSITIVE, event_ndim=1)),
    _terms,
    _support,
    event_ndim=1,
    event_shape=lambda size, alpha: alpha[-1:],
    check=_check,
    dtype=WHOLE,
    small_terms=_small_terms,
    sizes=("size",),
    draw=draw,
    moments=_moments,
)


@declared(
    DIRICHLET_MULTINOMIAL,
    draws="Counts of classes whose probabilities are a Dirichlet vector.",
    same={"size": "n total_count", "alpha": "a concentration"},
)
def dirichlet_multinomial(size: Any, alpha: Any):
    """Counts of classes whose probabilities are a Dirichlet vector.

        log p(x) = log(size!) - sum log(x!) + log Gamma(sum alpha) - log Gamma(size + sum alpha)
                   + sum (log Gamma(x + alpha) - log Gamma(alpha)),  sum x = size

    Parameters
    ----------
    size
        The number of trials, a whole number.
    alpha
        Concentrations along the last axis, above zero; the mean is size alpha / sum(alpha).

    Raises
    ------
    ValueError
        If `size` is not a whole number, or `alpha` is known and not positive.
    ShapeError
        If `alpha` has fewer than two elements along its last axis.

    Examples
    --------
    >>> import kinetograph as kg
    >>> alpha = kg.gamma(2, 1, shape=3, name="alpha")
    >>> likelihood = kg.observe(kg.data([3, 5, 2]), kg.dirichlet_multinomial(10, alpha))
    """
