"""Helpers for ordered classes.

The label is k if a latent number lies between the cutpoints k - 1 and k.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..bits.source import Source
from ..graph.node import Node
from .count_numbers import double
from .support import Support, WholeNumbers
from .tails import Tails

__all__ = ["draw_by", "log_tails_by", "ordered_support", "pick_bounds", "quantile_by"]

TailsOf = Callable[[Any], Tails]


def ordered_support(eta: Node, cutpoints: Node) -> Support:
    """The support of the labels; there is one label more than cutpoints."""
    return WholeNumbers(0, cutpoints.shape[-1])


def _cut(number: Any, cutpoints: Any) -> Any:
    """The cutpoint of this index; an index outside gives the nearest cutpoint."""
    place = jnp.clip(number, 0, cutpoints.shape[-1] - 1).astype(np.int32)
    batch = jnp.broadcast_shapes(place.shape, cutpoints.shape[:-1])
    table = jnp.broadcast_to(cutpoints, (*batch, cutpoints.shape[-1]))
    place = jnp.broadcast_to(place, batch)[..., None]
    return jnp.take_along_axis(table, place, axis=-1)[..., 0]


class Bounds(NamedTuple):
    """The ends of a label's interval relative to eta.

    An end that does not exist is replaced by a number near the other end, so that all numbers are
    finite.
    """

    low: Any
    high: Any
    some_low: Any
    some_high: Any
    width: Any


def pick_bounds(x: Any, eta: Any, cutpoints: Any) -> Bounds:
    """The bounds of label x."""
    below, above = _cut(x - 1, cutpoints), _cut(x, cutpoints)
    some_low, some_high = x > 0, x < cutpoints.shape[-1]
    low = jnp.where(some_low, below - eta, above - eta - 1.0)
    high = jnp.where(some_high, above - eta, below - eta + 1.0)
    width = jnp.where(some_low & some_high, above - below, 1.0)
    return Bounds(low, high, some_low, some_high, width)


def log_tails_by(tails: TailsOf, x: Any, eta: Any, cutpoints: Any) -> Tails:
    """The tails of a label, from the tails of the latent number.

    They are evaluated at the upper cutpoint of the label.
    """
    below, above = tails(_cut(x, cutpoints) - eta)
    none, all_ = x < 0, x >= cutpoints.shape[-1]
    below = jnp.where(none, -jnp.inf, jnp.where(all_, 0.0, below))
    return below, jnp.where(none, 0.0, jnp.where(all_, -jnp.inf, above))


def quantile_by(tails: TailsOf, log_below: Any, log_above: Any, eta: Any, cutpoints: Any) -> Any:
    """The quantile: the number of cutpoints with too small a probability below."""
    below, above = tails(cutpoints - jnp.asarray(eta)[..., None])
    near = (log_below <= log_above)[..., None]
    log_below, log_above = (jnp.asarray(v)[..., None] for v in (log_below, log_above))
    less = jnp.where(near, below < log_below, above > log_above)
    return jnp.sum(less, -1).astype(jnp.asarray(cutpoints).dtype)


def draw_by(number: Callable[[Source], Any], source: Source, eta: Any, cutpoints: Any) -> Any:
    """Draw labels from draws of the latent number."""
    eta, cutpoints = double(eta), double(cutpoints)
    value = (eta + number(source.part(0, np.float64)))[..., None]
    valid = jnp.all(jnp.diff(cutpoints, axis=-1) > 0, -1) & jnp.all(jnp.isfinite(cutpoints), -1)
    label = jnp.sum(value > cutpoints, -1).astype(np.int64)
    return jnp.where(valid & jnp.isfinite(eta), label, -1)
