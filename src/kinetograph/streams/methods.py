"""The draws a `RandomStreams` offers, one method a distribution."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph.array import Array, ArrayLike
from .choice import check_count, check_weights, marked, population, rows_at
from .operations import advance_stream, draw_node
from .parameters import checked_parameters, float_type, sized
from .samplers import SAMPLERS

if TYPE_CHECKING:
    from .streams import Stream

__all__ = ["Draws"]


class Draws:
    """The methods; see `kg.RandomStreams`.

    All take `shape`, to which parameters broadcast and which is their common shape if not given,
    or `like`, an array of this shape, and `name`: a draw with a name keeps its stream when other
    draws are added, removed or moved. Parameters may be arrays; where they are known they are
    checked at once (ValueError), where not, impossible ones give NaN, among whole numbers -1
    (`integers`: the least there is), a boolean false. Real numbers are of the working precision
    unless `dtype` says so.
    """

    def _stream(self, name: str | None) -> "Stream":
        raise NotImplementedError

    def _keep(self, array: Array, stream: "Stream") -> Array:
        raise NotImplementedError

    def _draw(
        self,
        which: str,
        parameters: Mapping[str, Any],
        shape: Any = None,
        name: str | None = None,
        dtype: Any = None,
        like: Any = None,
    ) -> Array:
        sampler = SAMPLERS[which]
        floating = float_type(dtype, which)
        nodes = checked_parameters(which, sampler, parameters, floating)
        size = sized(shape, like, which)
        full, bits = sampler.shapes(which, [n.shape for n in nodes], size)
        stream = self._stream(name)
        state = advance_stream(stream.cell)
        node = draw_node(
            which, sampler.function, state, nodes, full, bits, sampler.dtype(floating), floating
        )
        node.stream = stream
        if name is not None:
            node.name = name
        return self._keep(Array(node), stream)

    # Real numbers.
    def uniform(
        self,
        low: ArrayLike = 0.0,
        high: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Numbers in [low, high), all equally likely."""
        return self._draw("uniform", {"low": low, "high": high}, shape, name, dtype, like)

    def normal(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Normal numbers with mean `loc` and standard deviation `scale`."""
        return self._draw("normal", {"loc": loc, "scale": scale}, shape, name, dtype, like)

    def truncated_normal(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Normal numbers, given that they lie between `lower` and `upper`."""
        parameters = {"loc": loc, "scale": scale, "lower": lower, "upper": upper}
        return self._draw("truncated_normal", parameters, shape, name, dtype, like)

    def lognormal(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """exp(z) of normal numbers z with mean `loc` and standard deviation `scale`."""
        return self._draw("lognormal", {"loc": loc, "scale": scale}, shape, name, dtype, like)

    def half_normal(
        self,
        scale: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """|z| of normal numbers z with mean 0 and standard deviation `scale`."""
        return self._draw("half_normal", {"scale": scale}, shape, name, dtype, like)

    def cauchy(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Cauchy numbers with median `loc`."""
        return self._draw("cauchy", {"loc": loc, "scale": scale}, shape, name, dtype, like)

    def laplace(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Laplace numbers, with density exp(-|x - loc| / scale) / (2 scale)."""
        return self._draw("laplace", {"loc": loc, "scale": scale}, shape, name, dtype, like)

    def logistic(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Logistic numbers with mean `loc`."""
        return self._draw("logistic", {"loc": loc, "scale": scale}, shape, name, dtype, like)

    def exponential(
        self,
        rate: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Exponential numbers, with mean 1 / rate."""
        return self._draw("exponential", {"rate": rate}, shape, name, dtype, like)

    def gamma(
        self,
        concentration: ArrayLike,
        rate: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Gamma numbers, with mean concentration / rate."""
        parameters = {"concentration": concentration, "rate": rate}
        return self._draw("gamma", parameters, shape, name, dtype, like)

    def beta(
        self,
        a: ArrayLike,
        b: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Beta numbers, with mean a / (a + b)."""
        return self._draw("beta", {"a": a, "b": b}, shape, name, dtype, like)

    def student(
        self,
        df: ArrayLike,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """loc + scale t of Student's t with `df` degrees of freedom."""
        return self._draw(
            "student", {"df": df, "loc": loc, "scale": scale}, shape, name, dtype, like
        )

    # Vectors: the last axis belongs to one draw.
    def dirichlet(
        self,
        concentration: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Vectors that add up to one; `shape` is that of the result, its last axis the vector."""
        return self._draw("dirichlet", {"concentration": concentration}, shape, name, dtype, like)

    def multivariate_normal(
        self,
        mean: ArrayLike,
        covariance: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Normal vectors; `shape` is that of the result, its last axis the vector."""
        parameters = {"mean": mean, "covariance": covariance}
        return self._draw("multivariate_normal", parameters, shape, name, dtype, like)

    # Whole numbers and choices.
    def bernoulli(
        self, p: ArrayLike = 0.5, shape: Any = None, *, name: str | None = None, like: Any = None
    ) -> Array:
        """Booleans that are true with probability p."""
        return self._draw("bernoulli", {"p": p}, shape, name, like=like)

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
        return self._draw("integers", {"low": low, "high": high}, shape, name, like=like)

    def poisson(
        self, rate: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None
    ) -> Array:
        """Poisson numbers, with mean `rate`."""
        return self._draw("poisson", {"rate": rate}, shape, name, like=like)

    def binomial(
        self,
        n: ArrayLike,
        p: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """How many of n trials of probability p succeed."""
        return self._draw("binomial", {"n": n, "p": p}, shape, name, like=like)

    def categorical(
        self,
        probabilities: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """Classes 0, 1, ... with the probabilities in the last axis."""
        return self._draw("categorical", {"probabilities": probabilities}, shape, name, like=like)

    def permutation(self, x: ArrayLike, *, name: str | None = None) -> Array:
        """The numbers 0 .. x - 1, or the rows of an array, in random order."""
        rows, array = population(x, "permutation")
        order = self._draw("permutation", {}, (rows,), name)
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
                order = self._draw("permutation", {}, (rows,), name)
            else:
                parameters = {"probabilities": Array(weights)}
                order = self._draw("weighted_permutation", parameters, None, name)
            places = order[:count].reshape(sizes)
        if weights is not None:
            places = marked(places, weights)
        return places if array is None else rows_at(array, places, weights)
