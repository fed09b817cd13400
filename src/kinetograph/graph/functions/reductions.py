"""Functions that combine elements along axes or by label: `kg.sum`, `kg.segment_sum`."""

from collections.abc import Sequence

from ..array import Array, ArrayLike
from ..operations import derived, reductions, segments, statistics
from ..operations.reductions import Axis
from ..public import public

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "corrcoef",
    "cov",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "imultilogit",
    "log_softmax",
    "logsumexp",
    "max",
    "mean",
    "median",
    "min",
    "prod",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "softmax",
    "std",
    "sum",
    "var",
]


@public
def sum(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """The sum over axes. `axis=None` takes all axes."""
    return Array(reductions.reduce("sum", x, axis, keepdims))


@public
def prod(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """The product over axes. `axis=None` takes all axes."""
    return Array(reductions.reduce("prod", x, axis, keepdims))


@public
def mean(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """The mean over axes. `axis=None` takes all axes."""
    return Array(reductions.reduce("mean", x, axis, keepdims))


@public
def median(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """The median over axes. `axis=None` takes all axes."""
    return Array(reductions.reduce("median", x, axis, keepdims))


@public
def max(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """The largest element over axes. `axis=None` takes all axes.

    Tied elements share the gradient.
    """
    return Array(reductions.reduce("max", x, axis, keepdims))


@public
def min(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """The smallest element over axes. `axis=None` takes all axes.

    Tied elements share the gradient.
    """
    return Array(reductions.reduce("min", x, axis, keepdims))


@public
def any(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether any element over axes is true. `axis=None` takes all axes."""
    return Array(reductions.reduce("any", x, axis, keepdims))


@public
def all(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether all elements over axes are true. `axis=None` takes all axes."""
    return Array(reductions.reduce("all", x, axis, keepdims))


@public
def logsumexp(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """The logarithm of the sum of exp(x) over axes, without overflow.

    `axis=None` takes all axes.
    """
    return Array(reductions.reduce("logsumexp", x, axis, keepdims))


@public
def var(x: ArrayLike, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Array:
    """The variance over axes, with divisor n - ddof."""
    return Array(reductions.reduce("var", x, axis, keepdims, ddof=ddof))


@public
def std(x: ArrayLike, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Array:
    """The standard deviation over axes, with divisor n - ddof."""
    return Array(reductions.reduce("std", x, axis, keepdims, ddof=ddof))


@public
def cumsum(x: ArrayLike, axis: int | None = None) -> Array:
    """The running sum along an axis, or of the flattened array."""
    return Array(reductions.cumulative("cumsum", x, axis))


@public
def cumprod(x: ArrayLike, axis: int | None = None) -> Array:
    """The running product along an axis, or of the flattened array."""
    return Array(reductions.cumulative("cumprod", x, axis))


@public
def cummax(x: ArrayLike, axis: int | None = None) -> Array:
    """The running maximum along an axis, or of the flattened array."""
    return Array(reductions.cumulative("cummax", x, axis))


@public
def cummin(x: ArrayLike, axis: int | None = None) -> Array:
    """The running minimum along an axis, or of the flattened array."""
    return Array(reductions.cumulative("cummin", x, axis))


@public
def argmax(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Array:
    """The place of the largest element along an axis.

    With `axis=None` it is the place in the flattened array.
    """
    return Array(reductions.reduce("argmax", x, axis, keepdims))


@public
def argmin(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Array:
    """The place of the smallest element along an axis.

    With `axis=None` it is the place in the flattened array.
    """
    return Array(reductions.reduce("argmin", x, axis, keepdims))


@public
def softmax(x: ArrayLike, axis: int = -1) -> Array:
    """exp(x) / sum(exp(x)) along an axis."""
    return Array(reductions.softmax(x, axis))


@public
def log_softmax(x: ArrayLike, axis: int = -1) -> Array:
    """x - logsumexp(x) along an axis."""
    return Array(reductions.softmax(x, axis, log=True))


@public
def imultilogit(x: ArrayLike) -> Array:
    """Probabilities of m + 1 classes, from m values.

    The result is the softmax of the last axis with a 0 appended.
    """
    return Array(derived.imultilogit(x))


@public
def cov(
    x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, ddof: int | None = None
) -> Array:
    """The covariances of variables in rows or columns.

    The divisor is n - 1, or n - ddof.
    """
    return Array(statistics.cov(x, y, rowvar, False, ddof))


@public
def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True) -> Array:
    """The correlations of variables in rows or columns."""
    return Array(statistics.corrcoef(x, y, rowvar))


@public
def segment_sum(x: ArrayLike, index: ArrayLike, num_segments: int | Sequence[int]) -> Array:
    """The sum of x for each label 0, ..., num_segments - 1.

    A label without elements has sum 0. A tuple of indices, with a tuple of numbers of segments,
    groups by several labels.
    """
    return Array(segments.segment("sum", x, index, num_segments))


@public
def segment_mean(x: ArrayLike, index: ArrayLike, num_segments: int | Sequence[int]) -> Array:
    """The mean of x for each label 0, ..., num_segments - 1.

    A label without elements has mean NaN. A tuple of indices, with a tuple of numbers of segments,
    groups by several labels.
    """
    return Array(segments.segment("mean", x, index, num_segments))


@public
def segment_max(x: ArrayLike, index: ArrayLike, num_segments: int | Sequence[int]) -> Array:
    """The maximum of x for each label 0, ..., num_segments - 1.

    A label without elements has maximum -inf. A tuple of indices, with a tuple of numbers of
    segments, groups by several labels.
    """
    return Array(segments.segment("max", x, index, num_segments))


@public
def segment_min(x: ArrayLike, index: ArrayLike, num_segments: int | Sequence[int]) -> Array:
    """The minimum of x for each label 0, ..., num_segments - 1.

    A label without elements has minimum inf. A tuple of indices, with a tuple of numbers of
    segments, groups by several labels.
    """
    return Array(segments.segment("min", x, index, num_segments))


@public
def segment_prod(x: ArrayLike, index: ArrayLike, num_segments: int | Sequence[int]) -> Array:
    """The product of x for each label 0, ..., num_segments - 1.

    A label without elements has product 1. A tuple of indices, with a tuple of numbers of segments,
    groups by several labels.
    """
    return Array(segments.segment("prod", x, index, num_segments))
