import jax
import mpmath as mp
import numpy as np
import pytest
from tests.graph.exact import compare

import kinetograph as kg
from kinetograph.graph.numerics import special
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


def test_second_derivatives_at_kinks_and_zeros():
    """Higher derivatives are accurate, or NaN where a slope is 0 by convention."""
    x, s = kg.placeholder((2,), name="x"), kg.placeholder(name="s")
    n, p, q = np.linalg.norm(x), kg.sqrt((x * x).sum()), np.hypot(x[0], x[1])
    table = x[:, None] * np.ones(3)
    rows = x[:, None] * [3.0, 4.0] + [[0.0, 0.0], [1.0, 1.0]]
    apart = np.hypot(rows[0, 0] - rows[1, 0], rows[0, 1] - rows[1, 1])
    known = {
        "norm": (n**2, 2 * np.eye(2)),
        "product": (n * n, 2 * np.eye(2)),
        "square": (np.square(-n), 2 * np.eye(2)),
        "scaled": (kg.exp(-((n / s) ** 2)), -0.5 * np.eye(2)),
        "root": (p**2, 2 * np.eye(2)),
        "hypot": (q**2, 2 * np.eye(2)),
        "absolute": ((kg.abs(x) ** 2).sum(), 2 * np.eye(2)),
        "deviation": (kg.std(x) ** 2, [[0.5, -0.5], [-0.5, 0.5]]),
        "rows": (np.linalg.norm(table, axis=1)[1] ** 2, [[0, 0], [0, 6]]),
        "branch": (kg.cond(s > 0, lambda: n**2, lambda: s), 2 * np.eye(2)),
        "distances": (kg.pairwise_distance(rows).sum() - 2 * apart, np.zeros((2, 2))),
    }
    absent = [kg.cos(n), kg.cos(q), kg.cos(kg.abs(x)).sum()]
    outputs = [kg.hessian(y, x) for y in (*(y for y, _ in known.values()), *absent)]
    found = kg.compile([x, s], outputs)([0.0, 0.0], 2.0)
    for (name, (_, right)), got in zip(known.items(), found, strict=False):
        np.testing.assert_allclose(got, right, atol=1e-12, err_msg=name)
    for got in found[len(known) :]:
        assert np.isnan(np.diag(got)).any()


def test_second_derivatives_of_squares_of_the_larger_and_the_smaller():
    """Derivatives are accurate at a tie, too, because each of the sums is smooth."""
    x = kg.placeholder((2,), name="x")
    u, v = x[0], x[1]
    within = kg.clip(u, 0, 1)
    sums = {
        "both": (kg.maximum(u, 0) ** 2 + kg.minimum(u, 0) ** 2, [[2, 0], [0, 0]]),
        "other order": (kg.maximum(u, 0) ** 2 + kg.minimum(0, u) ** 2, [[2, 0], [0, 0]]),
        "mirrored": (kg.maximum(u, 0) ** 2 + kg.square(kg.maximum(-u, 0)), [[2, 0], [0, 0]]),
        "product": (within * within + kg.minimum(u, 0) ** 2, [[2, 0], [0, 0]]),
        "two": (kg.maximum(u, v) ** 2 + kg.minimum(u, v) ** 2, [[2, 0], [0, 2]]),
        "fourth": (kg.maximum(u, 0) ** 4 + kg.minimum(u, 0) ** 4, [[0, 0], [0, 0]]),
    }
    outputs = [kg.hessian(y, x) for y, _ in sums.values()]
    for (name, (_, right)), got in zip(sums.items(), kg.compile([x], outputs)([0, 0]), strict=True):
        np.testing.assert_array_equal(got, right, err_msg=name)
    y = [kg.maximum(u, v) ** 2, kg.minimum(u, v) ** 2]
    f = kg.compile([x], [*y, *kg.gradients(y[0], [x])])
    for a, b in [
        (3, -2),
        (-2, 3),
        (-2, -3),
        (np.inf, 1),
        (np.inf, np.inf),
        (np.nan, 1),
        (1, np.nan),
    ]:
        larger, smaller, slope = f([a, b])
        np.testing.assert_array_equal(larger, np.maximum(a, b) ** 2)
        np.testing.assert_array_equal(smaller, np.minimum(a, b) ** 2)
        if np.isfinite(a + b):
            np.testing.assert_array_equal(slope, [2.0 * a * (a > b), 2.0 * b * (b > a)])


def test_squares_of_roots_are_functions_of_the_root_and_nan_where_it_is():
    x, s = kg.placeholder((2,), name="x"), kg.placeholder(name="s")
    n, root = np.linalg.norm(x), kg.sqrt(s)
    outputs = [n**2, n**-4, kg.gradients(n**2, n), kg.gradients((-n / s) ** 2, n), root**2]
    found = kg.compile([x, s], [*outputs, kg.hessian(3 * n**2, n)])([3.0, 4.0], -2.0)
    np.testing.assert_allclose(found, [25, 0.0016, 10, 2.5, np.nan, 6], rtol=1e-12)


def test_second_derivatives_of_weighted_logs_and_of_ties():
    a, b = kg.placeholder(name="a"), kg.placeholder(name="b")
    log = kg.log(kg.comb(a + 4, b))  # of a tie: b + 1 = 4 - b + 1
    mixed = [kg.jvp(kg.gradients(y, b), a, 1.0) for y in (kg.xlogy(a, b), kg.xlog1py(a, b - 1))]
    found = kg.compile([a, b], [*mixed, kg.jvp(kg.gradients(log, b), b, 1.0)])(0.0, 2.0)
    trigamma = np.pi**2 / 6 - 5 / 4  # of 3
    np.testing.assert_allclose(found, [0.5, 0.5, -2 * trigamma], rtol=1e-12)


def test_log_odds():
    def odds(p):
        return mp.log(p / (1 - p))

    compare(special.logit, odds, [(k / 32,) for k in range(1, 32)])
    # Near 1/2 a difference of two logarithms has fewer digits.
    near = [(0.5 + side * size,) for side in (-1, 1) for size in (1e-9, 3e-6, 2e-5, 1e-4, 3e-3)]
    compare(special.logit, odds, near, rtol=2e-15)


def test_second_derivatives_of_powers_at_exponent_0():
    x = np.array([2.0, 0.5, 1e-200, 7.0])
    with x64():
        found = jax.jit(jax.vmap(jax.hessian(special.power, (0, 1))))(x, np.zeros(4))
        by_base = jax.grad(jax.grad(lambda x: special.power(x, 0.0)))(0.0)
    np.testing.assert_allclose(found[0][1], 1 / x, rtol=1e-14)
    np.testing.assert_allclose(found[1][0], 1 / x, rtol=1e-14)
    assert not np.any(found[0][0])
    assert float(by_base) == 0.0


def test_second_derivatives_of_segment_products_with_zeros():
    labels = np.array([1, 0, 1, 1, 0, 2])

    def others(x, i, j):
        return np.prod([x[k] for k in range(6) if labels[k] == labels[i] and k not in (i, j)])

    places = np.array(
        [[0, 3, 2, 5, 0, 7.0], [0, 3, 0, 5, 2, 0], [0, 0, 0, 0, 0, 0], [1, 3, 2, 5, 7, 4]]
    )
    wanted = [
        [
            [others(x, i, j) if i != j and labels[i] == labels[j] else 0 for j in range(6)]
            for i in range(6)
        ]
        for x in places
    ]

    def total(x):
        return special.segment_prod(x, labels, 3).sum()

    with x64():
        found = jax.jit(jax.vmap(jax.hessian(total)))(places)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
