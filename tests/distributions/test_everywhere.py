"""Log densities and derivatives at ordinary, extreme and boundary points against mpmath.

Where the true value or derivative is finite, ours is finite and right.
"""

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from tests.distributions.references import REFERENCES

from kinetograph.distributions.family import FAMILIES
from kinetograph.graph.precision import x64

MULTIVARIATE = {
    "ar",
    "categorical",
    "categorical_logit",
    "dirichlet",
    "dirichlet_multinomial",
    "multinomial",
    "ordered_logistic",
    "ordered_probit",
    "random_walk",
    "wishart",
    "zero_sum_normal",
    "lkj_cholesky",
    "lkj_correlation",
    "markov_chain",
    "matrix_normal",
    "multivariate_normal",
    "multivariate_normal_precision",
    "multivariate_student",
}

# x and the parameters; an `f` marks what is differentiated.
LOCATED = [
    (0.3, 0.1, 2.0),
    (0.0, 0.0, 1.0),
    (-5e3, 7.0, 1e-3),
    (1e8, -1e8, 3e-5),
    (1e-120, 0.0, 1e-100),
    (7.0, 7.0 + 1e-12, 1e-9),
    (1e100, 0.0, 1e90),
    (-2.0, 1.0, 1e100),
]
FAR = [
    (1e154, 0.0, 1.0),
    (-1e155, 1.0, 0.1),
    (1e300, 0.0, 1e-5),
    (3.0, -1e200, 2.0),
    (1e200, 3.0, 1e-200),
]
POSITIVE = [
    (0.7, 1.3),
    (1e-300, 2.0),
    (1e-12, 1e-12),
    (1e100, 1e99),
    (50.0, 0.2),
    (1e-5, 1e8),
]
UNIT = [1e-300, 1e-17, 0.2, 0.5, 1 - 1e-9, 1 - 2.0**-53]
ETA = [-800.0, -40.0, -1.0, 0.0, 2.0, 37.0, 40.0, 800.0]

POINTS = {
    "normal": ("fff", LOCATED),
    "half_normal": ("ff", [*POSITIVE, (0.0, 1.0)]),
    "lognormal": (
        "fff",
        [
            (0.7, 0.1, 2.0),
            (1e-300, 0.0, 1.0),
            (1e300, 1.0, 0.5),
            (1.0, 0.0, 1e-6),
            (2.0, 700.0, 3.0),
        ],
    ),
    "cauchy": ("fff", LOCATED + FAR),
    "half_cauchy": ("ff", [*POSITIVE, (0.0, 1.0), (1e154, 1.0), (1e300, 1e-5), (1e200, 1e-200)]),
    "student": (
        "ffff",
        [
            *[(x, 3.0, mu, sigma) for x, mu, sigma in [*LOCATED[:4], *LOCATED[5:7], *FAR[:3]]],
            *[(0.3, df, 0.1, 2.0) for df in (0.1, 33.0, 1e5, 1e10)],
        ],
    ),
    # At the median the derivative is one-sided: left out.
    "laplace": ("fff", [p for p in LOCATED if p[0] != p[1]]),
    "logistic": ("fff", [*LOCATED[:4], *LOCATED[5:], (800.0, 0.0, 1.0), (-800.0, 0.0, 1.0)]),
    "exponential": (
        "ff",
        [(0.7, 1.3), (0.0, 2.0), (1e-300, 1e-300), (1e300, 1e-300), (800.0, 2.0)],
    ),
    "gamma": (
        "fff",
        [
            (0.7, 2.0, 1.3),
            (0.7, 1.0, 1.3),
            (1e-300, 1.0, 2.0),
            (1e-200, 0.1, 2.0),
            (1e200, 3.0, 1e-200),
            (9.9, 1e-8, 0.1),
            (1.0, 1e10, 1e10),
            (1.00001, 1e10, 1e10),
            (3e-5, 2e12, 1e17),
        ],
    ),
    "chi_squared": (
        "ff",
        [(0.7, 3.0), (1e-200, 0.1), (1e50, 3.0), (9.9, 1e-8), (2e10, 2e10), (2.00001e10, 2e10)],
    ),
    "weibull": (
        "fff",
        [
            (0.7, 2.0, 1.3),
            (0.7, 1.0, 1.3),
            (1e-200, 0.1, 2.0),
            (1e-300, 2.0, 1e300),
            (1e200, 3.0, 1e200),
            (9.9, 1e-8, 0.1),
            (1.00000001, 1e8, 1.0),
            (30.0, 2.0, 1.0),
        ],
    ),
    "pareto": (
        "fff",
        [
            (0.7, 2.0, 0.3),
            (1e200, 0.1, 1e-200),
            (1e300, 1e-8, 1e299),
            (1.0 + 1e-9, 1e10, 1.0),
            (2e-300, 3.0, 1e-300),
        ],
    ),
    "gumbel": (
        "fff",
        [p for p in LOCATED if (p[0] - p[1]) / p[2] > -600]
        + [(800.0, 0.0, 1.0), (-600.0, 1.0, 1.0), (1e200, 3.0, 1e190)],
    ),
    "half_student": (
        "fff",
        [
            *[(x, 3.0, sigma) for x, sigma in [*POSITIVE[:1], *POSITIVE[2:], (0.0, 1.0)]],
            *[(0.3, df, 2.0) for df in (0.1, 33.0, 1e5, 1e10)],
        ],
    ),
    "inverse_gamma": (
        "fff",
        [
            (0.7, 2.0, 1.3),
            (1.4, 1.0, 1.3),
            (1e-200, 0.1, 2e-200),
            (1e200, 3.0, 1e200),
            (9.9, 1e-8, 0.1),
            (1.0, 1e10, 1e10),
            (1.00001, 1e10, 1e10),
        ],
    ),
    "beta": (
        "fff",
        [
            *[(x, a, b) for x in UNIT for a, b in [(2.0, 3.0), (1.0, 1.0), (0.1, 7.0)]],
            (0.5, 1e10, 1e10),
            (0.50001, 1e10, 1e10),
            (0.25, 1e9, 3e9),
            (1e-9, 3.0, 3e9),
            (0.4, 1e-8, 1e-8),
        ],
    ),
    "uniform": ("-ff", [(0.5, 0.0, 1.0), (0.0, 0.0, 1.0), (1.0, 0.0, 1.0), (1e200, -1e200, 1e201)]),
    "bernoulli": (
        "-f",
        [*[(x, p) for p in UNIT for x in (0.0, 1.0)], (0.0, 0.0), (1.0, 1.0), (0.0, 1e-320)],
    ),
    "bernoulli_logit": ("-f", [(x, t) for t in ETA for x in (0.0, 1.0)]),
    "binomial": (
        "--f",
        [
            *[(x, 7.0, p) for p in UNIT for x in (0.0, 3.0, 7.0)],
            (0.0, 7.0, 0.0),
            (7.0, 7.0, 1.0),
            (0.0, 0.0, 0.3),
            (5e8, 1e9, 0.5),
            (3e8, 1e9, 0.30001),
            (0.0, 1e9, 1e-9),
            (1e9, 1e9, 1 - 1e-9),
            (7.0, 1e12, 1e-11),
        ],
    ),
    "binomial_logit": (
        "--f",
        [
            *[(x, 7.0, t) for t in ETA for x in (0.0, 3.0, 7.0)],
            (0.0, 0.0, 2.0),
            (5e8, 1e9, 1e-5),
            (3e8, 1e9, -0.847),
            (7.0, 1e12, -25.0),
            (7.0, 1e12, -800.0),
        ],
    ),
    "poisson": (
        "-f",
        [
            *[(x, rate) for x in (0.0, 1.0, 3.0, 40.0) for rate in (1e-300, 1e-5, 1.0, 3.0, 700.0)],
            (0.0, 0.0),
            (1e12, 1e12),
            (1e12, 1.00001e12),
            (1e6, 1e12),
            (1e12, 1e6),
            (12.0, 12.0 + 1e-9),
        ],
    ),
    "poisson_log_rate": (
        "-f",
        [
            *[(x, t) for x in (0.0, 3.0, 40.0) for t in (-800.0, -40.0, 0.0, 1.0, 40.0, 700.0)],
            (1e12, 27.631),
            (1e12, 27.6311),
            (1e12, -800.0),
        ],
    ),
    "negative_binomial": (
        "-ff",
        [
            *[(x, 2.5, p) for p in UNIT for x in (0.0, 3.0, 40.0)],
            (0.0, 2.0, 1.0),
            (3.0, 1e10, 1 - 3e-10),
            (10000.0, 1e8, 0.9999),
            (1e9, 1e9, 0.5),
            (3.0, 1e-8, 0.3),
        ],
    ),
}
POINTS |= {
    "exponentially_modified_normal": (
        "ffff",
        [(0.3, 0.1, 2.0, r) for r in (1e-5, 1.3, 20.0)]
        + [(-20.0, 0.0, 1.0, 3.0), (90.0, 0.0, 1.0, 3.0), (7.0, 6.5, 0.01, 0.3)],
    ),
    "von_mises": (
        "fff",
        [
            (0.3, 0.1, 2.0),
            (3.0, -3.0, 0.01),
            (1e-3, 0.0, 900.0),
            (1e-3, 2e-3, 1100.0),
            (1e-6, 0.0, 1e9),
            (3.0, 50.0, 1e-9),
        ],
    ),
    "f": (
        "fff",
        [
            (0.7, 3.0, 5.0),
            (0.7, 2.0, 1.3),
            (1e-200, 0.1, 2.0),
            (1e200, 3.0, 0.5),
            (1.0001, 1e8, 3e8),
            (1.0, 3.0, 1e10),
            (9.9, 1e-8, 0.1),
        ],
    ),
    "wald": (
        "fff",
        [
            (0.7, 1.3, 2.0),
            (1e-5, 1.0, 2.0),
            (1e100, 1e99, 1e98),
            (1.00001, 1.0, 1e10),
            (30.0, 1.0, 3.0),
            (1e-150, 1e-149, 1e-160),
        ],
    ),
    "asymmetric_laplace": (
        "ffff",
        [(*p, k) for p in LOCATED if p[0] != p[1] for k in (1.0, 0.3, 20.0)],
    ),
    "skew_normal": (
        "ffff",
        [(*p, k) for p in LOCATED if abs(p[0] - p[1]) < 30 * p[2] for k in (0.0, 3.0, -20.0)]
        + [(-30.0, 0.0, 1.0, 3.0), (30.0, 0.0, 1.0, 3.0)],
    ),
}
ZEROS = [0.3, 1e-12, 0.999999]
POINTS |= {
    "geometric": ("-f", [*[(x, p) for p in UNIT for x in (0.0, 3.0, 40.0)], (0.0, 1.0)]),
    "discrete_uniform": ("---", [(3.0, -5.0, 9.0), (0.0, 0.0, 0.0), (1e9, 0.0, 1e12)]),
    "beta_binomial": (
        "--ff",
        [
            *[(x, 7.0, a, b) for x in (0.0, 3.0, 7.0) for a, b in [(2.0, 3.0), (1e-5, 7.0)]],
            (0.0, 0.0, 2.0, 3.0),
            (5e8, 1e9, 2.0, 2.0),
            (3e8, 1e9, 3e7, 7e7),
            (3.0, 10.0, 3e8, 7e8),
            (1e9, 1e9, 0.5, 0.5),
        ],
    ),
    "hypergeometric": (
        "----",
        [
            (3.0, 10.0, 20.0, 8.0),
            (0.0, 0.0, 0.0, 0.0),
            (8.0, 10.0, 20.0, 8.0),
            (5e8, 1e9, 1e9, 1e9),
            (3e8, 1e9, 2e9, 9.01e8),
            (0.0, 5.0, 1e12, 1e11),
        ],
    ),
    "negative_binomial_mean": (
        "-ff",
        [
            *[
                (x, m, d)
                for x in (0.0, 3.0, 40.0)
                for m, d in [(2.5, 0.4), (1e-9, 1.0), (1e5, 3.0)]
            ],
            (1e9, 1e9, 0.5),
            (1e9, 1.00001e9, 1e-7),
            (3.0, 4.0, 1e4),
        ],
    ),
    "zero_inflated_poisson": (
        "-ff",
        [(x, z, m) for z in (0.0, *ZEROS) for x in (0.0, 3.0) for m in (1e-9, 2.5, 40.0)]
        + [(0.0, 1.0, 2.0), (0.0, 0.3, 800.0)],
    ),
    "hurdle_poisson": (
        "-ff",
        [(x, z, m) for z in ZEROS for x in (0.0, 1.0, 3.0) for m in (1e-3, 2.5, 40.0)]
        + [(0.0, 1.0, 2.0), (3.0, 0.0, 2.0)],
    ),
    "zero_inflated_negative_binomial": (
        "-fff",
        [(x, z, 2.5, p) for z in (0.0, *ZEROS) for x in (0.0, 3.0) for p in (1e-5, 0.3, 0.999)],
    ),
    "hurdle_negative_binomial": (
        "-fff",
        [(x, z, 2.5, p) for z in ZEROS for x in (0.0, 1.0, 3.0) for p in (1e-5, 0.3, 0.999)],
    ),
    "zero_inflated_negative_binomial_mean": (
        "-fff",
        [(x, z, m, 0.4) for z in (0.0, *ZEROS) for x in (0.0, 3.0) for m in (1e-3, 2.5, 1e4)],
    ),
    "hurdle_negative_binomial_mean": (
        "-fff",
        [(x, z, m, 0.4) for z in ZEROS for x in (0.0, 1.0, 3.0) for m in (1e-3, 2.5, 1e4)],
    ),
}


def test_every_family_has_points():
    assert set(POINTS) == set(REFERENCES)
    assert set(POINTS) | MULTIVARIATE == set(FAMILIES)


STEP = mp.mpf(10) ** -40
# Numbers of very different size are added in these; others have slow gamma functions.
DIGITS = dict.fromkeys(
    ["normal", "lognormal", "cauchy", "student", "laplace", "logistic", "gumbel"], 420
)


def truth(name, point):
    """The value, and the derivatives by the arguments marked: difference quotients in many digits.

    References drop terms of weight 0, so that ends of ranges have points on both sides.
    """
    reference = REFERENCES[name]
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
