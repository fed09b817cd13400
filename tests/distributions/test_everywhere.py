"""Log densities and derivatives at ordinary, extreme and boundary points against mpmath.

Where the true value or derivative is finite, ours is finite and right.
"""

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from tests.distributions.cases.every import CASES, with_part

from kinetograph.distributions.family import FAMILIES
from kinetograph.graph.precision import x64

POINTS = {name: CASES[name].points for name in with_part("points")}
STEP = mp.mpf(10) ** -40
# Numbers of very different size are added in these; others have slow gamma functions.
DIGITS = dict.fromkeys(
    ["normal", "lognormal", "cauchy", "student", "laplace", "logistic", "gumbel"], 420
)


def truth(name, point):
    """The value, and the derivatives by the arguments marked: difference quotients in many digits.

    References drop terms of weight 0, so that ends of ranges have points on both sides.
    """
    reference = CASES[name].density
    numbers = [mp.mpf(v) for v in point]
    found = [reference(*numbers)]
    for place in places(name):
        h = STEP * (abs(numbers[place]) or min(abs(v) for v in (*numbers, 1) if v))
        moved = [list(numbers), list(numbers)]
        moved[0][place] += h
        moved[1][place] -= h
        found.append((reference(*moved[0]) - reference(*moved[1])) / (2 * h))
    return found


def rounding(name, point):
    """What the last digits of the arguments make of value and derivatives."""
    here = truth(name, point)
    total = [mp.mpf(0)] * len(here)
    for place in places(name):
        moved = list(point)
        moved[place] = float(np.nextafter(point[place], 0.25))
        there = truth(name, moved)
        changes = [abs(a - b) for a, b in zip(here, there, strict=True)]
        total = [t + (c if mp.isfinite(c) else 0) for t, c in zip(total, changes, strict=True)]
    return total


def places(name):
    return [i for i, mark in enumerate(POINTS[name][0]) if mark == "f"]


def value_and_slopes(name):
    """A function of columns of arguments: the values, and the derivatives by those marked."""
    density = FAMILIES[name].log_density
    if not places(name):
        return lambda *arguments: (density(*arguments),)

    def run(*arguments):
        def total(*a):
            value = density(*a)
            return jnp.sum(value), value

        slopes, value = jax.grad(total, places(name), has_aux=True)(*arguments)
        return value, *slopes

    return run


@pytest.mark.parametrize("name", POINTS)
def test_values_and_derivatives(name):
    points = POINTS[name][1]
    columns = [np.array(c) for c in zip(*points, strict=True)]
    with x64():
        results = jax.jit(value_and_slopes(name))(*columns)
    for row, point in enumerate(points):
        with mp.workdps(DIGITS.get(name, 120)):
            wanted, noise = truth(name, point), rounding(name, point)
            for place, (a, b, n) in enumerate(zip(results, wanted, noise, strict=True)):
                got, true = float(a[row]), float(b)
                close = abs(got - true) <= 1e-10 * abs(true) + 8 * float(n) + 1e-13
                assert got == true or close, (place, point, got, true)


def dirichlet(x, alpha):
    powers = sum((a - 1) * mp.log(v) for a, v in zip(alpha, x, strict=True))
    return powers + mp.loggamma(sum(alpha)) - sum(map(mp.loggamma, alpha))


DIRICHLET = [
    ([0.2, 0.3, 0.5], [1.0, 2.0, 3.0]),
    ([1e-300, 1e-9, 1 - 1e-9], [1.0, 1.0, 0.1]),
    ([0.2, 0.3, 0.5], [2e9, 3e9, 5e9]),
    ([0.20001, 0.29999, 0.5], [2e9, 3e9, 5e9]),
    ([0.1, 0.1, 0.8], [1e-8, 1e8, 1e-8]),
]


def test_dirichlet():
    x, alpha = (np.array(c) for c in zip(*DIRICHLET, strict=True))
    with x64():
        density = FAMILIES["dirichlet"].log_density
        values = np.asarray(jax.jit(density)(x, alpha))
        slopes = np.asarray(jax.jit(jax.grad(lambda a: jnp.sum(density(x, a))))(alpha))
    for value, slope, (at, shapes) in zip(values, slopes, DIRICHLET, strict=True):
        with mp.workdps(60):
            at, shapes = [mp.mpf(v) for v in at], [mp.mpf(a) for a in shapes]
            wanted = [
                mp.log(v) - mp.digamma(a) + mp.digamma(sum(shapes)) for v, a in zip(at, shapes)
            ]
            # x adds up to 1 within a rounding, which counts sum(alpha) times.
            noise = abs(sum(shapes) * (sum(at) - 1))
            true = float(dirichlet(at, shapes))
            assert abs(value - true) <= 1e-10 * abs(true) + 2 * noise
            np.testing.assert_allclose(slope, np.array(wanted, float), rtol=1e-10, atol=1e-13)


def test_categorical_of_impossible_labels():
    """Labels that never come up take no part in the derivative of one that does."""
    prob = np.array([[0.0, 0.25, 0.75], [0.0, 0.0, 1.0], [1e-320, 1.0, 0.0]])
    labels = np.array([1, 2, 1])
    with x64():
        density = FAMILIES["categorical"].log_density
        values = np.asarray(density(labels, prob))
        slopes = np.asarray(jax.jit(jax.grad(lambda p: jnp.sum(density(labels, p))))(prob))
        impossible = float(density(0, prob[0]))
    np.testing.assert_allclose(values, np.log([0.25, 1.0, 1.0]))
    np.testing.assert_allclose(slopes, [[0, 4, 0], [0, 0, 1], [0, 1, 0]])
    assert impossible == -np.inf
