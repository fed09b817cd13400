"""The draws a `RandomStreams` offers, one method a distribution."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph.array import Array
from ..graph.elementwise import as_node, astype
from ..graph.errors import ShapeError, SymbolicError
from ..graph.messages import describe
from ..graph.node import Data, Node
from ..graph.precision import float_dtype
from ..graph.source import place_text
from .choice import check_count, check_weights, marked, population, rows_at
from .operations import advance_stream, draw_node
from .samplers import SAMPLERS, Kind, Sampler

if TYPE_CHECKING:
    from .streams import Stream

__all__ = ["Draws", "checked_parameters", "float_type", "sized", "static_shape"]


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
        low: Any = 0.0,
        high: Any = 1.0,
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
        loc: Any = 0.0,
        scale: Any = 1.0,
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
        loc: Any = 0.0,
        scale: Any = 1.0,
        lower: Any = -np.inf,
        upper: Any = np.inf,
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
        loc: Any = 0.0,
        scale: Any = 1.0,
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
        scale: Any = 1.0,
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
        loc: Any = 0.0,
        scale: Any = 1.0,
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
        loc: Any = 0.0,
        scale: Any = 1.0,
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
        loc: Any = 0.0,
        scale: Any = 1.0,
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
        rate: Any = 1.0,
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
        concentration: Any,
        rate: Any = 1.0,
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
        a: Any,
        b: Any,
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
        df: Any,
        loc: Any = 0.0,
        scale: Any = 1.0,
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
        concentration: Any,
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
        mean: Any,
        covariance: Any,
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
        self, p: Any = 0.5, shape: Any = None, *, name: str | None = None, like: Any = None
    ) -> Array:
        """Booleans that are true with probability p."""
        return self._draw("bernoulli", {"p": p}, shape, name, like=like)

    def integers(
        self, low: Any, high: Any, shape: Any = None, *, name: str | None = None, like: Any = None
    ) -> Array:
        """Whole numbers low, ..., high - 1, all equally likely."""
        return self._draw("integers", {"low": low, "high": high}, shape, name, like=like)

    def poisson(
        self, rate: Any, shape: Any = None, *, name: str | None = None, like: Any = None
    ) -> Array:
        """Poisson numbers, with mean `rate`."""
        return self._draw("poisson", {"rate": rate}, shape, name, like=like)

    def binomial(
        self, n: Any, p: Any, shape: Any = None, *, name: str | None = None, like: Any = None
    ) -> Array:
        """How many of n trials of probability p succeed."""
        return self._draw("binomial", {"n": n, "p": p}, shape, name, like=like)

    def categorical(
        self, probabilities: Any, shape: Any = None, *, name: str | None = None, like: Any = None
    ) -> Array:
        """Classes 0, 1, ... with the probabilities in the last axis."""
        return self._draw("categorical", {"probabilities": probabilities}, shape, name, like=like)

    def permutation(self, x: Any, *, name: str | None = None) -> Array:
        """The numbers 0 .. x - 1, or the rows of an array, in random order."""
        rows, array = population(x, "permutation")
        order = self._draw("permutation", {}, (rows,), name)
        return order if array is None else Array(array)[order]

    def choice(
        self,
        x: Any,
        shape: Any = (),
        *,
        replace: bool = True,
        p: Any = None,
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


def checked_parameters(
    which: str, sampler: Sampler, parameters: Mapping[str, Any], floating: np.dtype
) -> list[Node]:
    """The nodes of the parameters in the types the sampler takes; known values are checked."""
    given = {key: as_node(value, f"{which}: {key}") for key, value in parameters.items()}
    nodes = []
    for key, node in given.items():
        kind = sampler.parameters[key]
        if kind.whole and node.dtype.kind not in "iub":
            raise SymbolicError(
                f"{which}: {key} {describe(node)} must be whole numbers, got {node.dtype}"
                f"{place_text()}"
            )
        _check_known(which, key, node, kind, floating)
        nodes.append(node if kind.whole or node.dtype == floating else astype(node, floating))
    sampler.check_together(which, given)
    return nodes


def _check_known(which: str, key: str, node: Node, kind: Kind, floating: np.dtype) -> None:
    """Refuse known values that are impossible as they are, or in the precision of the draw."""
    if not isinstance(node, Data):
        return
    value, note = np.asarray(node.value), ""
    if np.all(kind.allows(value)) and not kind.whole:
        with np.errstate(over="ignore"):
            note, rounded = f" ({floating})", value.astype(floating)
        allowed = np.asarray(kind.allows(rounded))
    else:
        allowed = np.asarray(kind.allows(value))
    if not np.all(allowed):
        bad = value[~allowed].ravel()[0]
        raise ValueError(f"{which}: {key} must be {kind.text}, got {bad}{note}{place_text()}")


def float_type(dtype: Any, which: str) -> np.dtype:
    """The type in which real numbers are drawn."""
    if dtype is None:
        return float_dtype()
    try:
        floating = np.dtype(dtype)
    except TypeError:
        floating = None
    if floating not in (np.float64, np.float32):
        raise TypeError(f"{which}: dtype must be float64 or float32, got {dtype!r}{place_text()}")
    return floating


def sized(shape: Any, like: Any, which: str) -> tuple[int, ...] | None:
    """The shape that is asked for, by itself or by an array that has it."""
    if like is None:
        return static_shape(shape, which)
    if shape is not None and shape != ():
        raise TypeError(f"{which}: give like= or shape=, not both{place_text()}")
    return as_node(like, f"{which}: like").shape


def static_shape(shape: Any, which: str) -> tuple[int, ...] | None:
    """The shape as whole numbers that are known now."""
    if shape is None:
        return None
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    for size in sizes:
        if isinstance(size, Array):
            raise SymbolicError(
                f"{which}: the shape contains {describe(size.node)}, which is known only at run "
                f"time{place_text()}; XLA needs fixed shapes: draw the largest number there can be "
                "and mask what is too much with kg.where"
            )
        if isinstance(size, (bool, np.bool_)) or not isinstance(size, (int, np.integer)):
            raise TypeError(
                f"{which}: shape must be a whole number or a tuple of them, got {shape!r}"
                f"{place_text()}"
            )
        if size < 0:
            raise ShapeError(f"{which}: shape {shape} has a negative length{place_text()}")
    return tuple(int(n) for n in sizes)
