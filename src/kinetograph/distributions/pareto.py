"""The Pareto distribution of numbers above a bound."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.node import Node
from .declaration import declared
from .family import Family
from .moments import Moments, infinite_unless
from .numbers import nan_unless, reals
from .parameter import positive
from .support import Interval, Support
from .tails import Tails, by_survival
from .uniform import known_bound
from .weibull import log_share

__all__ = ["draw", "pareto"]


def _support(a: Node, b: Node) -> Support:
    return Interval(known_bound(b), closed=(True, False))


def _terms(x: Any, a: Any, b: Any, log_x: Any = None, log_b: Any = None) -> tuple[Any, ...]:
    constant = jnp.log(a) - (jnp.log(b) if log_b is None else log_b)
    if log_x is not None:
        return -(a + 1.0) * log_share(x, b, log_x, log_b), constant
    inside = x >= b
    above = log_share(jnp.where(inside, x, b), b, log_x, log_b)
    return jnp.where(inside, -(a + 1.0) * above, -jnp.inf), constant


def draw(source: Source, a: Any, b: Any) -> Any:
    """Draw b exp(e / a) with a standard exponential e."""
    a, b = reals(source, a, b)
    valid = (a > 0) & jnp.isfinite(a) & (b > 0) & jnp.isfinite(b)
    return nan_unless(valid, b * jnp.exp(-jnp.log(source.positive()) / a))


def _tails(x: Any, a: Any, b: Any) -> Tails:
    inside = x > b
    below, above = by_survival(-a * log_share(jnp.where(inside, x, 2.0 * b), b, None, None))
    return jnp.where(inside, below, -jnp.inf), jnp.where(inside, above, 0.0)


def _quantile(log_below: Any, log_above: Any, a: Any, b: Any) -> Any:
    return b * jnp.exp(-log_above / a)


def _moments(a: Any, b: Any) -> Moments:
    mean = infinite_unless(a > 1.0, a * b, a - 1.0)
    square = jnp.where(a > 2.0, b / jnp.where(a > 2.0, a - 1.0, 1.0), 1.0) ** 2
    return mean, infinite_unless(a > 2.0, a * square, a - 2.0)


PARETO = Family(
    "pareto",
    (positive("a"), positive("b")),
    _terms,
    _support,
    forms={"x": (("log",),), "b": (("log",),)},
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    PARETO,
    draws="Numbers above `b`; the share above x is (b / x)**a.",
    scipy="pareto",
    same={"a": "alpha", "b": "m scale y_min"},
)
def pareto(a: Any, b: Any = 1.0):
    """An unknown above a bound, with a power-law tail.

        log p(x) = log(a) + a log(b) - (a + 1) log(x),  x >= b

    Parameters
    ----------
    a
        Exponent of the tail, above zero: P(X > x) = (b / x)**a.
    b
        The smallest possible value, above zero; it may itself be unknown.

    Examples
    --------
    >>> import kinetograph as kg
    >>> size = kg.pareto(2.5, 100, name="size")
    """
