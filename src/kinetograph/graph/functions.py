"""The functions of arrays, as users call them: `kg.log(x)`, `kg.sum(x, axis=0)`, `kg.sort(x)`.

Those of each element alone are in `mathematics`. NumPy's own functions applied to arrays
(`np.exp(x)`) arrive here too, through NumPy's protocols. All are written out, so that editors and
type checkers know them.
"""

from collections.abc import Sequence

from . import derived, indexing, linear_algebra, reductions, segments, shaping
from . import elementwise as ew
from .array import Array, ArrayLike

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "chol_inverse",
    "chol_outer",
    "cholesky",
    "clip",
    "comb",
    "concatenate",
    "cov2cor",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "det",
    "diag",
    "einsum",
    "imultilogit",
    "inv",
    "kron",
    "log",
    "log_comb",
    "log_softmax",
    "logdet",
    "logsumexp",
    "matmul",
    "max",
    "mean",
    "median",
    "min",
    "one_hot",
    "outer",
    "pairwise_distance",
    "prod",
    "reshape",
    "round",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "softmax",
    "solve",
    "solve_triangular",
    "sort",
    "stack",
    "std",
    "stop_gradient",
    "sum",
    "take",
    "trace",
    "transpose",
    "var",
    "where",
]

Axis = reductions.Axis


def log(x: ArrayLike, base: ArrayLike | None = None) -> Array:
    """The logarithm, natural unless a base is given; NaN for x < 0."""
    natural = ew.elementwise("log", x)
    return Array(
        natural if base is None else ew.elementwise("divide", natural, ew.elementwise("log", base))
    )


def round(x: ArrayLike, decimals: int = 0) -> Array:
    """x rounded to a number of decimals, halves to even."""
    return Array(ew.round_to(x, decimals))


def comb(n: ArrayLike, k: ArrayLike) -> Array:
    """The number of ways to choose k out of n, for real n and k by the gamma function."""
    return Array(ew.elementwise("comb", n, k))


def log_comb(n: ArrayLike, k: ArrayLike) -> Array:
    """The logarithm of the number of ways to choose k out of n."""
    return Array(ew.elementwise("log_comb", n, k))


def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike) -> Array:
    """x where the condition holds, else y; the side not taken never reaches a value or gradient.

    Both sides are computed, but derivatives are those of the side that is taken alone, even where
    the other one's are infinite or NaN:

        d where(c, x, y) = where(c, dx, dy)

    This holds through all operations on single elements that lead to a side, and up to where they
    begin: sums, products of matrices, indexing, branches and loops. What those are computed from
    may still spoil a gradient (`where(ok, log(x).sum(axis=1), 0)` with an x of 0 in a row that is
    not ok); choose there, too, as in `log(where(ok[:, None], x, 1))`. Where the condition is a
    single value it holds through all operations but branches and loops.

    Parameters
    ----------
    condition
        A boolean array.
    x, y
        Arrays or numbers; all three are broadcast to one shape.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder((3,), name="x")
    >>> y = kg.where(x > 0, kg.sqrt(x), 0.0)
    >>> f = kg.compile([x], kg.gradients(y.sum(), x))
    >>> f([-1.0, 0.0, 4.0]).tolist()
    [0.0, 0.0, 0.25]
    """
    return Array(ew.where(condition, x, y))


def clip(x: ArrayLike, lower: ArrayLike | None = None, upper: ArrayLike | None = None) -> Array:
    """x limited to the interval [lower, upper]; None leaves a side open."""
    return Array(ew.clip(x, lower, upper))


def stop_gradient(x: ArrayLike) -> Array:
    """x, whose derivative is taken as zero: it counts as a constant."""
    return Array(ew.stop_gradient(x))


def sum(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """The sum over axes. `axis=None` takes all axes."""
    return Array(reductions.reduce("sum", x, axis, keepdims))


def prod(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """The product over axes. `axis=None` takes all axes."""
    return Array(reductions.reduce("prod", x, axis, keepdims))


def mean(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """The mean over axes. `axis=None` takes all axes."""
    return Array(reductions.reduce("mean", x, axis, keepdims))


def median(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """The median over axes. `axis=None` takes all axes."""
    return Array(reductions.reduce("median", x, axis, keepdims))


def max(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """The largest element over axes; ties share the gradient. `axis=None` takes all axes."""
    return Array(reductions.reduce("max", x, axis, keepdims))


def min(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """The smallest element over axes; ties share the gradient. `axis=None` takes all axes."""
    return Array(reductions.reduce("min", x, axis, keepdims))


def any(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether any element over axes is true. `axis=None` takes all axes."""
    return Array(reductions.reduce("any", x, axis, keepdims))


def all(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether all elements over axes are true. `axis=None` takes all axes."""
    return Array(reductions.reduce("all", x, axis, keepdims))


def logsumexp(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """log of the sum of exp(x) over axes, without overflow. `axis=None` takes all axes."""
    return Array(reductions.reduce("logsumexp", x, axis, keepdims))


def var(x: ArrayLike, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Array:
    """The variance over axes, with divisor n - ddof."""
    return Array(reductions.reduce("var", x, axis, keepdims, ddof=ddof))


def std(x: ArrayLike, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Array:
    """The standard deviation over axes, with divisor n - ddof."""
    return Array(reductions.reduce("std", x, axis, keepdims, ddof=ddof))


def cumsum(x: ArrayLike, axis: int | None = None) -> Array:
    """The running sum along an axis (of the flattened array for None)."""
    return Array(reductions.cumulative("cumsum", x, axis))


def cumprod(x: ArrayLike, axis: int | None = None) -> Array:
    """The running product along an axis (of the flattened array for None)."""
    return Array(reductions.cumulative("cumprod", x, axis))


def cummax(x: ArrayLike, axis: int | None = None) -> Array:
    """The running maximum along an axis (of the flattened array for None)."""
    return Array(reductions.cumulative("cummax", x, axis))


def cummin(x: ArrayLike, axis: int | None = None) -> Array:
    """The running minimum along an axis (of the flattened array for None)."""
    return Array(reductions.cumulative("cummin", x, axis))


def argmax(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Array:
    """The place of the largest element along an axis (of the flattened array for None)."""
    return Array(reductions.reduce("argmax", x, axis, keepdims))


def argmin(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Array:
    """The place of the smallest element along an axis (of the flattened array for None)."""
    return Array(reductions.reduce("argmin", x, axis, keepdims))


def segment_sum(x: ArrayLike, index: ArrayLike, num_segments: int | Sequence[int]) -> Array:
    """The sum (0 if there are none) of the x of each label 0, ..., num_segments - 1.

    A tuple of indices, with a tuple of numbers, groups by several labels.
    """
    return Array(segments.segment("sum", x, index, num_segments))


def segment_mean(x: ArrayLike, index: ArrayLike, num_segments: int | Sequence[int]) -> Array:
    """The mean (NaN if there are none) of the x of each label 0, ..., num_segments - 1.

    A tuple of indices, with a tuple of numbers, groups by several labels.
    """
    return Array(segments.segment("mean", x, index, num_segments))


def segment_max(x: ArrayLike, index: ArrayLike, num_segments: int | Sequence[int]) -> Array:
    """The maximum (-inf if there are none) of the x of each label 0, ..., num_segments - 1.

    A tuple of indices, with a tuple of numbers, groups by several labels.
    """
    return Array(segments.segment("max", x, index, num_segments))


def segment_min(x: ArrayLike, index: ArrayLike, num_segments: int | Sequence[int]) -> Array:
    """The minimum (inf if there are none) of the x of each label 0, ..., num_segments - 1.

    A tuple of indices, with a tuple of numbers, groups by several labels.
    """
    return Array(segments.segment("min", x, index, num_segments))


def segment_prod(x: ArrayLike, index: ArrayLike, num_segments: int | Sequence[int]) -> Array:
    """The product (1 if there are none) of the x of each label 0, ..., num_segments - 1.

    A tuple of indices, with a tuple of numbers, groups by several labels.
    """
    return Array(segments.segment("prod", x, index, num_segments))


def softmax(x: ArrayLike, axis: int = -1) -> Array:
    """exp(x) / sum(exp(x)) along an axis."""
    return Array(reductions.softmax(x, axis))


def log_softmax(x: ArrayLike, axis: int = -1) -> Array:
    """x - logsumexp(x) along an axis."""
    return Array(reductions.softmax(x, axis, log=True))


def imultilogit(x: ArrayLike) -> Array:
    """Probabilities of m + 1 classes: softmax of the last axis with a 0 appended."""
    return Array(derived.imultilogit(x))


def sort(x: ArrayLike, axis: int | None = -1) -> Array:
    """The elements in ascending order along an axis (of the flattened array for None)."""
    return Array(shaping.sort(x, axis))


def concatenate(arrays: Sequence[ArrayLike], axis: int | None = 0) -> Array:
    """Join arrays along an existing axis."""
    return Array(shaping.concatenate(arrays, axis))


def stack(arrays: Sequence[ArrayLike], axis: int = 0) -> Array:
    """Join arrays of one shape along a new axis."""
    return Array(shaping.stack(arrays, axis))


def reshape(x: ArrayLike, shape: int | Sequence[int]) -> Array:
    """The same elements, in C order, in another shape; one size may be -1."""
    return Array(shaping.reshape(x, shape))


def transpose(x: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """The axes in another order (reversed for None)."""
    return Array(shaping.transpose(x, axes))


def diag(x: ArrayLike, k: int = 0) -> Array:
    """A matrix with the given diagonal, or the diagonal of a matrix."""
    return Array(shaping.diag(x, k))


def take(x: ArrayLike, indices: ArrayLike, axis: int | None = None, mode: str = "raise") -> Array:
    """Elements of x along an axis (of the flattened array for None).

    An index outside of the axis is an error, as in `x[indices]`; with `mode="clip"` the nearest
    element is taken, with `mode="wrap"` that of the remainder, as NumPy does.
    """
    return Array(indexing.take(x, indices, axis, mode))


def one_hot(x: ArrayLike, size: int) -> Array:
    """Indicator rows: 1 where the label equals the column."""
    return Array(indexing.one_hot(x, size))


def cholesky(x: ArrayLike) -> Array:
    """The lower triangular L with L @ L.T = x; NaN where x is not positive definite."""
    return Array(linear_algebra.cholesky(x))


def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """The x with a @ x = b."""
    return Array(linear_algebra.solve(a, b))


def solve_triangular(
    a: ArrayLike, b: ArrayLike, trans: int | str = 0, lower: bool = False
) -> Array:
    """The x with a @ x = b for triangular a, as in scipy.linalg."""
    return Array(linear_algebra.solve_triangular(a, b, trans, lower))


def logdet(x: ArrayLike) -> Array:
    """The logarithm of the absolute value of the determinant."""
    return Array(linear_algebra.slogdet(x)[1])


def einsum(subscripts: str, *operands: ArrayLike) -> Array:
    """Einstein summation, as numpy.einsum."""
    return Array(linear_algebra.einsum(subscripts, *operands))


def inv(x: ArrayLike) -> Array:
    """The inverse matrix."""
    return Array(linear_algebra.inv(x))


def det(x: ArrayLike) -> Array:
    """The determinant.

    Its first and second derivatives are right at matrices of any rank; those of higher order up to
    4 x 4, too. Of larger matrices they are NaN where singular values coincide.
    """
    return Array(linear_algebra.det(x))


def chol_outer(x: ArrayLike) -> Array:
    """L @ L.T: the matrix whose lower Cholesky factor is given."""
    return Array(derived.chol_outer(x))


def chol_inverse(x: ArrayLike) -> Array:
    """The inverse of L @ L.T, given the factor L."""
    return Array(derived.chol_inverse(x))


def cov2cor(x: ArrayLike) -> Array:
    """The correlations of a covariance matrix."""
    return Array(derived.cov2cor(x))


def trace(x: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The sum of the diagonal over two axes."""
    return Array(shaping.trace(x, offset, axis1, axis2))


def matmul(a: ArrayLike, b: ArrayLike) -> Array:
    """The matrix product a @ b, batched over leading axes."""
    return Array(linear_algebra.matmul(a, b))


def outer(a: ArrayLike, b: ArrayLike) -> Array:
    """The product of each element of a with each of b."""
    return Array(linear_algebra.outer(a, b))


def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """The Kronecker product."""
    return Array(linear_algebra.kron(a, b))


def pairwise_distance(x: ArrayLike, y: ArrayLike | None = None) -> Array:
    """The Euclidean distances between the rows of x and those of y (of x, if not given)."""
    return Array(derived.pairwise_distance(x, y))
