"""Functions of tensors that JAX lacks, or whose values or derivatives are not right everywhere."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln

__all__ = ["absolute", "betaln", "cospi", "log1mexp", "reciprocal", "segment_prod", "sinpi"]


def sinpi(x):
    """sin(pi x), exact at multiples of a half."""
    r = x - 2.0 * jnp.round(x / 2.0)
    near = jnp.where(jnp.abs(r) > 0.5, jnp.sign(r) - r, r)
    return jnp.sin(np.pi * near)


def cospi(x):
    """cos(pi x), exact at multiples of a half."""
    return sinpi(0.5 - jnp.abs(x - 2.0 * jnp.round(x / 2.0)))


def absolute(x):
    """|x| with derivative 0 at 0 (JAX's own is 1 there)."""
    return x * jnp.sign(x) if x.dtype.kind == "f" else jnp.abs(x)


def reciprocal(x):
    """1 / x; for integers, as in NumPy, without its fraction."""
    return 1 / x if x.dtype.kind == "f" else jax.lax.div(jnp.ones_like(x), x)


def log1mexp(x):
    """log(1 - exp(-x)) for x > 0, accurate at both ends (Mächler 2012)."""
    small = x < 0.6931471805599453
    return jnp.where(
        small,
        jnp.log(-jnp.expm1(-jnp.where(small, x, 1.0))),
        jnp.log1p(-jnp.exp(-jnp.where(small, 1.0, x))),
    )


# gammaln(x) - ((x - 1/2) log x - x + log(2 pi) / 2) in powers of 1/x, right to 1e-16 from 10 on
_STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156]


def _stirling(x):
    return jnp.polyval(jnp.asarray(_STIRLING[::-1], x.dtype), 1 / (x * x)) / x


def betaln(a, b):
    """The logarithm of the beta function, without the cancellation of three gammaln."""
    small, large = jnp.minimum(a, b), jnp.maximum(a, b)
    total = small + large
    plain = gammaln(small) + gammaln(large) - gammaln(total)
    # Where an argument is below 10 its branch sees 10 instead, so that no gradient is infinite.
    y = jnp.where(large < 10, 10.0, large)
    ratio = (y - 0.5) * jnp.log1p(small / y)
    rest = _stirling(y) - _stirling(small + y) - ratio
    one = gammaln(small) + small - small * jnp.log(small + y) + rest
    x = jnp.where(small < 10, 10.0, small)
    constant = 0.5 * math.log(2 * math.pi)
    both = constant - (x - 0.5) * jnp.log1p(y / x) - 0.5 * jnp.log(x + y) + _stirling(x) + rest
    return jnp.where(large < 10, plain, jnp.where(small < 10, one, both))


def segment_prod(x, labels, size: int, indices_are_sorted: bool = False):
    """The product of the x of each label; JAX's own has no derivative."""

    @jax.custom_jvp
    def product(x):
        return jax.ops.segment_prod(x, labels, size, indices_are_sorted)

    @product.defjvp
    def derivative(primals, tangents):
        (x,), (t,) = primals, tangents
        zero = x == 0
        zeros = jax.ops.segment_sum(zero.astype(x.dtype), labels, size, indices_are_sorted)
        others = product(jnp.where(zero, 1.0, x))[labels] / jnp.where(zero, 1.0, x)
        alone = zeros[labels] == zero  # no other factor of the label is 0
        slopes = jnp.where(alone, others, 0.0)
        return product(x), jax.ops.segment_sum(t * slopes, labels, size, indices_are_sorted)

    return product(x)
