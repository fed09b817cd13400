"""Test points and exact references for all functions of arrays.

The points are ordinary, extreme and boundary points. `ELEMENTWISE` has functions of numbers: a
reference with mpmath's numbers, points where the function is smooth, and points where its value or
derivative is not finite (there, no derivative may reach a gradient from a side that is not taken).
`SHAPED` has functions of a vector: a reference on an object array of mpmath's numbers, and vectors.
`FLAT` has functions whose derivative is 0 wherever it exists.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

import kinetograph as kg

INF = np.inf


@dataclass(frozen=True)
class Numbers:
    """A function of some numbers."""

    reference: Callable[..., Any]
    points: tuple[tuple[float, ...], ...]
    singular: tuple[tuple[float, ...], ...] = ()
    function: Callable[..., Any] | None = None  # if it is not the function of this name in kg
    rtol: float = 1e-10
    atol: float = 1e-300
    digits: int = 60  # more to distinguish 1 - 1e-173 from 1


@dataclass(frozen=True)
class Vector:
    """A function of a vector."""

    function: Callable[[Any], Any]
    reference: Callable[[Any], Any]
    points: tuple[tuple[float, ...], ...]
    rtol: float = 1e-10


def of_one(reference, points, singular=(), **more):
    return Numbers(
        reference, tuple((float(x),) for x in points), tuple((float(x),) for x in singular), **more
    )


def ndtr(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def log_ndtr(x):
    return mp.log(ndtr(x)) if x < 0 else mp.log1p(-ndtr(-x))


def ndtri(p):
    z = mp.mpf(kg_quantile(float(p)))
    for _ in range(4):  # each Newton step doubles the digits of the double result
        z -= (ndtr(z) - p) / mp.npdf(z)
    return z


def kg_quantile(p):
    from scipy.special import ndtri as start

    return float(start(p))


def log_gamma(x):
    return mp.loggamma(x).real


def comb(n, k):
    return mp.gamma(n + 1) * mp.rgamma(k + 1) * mp.rgamma(n - k + 1)


def clamp(x, low, high):
    return low if x < low else high if x > high else x


TAILS = (-700, -100, -37.5, -20, -5, -1, -1e-10, 0, 1e-10, 1, 5, 20, 37.5, 40, 100, 700)
PLACES = (-1e5, -100.25, -2, -1, -0.3, 1e-10, 0.5, 1, 3.75, 1e5)
ABOVE_0 = (1e-300, 1e-20, 0.1, 1, 1 + 1e-10, 2.5, 100, 1e20, 1e300)
COUNTS = (1e-100, 1e-10, 0.1, 1.5, 3, 9.9, 50, 1e5, 1e10, 1e100, 1e200)
BELOW_0 = (-0.5, -1.5, -9.3, -100.7)
INSIDE = (1e-300, 1e-20, 0.1, 0.25, 0.4999999, 0.6, 0.75, 0.9, 1 - 1e-10)
WITHIN = (-1 + 1e-10, -0.9, -0.5, 1e-10, 0.5, 1 - 1e-10)


def box_cox(x, power):
    return mp.expm1(power * mp.log(x)) / power if power else mp.log(x)


def student_cdf(df, t):
    half = mp.betainc(df / 2, 0.5, 0, df / (df + t * t), regularized=True) / 2
    return 1 - half if t > 0 else half


def owens(h, a):
    return mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a]) / (2 * mp.pi)


HALVES = (1e-8, 1e-3, 0.3, 1, 3, 12, 27.9, 28.1, 50, 110, 400)
BESSEL = (-300, -20, -1, -1e-8, 0, 1e-8, 0.5, 7.75, 8.25, 99, 101, 650)

ELEMENTWISE = {
    "abs": of_one(abs, PLACES),
    "sqrt": of_one(mp.sqrt, ABOVE_0, [0, -1]),
    "square": of_one(lambda x: x * x, [-1e150, *PLACES]),
    "exp": of_one(mp.exp, TAILS, [1000]),
    "expm1": of_one(mp.expm1, TAILS, [1000], digits=150),
    "log": of_one(mp.log, ABOVE_0, [0, -1]),
    "log1p": of_one(mp.log1p, [-1 + 1e-10, -0.5, -1e-10, 0, 1e-10, 1, 1e300], [-1, -2]),
    "log2": of_one(lambda x: mp.log(x, 2), ABOVE_0, [0, -1]),
    "log10": of_one(lambda x: mp.log(x, 10), ABOVE_0, [0, -1]),
    "sin": of_one(mp.sin, PLACES),
    "cos": of_one(mp.cos, PLACES),
    "tan": of_one(mp.tan, PLACES),
    "arcsin": of_one(mp.asin, WITHIN, [-1, 1, 2]),
    "arccos": of_one(mp.acos, WITHIN, [-1, 1, 2]),
    "arctan": of_one(mp.atan, [-1e150, *PLACES, 1e150]),
    "sinh": of_one(mp.sinh, TAILS, [1000]),
    "cosh": of_one(mp.cosh, TAILS, [1000]),
    "tanh": of_one(mp.tanh, [x / 4 for x in TAILS], digits=540),
    "arcsinh": of_one(mp.asinh, [-1e150, *PLACES, 1e150]),
    "arccosh": of_one(mp.acosh, [1 + 1e-10, 1.5, 10, 1e10, 1e150], [1, 0]),
    "arctanh": of_one(mp.atanh, WITHIN, [-1, 1, 2]),
    "sinpi": of_one(mp.sinpi, [*PLACES, 1e10 + 0.25]),
    "cospi": of_one(mp.cospi, [*PLACES, 1e10 + 0.25]),
    "tanpi": of_one(lambda x: mp.sinpi(x) / mp.cospi(x), [-3.25, 0, 1e-10, 0.3, 1e5 + 0.25], [0.5]),
    "ilogit": of_one(lambda x: 1 / (1 + mp.exp(-x)), TAILS, digits=960),
    "logit": of_one(lambda p: mp.log(p / (1 - p)), INSIDE, [0, 1, -1, 2]),
    "iprobit": of_one(ndtr, [-37, -20, -5, -1, -1e-10, 0, 1, 5, 7, 20], digits=300),
    "icloglog": of_one(
        lambda x: -mp.expm1(-mp.exp(x)) if x < 8 else mp.mpf(1),  # 1 - 1e-1294
        [-700, -37, -5, -1, 0, 1, 3, 6, 7, 50, 709, 710, 1e5],
        digits=960,
    ),
    "icauchit": of_one(
        lambda x: mp.atan2(1, -x) / mp.pi, [-1e150, -1e17, -1e8, -1, 0, 1, 1e8, 1e17]
    ),
    "softplus": of_one(lambda x: mp.log1p(mp.exp(x)), [*TAILS, 1e5]),
    "log1mexp": of_one(
        lambda x: mp.log(-mp.expm1(-x)), [1e-150, 1e-20, 1e-5, 0.1, 0.69, 0.7, 5, 37, 700], [0, -1]
    ),
    "gammaln": of_one(log_gamma, [*COUNTS, *BELOW_0], [0, -1]),
    "digamma": of_one(mp.digamma, [*COUNTS, *BELOW_0], [0, -1]),
    "trigamma": of_one(lambda x: mp.psi(1, x), [*COUNTS, *BELOW_0], [0, -1]),
    "erf": of_one(mp.erf, [-6, -1, -1e-10, 0, 1e-10, 0.5, 3, 10], digits=180),
    "erfc": of_one(mp.erfc, [-6, -1, -1e-10, 0, 1e-10, 0.5, 3, 10, 26]),
    "ndtri": of_one(ndtri, INSIDE, [0, 1, -1, 2]),
    "log_ndtr": of_one(log_ndtr, [-1e5, -100, -37, -5, -1, -0.1, 0.1, 1, 5, 7, 8, 20, 37]),
    "maximum": Numbers(lambda x, y: max(x, y), ((1, 2), (2, 1), (-1e300, 1e300), (0, -1e-3))),
    "minimum": Numbers(lambda x, y: min(x, y), ((1, 2), (2, 1), (-1e300, 1e300), (0, -1e-3))),
    "logaddexp": Numbers(
        lambda x, y: mp.log(mp.exp(x) + mp.exp(y)),
        ((1, 2), (3, 3), (-800, -801), (1e5, 1e5 + 1), (50, 0), (-40, 0), (700, -700)),
    ),
    "betaln": Numbers(
        lambda a, b: log_gamma(a) + log_gamma(b) - log_gamma(a + b),
        ((1e10, 1e10), (1e10, 0.5), (3, 1e12), (0.1, 0.2), (9, 11), (1e-5, 1e5), (50, 1e8)),
        ((0, 1),),
    ),
    "comb": Numbers(
        comb,
        (
            (5, 2),
            (-2.5, 3),
            (2, 5),
            (0.3, -0.4),
            (1e3, 3),
            (-3.3, 2.2),
            (2.5, 5),
            (-2.5, -1.25),
            (0, 1),
        ),
        atol=1e-13,
    ),
    "log_comb": Numbers(
        lambda n, k: mp.log(abs(comb(n, k))),
        ((5, 2), (1e9, 3), (0.3, -0.4), (-2.5, 2), (0.5, 1.2)),
        ((2, 5),),
    ),
    "xlogy": Numbers(
        lambda x, y: x * mp.log(y),
        ((2, 3), (-1, 0.5), (1e-300, 1e-300), (0, 2), (1e100, 1e-100)),
        ((1, 0), (0, 0)),
    ),
    "xlog1py": Numbers(
        lambda x, y: x * mp.log1p(y),
        ((2, 3), (-1, -0.5), (1e-300, 1e-10), (0, 2), (1e100, -1 + 1e-10)),
        ((1, -1), (0, -1)),
    ),
    "arctan2": Numbers(
        mp.atan2, ((1, 2), (-1, 2), (1, -2), (0, 1), (1, 0), (1e200, 1e200), (1e-200, 3)), ((0, 0),)
    ),
    "power": Numbers(
        lambda x, y: x**y,
        ((2, 3), (2.5, -1.5), (1e-100, 2), (1e100, 3), (0.5, 0), (3, 1e-10), (1e-5, 60)),
        ((0, -1), (-2, 0.5)),
        function=lambda x, y: x**y,
    ),
    "hypot": Numbers(
        lambda x, y: mp.sqrt(x * x + y * y),
        ((3, 4), (-1e200, 1e200), (1e-200, 1e-200), (0, 1)),
        function=np.hypot,
    ),
    "divide": Numbers(
        lambda x, y: x / y,
        ((1, 3), (-1e100, 1e100), (1e-300, 2), (0, 5)),
        ((1, 0), (0, 0)),
        function=lambda x, y: x / y,
    ),
    "ndtr": of_one(ndtr, [-37, -20, -5, -1, -1e-10, 0, 1, 5, 7, 20], digits=300),
    "erfcx": of_one(
        lambda x: mp.exp(x * x) * mp.erfc(x), [-26, -5, -1, -1e-10, 0, 1, 5, 30, 1e4], digits=90
    ),
    "expi": of_one(mp.ei, [-700, -37, -1, -1e-10, 1e-10, 0.3, 1, 30, 700], [0]),
    "i0": of_one(lambda x: mp.besseli(0, x), BESSEL),
    "i1": of_one(lambda x: mp.besseli(1, x), BESSEL),
    "i0e": of_one(lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), [x for x in BESSEL if x]),
    "i1e": of_one(lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), [x for x in BESSEL if x]),
    "entr": of_one(
        lambda x: -x * mp.log(x), [1e-300, 1e-10, 0.3, 1, 5, 1e100], [0, -1], atol=1e-16
    ),
    "polygamma": of_one(
        lambda x: mp.psi(3, x),
        [0.1, 1.5, 3, 50, 1e5, -0.5, -9.3],
        [0, -1],
        function=lambda x: kg.polygamma(3, x),
    ),
    "multigammaln": of_one(
        lambda a: mp.log(mp.pi) * 1.5 + log_gamma(a) + log_gamma(a - 0.5) + log_gamma(a - 1),
        [1.0001, 1.5, 2.25, 50, 1e10],
        [1, 0.5],
        function=lambda a: kg.multigammaln(a, 3),
    ),
    "rel_entr": Numbers(
        lambda x, y: x * mp.log(x / y),
        ((2, 3), (1e-300, 1e-100), (0.5, 1e10), (3, 3.5)),
        ((-1, 2), (1, 0), (0, 0)),
    ),
    "boxcox": Numbers(
        box_cox,
        ((2, 3), (2, -1.5), (0.01, 0.5), (5, 1e-10), (5, 0), (3, 0.045), (3, 0.046), (1e-5, 1e-3)),
        ((0, -1), (-1, 0.5)),
    ),
    "gammainc": Numbers(
        lambda a, x: mp.gammainc(a, 0, x, regularized=True),
        ((0.5, 0.1), (3, 2), (3, 20), (50, 40), (50, 70), (1e3, 900), (1e-3, 1)),
        ((-1, 1), (1, 0)),
        rtol=1e-9,
    ),
    "gammaincc": Numbers(
        lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True),
        (
            *((0.5, 0.1), (3, 2), (3, 20), (50, 40), (50, 70), (1e3, 1100), (2, 300)),
            *((1, 2.01), (2, 3.5), (5, 6.5), (8, 30)),  # points where its continued fraction ends
            *(
                (1e-3, 0.5),
                (1e-10, 0.3),
                (1e-200, 1),
                (0.09, 1.05),
                (0.05, 1e-30),
            ),  # of small arguments
        ),
        ((-1, 1), (1, 0)),
        rtol=1e-9,
    ),
    "betainc": Numbers(
        lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
        (
            *((0.5, 0.5, 0.1), (3, 2.5, 0.5), (3, 20, 0.9), (50, 40, 0.01), (300, 200, 0.61)),
            *((3, 2, 0.5), (3, 1, 0.79), (1, 1, 0.5), (40, 3, 0.9), (2, 30, 0.09), (900, 2, 0.99)),
        ),
        ((1, -1, 0.5),),
        rtol=1e-9,
    ),
    "stdtr": Numbers(
        student_cdf,
        ((0.5, -3), (3, 2), (3, -20), (50, 1e-3), (1e3, -8), (2.5, 1.5)),
        ((-1, 1),),
        rtol=1e-9,
    ),
    "owens_t": Numbers(
        owens,
        ((0.3, 0.7), (2, -0.5), (-1.5, 3), (5, 0.9), (1e-3, 1e-3), (0.2, 20)),
        rtol=1e-9,
    ),
    "zeta": Numbers(
        mp.zeta,
        (
            *((1 + 1e-10, 1), (1.5, 0.1), (2, 1), (3, 1e-5), (10, 2.5), (30, 100), (700, 1.01)),
            *((1.2, 1e6), (5, 1e10), (50.5, 12), (80, 20), (300, 50), (2, 1e-100)),
        ),
        ((1, 2), (0.5, 1), (2, -0.5), (2, 0)),
        function=kg.zeta,
    ),
    "ive": of_one(
        lambda x: mp.exp(-x) * mp.besseli(mp.mpf(7.5), x),
        HALVES,
        function=lambda x: kg.ive(7.5, x),
    ),
    "iv": of_one(lambda x: mp.besseli(-mp.mpf(2.5), x), HALVES, function=lambda x: kg.iv(-2.5, x)),
    "kve": of_one(
        lambda x: mp.exp(x) * mp.besselk(mp.mpf(0.5), x), HALVES, function=lambda x: kg.kve(0.5, x)
    ),
    "kv": of_one(lambda x: mp.besselk(mp.mpf(3.5), x), HALVES, function=lambda x: kg.kv(3.5, x)),
    "clip": of_one(lambda x: clamp(x, -2.5, 1.5), PLACES, function=lambda x: kg.clip(x, -2.5, 1.5)),
    "where": of_one(
        lambda x: mp.sqrt(x) if x > 0 else 0 * x,
        [-1, *ABOVE_0[2:]],
        function=lambda x: kg.where(x > 0, kg.sqrt(x), 0.0),
    ),
    "cbrt": of_one(mp.cbrt, ABOVE_0, [0], function=np.cbrt),
    "exp2": of_one(lambda x: mp.mpf(2) ** x, [-1000, -1, 0, 1, 1000], [2000], function=np.exp2),
    "reciprocal": of_one(lambda x: 1 / x, [-3, 1e-100, 1, 1e100], [0], function=np.reciprocal),
}
FLAT = {
    "sign",
    "floor",
    "ceil",
    "round",
    "stop_gradient",
    "one_hot",
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "searchsorted",
}


def table(x):
    """Reshape a vector of four elements to a matrix."""
    return x.reshape((2, 2))


def matrix(x):
    return mp.matrix([[x[0], x[1]], [x[2], x[3]]])


def entries(m):
    return np.array([m[i, j] for i in range(m.rows) for j in range(m.cols)], object)


def variance(x):
    mean = sum(x) / len(x)
    return sum((v - mean) ** 2 for v in x) / len(x)


def covary(x, y):
    a, b = sum(x) / len(x), sum(y) / len(y)
    return sum((v - a) * (w - b) for v, w in zip(x, y))


def log_sum(x):
    return mp.log(sum(mp.exp(v) for v in x))


def grouped(combine):
    return lambda x: np.array([combine([x[0], x[2]]), combine([x[1]]), combine([x[3]])], object)


def group(function):
    return lambda x: function(x, np.array([0, 1, 0, 2]), 3)


def middle(x):
    low, high = sorted(x)[(len(x) - 1) // 2], sorted(x)[len(x) // 2]
    return (low + high) / 2


def product(x):
    result = mp.mpf(1)
    for v in x:
        result = result * v
    return result


def running(choose):
    return lambda x: np.array([choose(x[: i + 1]) for i in range(len(x))], object)


def symmetric(x):
    return mp.matrix([[x[0] ** 2 + 1, x[1]], [x[1], x[2] ** 2 + 1]])


def covariance(x):
    return kg.stack([x[0] ** 2 + 1, x[1], x[1], x[2] ** 2 + 1]).reshape((2, 2))


def correlations(x):
    m = symmetric(x)
    scale = [mp.sqrt(m[i, i]) for i in range(2)]
    return np.array([m[i, j] / scale[i] / scale[j] for i in range(2) for j in range(2)], object)


def eigenvalues(x):
    m = symmetric(x)
    middle, half = (m[0, 0] + m[1, 1]) / 2, (m[0, 0] - m[1, 1]) / 2
    far = mp.sqrt(half**2 + m[0, 1] ** 2)
    return np.array([middle - far, middle + far], object)


def singular_values(x):
    m = matrix(x)
    s = m.T * m
    middle, half = (s[0, 0] + s[1, 1]) / 2, (s[0, 0] - s[1, 1]) / 2
    far = mp.sqrt(half**2 + s[0, 1] ** 2)
    return np.array([mp.sqrt(middle + far), mp.sqrt(middle - far)], object)


def again(parts):
    """Multiply the factors of a matrix."""
    q, *rest = parts
    return q @ rest[0] if len(rest) == 1 else (q * rest[0]) @ rest[1]


def lower(x):
    return mp.matrix([[x[0], 0], [x[2], x[3]]])


VECTORS = ((0.5, -1.25, 2.0, 3.5), (1e-3, 2e3, -1.0, 0.25))
MATRICES = ((2.0, -1.25, 0.5, 3.5), (1e-3, 2.0, -1.0, 0.25))
LOGS = (*VECTORS, (-800.0, -801.0, -805.0, -2e3), (1e5, 1e5 + 1, 0.0, 1e5 - 2))
WITH_ZEROS = (*VECTORS, (0.0, 2.0, 3.0, 4.0), (0.0, 2.0, 0.0, 4.0))

SHAPED = {
    "sum": Vector(kg.sum, sum, VECTORS),
    "prod": Vector(kg.prod, product, WITH_ZEROS),
    "mean": Vector(kg.mean, lambda x: sum(x) / len(x), VECTORS),
    "var": Vector(kg.var, variance, VECTORS),
    "std": Vector(kg.std, lambda x: mp.sqrt(variance(x)), VECTORS),
    "median": Vector(kg.median, middle, (*VECTORS, (1.0, 2.0, 5.0, INF))),
    "max": Vector(kg.max, max, VECTORS),
    "min": Vector(kg.min, min, VECTORS),
    "logsumexp": Vector(kg.logsumexp, log_sum, LOGS),
    "softmax": Vector(kg.softmax, lambda x: np.array([mp.exp(v - log_sum(x)) for v in x]), LOGS),
    "log_softmax": Vector(kg.log_softmax, lambda x: np.array([v - log_sum(x) for v in x]), LOGS),
    "imultilogit": Vector(
        kg.imultilogit,
        lambda x: np.array([mp.exp(v - log_sum([*x, mp.mpf(0)])) for v in [*x, mp.mpf(0)]]),
        LOGS[:2],
    ),
    "cumsum": Vector(kg.cumsum, running(sum), VECTORS),
    "cumprod": Vector(kg.cumprod, running(product), WITH_ZEROS),
    "cummax": Vector(kg.cummax, running(max), VECTORS),
    "cummin": Vector(kg.cummin, running(min), VECTORS),
    "sort": Vector(kg.sort, lambda x: np.array(sorted(x), object), VECTORS),
    "segment_sum": Vector(group(kg.segment_sum), grouped(sum), VECTORS),
    "segment_mean": Vector(group(kg.segment_mean), grouped(lambda x: sum(x) / len(x)), VECTORS),
    "segment_max": Vector(group(kg.segment_max), grouped(max), VECTORS),
    "segment_min": Vector(group(kg.segment_min), grouped(min), VECTORS),
    "segment_prod": Vector(group(kg.segment_prod), grouped(product), WITH_ZEROS),
    "concatenate": Vector(
        lambda x: kg.concatenate([x[2:], x]), lambda x: np.concatenate([x[2:], x]), VECTORS
    ),
    "stack": Vector(lambda x: kg.stack([x, 2 * x]), lambda x: np.stack([x, 2 * x]), VECTORS),
    "reshape": Vector(lambda x: kg.reshape(x, (2, -1)), lambda x: x.reshape(2, 2), VECTORS),
    "transpose": Vector(lambda x: kg.transpose(table(x)), lambda x: table(x).T, VECTORS),
    "diag": Vector(kg.diag, np.diag, VECTORS),
    "trace": Vector(lambda x: kg.trace(table(x)), lambda x: x[0] + x[3], VECTORS),
    "take": Vector(lambda x: kg.take(x, [3, 0, 3]), lambda x: x[[3, 0, 3]], VECTORS),
    "matmul": Vector(
        lambda x: kg.matmul(table(x), table(x)), lambda x: table(x) @ table(x), VECTORS
    ),
    "outer": Vector(lambda x: kg.outer(x, x[:2]), lambda x: np.outer(x, x[:2]), VECTORS),
    "kron": Vector(lambda x: kg.kron(x[:2], x), lambda x: np.kron(x[:2], x), VECTORS),
    "einsum": Vector(
        lambda x: kg.einsum("ij,kj->ik", table(x), table(x)),
        lambda x: table(x) @ table(x).T,
        VECTORS,
    ),
    "inv": Vector(lambda x: kg.inv(table(x)), lambda x: entries(mp.inverse(matrix(x))), MATRICES),
    "det": Vector(
        lambda x: kg.det(table(x)),
        lambda x: x[0] * x[3] - x[1] * x[2],
        (*MATRICES, (1.0, 2.0, 2.0, 4.0), (0.0, 0.0, 0.0, 0.0)),
    ),
    "logdet": Vector(
        lambda x: kg.logdet(table(x)), lambda x: mp.log(abs(x[0] * x[3] - x[1] * x[2])), MATRICES
    ),
    "cholesky": Vector(
        lambda x: kg.cholesky(covariance(x)),
        lambda x: entries(mp.cholesky(symmetric(x))),
        VECTORS[:1],
    ),
    "chol_outer": Vector(
        lambda x: kg.chol_outer(table(x)), lambda x: table(x) @ table(x).T, MATRICES
    ),
    "chol_inverse": Vector(
        lambda x: kg.chol_inverse(table(x) * np.tri(2)),
        lambda x: entries(mp.inverse(lower(x) * lower(x).T)),
        MATRICES,
    ),
    "cov2cor": Vector(lambda x: kg.cov2cor(covariance(x)), correlations, VECTORS),
    "solve": Vector(
        lambda x: kg.solve(table(x), x[1:3]),
        lambda x: entries(mp.inverse(matrix(x)) * mp.matrix([x[1], x[2]])),
        MATRICES,
    ),
    "solve_triangular": Vector(
        lambda x: kg.solve_triangular(table(x), x[1:3], lower=True),
        lambda x: entries(mp.inverse(lower(x)) * mp.matrix([x[1], x[2]])),
        MATRICES,
    ),
    "slogdet": Vector(
        lambda x: kg.stack(kg.slogdet(table(x))),
        lambda x: np.array(
            [mp.sign(x[0] * x[3] - x[1] * x[2]), mp.log(abs(x[0] * x[3] - x[1] * x[2]))], object
        ),
        MATRICES,
    ),
    "eigvalsh": Vector(lambda x: kg.eigvalsh(covariance(x)), eigenvalues, VECTORS[:1]),
    "eigh": Vector(lambda x: kg.eigh(covariance(x)).eigenvalues, eigenvalues, VECTORS[:1]),
    "qr": Vector(lambda x: again(kg.qr(table(x))), table, MATRICES[:1]),
    "svd": Vector(lambda x: kg.svd(table(x)).S, singular_values, MATRICES[:1]),
    "take_along_axis": Vector(
        lambda x: kg.take_along_axis(table(x), np.array([[1, 0], [0, 0]]), 1),
        lambda x: x[[1, 0, 2, 2]],
        VECTORS,
    ),
    "cov": Vector(
        lambda x: kg.cov(table(x), ddof=0)[0, 1],
        lambda x: (x[0] - x[1]) * (x[2] - x[3]) / 4,
        VECTORS,
    ),
    "corrcoef": Vector(
        lambda x: kg.corrcoef(x[:3], x[1:])[0, 1],
        lambda x: covary(x[:3], x[1:]) / mp.sqrt(covary(x[:3], x[:3]) * covary(x[1:], x[1:])),
        VECTORS[:1],
    ),
    "convolve": Vector(
        lambda x: kg.convolve(x[:2], x[2:]),
        lambda x: np.array([x[0] * x[2], x[0] * x[3] + x[1] * x[2], x[1] * x[3]], object),
        VECTORS,
    ),
    "interp": Vector(
        lambda x: kg.interp([0.25, 3.0], [0.0, 1.0, 2.0], x[:3]),
        lambda x: np.array([0.75 * x[0] + 0.25 * x[1], x[2]], object),
        VECTORS,
    ),
    "repeat": Vector(lambda x: kg.repeat(x, [1, 0, 2, 1]), lambda x: x[[0, 2, 2, 3]], VECTORS),
    "tile": Vector(lambda x: kg.tile(x, 2), lambda x: np.concatenate([x, x]), VECTORS),
    "squeeze": Vector(lambda x: kg.squeeze(x[None]), lambda x: x, VECTORS),
    "expand_dims": Vector(lambda x: kg.expand_dims(x, (0, 2)), lambda x: x, VECTORS),
    "broadcast_to": Vector(
        lambda x: kg.broadcast_to(x, (2, 4)), lambda x: np.concatenate([x, x]), VECTORS
    ),
    "flip": Vector(kg.flip, lambda x: x[::-1], VECTORS),
    "roll": Vector(lambda x: kg.roll(x, 1), lambda x: x[[3, 0, 1, 2]], VECTORS),
    "swapaxes": Vector(lambda x: kg.swapaxes(table(x), 0, 1), lambda x: table(x).T, VECTORS),
    "moveaxis": Vector(lambda x: kg.moveaxis(table(x), 0, 1), lambda x: table(x).T, VECTORS),
    "pairwise_distance": Vector(
        lambda x: kg.pairwise_distance(table(x))[0, 1],
        lambda x: mp.sqrt((x[0] - x[2]) ** 2 + (x[1] - x[3]) ** 2),
        VECTORS,
    ),
}


def function_of(name):
    """The function of arrays for a row of `ELEMENTWISE`."""
    given = ELEMENTWISE[name].function
    return getattr(kg, name) if given is None else given
