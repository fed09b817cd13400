"""Elementwise special functions: `kg.gammaln(x)`, `kg.erf(x)`, `kg.ilogit(x)`."""

from ..array import Array, ArrayLike
from ..operations import elementwise as ew
from ..operations import special
from ..operations.elementwise import elementwise
from ..public import public

__all__ = [
    "betainc",
    "betaln",
    "boxcox",
    "comb",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "expi",
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
    "iv",
    "ive",
    "kv",
    "kve",
    "log1mexp",
    "log_comb",
    "log_ndtr",
    "logit",
    "multigammaln",
    "ndtr",
    "ndtri",
    "owens_t",
    "polygamma",
    "rel_entr",
    "softplus",
    "stdtr",
    "trigamma",
    "xlog1py",
    "xlogy",
    "zeta",
]


@public
def ilogit(x: ArrayLike) -> Array:
    """The logistic function 1 / (1 + exp(-x))."""
    return Array(elementwise("expit", x))


@public
def logit(x: ArrayLike) -> Array:
    """The log odds, log(x / (1 - x))."""
    return Array(elementwise("logit", x))


@public
def iprobit(x: ArrayLike) -> Array:
    """The standard normal distribution function."""
    return Array(elementwise("ndtr", x))


@public
def icloglog(x: ArrayLike) -> Array:
    """The inverse of the complementary log-log link, 1 - exp(-exp(x))."""
    return Array(elementwise("icloglog", x))


@public
def icauchit(x: ArrayLike) -> Array:
    """The Cauchy distribution function, 1/2 + arctan(x) / pi."""
    return Array(elementwise("icauchit", x))


@public
def softplus(x: ArrayLike) -> Array:
    """The softplus function log(1 + exp(x)), without overflow."""
    return Array(elementwise("softplus", x))


@public
def log1mexp(x: ArrayLike) -> Array:
    """The accurate logarithm of 1 - exp(-x) for x > 0."""
    return Array(elementwise("log1mexp", x))


@public
def gammaln(x: ArrayLike) -> Array:
    """The logarithm of the absolute gamma function."""
    return Array(elementwise("gammaln", x))


@public
def digamma(x: ArrayLike) -> Array:
    """The derivative of gammaln."""
    return Array(elementwise("digamma", x))


@public
def trigamma(x: ArrayLike) -> Array:
    """The derivative of digamma."""
    return Array(elementwise("trigamma", x))


@public
def erf(x: ArrayLike) -> Array:
    """The error function."""
    return Array(elementwise("erf", x))


@public
def erfc(x: ArrayLike) -> Array:
    """The complementary error function 1 - erf(x), accurate for large x."""
    return Array(elementwise("erfc", x))


@public
def ndtri(x: ArrayLike) -> Array:
    """The quantile function of the standard normal distribution."""
    return Array(elementwise("ndtri", x))


@public
def log_ndtr(x: ArrayLike) -> Array:
    """The logarithm of the standard normal distribution function."""
    return Array(elementwise("log_ndtr", x))


@public
def betaln(x: ArrayLike, y: ArrayLike) -> Array:
    """The logarithm of the beta function."""
    return Array(elementwise("betaln", x, y))


@public
def xlogy(x: ArrayLike, y: ArrayLike) -> Array:
    """The product x log(y); 0 where x = 0."""
    return Array(elementwise("xlogy", x, y))


@public
def xlog1py(x: ArrayLike, y: ArrayLike) -> Array:
    """The product x log(1 + y); 0 where x = 0."""
    return Array(elementwise("xlog1py", x, y))


@public
def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The regularised incomplete beta function I_x(a, b).

    It is the distribution function of the beta distribution.
    """
    return Array(elementwise("betainc", a, b, x))


@public
def erfcx(x: ArrayLike) -> Array:
    """The scaled function exp(x * x) * erfc(x), without overflow."""
    return Array(elementwise("erfcx", x))


@public
def expi(x: ArrayLike) -> Array:
    """The exponential integral: the integral of exp(t) / t up to x."""
    return Array(elementwise("expi", x))


@public
def gammainc(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularised lower incomplete gamma function P(a, x)."""
    return Array(elementwise("gammainc", a, x))


@public
def gammaincc(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularised upper incomplete gamma function 1 - P(a, x).

    It is accurate where it is tiny.
    """
    return Array(elementwise("gammaincc", a, x))


@public
def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order 0."""
    return Array(elementwise("i0", x))


@public
def i0e(x: ArrayLike) -> Array:
    """The scaled Bessel function exp(-abs(x)) * i0(x)."""
    return Array(elementwise("i0e", x))


@public
def i1(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order 1."""
    return Array(elementwise("i1", x))


@public
def i1e(x: ArrayLike) -> Array:
    """The scaled Bessel function exp(-abs(x)) * i1(x)."""
    return Array(elementwise("i1e", x))


@public
def ndtr(x: ArrayLike) -> Array:
    """The standard normal distribution function; also called iprobit."""
    return Array(elementwise("ndtr", x))


@public
def stdtr(df: ArrayLike, t: ArrayLike) -> Array:
    """The distribution function of Student's t, with df degrees of freedom."""
    return Array(elementwise("stdtr", df, t))


@public
def zeta(x: ArrayLike, q: ArrayLike | None = None) -> Array:
    """The zeta function of Hurwitz, or Riemann's without q.

    It is the sum of (q + n) ** -x over n = 0, 1, ..., for x > 1 and q > 0. Riemann's function is
    the case q = 1, and is defined for any x except 1.
    """
    return Array(elementwise("zeta", x) if q is None else elementwise("zeta", x, q))


@public
def owens_t(h: ArrayLike, a: ArrayLike) -> Array:
    """Owen's T function of normal probabilities.

    It is the probability of X > h and 0 < Y < a X for independent standard normal X and Y.
    """
    return Array(elementwise("owens_t", h, a))


@public
def comb(n: ArrayLike, k: ArrayLike) -> Array:
    """The number of ways to choose k out of n.

    For real n and k it is defined by the gamma function.
    """
    return Array(elementwise("comb", n, k))


@public
def log_comb(n: ArrayLike, k: ArrayLike) -> Array:
    """The logarithm of `comb(n, k)`."""
    return Array(elementwise("log_comb", n, k))


@public
def polygamma(n: int, x: ArrayLike) -> Array:
    """The derivative of order n of digamma, for an integer n."""
    return Array(ew.polygamma(n, x))


@public
def multigammaln(a: ArrayLike, d: int) -> Array:
    """The logarithm of the multivariate gamma function of dimension d.

    It is NaN for a <= (d - 1) / 2.
    """
    return Array(special.multigammaln(a, d))


@public
def iv(v: float, x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of half-integer order.

    The order v = n + 1/2 is known at build time.
    """
    return Array(special.iv(v, x))


@public
def ive(v: float, x: ArrayLike) -> Array:
    """The scaled Bessel function exp(-x) * iv(v, x)."""
    return Array(special.ive(v, x))


@public
def kv(v: float, x: ArrayLike) -> Array:
    """The modified Bessel function of the second kind of half-integer order.

    The order v = n + 1/2 is known at build time.
    """
    return Array(special.kv(v, x))


@public
def kve(v: float, x: ArrayLike) -> Array:
    """The scaled Bessel function exp(x) * kv(v, x)."""
    return Array(special.kve(v, x))


@public
def entr(x: ArrayLike) -> Array:
    """The terms -x log(x) of an entropy.

    It is 0 at x = 0 and -inf for x < 0.
    """
    return Array(special.entr(x))


@public
def rel_entr(x: ArrayLike, y: ArrayLike) -> Array:
    """The terms x log(x / y) of a Kullback-Leibler divergence.

    It is 0 at x = 0.
    """
    return Array(special.rel_entr(x, y))


@public
def boxcox(x: ArrayLike, power: ArrayLike) -> Array:
    """The Box-Cox transform (x ** power - 1) / power.

    It is log(x) for power 0.
    """
    return Array(special.boxcox(x, power))
