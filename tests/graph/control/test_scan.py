"""kg.scan and kg.range-like loops of known length: equal to Python's loop."""

from collections import namedtuple

import numpy as np
import pytest
from tests.graph.control.helpers import (
    Jet,
    check_derivatives,
    compiled,
    derivatives,
    expected_derivatives,
    interpreted,
)

import kinetograph as kg

Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_equals_the_python_loop(size, reverse):
    xs = kg.placeholder((size, 2))
    last, ys = kg.scan(
        lambda c, x: (c * 0.5 + x, (c, x[0])), np.array([1.0, 2.0]), xs, reverse=reverse
    )
    at = np.arange(2.0 * size).reshape(size, 2) + 1
    c = np.array([1.0, 2.0])
    first, second = np.zeros((size, 2)), np.zeros(size)
    for i in reversed(range(size)) if reverse else range(size):
        first[i], second[i] = c, at[i, 0]
        c = c * 0.5 + at[i]
    for found in (kg.compile([xs], [last, *ys])(at), interpreted([last, *ys], {xs: at})):
        for mine, theirs in zip(found, (c, first, second), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_a_list_as_carry_is_a_structure():
    (a, b), _ = kg.scan(lambda c, _: ([c[1], c[0] + c[1]], None), [0, 1], length=10)
    assert kg.compile([], [a, b])() == [55, 89]


def test_structures_of_carry_rows_and_results():
    x, y = kg.placeholder((3,)), kg.placeholder((3,))

    def f(carry, row):
        return (
            Pair(carry.a + row["x"], {"n": carry.b["n"] + 1}),
            {"sum": row["x"] + row["y"], "none": None, "constant": 2},
        )

    last, ys = kg.scan(f, Pair(0.0, {"n": 0}), {"x": x, "y": y})
    assert isinstance(last, Pair)
    assert ys["none"] is None
    g = kg.compile([x, y], [last.a, last.b["n"], ys["sum"], ys["constant"]])
    found = g([1, 2, 3], [10, 20, 30])
    assert [np.asarray(r).tolist() for r in found] == [6, 3, [11, 22, 33], [2, 2, 2]]


def test_derivatives_of_all_kinds():
    x, w = kg.placeholder(), kg.placeholder()
    rows = np.array([0.3, -0.8, 1.2, 0.5])
    c, ys = kg.scan(lambda c, r: (np.sin(c) * w + r, c * w), x, rows)
    f = compiled([x, w], derivatives(c + (ys * rows).sum(), [x, w]))
    a, b = Jet.inputs(0.4, 1.7)
    total = 0
    for r in rows:
        total = a * b * r + total
        a = a.chain(np.sin(a.v), np.cos(a.v), -np.sin(a.v)) * b + r
    total = total + a
    check_derivatives(f(0.4, 1.7), expected_derivatives(total.v, total.g, total.h))


@pytest.mark.parametrize("reverse", [False, True])
def test_gradients_by_rows(reverse):
    xs = kg.placeholder((4,))
    c, ys = kg.scan(lambda c, x: (c * x, c), 1.0, xs, reverse=reverse)
    f = kg.compile([xs], [kg.gradients(c, xs), kg.gradients(ys.sum(), xs)])
    at = np.array([2.0, 3.0, 5.0, 7.0])
    product, partial = f(at)
    np.testing.assert_allclose(product, 210 / at, rtol=1e-12)
    a, b, c_, _ = at[::-1] if reverse else at  # ys = 1, a, ab, abc
    want = np.array([1 + b + b * c_, a + a * c_, a * b, 0])
    np.testing.assert_allclose(partial, want[::-1] if reverse else want, rtol=1e-12)


def test_states_are_carried_in_order():
    s = kg.state(1.0, name="s")
    xs = kg.placeholder((3,))

    def f(c, x):
        before = s + 0.0
        s.assign(s * 10 + x)
        return c + s, before

    c, before = kg.scan(f, 0.0, xs)
    g = kg.compile([xs], [c, before, s + 0])
    c, before, after = g([1.0, 2.0, 3.0])
    assert before.tolist() == [1, 11, 112]
    assert (c, after, g.state[s]) == (11 + 112 + 1123, 1123, 1123)
    assert g([0.0, 0.0, 0.0])[2] == 1123000


def test_data_dependent_loops_inside_report_their_trips():
    xs = kg.placeholder((3,))

    def f(c, x):
        (y,) = kg.while_loop(lambda y: y < 1000, lambda y: y + x, [x])
        return c + y, y

    c, _ys = kg.scan(f, 0.0, xs)
    g = kg.compile([xs], [c, kg.gradients(c, xs)])
    c, slope = g([1.0, 7.0, 400.0])
    # Up to 1000 trips in one of them: more than the first buffer holds.
    assert c == 1000 + 1001 + 1200
    assert slope.tolist() == [1000, 143, 3]


def test_long_scans_do_not_depend_on_anything_but_length():
    x = kg.placeholder()
    c, _ = kg.scan(lambda c, _: (c + x, None), 0.0, length=100_000)
    assert kg.compile([x], kg.gradients(c, x))(3.0) == 100_000


def test_numbers_grow():
    c, ys = kg.scan(lambda c, x: (c + x, c), 0, np.array([0.5, 1.5]))
    assert c.dtype == ys.dtype == float
    assert kg.compile([], [c])() == [2.0]


def test_dtypes_of_rows():
    n = kg.placeholder((4,), int)
    flags = np.array([True, False, True, True])
    c, ys = kg.scan(lambda c, row: (c + kg.where(row[1], row[0], 0), row[0] > 2), 0, (n, flags))
    total, large = kg.compile([n], [c, ys])([1, 2, 3, 4])
    assert total == 8
    assert large.tolist() == [False, False, True, True]


def test_gradient_by_one_of_two_kinds_of_rows_that_are_vectors():
    x, w = kg.placeholder((4, 2), name="x"), kg.placeholder((4, 3), name="w")
    last, _ = kg.scan(lambda s, row: (s + row[0].sum() * row[1].sum(), s), 0.0, (x, w))
    f = kg.compile([x, w], kg.gradients(last, x))
    found = f(np.ones((4, 2)), np.arange(12.0).reshape(4, 3))
    np.testing.assert_allclose(found, [[3.0] * 2, [12.0] * 2, [21.0] * 2, [30.0] * 2], rtol=1e-12)
