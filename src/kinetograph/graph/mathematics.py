"""Mathematical functions of each element alone: `kg.exp(x)`, `kg.gammaln(x)`, `kg.maximum(x, y)`.

All are written out, so that editors and type checkers know them.
"""

from .array import Array, ArrayLike
from .elementwise import elementwise

__all__ = [
    "abs",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "betainc",
    "betaln",
    "ceil",
    "cos",
    "cosh",
    "cospi",
    "digamma",
    "erf",
    "erfc",
    "erfcx",
    "exp",
    "expi",
    "expm1",
    "floor",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "icauchit",
    "icloglog",
    "ilogit",
    "iprobit",
    "log10",
    "log1mexp",
    "log1p",
    "log2",
    "log_ndtr",
    "logaddexp",
    "logit",
    "maximum",
    "minimum",
    "ndtr",
    "ndtri",
    "owens_t",
    "sign",
    "sin",
    "sinh",
    "sinpi",
    "softplus",
    "sqrt",
    "square",
    "stdtr",
    "tan",
    "tanh",
    "tanpi",
    "trigamma",
    "xlog1py",
    "xlogy",
    "zeta",
]


def exp(x: ArrayLike) -> Array:
    """e ** x."""
    return Array(elementwise("exp", x))


def expm1(x: ArrayLike) -> Array:
    """exp(x) - 1, accurate near 0."""
    return Array(elementwise("expm1", x))


def log1p(x: ArrayLike) -> Array:
    """log(1 + x), accurate near 0."""
    return Array(elementwise("log1p", x))


def log2(x: ArrayLike) -> Array:
    """The logarithm to base 2."""
    return Array(elementwise("log2", x))


def log10(x: ArrayLike) -> Array:
    """The logarithm to base 10."""
    return Array(elementwise("log10", x))


def sqrt(x: ArrayLike) -> Array:
    """The square root; NaN for x < 0."""
    return Array(elementwise("sqrt", x))


def square(x: ArrayLike) -> Array:
    """x * x."""
    return Array(elementwise("square", x))


def abs(x: ArrayLike) -> Array:
    """The absolute value, with derivative 0 at 0 and no second one there."""
    return Array(elementwise("absolute", x))


def sign(x: ArrayLike) -> Array:
    """-1, 0 or 1."""
    return Array(elementwise("sign", x))


def floor(x: ArrayLike) -> Array:
    """The largest whole number not above x."""
    return Array(elementwise("floor", x))


def ceil(x: ArrayLike) -> Array:
    """The smallest whole number not below x."""
    return Array(elementwise("ceil", x))


def sin(x: ArrayLike) -> Array:
    """The sine of an angle in radians."""
    return Array(elementwise("sin", x))


def cos(x: ArrayLike) -> Array:
    """The cosine of an angle in radians."""
    return Array(elementwise("cos", x))


def tan(x: ArrayLike) -> Array:
    """The tangent of an angle in radians."""
    return Array(elementwise("tan", x))


def arcsin(x: ArrayLike) -> Array:
    """The inverse sine, in radians."""
    return Array(elementwise("arcsin", x))


def arccos(x: ArrayLike) -> Array:
    """The inverse cosine, in radians."""
    return Array(elementwise("arccos", x))


def arctan(x: ArrayLike) -> Array:
    """The inverse tangent, in radians."""
    return Array(elementwise("arctan", x))


def sinh(x: ArrayLike) -> Array:
    """The hyperbolic sine."""
    return Array(elementwise("sinh", x))


def cosh(x: ArrayLike) -> Array:
    """The hyperbolic cosine."""
    return Array(elementwise("cosh", x))


def tanh(x: ArrayLike) -> Array:
    """The hyperbolic tangent."""
    return Array(elementwise("tanh", x))


def arcsinh(x: ArrayLike) -> Array:
    """The inverse hyperbolic sine."""
    return Array(elementwise("arcsinh", x))


def arccosh(x: ArrayLike) -> Array:
    """The inverse hyperbolic cosine."""
    return Array(elementwise("arccosh", x))


def arctanh(x: ArrayLike) -> Array:
    """The inverse hyperbolic tangent."""
    return Array(elementwise("arctanh", x))


def sinpi(x: ArrayLike) -> Array:
    """sin(pi x), exact at multiples of a half."""
    return Array(elementwise("sinpi", x))


def cospi(x: ArrayLike) -> Array:
    """cos(pi x), exact at multiples of a half."""
    return Array(elementwise("cospi", x))


def tanpi(x: ArrayLike) -> Array:
    """tan(pi x)."""
    return Array(elementwise("tanpi", x))


def ilogit(x: ArrayLike) -> Array:
    """The logistic function 1 / (1 + exp(-x))."""
    return Array(elementwise("expit", x))


def logit(x: ArrayLike) -> Array:
    """log(p / (1 - p))."""
    return Array(elementwise("logit", x))


def iprobit(x: ArrayLike) -> Array:
    """The standard normal distribution function."""
    return Array(elementwise("ndtr", x))


def icloglog(x: ArrayLike) -> Array:
    """1 - exp(-exp(x))."""
    return Array(elementwise("icloglog", x))


def icauchit(x: ArrayLike) -> Array:
    """1/2 + arctan(x) / pi."""
    return Array(elementwise("icauchit", x))


def softplus(x: ArrayLike) -> Array:
    """log(1 + exp(x)), without overflow."""
    return Array(elementwise("softplus", x))


def log1mexp(x: ArrayLike) -> Array:
    """log(1 - exp(-x)) for x > 0, accurate at both ends."""
    return Array(elementwise("log1mexp", x))


def gammaln(x: ArrayLike) -> Array:
    """The logarithm of the absolute gamma function."""
    return Array(elementwise("gammaln", x))


def digamma(x: ArrayLike) -> Array:
    """The derivative of gammaln."""
    return Array(elementwise("digamma", x))


def trigamma(x: ArrayLike) -> Array:
    """The derivative of digamma."""
    return Array(elementwise("trigamma", x))


def erf(x: ArrayLike) -> Array:
    """The error function."""
    return Array(elementwise("erf", x))


def erfc(x: ArrayLike) -> Array:
    """1 - erf(x), accurate for large x."""
    return Array(elementwise("erfc", x))


def ndtri(x: ArrayLike) -> Array:
    """The quantile function of the standard normal distribution."""
    return Array(elementwise("ndtri", x))


def log_ndtr(x: ArrayLike) -> Array:
    """The logarithm of the standard normal distribution function."""
    return Array(elementwise("log_ndtr", x))


def maximum(x: ArrayLike, y: ArrayLike) -> Array:
    """The larger of two values."""
    return Array(elementwise("maximum", x, y))


def minimum(x: ArrayLike, y: ArrayLike) -> Array:
    """The smaller of two values."""
    return Array(elementwise("minimum", x, y))


def logaddexp(x: ArrayLike, y: ArrayLike) -> Array:
    """log(exp(x) + exp(y)), without overflow."""
    return Array(elementwise("logaddexp", x, y))


def betaln(x: ArrayLike, y: ArrayLike) -> Array:
    """The logarithm of the beta function."""
    return Array(elementwise("betaln", x, y))


def xlogy(x: ArrayLike, y: ArrayLike) -> Array:
    """x log(y), 0 where x = 0."""
    return Array(elementwise("xlogy", x, y))


def xlog1py(x: ArrayLike, y: ArrayLike) -> Array:
    """x log(1 + y), 0 where x = 0."""
    return Array(elementwise("xlog1py", x, y))


def arctan2(y: ArrayLike, x: ArrayLike) -> Array:
    """The angle of the point (y, x), in radians."""
    return Array(elementwise("arctan2", y, x))


def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The regularised incomplete beta function I_x(a, b): the distribution function of a beta."""
    return Array(elementwise("betainc", a, b, x))


def erfcx(x: ArrayLike) -> Array:
    """exp(x * x) * erfc(x), without overflow for large x."""
    return Array(elementwise("erfcx", x))


def expi(x: ArrayLike) -> Array:
    """The exponential integral: the integral of exp(t) / t up to x."""
    return Array(elementwise("expi", x))


def gammainc(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularised lower incomplete gamma function P(a, x)."""
    return Array(elementwise("gammainc", a, x))


def gammaincc(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularised upper incomplete gamma function 1 - P(a, x), right where it is tiny."""
    return Array(elementwise("gammaincc", a, x))


def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order 0."""
    return Array(elementwise("i0", x))


def i0e(x: ArrayLike) -> Array:
    """exp(-abs(x)) * i0(x)."""
    return Array(elementwise("i0e", x))


def i1(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order 1."""
    return Array(elementwise("i1", x))


def i1e(x: ArrayLike) -> Array:
    """exp(-abs(x)) * i1(x)."""
    return Array(elementwise("i1e", x))


def ndtr(x: ArrayLike) -> Array:
    """The distribution function of the standard normal distribution; also called iprobit."""
    return Array(elementwise("ndtr", x))


def stdtr(df: ArrayLike, t: ArrayLike) -> Array:
    """The distribution function of Student's t distribution with df degrees of freedom."""
    return Array(elementwise("stdtr", df, t))


def zeta(x: ArrayLike, q: ArrayLike | None = None) -> Array:
    """The sum of (q + n) ** -x over n = 0, 1, ... for x > 1, q > 0; Riemann's at any x for None."""
    return Array(elementwise("zeta", x) if q is None else elementwise("zeta", x, q))


def owens_t(h: ArrayLike, a: ArrayLike) -> Array:
    """Owen's T function: the probability of X > h and 0 < Y < a X for standard normal X and Y."""
    return Array(elementwise("owens_t", h, a))
