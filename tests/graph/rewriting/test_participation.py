"""What branches and loops were given and did not read takes no part in derivatives.

Each function has an infinite slope on the way to something that is not read at its point; the
expected numbers are those of what is read, by hand.
"""

import numpy as np
import pytest

import kinetograph as kg


def no_trip(v):
    root = kg.sqrt(v)
    return kg.while_loop(lambda i, s: i < v, lambda i, s: (i + 1, s * root), [0.0, v * v + v])[1]


def overwritten_start(v):
    start = [0, kg.sqrt(v), v]
    return kg.while_loop(lambda i, s, t: i < 1, lambda i, s, t: (i + 1, 3 * t + t**2, t), start)[1]


def start_of_no_trip(v):
    """The second variable would be read in a second trip."""
    return kg.while_loop(
        lambda i, s, t: i < v, lambda i, s, t: (i + 1, t, t), [0.0, v * v, kg.log(v)]
    )[1]


def passed_from_loop_to_loop(v):
    _, root = kg.while_loop(lambda i, s: i < v, lambda i, s: (i + 1, s), [0.0, kg.sqrt(v)])
    return kg.while_loop(lambda i, s: i < 1, lambda i, s: (i + 1, kg.exp(2 * v)), [0, root])[1]


def inner_branch(v):
    root = kg.sqrt(v)
    return kg.cond(v >= 0, lambda: kg.cond(v > 1, lambda: root, lambda: v * 3 + v), lambda: 0 * v)


def loop_in_branch(v):
    root = 1 / v + kg.log(v)

    def loop():
        return kg.while_loop(lambda i, s: i < v, lambda i, s: (i + 1, s + root), [0.0, v**2])[1]

    return kg.cond(v >= 0, loop, lambda: v)


def branch_in_loop(v):
    root = kg.sqrt(v)

    def turn(i, s):
        return i + 1, kg.cond(v > i, lambda: s + root, lambda: s + v * v + v)

    return kg.while_loop(lambda i, s: i < 3, turn, [0, v])[1]


def branch_in_scan(v):
    root = kg.log(v)
    return kg.scan(
        lambda c, x: (c + kg.cond(v > x, lambda: root * x, lambda: v * x + v**2), None),
        v,
        np.arange(3.0),
    )[0]


def computed_from_what_is_given(v):
    root = kg.sqrt(v)

    def inside():
        log = root * 2
        return kg.cond(v > 0, lambda: log + kg.log(root), lambda: 5 * v + v**2)

    return kg.cond(v >= 0, inside, lambda: root)


def side_and_loop(v):
    root = kg.sqrt(v)
    loop = kg.while_loop(lambda i, s: i < v, lambda i, s: (i + 1, s + root), [0.0, v**2])[1]
    return kg.where(v > 0, root, v) + loop


def read_in_one_of_two_loops(v):
    """The square root is read where its slope is finite; the logarithm is not read."""
    root, log = kg.sqrt(1 + v), kg.log(v)
    one = kg.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s * root), [0, 1 + 0 * v])[1]
    return kg.while_loop(lambda i, s: i < v, lambda i, s: (i + 1, s + log), [0.0, one])[1]


def product_at_the_start(v):
    return kg.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s - v), [0, v * (v + 1)])[1]


def shared_number(v):
    """In one branch the trips of a loop are kept, in the other the index of a branch."""

    def loop():
        return kg.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s - v), [0, v * v])[1]

    return kg.cond(v >= 0, loop, lambda: kg.cond(v > 0.5, lambda: kg.arcsin(v), lambda: v))


def loop_read_in_a_branch(v):
    root = kg.sqrt(v)
    loop = kg.while_loop(lambda i, s: i < 1, lambda i, s: (i + 1, s + root), [0, v])[1]
    log = kg.log(1 + loop)
    return kg.cond(v > 0, lambda: log, lambda: 3 * v + v**2)


def branch_read_in_a_loop(v):
    branch = kg.cond(v >= 0, lambda: kg.sqrt(v), lambda: v)
    return kg.while_loop(lambda i, s: i < v, lambda i, s: (i + 1, s + branch), [0.0, v**2])[1]


def scan_read_in_a_branch_of_a_branch(v):
    rows = kg.scan(lambda c, x: (c, kg.sqrt(v) * x), v, np.ones(2))[1]

    def inner():
        total = rows.sum()
        return kg.cond(v > 0, lambda: total, lambda: 4 * v + v**2)

    return kg.cond(v >= 0, inner, lambda: v)


def passed_by_a_loop_into_a_branch(v):
    _, root = kg.while_loop(lambda i, s: i < v, lambda i, s: (i + 1, s), [0.0, kg.sqrt(v)])
    return kg.cond(v > 0, lambda: root, lambda: kg.exp(2 * v))


# Of several results one is read in a branch alone.
def one_result_of_a_loop(v):
    _, roots, sums = kg.while_loop(
        lambda i, a, b: i < 2, lambda i, a, b: (i + 1, a + kg.sqrt(v), b + v), [0, v, v]
    )
    return sums * sums + sums + kg.cond(v > 0, lambda: roots, lambda: 3 * v)


def one_result_of_a_branch(v):
    root, square = kg.cond(v >= 0, lambda: (kg.sqrt(v), v * v + v), lambda: (v, v))
    return square + kg.cond(v > 0, lambda: root, lambda: 2 * v)


def rows_of_a_scan(v):
    last, rows = kg.scan(lambda c, x: (c + v * v, kg.log(v) * x), v, np.ones(2))
    return last + kg.cond(v > 0, lambda: rows.sum(), lambda: 5 * v)


def one_result_of_a_batch(v):
    roots, squares = kg.vmap(lambda u: (kg.sqrt(u), u * u))(kg.stack([v, v]))
    return squares.sum() + kg.cond(v > 0, lambda: roots.sum(), lambda: v)


def results_of_different_branches(v):
    _, roots, logs = kg.while_loop(
        lambda i, a, b: i < 2, lambda i, a, b: (i + 1, a + kg.sqrt(v), b + kg.log(v)), [0, v, v]
    )
    return kg.cond(v > 0, lambda: roots, lambda: v) + kg.cond(v > 1, lambda: logs, lambda: v * v)


def one_result_inside_of_a_loop(v):
    def turn(i, s):
        root, same = kg.cond(v >= 0, lambda: (kg.sqrt(v), v * 1.0), lambda: (v, v))
        return i + 1, s + same + kg.cond(v > 0, lambda: root, lambda: v * v)

    return kg.while_loop(lambda i, s: i < 2, turn, [0, v])[1]


# first and second derivative at 0
CASES = {
    no_trip: (1, 2),
    overwritten_start: (3, 2),
    start_of_no_trip: (0, 2),
    passed_from_loop_to_loop: (2, 4),
    inner_branch: (4, 0),
    loop_in_branch: (0, 2),
    branch_in_loop: (4, 6),
    branch_in_scan: (4, 6),
    computed_from_what_is_given: (5, 2),
    side_and_loop: (1, 2),
    read_in_one_of_two_loops: (1, 0),
    product_at_the_start: (-1, 2),
    shared_number: (-2, 2),
    loop_read_in_a_branch: (3, 2),
    branch_read_in_a_loop: (0, 2),
    scan_read_in_a_branch_of_a_branch: (4, 2),
    passed_by_a_loop_into_a_branch: (2, 4),
    one_result_of_a_loop: (6, 18),
    one_result_of_a_branch: (3, 2),
    rows_of_a_scan: (6, 4),
    one_result_of_a_batch: (1, 4),
    results_of_different_branches: (1, 2),
    one_result_inside_of_a_loop: (3, 4),
}


def check(functions, derivatives, expected):
    v = kg.placeholder(name="v")
    outputs = [kg.stack(derivatives(function(v), v)) for function in functions]
    for function, found in zip(functions, kg.compile([v], outputs)(0.0), strict=True):
        np.testing.assert_allclose(found, expected(*CASES[function]), err_msg=function.__name__)


def test_what_is_not_read_takes_no_part():
    check(CASES, lambda y, v: [kg.gradients(y, v)], lambda first, _: [first])


def second(y, v):
    """The second derivative, every way in which something is differentiated backwards."""
    slope, push = kg.gradients(y, v), kg.jvp(y, v, 1.0)
    return kg.gradients(slope, v), kg.jvp(slope, v, 1.0), kg.gradients(push, v)


def test_second_derivatives():
    """Of linear bodies it is that of what goes in alone."""
    some = [inner_branch, product_at_the_start]
    check(some, second, lambda _, second: [second] * 3)


def test_index_of_a_branch_beside_the_trips_of_a_loop():
    check([shared_number], lambda y, v: second(y, v)[:1], lambda _, second: [second])


@pytest.mark.slow
def test_second_derivatives_of_all():
    check(CASES, second, lambda _, second: [second] * 3)


def test_what_is_read_has_its_slope_even_if_infinite():
    v = kg.placeholder(name="v")
    root = kg.sqrt(v)
    y = kg.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s + root), [0, v])[1]
    assert np.isinf(kg.compile([v], kg.gradients(y, v))(0.0))
    # 0 times infinity: nobody knows.
    product = kg.cond(v >= 0, lambda: root * kg.sin(root), lambda: v)
    assert np.isnan(kg.compile([v], kg.gradients(product, v))(0.0))


def test_rows_that_make_no_trip():
    x = kg.placeholder((4,), name="x")
    slope = kg.gradients(kg.vmap(no_trip)(x).sum(), x)
    at = np.array([0.0, 0.5, 1.5, -1.0])
    # (v^2 + v) times v^(trips / 2)
    expected = [1, 2.5 * 0.5**1.5 + 1.5 * 0.5**0.5, 3 * 1.5**2 + 2 * 1.5, -1]
    np.testing.assert_allclose(kg.compile([x], slope)(at), expected, rtol=1e-12)


@pytest.mark.parametrize("grad", ["stack", "checkpoint"])
def test_strategies(grad):
    v = kg.placeholder(name="v")
    root = kg.sqrt(v)
    y = kg.while_loop(lambda i, s: i < v, lambda i, s: (i + 1, s * root), [0.0, v], 4, grad=grad)[1]
    slope = kg.compile([v], kg.gradients(y, v))
    np.testing.assert_allclose([slope(0.0), slope(1.5)], [1, 3.0], rtol=1e-12)
