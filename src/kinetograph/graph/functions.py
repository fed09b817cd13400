"""The functions of arrays, as users call them: `kg.exp(x)`, `kg.sum(x, axis=0)`, `kg.ilogit(x)`.

NumPy's own functions applied to arrays (`np.exp(x)`) arrive here too, through NumPy's protocols.
"""

from collections.abc import Callable, Sequence
from typing import Any

from . import derived, indexing, linear_algebra, reductions, segments, shaping
from . import elementwise as ew
from .array import Array

Axis = reductions.Axis


def _elementwise(name: str, text: str, arity: int = 1) -> Callable[..., Array]:
    if arity == 1:

        def function(x: Any) -> Array:
            return Array(ew.elementwise(name, x))

    else:

        def function(x: Any, y: Any) -> Array:  # type: ignore[misc]
            return Array(ew.elementwise(name, x, y))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


exp = _elementwise("exp", "e ** x.")
expm1 = _elementwise("expm1", "exp(x) - 1, accurate near 0.")
log1p = _elementwise("log1p", "log(1 + x), accurate near 0.")
log2 = _elementwise("log2", "The logarithm to base 2.")
log10 = _elementwise("log10", "The logarithm to base 10.")
sqrt = _elementwise("sqrt", "The square root; NaN for x < 0.")
square = _elementwise("square", "x * x.")
abs = _elementwise("absolute", "The absolute value, with derivative 0 at 0.")
sign = _elementwise("sign", "-1, 0 or 1.")
floor = _elementwise("floor", "The largest whole number not above x.")
ceil = _elementwise("ceil", "The smallest whole number not below x.")
sin = _elementwise("sin", "The sine of an angle in radians.")
cos = _elementwise("cos", "The cosine of an angle in radians.")
tan = _elementwise("tan", "The tangent of an angle in radians.")
arcsin = _elementwise("arcsin", "The inverse sine, in radians.")
arccos = _elementwise("arccos", "The inverse cosine, in radians.")
arctan = _elementwise("arctan", "The inverse tangent, in radians.")
sinh = _elementwise("sinh", "The hyperbolic sine.")
cosh = _elementwise("cosh", "The hyperbolic cosine.")
tanh = _elementwise("tanh", "The hyperbolic tangent.")
arcsinh = _elementwise("arcsinh", "The inverse hyperbolic sine.")
arccosh = _elementwise("arccosh", "The inverse hyperbolic cosine.")
arctanh = _elementwise("arctanh", "The inverse hyperbolic tangent.")
sinpi = _elementwise("sinpi", "sin(pi x), exact at multiples of a half.")
cospi = _elementwise("cospi", "cos(pi x), exact at multiples of a half.")
tanpi = _elementwise("tanpi", "tan(pi x).")
ilogit = _elementwise("expit", "The logistic function 1 / (1 + exp(-x)).")
logit = _elementwise("logit", "log(p / (1 - p)).")
iprobit = _elementwise("ndtr", "The standard normal distribution function.")
icloglog = _elementwise("icloglog", "1 - exp(-exp(x)).")
icauchit = _elementwise("icauchit", "1/2 + arctan(x) / pi.")
softplus = _elementwise("softplus", "log(1 + exp(x)), without overflow.")
log1mexp = _elementwise("log1mexp", "log(1 - exp(-x)) for x > 0, accurate at both ends.")
gammaln = _elementwise("gammaln", "The logarithm of the absolute gamma function.")
digamma = _elementwise("digamma", "The derivative of gammaln.")
trigamma = _elementwise("trigamma", "The derivative of digamma.")
erf = _elementwise("erf", "The error function.")
erfc = _elementwise("erfc", "1 - erf(x), accurate for large x.")
ndtri = _elementwise("ndtri", "The quantile function of the standard normal distribution.")
log_ndtr = _elementwise("log_ndtr", "The logarithm of the standard normal distribution function.")
maximum = _elementwise("maximum", "The larger of two values.", 2)
minimum = _elementwise("minimum", "The smaller of two values.", 2)
logaddexp = _elementwise("logaddexp", "log(exp(x) + exp(y)), without overflow.", 2)
betaln = _elementwise("betaln", "The logarithm of the beta function.", 2)
xlogy = _elementwise("xlogy", "x log(y), 0 where x = 0.", 2)
xlog1py = _elementwise("xlog1py", "x log(1 + y), 0 where x = 0.", 2)
arctan2 = _elementwise("arctan2", "The angle of the point (y, x), in radians.", 2)


def log(x: Any, base: Any = None) -> Array:
    """The logarithm, natural unless a base is given; NaN for x < 0."""
    natural = ew.elementwise("log", x)
    return Array(
        natural if base is None else ew.elementwise("divide", natural, ew.elementwise("log", base))
    )


def round(x: Any, decimals: int = 0) -> Array:
    """x rounded to a number of decimals, halves to even."""
    return Array(ew.round_to(x, decimals))


def comb(n: Any, k: Any) -> Array:
    """The number of ways to choose k out of n, for real n and k by the gamma function."""
    return Array(ew.elementwise("comb", n, k))


def log_comb(n: Any, k: Any) -> Array:
    """The logarithm of the number of ways to choose k out of n."""
    return Array(ew.elementwise("log_comb", n, k))


def where(condition: Any, x: Any, y: Any) -> Array:
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


def clip(x: Any, lower: Any = None, upper: Any = None) -> Array:
    """x limited to the interval [lower, upper]; None leaves a side open."""
    return Array(ew.clip(x, lower, upper))


def stop_gradient(x: Any) -> Array:
    """x, whose derivative is taken as zero: it counts as a constant."""
    return Array(ew.stop_gradient(x))


def _reduction(name: str, text: str) -> Callable[..., Array]:
    def function(x: Any, axis: Axis = None, keepdims: bool = False) -> Array:
        return Array(reductions.reduce(name, x, axis, keepdims))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text + " `axis=None` takes all axes."
    return function


sum = _reduction("sum", "The sum over axes.")
prod = _reduction("prod", "The product over axes.")
mean = _reduction("mean", "The mean over axes.")
median = _reduction("median", "The median over axes.")
max = _reduction("max", "The largest element over axes; ties share the gradient.")
min = _reduction("min", "The smallest element over axes; ties share the gradient.")
any = _reduction("any", "Whether any element over axes is true.")
all = _reduction("all", "Whether all elements over axes are true.")
logsumexp = _reduction("logsumexp", "log of the sum of exp(x) over axes, without overflow.")


def var(x: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Array:
    """The variance over axes, with divisor n - ddof."""
    return Array(reductions.reduce("var", x, axis, keepdims, ddof=ddof))


def std(x: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Array:
    """The standard deviation over axes, with divisor n - ddof."""
    return Array(reductions.reduce("std", x, axis, keepdims, ddof=ddof))


def _cumulative(name: str, text: str) -> Callable[..., Array]:
    def function(x: Any, axis: int | None = None) -> Array:
        return Array(reductions.cumulative(name, x, axis))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The running {text} along an axis (of the flattened array for None)."
    return function


cumsum = _cumulative("cumsum", "sum")
cumprod = _cumulative("cumprod", "product")
cummax = _cumulative("cummax", "maximum")
cummin = _cumulative("cummin", "minimum")


def argmax(x: Any, axis: int | None = None, keepdims: bool = False) -> Array:
    """The place of the largest element along an axis (of the flattened array for None)."""
    return Array(reductions.reduce("argmax", x, axis, keepdims))


def argmin(x: Any, axis: int | None = None, keepdims: bool = False) -> Array:
    """The place of the smallest element along an axis (of the flattened array for None)."""
    return Array(reductions.reduce("argmin", x, axis, keepdims))


def _segment(name: str, text: str) -> Callable[..., Array]:
    def function(x: Any, index: Any, num_segments: Any) -> Array:
        return Array(segments.segment(name, x, index, num_segments))

    function.__name__ = function.__qualname__ = f"segment_{name}"
    function.__doc__ = (
        f"The {text} of the x of each label 0, ..., num_segments - 1. "
        "A tuple of indices, with a tuple of numbers, groups by several labels."
    )
    return function


segment_sum = _segment("sum", "sum (0 if there are none)")
segment_mean = _segment("mean", "mean (NaN if there are none)")
segment_max = _segment("max", "maximum (-inf if there are none)")
segment_min = _segment("min", "minimum (inf if there are none)")
segment_prod = _segment("prod", "product (1 if there are none)")


def softmax(x: Any, axis: int = -1) -> Array:
    """exp(x) / sum(exp(x)) along an axis."""
    return Array(reductions.softmax(x, axis))


def log_softmax(x: Any, axis: int = -1) -> Array:
    """x - logsumexp(x) along an axis."""
    return Array(reductions.softmax(x, axis, log=True))


def imultilogit(x: Any) -> Array:
    """Probabilities of m + 1 classes: softmax of the last axis with a 0 appended."""
    return Array(derived.imultilogit(x))


def sort(x: Any, axis: int | None = -1) -> Array:
    """The elements in ascending order along an axis (of the flattened array for None)."""
    return Array(shaping.sort(x, axis))


def concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Array:
    """Join arrays along an existing axis."""
    return Array(shaping.concatenate(arrays, axis))


def stack(arrays: Sequence[Any], axis: int = 0) -> Array:
    """Join arrays of one shape along a new axis."""
    return Array(shaping.stack(arrays, axis))


def reshape(x: Any, shape: Any) -> Array:
    """The same elements, in C order, in another shape; one size may be -1."""
    return Array(shaping.reshape(x, shape))


def transpose(x: Any, axes: Sequence[int] | None = None) -> Array:
    """The axes in another order (reversed for None)."""
    return Array(shaping.transpose(x, axes))


def diag(x: Any, k: int = 0) -> Array:
    """A matrix with the given diagonal, or the diagonal of a matrix."""
    return Array(shaping.diag(x, k))


def take(x: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Array:
    """Elements of x along an axis (of the flattened array for None).

    An index outside of the axis is an error, as in `x[indices]`; with `mode="clip"` the nearest
    element is taken, with `mode="wrap"` that of the remainder, as NumPy does.
    """
    return Array(indexing.take(x, indices, axis, mode))


def one_hot(x: Any, size: int) -> Array:
    """Indicator rows: 1 where the label equals the column."""
    return Array(indexing.one_hot(x, size))


def cholesky(x: Any) -> Array:
    """The lower triangular L with L @ L.T = x; NaN where x is not positive definite."""
    return Array(linear_algebra.cholesky(x))


def solve(a: Any, b: Any) -> Array:
    """The x with a @ x = b."""
    return Array(linear_algebra.solve(a, b))


def solve_triangular(a: Any, b: Any, trans: int | str = 0, lower: bool = False) -> Array:
    """The x with a @ x = b for triangular a, as in scipy.linalg."""
    return Array(linear_algebra.solve_triangular(a, b, trans, lower))


def logdet(x: Any) -> Array:
    """The logarithm of the absolute value of the determinant."""
    return Array(linear_algebra.slogdet(x)[1])


def einsum(subscripts: str, *operands: Any) -> Array:
    """Einstein summation, as numpy.einsum."""
    return Array(linear_algebra.einsum(subscripts, *operands))


def _matrix(name: str, text: str, function: Callable[..., Any]) -> Callable[..., Array]:
    def wrapper(x: Any) -> Array:
        return Array(function(x))

    wrapper.__name__ = wrapper.__qualname__ = name
    wrapper.__doc__ = text
    return wrapper


inv = _matrix("inv", "The inverse matrix.", linear_algebra.inv)
det = _matrix("det", "The determinant.", linear_algebra.det)
chol_outer = _matrix(
    "chol_outer", "L @ L.T: the matrix whose lower Cholesky factor is given.", derived.chol_outer
)
chol_inverse = _matrix(
    "chol_inverse", "The inverse of L @ L.T, given the factor L.", derived.chol_inverse
)
cov2cor = _matrix("cov2cor", "The correlations of a covariance matrix.", derived.cov2cor)


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The sum of the diagonal over two axes."""
    return Array(shaping.trace(x, offset, axis1, axis2))


def matmul(a: Any, b: Any) -> Array:
    """The matrix product a @ b, batched over leading axes."""
    return Array(linear_algebra.matmul(a, b))


def outer(a: Any, b: Any) -> Array:
    """The product of each element of a with each of b."""
    return Array(linear_algebra.outer(a, b))


def kron(a: Any, b: Any) -> Array:
    """The Kronecker product."""
    return Array(linear_algebra.kron(a, b))


def pairwise_distance(x: Any, y: Any = None) -> Array:
    """The Euclidean distances between the rows of x and those of y (of x, if not given)."""
    return Array(derived.pairwise_distance(x, y))


# Everything public above, and nothing imported.
__all__ = sorted(
    name
    for name, value in list(globals().items())
    if callable(value)
    and not name.startswith("_")
    and name not in {"Array", "Callable", "Sequence", "Axis", "Any"}
)
