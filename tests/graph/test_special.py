import jax
import mpmath as mp
from tests.graph.exact import compare

from kinetograph.graph import special

PLACES = [(x,) for x in (-100.0, -20.0, -1.0, 1e-10, 0.5, 5.0, 37.5, 100.0)]


def slope(function):
    """The derivative of an elementwise function."""
    return lambda x: jax.jvp(function, (x,), (0 * x + 1,))[1]


def test_second_derivatives_in_the_tails():
    def density(x):
        return 1 / ((1 + mp.exp(-x)) * (1 + mp.exp(x)))

    compare(slope(special.expit), density, PLACES, rtol=1e-9)
    compare(slope(special.tanh), lambda x: mp.sech(x) ** 2, PLACES, rtol=1e-9)
    compare(slope(special.softplus), lambda x: 1 / (1 + mp.exp(-x)), PLACES[:-2])
