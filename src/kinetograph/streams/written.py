"""Stream methods that are written by hand.

`bernoulli`, `binomial`, `poisson`, `categorical` and `markov_chain` have other parameters than the
distributions. For `truncated_normal`, `integers`, `permutation` and `choice` there is no
distribution.
"""

import math
from typing import Any

import numpy as np

from ..distributions.bernoulli import BERNOULLI
from ..distributions.binomial import BINOMIAL
from ..distributions.categorical import CATEGORICAL
from ..distributions.markov_chain import MARKOV_CHAIN
from ..distributions.poisson import POISSON
from ..distributions.truncated_normal import TRUNCATED_NORMAL
from ..distributions.zero_sum_normal import length_of
from ..graph.array import Array, ArrayLike
from ..graph.public import public
from .choice import check_count, check_weights, marked, population, rows_at
from .draw_arguments import sized
from .one_draw import OneDraw
from .orders import INTEGERS, PERMUTATION, WEIGHTED_PERMUTATION

__all__ = ["WrittenDraws"]


@public
class WrittenDraws(OneDraw):
    """Stream methods that no declaration of a distribution makes."""

    def truncated_normal(
        self,
        mean: ArrayLike = 0.0,
        sd: ArrayLike = 1.0,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Normal numbers between `lower` and `upper`."""
        return self._draw(TRUNCATED_NORMAL, (mean, sd, lower, upper), shape, name, dtype, like)

    def bernoulli(
        self,
        prob: ArrayLike = 0.5,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """Booleans that are true with probability `prob`."""
        return self._draw(BERNOULLI, (prob,), shape, name, like=like)

    def binomial(
        self,
        size: ArrayLike,
        prob: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """Numbers of successes in `size` trials of probability `prob`."""
        return self._draw(BINOMIAL, (size, prob), shape, name, like=like)

    def poisson(
        self,
        rate: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """Poisson numbers, with mean `rate`."""
        return self._draw(POISSON, (rate,), shape, name, like=like)

    def categorical(
        self,
        prob: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """Classes 0, 1, ... with weights along the last axis."""
        return self._draw(CATEGORICAL, (prob,), shape, name, like=like)

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
        """Paths of a Markov chain, along the last axis."""
        event = length_of(length, "markov_chain", 1)
        return self._draw(MARKOV_CHAIN, (initial, transition), shape, name, like=like, event=event)

    def integers(
        self,
        low: ArrayLike,
        high: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """Whole numbers low, ..., high - 1, all equally likely."""
        return self._draw(INTEGERS, (low, high), shape, name, like=like)

    def permutation(self, x: ArrayLike, *, name: str | None = None) -> Array:
        """Numbers 0 .. x - 1 or array rows in random order."""
        rows, array = population(x, "permutation")
        order = self._draw(PERMUTATION, (), None, name, event=(rows,))
        return order if array is None else Array(array)[order]

    def choice(
        self,
        x: ArrayLike,
        shape: Any = (),
        *,
        replace: bool = True,
        p: ArrayLike | None = None,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """Numbers from 0 .. x - 1, or rows of an array.

        They are equally likely, or have the probabilities `p`, one for each number or row, with the
        sum 1 (`categorical` takes any weights). Without replacement no row is drawn twice, and the
        next row is drawn from the remaining ones in proportion to `p`. If `p` is known only at run
        time and impossible, rows are NaN and numbers -1.
        """
        rows, array = population(x, "choice")
        sizes = sized(shape, like, "choice") or ()
        count = math.prod(sizes)
        check_count(count, rows, replace)
        weights = None if p is None else check_weights(p, rows, count, replace)
        if replace and rows:
            if weights is None:
                places = self.integers(0, rows, sizes, name=name)
            else:
                places = self.categorical(Array(weights), sizes, name=name)
        else:
            if weights is None or not rows:
                order = self._draw(PERMUTATION, (), None, name, event=(rows,))
            else:
                order = self._draw(WEIGHTED_PERMUTATION, (Array(weights),), None, name)
            places = order[:count].reshape(sizes)
        if weights is not None:
            places = marked(places, weights)
        return places if array is None else rows_at(array, places, weights)
