"""The number of terms of the series and fractions of incomplete functions."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np

from kinetograph.graph.numerics import incomplete
from kinetograph.graph.precision import x64

X = np.exp([-1.0, 1.2, 88.5, 354.0])


def test_no_terms_are_taken_when_only_rounding_is_left(monkeypatch):
    """The product c d of a number and its inverse need not be exactly 1."""
    taken, plain = [], incomplete._until_small

    def counted(step, *arguments):
        def one(number, state):
            taken.append(number)
            return step(number, state)

        return plain(one, *arguments)

    monkeypatch.setattr(incomplete, "_until_small", counted)
    monkeypatch.setattr(incomplete, "TERMS", 1000)
    with x64(), jax.disable_jit():
        for x in X:
            taken.clear()
            incomplete._gamma_tails(np.float64(2.0), np.float64(x))
            assert 0 < len(taken) < 130, x


def test_slopes_by_whole_shapes_are_those_of_the_shapes_beside():
    """A fraction that ends at an integer is exact, but its slope needs more terms."""
    points = [(1.0, 2.0001), (1.0, 5.0), (2.0, 3.01), (7.0, 8.001), (20.0, 27.0)]

    @jax.jit
    def slope(a, x):
        return jax.jvp(lambda a: incomplete.log_gamma_tails(a, x)[1], (a,), (jnp.ones_like(a),))[1]

    with x64():
        found = slope(*np.transpose(points))

    def exact(x):
        return lambda a: mpmath.log(mpmath.gammainc(a, x, regularized=True))

    with mpmath.workdps(25):
        expected = [float(mpmath.diff(exact(x), a)) for a, x in points]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_tails_of_large_shapes_near_the_mean():
    a, ratios = 1.5e6, [0.982, 1.005, 1.019]
    with x64():
        below, above = jax.jit(incomplete.log_gamma_tails)(a, a * np.array(ratios))
    found = np.where(np.array(ratios) < 1, below, above)
    with mpmath.workdps(25):
        expected = [float(_log_tail(mpmath.mpf(a), mpmath.mpf(a * r))) for r in ratios]
    np.testing.assert_allclose(found, expected, rtol=1e-14)  # to 3e-12 of the tail itself


def _log_tail(a, x):
    """The log of the smaller tail: the series of P or the fraction of Q."""
    scale = a * mpmath.log(x) - x - mpmath.loggamma(a)
    eps = mpmath.mpf(10) ** -20
    if x < a:
        term = total = 1 / a
        n = 1
        while term > eps * total:
            term *= x / (a + n)
            total += term
            n += 1
        return scale + mpmath.log(total)
    b, d, change, n = x + 1 - a, 1 / (x + 1 - a), mpmath.mpf(0), 1
    c, total = mpmath.mpf(10) ** 300, d
    while abs(change - 1) > eps:
        b += 2
        above = -n * (n - a)
        d, c = 1 / (above * d + b), b + above / c
        change = c * d
        total *= change
        n += 1
    return scale + mpmath.log(total)
