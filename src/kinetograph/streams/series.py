"""Draws of vectors of a length: time series, and effects that add up to zero."""

from typing import Any

from ..distributions.ar import AR, order_and_length
from ..distributions.markov_chain import MARKOV_CHAIN
from ..distributions.random_walk import RANDOM_WALK
from ..distributions.zero_sum_normal import ZERO_SUM_NORMAL, length_of
from ..graph.array import Array, ArrayLike
from .asked import sized
from .one_draw import OneDraw

__all__ = ["SeriesDraws"]


class SeriesDraws(OneDraw):
    """Draws of vectors of a length that is given."""

    def zero_sum_normal(
        self,
        sd: ArrayLike = 1.0,
        dim: int | None = None,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Normal numbers less their mean, along the last axis."""
        size = sized(shape, like, "zero_sum_normal")
        event = length_of(_length(dim, size), "zero_sum_normal", shape=size)
        return self._draw(ZERO_SUM_NORMAL, (sd,), shape, name, dtype, like, event)

    def random_walk(
        self,
        sd: ArrayLike = 1.0,
        dim: int | None = None,
        shape: Any = None,
        *,
        drift: ArrayLike = 0.0,
        init_mean: ArrayLike = 0.0,
        init_sd: ArrayLike | None = None,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Gaussian random walks, along the last axis."""
        parameters = (sd, drift, init_mean, sd if init_sd is None else init_sd)
        size = sized(shape, like, "random_walk")
        event = length_of(_length(dim, size), "random_walk", shape=size)
        return self._draw(RANDOM_WALK, parameters, shape, name, dtype, like, event)

    def ar(
        self,
        rho: ArrayLike,
        sd: ArrayLike = 1.0,
        dim: int | None = None,
        shape: Any = None,
        *,
        constant: ArrayLike = 0.0,
        init_mean: ArrayLike = 0.0,
        init_sd: ArrayLike | None = None,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Autoregressive processes with coefficients `rho`, along the last axis."""
        parameters = (rho, sd, constant, init_mean, sd if init_sd is None else init_sd)
        size = sized(shape, like, "ar")
        event = order_and_length(rho, _length(dim, size), shape=size)
        return self._draw(AR, parameters, shape, name, dtype, like, event)

    def markov_chain(
        self,
        initial: ArrayLike,
        transition: ArrayLike,
        length: int = 2,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """The states that a Markov chain passes through, along the last axis."""
        event = length_of(length, "markov_chain", 1)
        return self._draw(MARKOV_CHAIN, (initial, transition), shape, name, like=like, event=event)


def _length(dim: int | None, size: Any) -> int | None:
    """The length that is given; 2 where nothing tells it."""
    return 2 if dim is None and not size else dim
