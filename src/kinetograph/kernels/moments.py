"""`kg.Moments`: the running mean and variance of a sequence of values.

    n' = n + 1,  mean' = mean + (x - mean) / n',  squares' = squares + (x - mean) (x - mean')

If old values are forgotten at a rate f, n and squares are first multiplied by 1 - f: the value k
steps ago then has the weight (1 - f)^k, and n is the sum of the weights.

Source: B. P. Welford, Technometrics 4 (1962); D. H. D. West, Communications of the ACM 22 (1979),
for weights.
"""

from typing import Any, NamedTuple

import numpy as np

from ..graph.array import Array
from ..graph.errors import ShapeError

__all__ = ["Moments"]


class Moments(NamedTuple):
    """The running mean and variance, or covariance, of a sequence of values.

    Moments are immutable values in NumPy, in JAX and in the step of a `kg.Sampler`, where they can
    be a slot: `add` returns new moments and leaves the old ones unchanged. `kg.Moments.start` makes
    the first; the memory does not grow with the number of values. With the deviations d_i of the n
    values from their mean,

        variance = sum_i d_i^2 / (n - 1),    covariance = sum_i d_i d_i' / (n - 1)

    as in `numpy.cov`, without the loss of digits of sums of squares. If old values are forgotten at
    a rate f, the value k steps ago has the weight w_k = (1 - f)^k, and n - 1 becomes
    sum w - sum w^2 / sum w, as with NumPy's `aweights`.

    Attributes
    ----------
    count
        n, the number of values, or the sum of their weights.
    mean
        The mean of the values; zeros before the first value.
    squares
        sum_i d_i^2, or sum_i d_i d_i' for covariances, which has one extra axis.
    forget
        The rate f; None if nothing is forgotten.

    Examples
    --------
    A random walk whose step width is the spread of about its last hundred positions:

    >>> import kinetograph as kg
    >>> class AdaptiveWalk(kg.Sampler):
    ...     def init(self, at):
    ...         return {"moments": kg.Moments.start(at.q, forget=0.01)}
    ...     def step(self, at, moments):
    ...         width = kg.where(self.iteration > 100, kg.sqrt(moments.variance), 1.0)
    ...         new = self.evaluate(at.q + width * self.noise("walk", like=at.q))
    ...         if kg.log(self.noise.uniform(name="accept")) < at.potential - new.potential:
    ...             at = new
    ...         return at, {"moments": moments.add(at.q)}
    >>> x = kg.normal(0.0, 20.0, name="x")
    >>> chain = kg.chain(kg.model(x), AdaptiveWalk(), seed=1)
    >>> rows = chain.step(2000)
    >>> bool(5 < chain.slots["moments"].variance[0] ** 0.5 < 40)
    True

    Source: B. P. Welford, Technometrics 4 (1962).
    """

    count: Any
    mean: Any
    squares: Any
    forget: Any = None

    @classmethod
    def start(cls, like: Any, *, covariance: bool = False, forget: Any = None) -> "Moments":
        """Return the moments of an empty sequence.

        Parameters
        ----------
        like
            An array or a number with the shape and type of the values.
        covariance
            Whether to keep the covariance of the elements along the last axis of the values.
            Otherwise the variance of each element is kept.
        forget
            The rate f at which old values are forgotten, from 0 to below 1; None: nothing is
            forgotten.

        Raises
        ------
        ShapeError
            If `covariance` is given for numbers.
        ValueError
            If the rate is out of its range.
        """
        array = like if hasattr(like, "shape") and hasattr(like, "dtype") else np.asarray(like)
        shape = tuple(array.shape)
        dtype = array.dtype if np.dtype(array.dtype).kind == "f" else np.dtype(float)
        if covariance and not shape:
            raise ShapeError(
                "Moments: the covariance of a number is its variance; leave covariance=True out"
            )
        if isinstance(forget, (int, float)) and not 0 <= forget < 1:
            raise ValueError(f"Moments: forget must be from 0 to below 1, got {forget!r}")
        squares = np.zeros((*shape, *shape[-1:]) if covariance else shape, dtype)
        return cls(np.zeros((), dtype), np.zeros(shape, dtype), squares, forget)

    def add(self, value: Any) -> "Moments":
        """Return the moments with one more value.

        Raises
        ------
        ShapeError
            If the shape of the value differs from the shape of the earlier values.
        """
        shape = tuple(np.shape(value) if not isinstance(value, Array) else value.shape)
        if shape != tuple(self.mean.shape):
            raise ShapeError(
                f"Moments.add: the values have shape {tuple(self.mean.shape)}, got {shape}"
            )
        factor = 1.0 if self.forget is None else 1.0 - self.forget
        old_count, squares = self.count, self.squares
        if self.forget is not None:
            old_count, squares = factor * old_count, factor * squares
        count = old_count + 1.0
        delta = value - self.mean
        mean = self.mean + delta / count
        if self._crossed:  # equal to the product below, but exactly symmetric
            products = delta[..., :, None] * delta[..., None, :] * (old_count / count)
        else:
            products = delta * (value - mean)
        return Moments(count, mean, squares + products, self.forget)

    @property
    def variance(self) -> Any:
        """The variance of each element; NaN for fewer than two values."""
        if not self._crossed:
            return self.squares / self._freedom
        each = np.arange(self.mean.shape[-1])
        return self.squares[..., each, each] / self._freedom

    @property
    def covariance(self) -> Any:
        """The covariance of the elements along the last axis.

        It is NaN for fewer than two values.

        Raises
        ------
        AttributeError
            If only variances are kept.
        """
        if not self._crossed:
            raise AttributeError(
                "these moments keep variances only; begin them with "
                "kg.Moments.start(..., covariance=True) to keep the covariance"
            )
        return self.squares / self._freedom

    @property
    def _crossed(self) -> bool:
        return len(self.squares.shape) > len(self.mean.shape)

    @property
    def _freedom(self) -> Any:
        """The degrees of freedom; 0 for fewer than two values.

        They are n - 1, or sum w - sum w^2 / sum w if old values are forgotten.
        """
        loss: Any = 1.0
        if self.forget is not None:
            loss = (2.0 - self.forget * self.count) / (2.0 - self.forget)
        return (self.count - loss) * (self.count > loss)
