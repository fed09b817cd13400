"""Logistic functions, logarithms of sums and powers, with values and derivatives right everywhere.

The gamma function's family is in `gammas`, the normal distribution's in `gaussian`.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from . import integers
from .derivative_rules import derivative, derivatives, partials

__all__ = [
    "absolute",
    "any_power",
    "arctan2",
    "cospi",
    "divide",
    "expit",
    "fmax",
    "fmin",
    "hypot",
    "icauchit",
    "icloglog",
    "log1mexp",
    "log_expit",
    "logaddexp",
    "logaddexp2",
    "logit",
    "maximum",
    "minimum",
    "power",
    "reciprocal",
    "root",
    "segment_prod",
    "sinpi",
    "softplus",
    "tanh",
    "xlog1py",
    "xlogy",
]


# The logistic function and its relatives.
@derivative(lambda x: -jnp.tanh(0.5 * x) * _logistic_density(x))
def _logistic_density(x):
    return jax.nn.sigmoid(x) * jax.nn.sigmoid(-x)


@derivative(_logistic_density)
def expit(x):
    """The logistic function 1 / (1 + exp(-x))."""
    return jax.nn.sigmoid(x)


@derivative(lambda x: 4 * _logistic_density(2 * x))
def tanh(x):
    """The hyperbolic tangent; its derivative does not round to 0 beyond 19."""
    return jnp.tanh(x)


@derivative(expit)
def softplus(x):
    """log(1 + exp(x)), without overflow."""
    return jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x)))


def log_expit(x):
    """log(expit(x)), without overflow."""
    return -softplus(-x)


@derivative(lambda p: 1 / (p * (1 - p)))
def logit(p):
    """log(p / (1 - p)), accurate near 1/2, too."""
    middle = jnp.abs(p - 0.5) < 0.25
    near = jnp.where(middle, p, 0.5)
    return jnp.where(middle, jnp.log1p((2 * near - 1) / (1 - near)), jnp.log(p) - jnp.log1p(-p))


def icloglog(x):
    """1 - exp(-exp(x)); from 40 on it is 1."""
    return -jnp.expm1(-jnp.exp(minimum(x, jnp.full_like(x, 40.0))))


@derivative(lambda x: 1 / (np.pi * (1 + x * x)))
def icauchit(x):
    """1/2 + arctan(x) / pi, without cancellation."""
    return jnp.arctan2(jnp.ones_like(x), -x) / np.pi


@derivative(lambda x: jnp.exp(-x) / -jnp.expm1(-x))
def log1mexp(x):
    """log(1 - exp(-x)) for x > 0, accurate at both ends (Mächler 2012)."""
    small = x < 0.6931471805599453
    return jnp.where(small, jnp.log(-jnp.expm1(-x)), jnp.log1p(-jnp.exp(-x)))


def _adding(scale: float, power, log1p):
    """log(b^x + b^y) to a base b with the natural logarithm `scale`."""

    def share(x, y):
        """The derivative by x: the part of b^x in the sum, 0 where the sum is 0."""
        stuck = (x == y) & jnp.isinf(x)
        part = expit(scale * (jnp.where(stuck, 0.0, x) - jnp.where(stuck, 0.0, y)))
        return jnp.where(stuck & (x < 0), 0.0, part)

    @partials(share, lambda x, y: share(y, x))
    def function(x, y):
        distance = jnp.where(x == y, 0.0, jnp.abs(x - y))
        return jnp.maximum(x, y) + log1p(power(-distance))

    return function


logaddexp = _adding(1.0, jnp.exp, jnp.log1p)
logaddexp2 = _adding(math.log(2), jnp.exp2, lambda x: jnp.log1p(x) / math.log(2))


# Sines of multiples of pi.
def _nearest(x):
    """x less the nearest even number, and its mirror image within a half."""
    r = x - 2.0 * jnp.round(x / 2.0)
    return jnp.where(jnp.abs(r) > 0.5, jnp.sign(r) - r, r)


@derivative(lambda x: np.pi * cospi(x))
def sinpi(x):
    """sin(pi x), exact at multiples of a half."""
    return jnp.sin(np.pi * _nearest(x))


@derivative(lambda x: -np.pi * sinpi(x))
def cospi(x):
    """cos(pi x), exact at multiples of a half."""
    return jnp.sin(np.pi * _nearest(0.5 - jnp.abs(x - 2.0 * jnp.round(x / 2.0))))


# Choices: where the derivative is 0, it is not a product by 0.
@derivative(lambda x: jnp.where(x == 0, jnp.nan, 0.0) + _kink(x))
def _kink(x):
    """0, with a derivative that is NaN at 0.

    Of a slope that is 0 by convention at a kink, the derivative is not known: what is made of the
    function may be smooth there, as |x|^2 is, and its second derivative is not to be found.
    """
    return jnp.zeros_like(x)


def _sign_of(x, t):
    return jnp.where(x > 0, t, jnp.where(x < 0, -t, t * _kink(x)))


@derivatives(lambda primals, tangents: _sign_of(*primals, *tangents))
def _float_absolute(x):
    return jnp.abs(x)


def absolute(x):
    """|x| with derivative 0 at 0 (JAX's own is 1 there)."""
    return _float_absolute(x) if x.dtype.kind == "f" else jnp.abs(x)


def _choosing(choose, first):
    def rule(primals, tangents):
        (x, y), (s, t) = primals, tangents
        s, t = jnp.broadcast_arrays(s, t)
        nothing = jnp.zeros_like(s)
        mine, tie = first(x, y), x == y
        left = jnp.where(mine, s, jnp.where(tie, 0.5 * s, nothing))
        return left + jnp.where(mine, nothing, jnp.where(tie, 0.5 * t, t))

    known = derivatives(rule)(choose)
    return lambda x, y: known(x, y) if x.dtype.kind == "f" else choose(x, y)


maximum = _choosing(jnp.maximum, lambda x, y: x > y)
minimum = _choosing(jnp.minimum, lambda x, y: x < y)


def _without_nan(x, y):
    if x.dtype.kind != "f":
        return x, y
    return jnp.where(jnp.isnan(x), y, x), jnp.where(jnp.isnan(y), x, y)


def fmax(x, y):
    """The larger of two numbers, of which one may be NaN."""
    return maximum(*_without_nan(x, y))


def fmin(x, y):
    """The smaller of two numbers, of which one may be NaN."""
    return minimum(*_without_nan(x, y))


# Roots and powers.
@derivative(lambda x: jnp.where(x == 0, _kink(x), 0.5 / root(jnp.where(x == 0, 1.0, x))))
def root(x):
    """The square root with derivative 0 at 0: that of a length, or of a standard deviation."""
    return jnp.sqrt(x)


@partials(
    lambda c, x, y: power(x, y),
    lambda c, x, y: _multiple(c * y, x, y - 1),
    lambda c, x, y: _multiple(c, x, y) * jnp.log(jnp.where((x == 0) & (y > 0), 1.0, x)),
)
def _multiple(c, x, y):
    """c x^y, and 0 for c = 0 whatever the power is, with the derivatives of a product there."""
    return jnp.where(c == 0, 0.0, c * power(x, y))


def _by_base(x, y):
    return _multiple(y, x, y - 1)


def _by_exponent(x, y):
    still = (x == 0) & (y > 0)
    return jnp.where(still, 0.0, power(x, y) * jnp.log(jnp.where(still, 1.0, x)))


@partials(_by_base, _by_exponent)
def power(x, y):
    """x to the y."""
    return jax.lax.pow(*jnp.broadcast_arrays(x, y))


def any_power(x, y):
    """x to the y, of floating-point numbers or of integers."""
    return power(x, y) if x.dtype.kind == "f" else integers.power(x, y)


@partials(lambda x, y: 1 / y, lambda x, y: -_share(_share(x, y), y))
def _share(x, y):
    """x / y, and 0 for x = 0."""
    return jnp.where(x == 0, 0.0, x / jnp.where(x == 0, 1.0, y))


@partials(lambda x, y: jnp.log(y), _share)
def xlogy(x, y):
    """x log(y), and 0 for x = 0."""
    return jnp.where(x == 0, 0.0, x * jnp.log(y))


@partials(lambda x, y: jnp.log1p(y), lambda x, y: _share(x, 1 + y))
def xlog1py(x, y):
    """x log(1 + y), and 0 for x = 0."""
    return jnp.where(x == 0, 0.0, x * jnp.log1p(y))


def _cosine(x, y):
    """x / hypot(x, y), and 0 at the origin."""
    radius = hypot(x, y)
    return jnp.where(radius == 0, _kink(radius), x / jnp.where(radius == 0, 1.0, radius))


@partials(_cosine, lambda x, y: _cosine(y, x))
def hypot(x, y):
    """The distance of (x, y) from the origin, with derivative 0 there."""
    return jnp.hypot(x, y)


def _turn(x, radius):
    # Not x / radius / radius: of this XLA makes x / (radius * radius), which may overflow.
    return x / radius * (1 / radius)


@partials(lambda y, x: _turn(x, hypot(x, y)), lambda y, x: -_turn(y, hypot(x, y)))
def arctan2(y, x):
    """The angle of the point (x, y)."""
    return jnp.arctan2(y, x)


@jax.custom_jvp
def _quotient(x, y):
    return jnp.true_divide(x, y)


def _quotient_rule(primals, tangents):
    """(dx - (x / y) dy) / y: what comes back is divided before it meets x / y, often huge."""
    (x, y), (by_x, by_y) = primals, tangents
    out = _quotient(x, y)
    total = jnp.zeros_like(out)
    if not isinstance(by_x, SymbolicZero):
        total = total + by_x
    if not isinstance(by_y, SymbolicZero):
        total = total - out * by_y
    return out, _quotient(total, y)


_quotient.defjvp(_quotient_rule, symbolic_zeros=True)


def divide(x, y):
    """x / y; its derivative -(x / y) / y is right where y * y is out of range."""
    return _quotient(x, y)


def reciprocal(x):
    """1 / x; for integers, as in NumPy, without its fraction."""
    return 1 / x if x.dtype.kind == "f" else jax.lax.div(jnp.ones_like(x), x)


def segment_prod(x, labels, size: int, indices_are_sorted: bool = False):
    """The product of the x of each label; JAX's own has no derivative."""
    labels = jnp.asarray(labels)
    options = (labels, size, indices_are_sorted)

    @jax.custom_jvp
    def product(x):
        return jax.ops.segment_prod(x, *options)

    @derivatives(lambda primals, tangents: jax.jvp(by_scans, primals, tangents)[1])
    def others(x):
        """For each x, the product of the others of its label."""
        zero = x == 0
        zeros = jax.ops.segment_sum(zero.astype(x.dtype), *options)
        quotients = product(jnp.where(zero, 1.0, x))[labels] / jnp.where(zero, 1.0, x)
        alone = zeros[labels] == zero  # no other factor of the label is 0
        return jnp.where(alone, quotients, 0.0)

    def by_scans(x):
        """The same by multiplication alone: its derivatives of all orders are right at 0, too."""
        order = jnp.argsort(labels)
        x, sorted_labels = x[order], labels[order]
        same = (sorted_labels[1:] == sorted_labels[:-1]).reshape((-1,) + (1,) * (x.ndim - 1))
        one, edge = jnp.ones_like(x[:1]), jnp.zeros_like(same, shape=(1, *same.shape[1:]))
        before = _products(
            jnp.concatenate([one, jnp.where(same, x[:-1], 1.0)]), jnp.concatenate([edge, same])
        )
        after = _products(
            jnp.concatenate([jnp.where(same, x[1:], 1.0), one]),
            jnp.concatenate([same, edge]),
            reverse=True,
        )
        return jnp.zeros_like(x).at[order].set(before * after, unique_indices=True)

    @product.defjvp
    def derivative(primals, tangents):
        (x,), (t,) = primals, tangents
        return product(x), jax.ops.segment_sum(t * others(x), *options)

    return product(x)


def _products(x, continued, reverse: bool = False):
    """The running products of x, which start anew wherever it is not continued."""

    def join(a, b):
        return jnp.where(b[1], a[0], 1.0) * b[0], a[1] & b[1]

    flags = jnp.broadcast_to(continued, x.shape)
    return jax.lax.associative_scan(join, (x, flags), reverse=reverse)[0]
