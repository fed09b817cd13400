"""Logistic functions, logarithms of sums, powers, accurate everywhere.

The gamma function and related functions are in `gammas`, normal probabilities in `gaussian`.
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
    """The hyperbolic tangent, whose derivative does not round to 0 beyond 19."""
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
    """log(p / (1 - p)), also accurate near p = 1/2."""
    middle = jnp.abs(p - 0.5) < 0.25
    near = jnp.where(middle, p, 0.5)
    return jnp.where(middle, jnp.log1p((2 * near - 1) / (1 - near)), jnp.log(p) - jnp.log1p(-p))


def icloglog(x):
    """1 - exp(-exp(x)), which is 1 for x >= 40."""
    return -jnp.expm1(-jnp.exp(minimum(x, jnp.full_like(x, 40.0))))


@derivative(lambda x: 1 / (np.pi * (1 + x * x)))
def icauchit(x):
    """1/2 + arctan(x) / pi, without cancellation."""
    return jnp.arctan2(jnp.ones_like(x), -x) / np.pi


@derivative(lambda x: jnp.exp(-x) / -jnp.expm1(-x))
def log1mexp(x):
    """log(1 - exp(-x)) for x > 0, accurate at both ends.

    See Mächler (2012).
    """
    small = x < 0.6931471805599453
    return jnp.where(small, jnp.log(-jnp.expm1(-x)), jnp.log1p(-jnp.exp(-x)))


def _adding(scale: float, power, log1p):
    """log(b^x + b^y) to a base b with the natural logarithm `scale`."""

    def share(x, y):
        """The derivative by x: b^x divided by the sum.

        It is 0 if the sum is 0.
        """
        both_infinite = (x == y) & jnp.isinf(x)
        part = expit(scale * (jnp.where(both_infinite, 0.0, x) - jnp.where(both_infinite, 0.0, y)))
        return jnp.where(both_infinite & (x < 0), 0.0, part)

    @partials(share, lambda x, y: share(y, x))
    def function(x, y):
        distance = jnp.where(x == y, 0.0, jnp.abs(x - y))
        return jnp.maximum(x, y) + log1p(power(-distance))

    return function


logaddexp = _adding(1.0, jnp.exp, jnp.log1p)
logaddexp2 = _adding(math.log(2), jnp.exp2, lambda x: jnp.log1p(x) / math.log(2))


# Sines of multiples of pi.
def _nearest(x):
    """Reduce x modulo 2 to a number in -1/2 .. 1/2.

    The nearest even number is subtracted, and the result is reflected if it is outside. sin(pi x)
    does not change.
    """
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


# Selections: a derivative of 0 is selected, not made by a product with 0.
@derivative(lambda x: jnp.where(x == 0, jnp.nan, 0.0) + _kink(x))
def _kink(x):
    """0, with a derivative that is NaN at 0.

    The slope of a function at a kink is set to 0 by convention, so the derivative of the slope is
    unknown there. A function of it may be smooth, such as |x|^2, but its second derivative cannot
    be found from this slope, so it is NaN.
    """
    return jnp.zeros_like(x)


def _sign_of(x, t):
    return jnp.where(x > 0, t, jnp.where(x < 0, -t, t * _kink(x)))


@derivatives(lambda primals, tangents: _sign_of(*primals, *tangents))
def _float_absolute(x):
    return jnp.abs(x)


def absolute(x):
    """|x| with derivative 0 at 0, where JAX's derivative is 1."""
    return _float_absolute(x) if x.dtype.kind == "f" else jnp.abs(x)


def _choosing(choose, first):
    def rule(primals, tangents):
        (x, y), (s, t) = primals, tangents
        s, t = jnp.broadcast_arrays(s, t)
        nothing = jnp.zeros_like(s)
        x_is_chosen, tie = first(x, y), x == y
        from_x = jnp.where(x_is_chosen, s, jnp.where(tie, 0.5 * s, nothing))
        return from_x + jnp.where(x_is_chosen, nothing, jnp.where(tie, 0.5 * t, t))

    with_rule = derivatives(rule)(choose)
    return lambda x, y: with_rule(x, y) if x.dtype.kind == "f" else choose(x, y)


maximum = _choosing(jnp.maximum, lambda x, y: x > y)
minimum = _choosing(jnp.minimum, lambda x, y: x < y)


def _without_nan(x, y):
    if x.dtype.kind != "f":
        return x, y
    return jnp.where(jnp.isnan(x), y, x), jnp.where(jnp.isnan(y), x, y)


def fmax(x, y):
    """The larger of two numbers; a NaN is ignored."""
    return maximum(*_without_nan(x, y))


def fmin(x, y):
    """The smaller of two numbers; a NaN is ignored."""
    return minimum(*_without_nan(x, y))


# Roots and powers.
@derivative(lambda x: jnp.where(x == 0, _kink(x), 0.5 / root(jnp.where(x == 0, 1.0, x))))
def root(x):
    """The square root, with derivative 0 at 0.

    A length or a standard deviation needs this derivative.
    """
    return jnp.sqrt(x)


@partials(
    lambda c, x, y: power(x, y),
    lambda c, x, y: _multiple(c * y, x, y - 1),
    lambda c, x, y: _multiple(c, x, y) * jnp.log(jnp.where((x == 0) & (y > 0), 1.0, x)),
)
def _multiple(c, x, y):
    """c x^y, and 0 for c = 0.

    It is 0 even if the power is infinite, and has the derivatives of a product there.
    """
    return jnp.where(c == 0, 0.0, c * power(x, y))


def _by_base(x, y):
    return _multiple(y, x, y - 1)


def _by_exponent(x, y):
    is_constant = (x == 0) & (y > 0)
    return jnp.where(is_constant, 0.0, power(x, y) * jnp.log(jnp.where(is_constant, 1.0, x)))


@partials(_by_base, _by_exponent)
def power(x, y):
    """x to the power y."""
    return jax.lax.pow(*jnp.broadcast_arrays(x, y))


def any_power(x, y):
    """x to the power y, for floating-point numbers or integers."""
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
    # XLA would simplify x / radius / radius to x / (radius * radius), which may overflow.
    return x / radius * (1 / radius)


@partials(lambda y, x: _turn(x, hypot(x, y)), lambda y, x: -_turn(y, hypot(x, y)))
def arctan2(y, x):
    """The angle of the point (x, y)."""
    return jnp.arctan2(y, x)


@jax.custom_jvp
def _quotient(x, y):
    return jnp.true_divide(x, y)


def _quotient_rule(primals, tangents):
    """The derivative rule of a quotient.

    It is (dx - (x / y) dy) / y.

    In reverse mode a cotangent is divided by y before it is multiplied by x / y, which may be huge.
    """
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
    """x / y, with an accurate derivative for tiny and huge y.

    The derivative by y is -(x / y) / y, which is accurate even if y * y is out of range.
    """
    return _quotient(x, y)


def reciprocal(x):
    """1 / x; for integers it is truncated, as in NumPy."""
    return 1 / x if x.dtype.kind == "f" else jax.lax.div(jnp.ones_like(x), x)


def segment_prod(x, labels, size: int, indices_are_sorted: bool = False):
    """The product of x for each label.

    JAX's own function has no derivative.
    """
    labels = jnp.asarray(labels)
    options = (labels, size, indices_are_sorted)

    @jax.custom_jvp
    def product(x):
        return jax.ops.segment_prod(x, *options)

    @derivatives(lambda primals, tangents: jax.jvp(by_scans, primals, tangents)[1])
    def products_of_others(x):
        """The product of all other elements with the same label."""
        zero = x == 0
        zeros = jax.ops.segment_sum(zero.astype(x.dtype), *options)
        quotients = product(jnp.where(zero, 1.0, x))[labels] / jnp.where(zero, 1.0, x)
        no_other_zero = zeros[labels] == zero  # no other factor of the label is 0
        return jnp.where(no_other_zero, quotients, 0.0)

    def by_scans(x):
        """The products of all other elements, by multiplication only.

        Its derivatives of all orders are accurate at 0, too.
        """
        order = jnp.argsort(labels)
        x, sorted_labels = x[order], labels[order]
        continues = (sorted_labels[1:] == sorted_labels[:-1]).reshape((-1,) + (1,) * (x.ndim - 1))
        one, edge = jnp.ones_like(x[:1]), jnp.zeros_like(continues, shape=(1, *continues.shape[1:]))
        before = _products(
            jnp.concatenate([one, jnp.where(continues, x[:-1], 1.0)]),
            jnp.concatenate([edge, continues]),
        )
        after = _products(
            jnp.concatenate([jnp.where(continues, x[1:], 1.0), one]),
            jnp.concatenate([continues, edge]),
            reverse=True,
        )
        return jnp.zeros_like(x).at[order].set(before * after, unique_indices=True)

    @product.defjvp
    def derivative(primals, tangents):
        (x,), (t,) = primals, tangents
        return product(x), jax.ops.segment_sum(t * products_of_others(x), *options)

    return product(x)


def _products(x, continued, reverse: bool = False):
    """The running products of x, restarted where `continued` is false."""

    def join(a, b):
        return jnp.where(b[1], a[0], 1.0) * b[0], a[1] & b[1]

    flags = jnp.broadcast_to(continued, x.shape)
    return jax.lax.associative_scan(join, (x, flags), reverse=reverse)[0]
