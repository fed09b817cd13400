import jax
import mpmath as mp
import pytest
from tests.graph.exact import compare

from kinetograph.graph import special
from kinetograph.graph.precision import x64

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


@pytest.mark.parametrize("y", [1e-200, -1e-160, 1e160, -1e200])
def test_slopes_of_quotients_where_squares_are_out_of_range(y):
    with x64():
        for x in (1.5 * y, -0.3 * y):
            by_x, by_y = jax.grad(special.divide, (0, 1))(x, y)
            wanted = 1 / mp.mpf(y), -mp.mpf(x) / mp.mpf(y) ** 2
            assert float(by_x) == pytest.approx(float(wanted[0]), rel=1e-14)
            assert float(by_y) == pytest.approx(float(wanted[1]), rel=1e-14)


def test_log_odds():
    compare(special.logit, lambda p: mp.log(p / (1 - p)), [(k / 32,) for k in range(1, 32)])
