"""Elementwise mathematical functions: `kg.exp(x)`, `kg.where(c, x, y)`."""

from ..array import Array, ArrayLike
from ..operations import elementwise as ew
from ..operations.elementwise import elementwise
from ..operations.rounding import round_to
from ..public import public

__all__ = [
    "abs",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "ceil",
    "clip",
    "cos",
    "cosh",
    "cospi",
    "exp",
    "expm1",
    "floor",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "maximum",
    "minimum",
    "round",
    "sign",
    "sin",
    "sinh",
    "sinpi",
    "sqrt",
    "square",
    "stop_gradient",
    "tan",
    "tanh",
    "tanpi",
    "where",
]


@public
def exp(x: ArrayLike) -> Array:
    """e ** x."""
    return Array(elementwise("exp", x))


@public
def expm1(x: ArrayLike) -> Array:
    """exp(x) - 1, accurate near 0."""
    return Array(elementwise("expm1", x))


@public
def log1p(x: ArrayLike) -> Array:
    """log(1 + x), accurate near 0."""
    return Array(elementwise("log1p", x))


@public
def log2(x: ArrayLike) -> Array:
    """The logarithm to base 2."""
    return Array(elementwise("log2", x))


@public
def log10(x: ArrayLike) -> Array:
    """The logarithm to base 10."""
    return Array(elementwise("log10", x))


@public
def sqrt(x: ArrayLike) -> Array:
    """The square root; NaN for x < 0."""
    return Array(elementwise("sqrt", x))


@public
def square(x: ArrayLike) -> Array:
    """x * x."""
    return Array(elementwise("square", x))


@public
def abs(x: ArrayLike) -> Array:
    """The absolute value, with derivative 0 at 0.

    The second derivative at 0 is NaN.
    """
    return Array(elementwise("absolute", x))


@public
def sign(x: ArrayLike) -> Array:
    """-1, 0 or 1."""
    return Array(elementwise("sign", x))


@public
def floor(x: ArrayLike) -> Array:
    """The largest integer not above x."""
    return Array(elementwise("floor", x))


@public
def ceil(x: ArrayLike) -> Array:
    """The smallest integer not below x."""
    return Array(elementwise("ceil", x))


@public
def sin(x: ArrayLike) -> Array:
    """The sine of an angle in radians."""
    return Array(elementwise("sin", x))


@public
def cos(x: ArrayLike) -> Array:
    """The cosine of an angle in radians."""
    return Array(elementwise("cos", x))


@public
def tan(x: ArrayLike) -> Array:
    """The tangent of an angle in radians."""
    return Array(elementwise("tan", x))


@public
def arcsin(x: ArrayLike) -> Array:
    """The inverse sine, in radians."""
    return Array(elementwise("arcsin", x))


@public
def arccos(x: ArrayLike) -> Array:
    """The inverse cosine, in radians."""
    return Array(elementwise("arccos", x))


@public
def arctan(x: ArrayLike) -> Array:
    """The inverse tangent, in radians."""
    return Array(elementwise("arctan", x))


@public
def sinh(x: ArrayLike) -> Array:
    """The hyperbolic sine."""
    return Array(elementwise("sinh", x))


@public
def cosh(x: ArrayLike) -> Array:
    """The hyperbolic cosine."""
    return Array(elementwise("cosh", x))


@public
def tanh(x: ArrayLike) -> Array:
    """The hyperbolic tangent."""
    return Array(elementwise("tanh", x))


@public
def arcsinh(x: ArrayLike) -> Array:
    """The inverse hyperbolic sine."""
    return Array(elementwise("arcsinh", x))


@public
def arccosh(x: ArrayLike) -> Array:
    """The inverse hyperbolic cosine."""
    return Array(elementwise("arccosh", x))


@public
def arctanh(x: ArrayLike) -> Array:
    """The inverse hyperbolic tangent."""
    return Array(elementwise("arctanh", x))


@public
def sinpi(x: ArrayLike) -> Array:
    """sin(pi x), exact at multiples of a half."""
    return Array(elementwise("sinpi", x))


@public
def cospi(x: ArrayLike) -> Array:
    """cos(pi x), exact at multiples of a half."""
    return Array(elementwise("cospi", x))


@public
def tanpi(x: ArrayLike) -> Array:
    """tan(pi x)."""
    return Array(elementwise("tanpi", x))


@public
def maximum(x: ArrayLike, y: ArrayLike) -> Array:
    """The larger of two values."""
    return Array(elementwise("maximum", x, y))


@public
def minimum(x: ArrayLike, y: ArrayLike) -> Array:
    """The smaller of two values."""
    return Array(elementwise("minimum", x, y))


@public
def logaddexp(x: ArrayLike, y: ArrayLike) -> Array:
    """log(exp(x) + exp(y)), without overflow."""
    return Array(elementwise("logaddexp", x, y))


@public
def arctan2(y: ArrayLike, x: ArrayLike) -> Array:
    """The angle of the point (y, x), in radians."""
    return Array(elementwise("arctan2", y, x))


@public
def log(x: ArrayLike, base: ArrayLike | None = None) -> Array:
    """The natural logarithm, or to a base; NaN for x < 0."""
    natural = elementwise("log", x)
    return Array(
        natural if base is None else elementwise("divide", natural, elementwise("log", base))
    )


@public
def round(x: ArrayLike, decimals: int = 0) -> Array:
    """x rounded to a number of decimals, halves to even."""
    return Array(round_to(x, decimals))


@public
def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike) -> Array:
    """x where the condition is true, else y.

    Both sides are computed, but the side that is not taken never affects a value or gradient.
    Derivatives come from the taken side alone, even where derivatives of the other side are
    infinite or NaN:

        d where(c, x, y) = where(c, dx, dy)

    This holds for all elementwise operations from which a side is computed, back to the first
    operation of another kind: a sum, a product of matrices, an index, a branch or a loop. The
    operands of such an operation can still make a gradient NaN, as in
    `where(ok, log(x).sum(axis=1), 0)` with x = 0 in a row that is not ok. Apply `where` to these
    operands, too, as in `log(where(ok[:, None], x, 1))`. If the condition is a single value, the
    rule holds for all operations except branches and loops.

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


@public
def clip(x: ArrayLike, lower: ArrayLike | None = None, upper: ArrayLike | None = None) -> Array:
    """x limited to the interval [lower, upper]; None means no limit."""
    return Array(ew.clip(x, lower, upper))


@public
def stop_gradient(x: ArrayLike) -> Array:
    """x as a constant: its derivative is 0."""
    return Array(ew.stop_gradient(x))
