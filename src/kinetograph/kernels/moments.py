"""`kg.Moments`: the running mean and variance of values that come one after the other.

    n' = n + 1,  mean' = mean + (x - mean) / n',  squares' = squares + (x - mean) (x - mean')

and, where what is old is forgotten at a rate f, with n and squares multiplied by 1 - f before: the
value k steps ago then has the weight (1 - f)^k, and n is the sum of the weights.

Source: B. P. Welford, Technometrics 4 (1962); D. H. D. West, Communications of the ACM 22 (1979),
for weights.
"""

from typing import Any, NamedTuple

import numpy as np

from ..graph.array import Array
from ..graph.errors import ShapeError

__all__ = ["Moments"]


class Moments(NamedTuple):
    """The running mean and variance, or covariance, of values that come one after the other.

    A value like any other, in NumPy, in JAX and in the step of a `kg.Sampler`, where it can be a
    slot: `add` gives new moments and leaves the old ones as they are. It begins by
    `kg.Moments.start` and takes the same memory however many values have come. With the deviations
    d_i of the n values from their mean,

        variance = sum_i d_i^2 / (n - 1),    covariance = sum_i d_i d_i' / (n - 1)

    as `numpy.cov` has them, without the loss of digits of sums of squares. Where what is old is
    forgotten, at a rate f, the value k steps ago has the weight w_k = (1 - f)^k, and n - 1 becomes
    sum w - sum w^2 / sum w, as with NumPy's `aweights`.

    Attributes
    ----------
    count
        n, the number of values, or the sum of their weights.
    mean
        Their mean; zeros before the first.
    squares
        sum_i d_i^2, or sum_i d_i d_i', which has one axis more.
    forget
        The rate f, None where nothing is forgotten.

    Examples
    --------
    A random walk whose steps follow the spread of its last hundred positions or so:

    >>> import kinetograph as kg
    >>> class Following(kg.Sampler):
    ...     def init(self, at):
    ...         return {"seen": kg.Moments.start(at.q, forget=0.01)}
    ...     def step(self, at, seen):
    ...         width = kg.where(self.iteration > 100, kg.sqrt(seen.variance), 1.0)
    ...         new = self.evaluate(at.q + width * self.noise("walk", like=at.q))
    ...         if kg.log(self.noise.uniform(name="accept")) < at.potential - new.potential:
    ...             at = new
    ...         return at, {"seen": seen.add(at.q)}
    >>> x = kg.normal(0.0, 20.0, name="x")
    >>> chain = kg.chain(kg.model(x), Following(), seed=1)
    >>> rows = chain.step(2000)
    >>> bool(5 < chain.slots["seen"].variance[0] ** 0.5 < 40)
    True

    Source: B. P. Welford, Technometrics 4 (1962).
    """

    count: Any
    mean: Any
    squares: Any
    forget: Any = None

    @classmethod
    def start(cls, like: Any, *, covariance: bool = False, forget: Any = None) -> "Moments":
        """Of no values yet.

        Parameters
        ----------
        like
            Of the shape and type of the values: an array, or a number.
        covariance
            Whether to keep the covariance, of values that are vectors: that of the elements along
            their last axis. Otherwise the variance of each element.
        forget
            The rate f at which the old is forgotten, from 0 to below 1; None: nothing is.

        Raises
        ------
        ShapeError
            If the covariance of a number is wanted.
        ValueError
            If the rate is out of its range.
        """
        array = like if hasattr(like, "shape") and hasattr(like, "dtype") else np.asarray(like)
        shape = tuple(array.shape)
        dtype = array.dtype if np.dtype(array.dtype).kind == "f" else np.dtype(float)
        if covariance and not shape:
            raise ShapeError("Moments: the covariance of a number is its variance: leave it out")
        if isinstance(forget, (int, float)) and not 0 <= forget < 1:
            raise ValueError(f"Moments: forget must be from 0 to below 1, got {forget!r}")
        squares = np.zeros((*shape, *shape[-1:]) if covariance else shape, dtype)
        return cls(np.zeros((), dtype), np.zeros(shape, dtype), squares, forget)

    def add(self, value: Any) -> "Moments":
        """The moments with one more value.

        Raises
        ------
        ShapeError
            If it has another shape than the values before.
        """
        shape = tuple(np.shape(value) if not isinstance(value, Array) else value.shape)
        if shape != tuple(self.mean.shape):
            raise ShapeError(
                f"Moments.add: the values have shape {tuple(self.mean.shape)}, got {shape}"
            )
        kept = 1.0 if self.forget is None else 1.0 - self.forget
        before, squares = self.count, self.squares
        if self.forget is not None:
            before, squares = kept * before, kept * squares
        count = before + 1.0
        delta = value - self.mean
        mean = self.mean + delta / count
        if self._crossed:  # the same product as below, written so that it is symmetric
            products = delta[..., :, None] * delta[..., None, :] * (before / count)
        else:
            products = delta * (value - mean)
        return Moments(count, mean, squares + products, self.forget)

    @property
    def variance(self) -> Any:
        """The variance of each element; nan of fewer than two values."""
        if not self._crossed:
            return self.squares / self._freedom
        each = np.arange(self.mean.shape[-1])
        return self.squares[..., each, each] / self._freedom

    @property
    def covariance(self) -> Any:
        """The covariance of the elements along the last axis; nan of fewer than two values.

        Raises
        ------
        AttributeError
            If only variances are kept.
        """
        if not self._crossed:
            raise AttributeError(
                "these moments keep variances alone; kg.Moments.start(..., covariance=True) begins "
                "such as keep the covariance"
            )
        return self.squares / self._freedom

    @property
    def _crossed(self) -> bool:
        return len(self.squares.shape) > len(self.mean.shape)

    @property
    def _freedom(self) -> Any:
        """n - 1, or sum w - sum w^2 / sum w; 0 where there are fewer than two values."""
        lost: Any = 1.0
        if self.forget is not None:
            lost = (2.0 - self.forget * self.count) / (2.0 - self.forget)
        return (self.count - lost) * (self.count > lost)
