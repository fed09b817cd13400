"""kg.vmap: the result of each row is the same as alone."""

from typing import Any, NamedTuple

import jax
import numpy as np
import pytest
from tests.graph.control.helpers import interpreted
from tests.selection import thinned

import kinetograph as kg
from kinetograph.graph.lower import Scope, evaluate
from kinetograph.graph.messages import describe
from kinetograph.graph.precision import x64


def collatz(n):
    """Collatz steps to 1, whose number depends on the start in an irregular way."""
    return kg.while_loop(
        lambda n, k: n > 1,
        lambda n, k: (kg.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1), k + 1),
        (n, 0),
    )[1]


def collatz_steps(n):
    k = 0
    while n > 1:
        n, k = n // 2 if n % 2 == 0 else 3 * n + 1, k + 1
    return k


def test_rows_with_very_different_trips():
    n = kg.placeholder((40,), int)
    at = np.arange(40)
    f = kg.compile([n], kg.vmap(collatz)(n))
    assert f(at).tolist() == [collatz_steps(k) for k in range(40)]


def test_the_interpreter_agrees():
    n = kg.placeholder((5,), int)
    (found,) = interpreted([kg.vmap(collatz)(n)], {n: np.arange(5)})
    assert found.tolist() == [0, 0, 1, 7, 2]


def test_structures_and_captures():
    x, w = kg.placeholder((3, 2)), kg.placeholder((2,))
    result = kg.vmap(lambda row: {"dot": row["x"] @ w, "same": row["x"], "n": row["i"] * 2})(
        {"x": x, "i": np.arange(3)}
    )
    at, weights = np.arange(6.0).reshape(3, 2), np.array([2.0, 5.0])
    f = kg.compile([x, w], [result["dot"], result["same"], result["n"]])
    dot, same, n = f(at, weights)
    np.testing.assert_array_equal(dot, at @ weights)
    np.testing.assert_array_equal(same, at)
    assert n.tolist() == [0, 2, 4]
    slope = kg.gradients((result["dot"] * [1.0, 2.0, 3.0]).sum(), w)
    np.testing.assert_array_equal(kg.compile([x, w], slope)(at, weights), [1, 2, 3] @ at)


@pytest.mark.parametrize("size", [0, 1])
def test_few_rows(size):
    x = kg.placeholder((size,))
    y = kg.vmap(lambda v: kg.while_loop(lambda v: v < 10, lambda v: v * 2, [v])[0])(x)
    f = kg.compile([x], [y, kg.gradients(y.sum(), x)])
    y, slope = f(np.full(size, 3.0))
    assert y.tolist() == [12.0] * size
    assert slope.tolist() == [4.0] * size


def test_nested():
    x, y = kg.placeholder((3,)), kg.placeholder((2,))

    def steps(a, b):
        return kg.while_loop(lambda v, n: v < 100, lambda v, n: (v * b, n + 1), (a, 0))[0]

    table = kg.vmap(lambda a: kg.vmap(lambda b: steps(a, b))(y))(x)
    weights = np.arange(6.0).reshape(3, 2) + 1
    outputs = [table, *kg.gradients((table * weights).sum(), [x, y])]
    f = kg.compile([x, y], outputs)
    a, b = np.array([1.0, 200.0, 7.0]), np.array([3.0, 1.5])
    want, da, db = np.zeros((3, 2)), np.zeros(3), np.zeros(2)
    for i in range(3):
        for j in range(2):
            n = 0
            while a[i] * b[j] ** n < 100:
                n += 1
            want[i, j] = a[i] * b[j] ** n
            da[i] += weights[i, j] * b[j] ** n
            db[j] += weights[i, j] * a[i] * n * b[j] ** (n - 1)
    for found in (f(a, b), interpreted(outputs, {x: a, y: b})):
        for mine, theirs in zip(found, (want, da, db), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-13)


def test_derivatives_inside_are_each_row_alone():
    x = kg.placeholder((3,))

    def slope(v):
        (y,) = kg.while_loop(lambda y: y < 50, lambda y: y * v, [v])
        return kg.gradients(y, v), kg.hessian(y, v), kg.jvp(y, v, 2.0)

    first, second, push = kg.compile([x], list(kg.vmap(slope)(x)))([2.0, 60.0, 5.0])
    # 2^6, 60^1, 5^3
    assert first.tolist() == [6 * 32, 1, 3 * 25]
    assert second.tolist() == [30 * 16, 0, 6 * 5]
    assert push.tolist() == [12 * 32, 2, 6 * 25]


@pytest.mark.parametrize("grad", thinned(["auto", "checkpoint", "stack", "forward"], 2))
def test_rows_that_are_done_at_once(grad):
    x = kg.placeholder((4,))

    def f(v):
        return kg.while_loop(lambda y: y < 9, lambda y: y * y, [v], 8, grad)[0]

    y = kg.vmap(f)(x)
    slope = kg.gradients(y.sum(), x)
    f = kg.compile([x], [y, slope, kg.jvp(slope, x, np.ones(4))])
    for at, want in (
        ([10.0, 2.0, 9.0, 1.5], (1, 4, 1, 8)),
        ([10.0, 20.0, 9.0, 15.0], (1, 1, 1, 1)),
    ):
        power, v = np.array(want, float), np.array(at)
        y, slope, second = f(at)
        np.testing.assert_allclose(y, v**power, rtol=1e-13)
        np.testing.assert_allclose(slope, power * v ** (power - 1), rtol=1e-13)
        np.testing.assert_allclose(second, power * (power - 1) * v ** (power - 2), rtol=1e-13)


def test_bound_computed_by_row():
    x, n = kg.placeholder((4,)), kg.placeholder((4,), int)
    y = kg.vmap(lambda v, n: kg.while_loop(lambda y: True, lambda y: y * v, [1.0], n)[0])(x, n)
    f = kg.compile([x, n], [y, kg.gradients(y.sum(), x)])
    y, slope = f([2.0, 3.0, 5.0, 7.0], [3, 0, 1, 2])
    assert y.tolist() == [8, 1, 5, 49]
    assert slope.tolist() == [12, 0, 1, 14]


def test_more_trips_than_room_in_one_row():
    x = kg.placeholder((3,))
    y = kg.vmap(lambda v: kg.while_loop(lambda y: y < 1000, lambda y: y + v, [v])[0])(x)
    f = kg.compile([x], [y, kg.gradients(y.sum(), x)])
    assert [r.tolist() for r in f([500.0, 1.0, 9.0])] == [[1000, 1000, 1008], [2, 1000, 112]]


def test_gradient_of_a_loop_in_a_branch_whose_predicate_has_a_branch():
    """The rules of the loop's derivative run after the end of the branch's trace."""

    def row(x):
        def more(n, x):
            return kg.cond(n < 3, lambda: kg.exp(x) < 20, lambda: False)

        def loop():
            return kg.while_loop(more, lambda n, x: (n + 1, 3 * x * x), [0, x])[1]

        return kg.cond(x < 2, loop, lambda: x)

    x = kg.placeholder((3,), name="x")
    y = kg.vmap(row)(x).sum()
    slope, curvature = kg.compile([x], [kg.gradients(y, x), kg.hessian(y, x)])([0.6, 2.5, 1.9])
    # 3 x^2 = 1.08, 3 (3 x^2)^2 = 3.4992; untouched; 3 x^2
    np.testing.assert_allclose(slope, [4 * 27 * 0.6**3, 1.0, 6 * 1.9], rtol=1e-12)
    np.testing.assert_allclose(np.diag(curvature), [12 * 27 * 0.6**2, 0.0, 6.0], rtol=1e-12)


@pytest.mark.parametrize("active", [True, False])
def test_loop_that_is_computed_for_nothing_reaches_no_limit(active):
    x = kg.placeholder(name="x")
    n = kg.placeholder(dtype=int, name="n")
    (y,) = kg.while_loop(lambda v: v < 100, lambda v: 2 * v, [x], n, on_limit="error")
    scope = Scope(active=np.bool_(active))
    with x64():
        evaluate([y.node], {x.node: np.float64(1.0), n.node: np.int64(0)}, scope=scope)
    (report,) = scope.reports(list(scope.trips))
    assert bool(report.truncated) == active


def test_loop_without_a_derivative_reaches_its_limit():
    x = kg.placeholder(name="x")
    (y,) = kg.while_loop(
        lambda v: v < 100, lambda v: 2 * v, [x], 3, "none", on_limit="error", name="short"
    )
    f = kg.compile([x], [y, kg.gradients(x * y, x)])
    assert [float(v) for v in f(50.0)] == [100.0, 100.0]
    with pytest.raises(kg.LoopError, match="short"):
        f(1.0)


def test_results_are_called_by_their_place():
    x = kg.placeholder((3,), name="x")
    results = kg.vmap(lambda v: (v + 1, v * 2), name="rows")(x)
    text = describe(results[1].node)
    assert text == "result [1] of vmap 'rows'"


class Pair(NamedTuple):
    a: Any
    b: Any


def rows_of_jax(function, *values, **axes):
    return jax.tree.map(np.asarray, jax.vmap(function, **axes)(*values))


A, B = np.arange(6.0).reshape(2, 3), np.arange(24.0).reshape(4, 3, 2)


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_rows_lie_along_any_axis(axis):
    x = kg.placeholder(A.shape)
    f = kg.compile([x], kg.vmap(lambda v: v.sum() * v, in_axes=axis)(x))
    np.testing.assert_allclose(f(A), rows_of_jax(lambda v: v.sum() * v, A, in_axes=axis))


@pytest.mark.parametrize("axes", [(1, None), (None, 1), (0, 2), (1, 1), [1, -2]])
def test_each_argument_has_its_axis_or_none(axes):
    x, y = kg.placeholder(A.shape), kg.placeholder(B.shape)

    def function(v, w):
        return v.sum() + w

    f = kg.compile([x, y], kg.vmap(function, in_axes=axes)(x, y))
    np.testing.assert_allclose(f(A, B), rows_of_jax(function, A, B, in_axes=tuple(axes)))


def test_axes_of_parts_of_structures():
    x, y = kg.placeholder((3,)), kg.placeholder((2, 3))

    def function(p, k):
        return {"total": p.a * k + p.b[1]["c"].sum(), "k": k}

    def applied(vmap, v, w):
        axes = (Pair(0, [None, {"c": 1}]), None)
        return vmap(function, in_axes=axes)(Pair(v, [7, {"c": w}]), 2.0)

    found = kg.compile([x, y], applied(kg.vmap, x, y))(np.arange(3.0), A)
    expected = applied(jax.vmap, np.arange(3.0), A)
    assert found.keys() == expected.keys()
    for key, value in found.items():
        np.testing.assert_allclose(value, expected[key])


@pytest.mark.parametrize("place", [0, 1, 2, -1, -3])
def test_rows_of_results_lie_along_any_axis(place):
    x = kg.placeholder(B.shape)

    def function(v):
        return 2 * v, v[:, None, 0]

    f = kg.compile([x], kg.vmap(function, out_axes=(place, 1))(x))
    expected = rows_of_jax(function, B, out_axes=(place, 1))
    for mine, theirs in zip(f(B), expected, strict=True):
        np.testing.assert_allclose(mine, theirs)


def test_derivatives_by_what_is_the_same_for_all():
    x, k = kg.placeholder(A.shape), kg.placeholder()
    total = kg.sum(kg.vmap(lambda v, k: k**2 * v.sum(), in_axes=(1, None))(x, k))
    f = kg.compile([x, k], kg.gradients(total, [x, k]))
    by_x, by_k = f(A, 3.0)
    np.testing.assert_allclose(by_x, np.full(A.shape, 9.0))
    np.testing.assert_allclose(by_k, 6.0 * A.sum())


@pytest.mark.parametrize(
    ("axes", "error", "text"),
    [
        ({"in_axes": (0,)}, ValueError, "in_axes has 1 entries for 2 arguments"),
        ({"in_axes": None}, ValueError, "None for all arguments"),
        ({"in_axes": (2, 0)}, kg.ShapeError, r"v of shape \(2, 3\) has no axis 2"),
        ({"in_axes": (True, 0)}, TypeError, "in_axes of v: expected whole numbers or None"),
        ({"in_axes": ("rows", 0)}, TypeError, "in_axes of v: expected whole numbers or None"),
        ({"in_axes": (1, 0)}, kg.ShapeError, "v has 3, w has 2"),
        ({"out_axes": None}, ValueError, "each result has rows"),
        ({"out_axes": 3}, kg.ShapeError, "the result of shape .* has no axis 3"),
        ({"out_axes": {"a": 0}}, TypeError, "out_axes: expected whole numbers"),
    ],
    ids=str,
)
def test_axes_that_do_not_fit(axes, error, text):
    with pytest.raises(error, match=text):
        kg.vmap(lambda v, w: v + w, **axes)(kg.data(A), kg.data(A))


def test_axes_of_another_structure_say_where():
    with pytest.raises(TypeError, match=r"in_axes of p\['b'\]: expected list of 2 or one for all"):
        kg.vmap(lambda p: p["a"], in_axes=({"a": 0, "b": [1]},))({"a": kg.data(A), "b": [A, A]})
