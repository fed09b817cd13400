"""A loop variable that does not reach the result does not affect its derivative.

The body of each loop here has a derivative that is not finite: that of the square root of a
residual that has become exactly 0. It leads only to a variable that is not differentiated.
"""

import numpy as np

import kinetograph as kg

A = 3.0


def root(a, grad="auto", bound=8):
    """The square root by Newton's iteration until nothing changes: a, a / 2 + 1 / 2, ..."""

    def turn(x, change):
        new = 0.5 * (x + a / x)
        return new, kg.sqrt((new - x) ** 2)

    return kg.while_loop(lambda x, change: change > 1e-15, turn, (a, a), bound, grad)


def of_root(a):
    """Value, gradient and second derivative."""
    return [a**0.5, 0.5 * a**-0.5, -0.25 * a**-1.5]


def agrees(y, x, at, expected, every_order=False):
    """Value, first and second derivative; `every_order` computes the second in all ways."""
    first, one = kg.gradients(y, x), np.ones(x.shape)
    value, slope, curvature = map(np.sum, expected)
    outputs, values = [y, first, kg.gradients(first.sum(), x)], [value, slope, curvature]
    if every_order:
        push = kg.jvp(y, x, one)
        outputs += [push, kg.hessian(y, x), kg.jvp(first, x, one), kg.gradients(push.sum(), x)]
        values += [slope, *[curvature] * 3]
    found = [float(np.sum(v)) for v in kg.compile([x], outputs)(at)]
    np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-12)


def test_unused_result_of_a_loop():
    a = kg.placeholder(name="a")
    agrees(root(a)[0], a, A, of_root(A), every_order=True)


def test_all_strategies():
    a = kg.placeholder(name="a")
    slopes = [kg.gradients(root(a, g)[0], a) for g in ("stack", "checkpoint", "forward")]
    np.testing.assert_allclose(kg.compile([a], slopes)(A), 0.5 / np.sqrt(A), rtol=1e-12)


def test_unused_variable_inside_other_loops_and_branches():
    a = kg.placeholder(name="a")

    def trip(x, change):
        x, change = kg.cond(x < 5, lambda: root(x, bound=None), lambda: (x, change))
        return x * x, change

    x, change, _ = kg.while_loop(
        lambda x, change, i: i < 2, lambda x, change, i: (*trip(x, change), i + 1), (a, a, 0)
    )
    (y, _), _ = kg.scan(lambda c, _: (trip(*c), None), (x, change), length=2)
    agrees(kg.exp(y), a, 1.5, [np.exp(1.5)] * 3)


def test_rows_of_a_batch():
    a = kg.placeholder((3,), name="a")
    at = np.array([0.5, 3.0, 70.0])
    agrees(kg.vmap(lambda x: root(x, bound=None)[0])(a).sum(), a, at, of_root(at))


@kg.function
def converged(a):
    x, change = a, a
    while change > 1e-15:
        new = 0.5 * (x + a / x)
        change = kg.sqrt((new - x) ** 2)
        x = new
    return x


def test_converted_loop():
    a = kg.placeholder(name="a")
    agrees(converged(a), a, A, of_root(A))


def test_density_of_a_model():
    s = kg.normal(0, 1, name="s")
    y = kg.data(2.0)
    kg.observe(y, kg.normal(converged(kg.exp(s)), 1.0))
    slope = -0.3 + (2 - np.exp(0.15)) * 0.5 * np.exp(0.15)
    np.testing.assert_allclose(kg.model(s).gradient([0.3]), [slope], rtol=1e-12)


def test_variable_that_reaches_the_result_through_another():
    """The second variable is live from the second trip on, through the first."""
    a = kg.placeholder(name="a")
    x, _, _ = kg.while_loop(lambda x, e, i: i < 3, lambda x, e, i: (x * e, e * e, i + 1), (a, a, 0))
    agrees(x, a, 1.25, [1.25**8, 8 * 1.25**7, 56 * 1.25**6])


def test_derivative_of_a_sum_of_a_gradient_and_of_what_it_left_out():
    """The inner gradient shares computations with the outer one, which needs more."""
    a = kg.placeholder(name="a")
    x, e, _ = kg.while_loop(
        lambda x, e, i: i < 3, lambda x, e, i: (2 * x * x, 3 * e, i + 1), (a, a, 0)
    )
    z = kg.gradients(x, a) + e**2  # 2^7 8 a^7 + 27^2 a^2
    f = kg.compile([a], [kg.gradients(z, a), kg.jvp(z, a, 1.0)])
    np.testing.assert_allclose(f(0.5), [2**7 * 56 * 0.5**6 + 2 * 27**2 * 0.5] * 2, rtol=1e-12)


def test_only_live_variables_are_kept():
    a = kg.placeholder(name="a")
    x, _ = kg.while_loop(
        lambda x, v: v.sum() < 1e3,
        lambda x, v: (x * x, kg.exp(kg.sin(v)) * v + x),
        (a, a * np.ones(100)),
        10,
    )
    f = kg.compile([a], kg.gradients(x, a))
    f(1.5)
    assert kg.explain(f).loops[0].bytes == 10 * 8


def test_loop_of_which_nothing_is_live_is_not_differentiated():
    a = kg.placeholder(name="a")
    x, n = kg.while_loop(lambda x, n: x < 100, lambda x, n: (x * x, n + 1), (a, 0))
    f = kg.compile([a], [x, kg.gradients(a * n, a)])
    assert [float(v) for v in f(3.0)] == [6561.0, 3.0]
    assert kg.explain(f).loops[0].strategy == "not differentiated"
