"""Draws of whole numbers, classes and orders, one method a distribution."""

import math
from typing import Any

from ..distributions.bernoulli import BERNOULLI
from ..distributions.binomial import BINOMIAL
from ..distributions.categorical import CATEGORICAL
from ..distributions.negative_binomial import NEGATIVE_BINOMIAL, two_of
from ..distributions.negative_binomial_mean import NEGATIVE_BINOMIAL_MEAN
from ..distributions.poisson import POISSON
from ..graph.array import Array, ArrayLike
from .asked import sized
from .choice import check_count, check_weights, marked, population, rows_at
from .one_draw import OneDraw
from .orders import INTEGERS, PERMUTATION, WEIGHTED_PERMUTATION

__all__ = ["WholeDraws"]


class WholeDraws(OneDraw):
    """Draws of counts, classes and orders."""

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
        """How many of `size` trials of probability `prob` succeed."""
        return self._draw(BINOMIAL, (size, prob), shape, name, like=like)

    def negative_binomial(
        self,
        size: ArrayLike | None = None,
        prob: ArrayLike | None = None,
        shape: Any = None,
        *,
        mean: ArrayLike | None = None,
        log_mean: ArrayLike | None = None,
        dispersion: ArrayLike | None = None,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """How many trials fail before `size` succeed; or by `dispersion` and mean or its log.

        Their variance is mean + dispersion mean**2, as that of `kg.negative_binomial`.
        """
        given = "negative_binomial", size, prob, mean, log_mean, dispersion
        by_mean, parameters = two_of(*given)
        family = NEGATIVE_BINOMIAL_MEAN if by_mean else NEGATIVE_BINOMIAL
        return self._draw(family, parameters, shape, name, like=like)

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
        """Classes 0, 1, ... in proportion to the weights in the last axis."""
        return self._draw(CATEGORICAL, (prob,), shape, name, like=like)

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
        """The numbers 0 .. x - 1, or the rows of an array, in random order."""
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
        """Of the numbers 0 .. x - 1 or the rows of an array: equally likely, or by probability p.

        `p` has one number for each, and its sum is 1 (`categorical` takes any weights). Without
        replacement no row is taken twice, and each is one of those left, with probabilities in
        proportion to theirs. Where a `p` known only at run time is impossible, rows are NaN,
        numbers -1.
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
