"""The Dirichlet distribution of probabilities that add up to 1."""

from typing import Any

import jax
import jax.numpy as jnp

from ..bits.source import Source
from ..graph.errors import ShapeError
from ..graph.messages import describe
from ..graph.node import Node
from ..graph.numerics.deviance import deviance_of_log, log_peak, weighted_log
from ..graph.numerics.gammas import gammaln
from ..graph.numerics.special import xlogy
from ..graph.source import place_text
from .declaration import declared
from .family import Family
from .gamma_numbers import log_gamma
from .moments import Moments, sums_of_others
from .parameter import Parameter
from .support import POSITIVE, Simplex, known_one

__all__ = ["check_concentrations", "dirichlet", "draw"]


def _terms(x: Any, alpha: Any, log_x: Any = None) -> tuple[Any, ...]:
    total = jnp.sum(alpha, -1, keepdims=True)
    if log_x is not None:
        cost = deviance_of_log(alpha, jnp.log(total) + log_x) + log_x
    else:
        # At 0 the single terms are infinite even if the density is finite.
        log_x = jnp.log(jnp.where(x == 0, 1.0, x))
        cost = deviance_of_log(alpha, jnp.log(total) + log_x) + log_x
        at_zero = total * x - jnp.log(total) - 1.0 - xlogy(alpha - 1.0, x)
        cost = jnp.where(x == 0, at_zero, cost)
    constant = (
        jnp.sum(log_peak(alpha) + jnp.log(alpha), -1) - (log_peak(total) + jnp.log(total))[..., 0]
    )
    return -jnp.sum(cost, -1), constant


def _small_terms(x: Any, alpha: Any, log_x: Any = None) -> tuple[Any, ...]:
    weight = alpha - 1.0
    powers = xlogy(weight, x) if log_x is None else weighted_log(weight, log_x)
    constant = gammaln(jnp.sum(alpha, -1)) - jnp.sum(gammaln(alpha), -1)
    return jnp.sum(powers, -1), constant


def check_concentrations(name: str, alpha: Node) -> None:
    """Raise ShapeError unless there are two or more along the last axis."""
    if not alpha.shape or alpha.shape[-1] < 2:
        raise ShapeError(
            f"{name}: alpha {describe(alpha)} needs a last axis of at least two, "
            f"got shape {alpha.shape}{place_text()}"
        )


def _check(alpha: Node) -> None:
    check_concentrations("dirichlet", alpha)


def draw(source: Source, alpha: Any) -> Any:
    """Draw gamma numbers divided by their sum along the last axis.

    The quotients are computed from logarithms.
    """
    return jax.nn.softmax(log_gamma(source, alpha), axis=-1)


def _moments(alpha: Any, event: tuple[int, ...]) -> Moments:
    total = jnp.sum(alpha, -1, keepdims=True)
    mean = alpha / total
    return mean, mean * (sums_of_others(alpha) / total) / (total + 1.0)


DIRICHLET = Family(
    "dirichlet",
    (Parameter("alpha", POSITIVE, event_ndim=1),),
    _terms,
    lambda alpha: Simplex(known_one(alpha)),
    event_ndim=1,
    event_shape=lambda alpha: alpha[-1:],
    check=_check,
    forms={"x": (("log",),)},
    small_terms=_small_terms,
    sizes=("alpha",),
    draw=draw,
    moments=_moments,
)


@declared(
    DIRICHLET,
    draws="Vectors that add up to 1 along the last axis.",
    scipy="dirichlet",
    same={"alpha": "a concentration"},
)
def dirichlet(alpha: Any):
    """Probabilities that add up to 1 along the last axis.

        log p(x) = log Gamma(sum alpha) - sum log Gamma(alpha) + sum (alpha - 1) log(x)

    Parameters
    ----------
    alpha
        Concentrations along the last axis, above zero; the mean is alpha / sum(alpha).

    Raises
    ------
    ShapeError
        If `alpha` has fewer than two elements along its last axis.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.dirichlet([1.0, 1.0, 1.0], shape=(5, 3)).shape
    (5, 3)
    """
