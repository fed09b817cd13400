"""kg.while_loop: values, structures, types, bounds, memory, batches."""

import dataclasses
from collections import namedtuple

import jax
import numpy as np
import pytest
from tests.graph.control.helpers import interpreted

import kinetograph as kg
from kinetograph.graph.lower import Scope, evaluate
from kinetograph.graph.precision import x64

Pair = namedtuple("Pair", "j k")


@dataclasses.dataclass
class Body:
    position: object
    momentum: object


def jaxpr_of(outputs, inputs, *values):
    """The text of the program that computes arrays."""

    def run(*tensors):
        environment = {x.node: t for x, t in zip(inputs, tensors, strict=True)}
        nodes = [y.node for y in outputs]
        evaluate(nodes, environment, scope=Scope())
        return [environment[node] for node in nodes]

    with x64():
        return jax.make_jaxpr(run)(*map(np.asarray, values))


def shapes_in(jaxpr):
    """The shapes of all values in a program, at any depth."""
    from jax.extend.core import ClosedJaxpr, Jaxpr

    found = set()

    def visit(jaxpr):
        for equation in jaxpr.eqns:
            found.update((v.aval.shape, v.aval.dtype.name) for v in equation.outvars)
            for parameter in jax.tree.leaves(
                list(equation.params.values()),
                is_leaf=lambda p: isinstance(p, (Jaxpr, ClosedJaxpr)),
            ):
                if isinstance(parameter, ClosedJaxpr):
                    visit(parameter.jaxpr)
                elif isinstance(parameter, Jaxpr):
                    visit(parameter)

    visit(jaxpr.jaxpr)
    return found


def test_counts():
    i = kg.placeholder(dtype=int)
    (n,) = kg.while_loop(lambda i: i < 10, lambda i: i + 1, [i])
    f = kg.compile([i], [n, n.loop.trips, n.loop.truncated])
    assert f(0) == [10, 10, False]
    assert f(12) == [12, 0, False]
    assert interpreted([n, n.loop.trips], {i: 3}) == [10, 7]


def test_a_single_loop_variable_that_is_no_list():
    x = kg.placeholder()
    y = kg.while_loop(lambda x: x < 100, lambda x: x * 2, x)
    assert isinstance(y, kg.Array)
    assert kg.compile([x], y)(3.0) == 192


def test_structure_of_the_loop_variables_comes_back():
    j = kg.placeholder(dtype=int)
    i, p = kg.while_loop(
        lambda i, p: i < 10,
        lambda i, p: (i + 1, Pair(p.j + p.k, p.j - p.k)),
        (0, Pair(j, 2)),
    )
    assert isinstance(p, Pair)
    assert kg.compile([j], [i, p.j, p.k])(1) == [10, 32, 64]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda x, n: {"x": x, "n": n},
        lambda x, n: Pair(x, n),
        lambda x, n: Body(x, [n]),
        lambda x, n: {"deep": [Pair(x, {"n": n}), None]},
    ],
)
@pytest.mark.parametrize("listed", [False, True])
def test_nested_loop_variables(wrap, listed):
    def parts(s):
        if isinstance(s, dict) and "deep" in s:
            pair = s["deep"][0]
            return pair.j, pair.k["n"]
        if isinstance(s, dict):
            return s["x"], s["n"]
        if isinstance(s, Pair):
            return s
        return s.position, s.momentum[0]

    x = kg.placeholder()

    def body(s):
        x, n = parts(s)
        return wrap(x * 1.5, n + 1)

    start = wrap(x, 0)
    s = kg.while_loop(lambda s: parts(s)[0] < 10, body, [start] if listed else start)
    if listed:
        assert type(s) is list
        (s,) = s
    assert type(s) is type(start)
    y, n = parts(s)
    f = kg.compile([x], [y, n, kg.gradients(y, x)])
    assert f(4.0) == [13.5, 3, 1.5**3]


def test_no_trip_returns_the_start_and_its_gradient_is_the_identity():
    x, w = kg.placeholder((2,)), kg.placeholder()
    _i, y = kg.while_loop(lambda i, y: i < 0, lambda i, y: (i + 1, y * w), (0, x))
    f = kg.compile([x, w], [y, *kg.gradients((y * [3.0, 5.0]).sum(), [x, w])])
    y, dx, dw = f([1.0, 2.0], 7.0)
    assert y.tolist() == [1, 2]
    assert dx.tolist() == [3, 5]
    assert dw == 0


@pytest.mark.parametrize(
    ("bound", "grad"),
    [(3, "auto"), (0, "auto"), (1, "auto"), (3, "stack"), (3, "checkpoint"), (0, "forward")],
)
def test_bounds_end_the_loop(bound, grad):
    x = kg.placeholder()
    (y,) = kg.while_loop(lambda y: y > 0, lambda y: y * y, [x], bound, grad)
    f = kg.compile([x], [y, kg.gradients(y, x), y.loop.trips, y.loop.truncated])
    power = 2**bound
    assert f(3.0) == [3**power, power * 3 ** (power - 1), bound, True]
    assert f(-3.0)[2:] == [0, False]


def test_a_bound_that_is_computed():
    x, n = kg.placeholder(), kg.placeholder(dtype=np.int32)
    (y,) = kg.while_loop(lambda y: True, lambda y: y * 3, [x], n + 1)
    f = kg.compile([x, n], [y, kg.gradients(y, x), y.loop.trips, y.loop.truncated])
    assert f(2.0, 3) == [162, 81, 4, True]
    assert f(2.0, -1) == [2, 1, 0, True]
    assert f(2.0, -7) == [2, 1, 0, True]
    assert f(1.0, 299)[2] == 300  # more than the first buffer holds


def test_truncated_is_false_where_the_loop_ends_by_itself_at_the_bound():
    x = kg.placeholder()
    (y,) = kg.while_loop(lambda y: y < 8, lambda y: y * 2, [x], 3)
    f = kg.compile([x], [y, y.loop.truncated])
    assert f(1.0) == [8, False]
    assert f(0.9) == [0.9 * 8, True]


def test_on_limit_error_raises_at_run():
    x = kg.placeholder(name="x")
    (y,) = kg.while_loop(lambda y: y < 8, lambda y: y * 2, [x], 3, on_limit="error", name="climb")
    f = kg.compile([x], y)
    assert f(1.0) == 8
    with pytest.raises(
        RuntimeError, match=r"'climb' \(test_while_loop.py:\d+\).*maximum_iterations = 3"
    ):
        f(0.9)


@pytest.mark.parametrize("where", ["cond", "while", "scan", "vmap", "gradients", "not taken"])
def test_on_limit_error_from_inside(where):
    x = kg.placeholder()

    def climb(x):
        (y,) = kg.while_loop(lambda y: y < 8, lambda y: y * 2, [x], 3, on_limit="error")
        return y

    if where == "cond":
        y = kg.cond(x > 0, lambda: climb(x), lambda: x)
    elif where == "while":
        y = kg.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + climb(x)), (0, 0.0))[1]
    elif where == "scan":
        y = kg.scan(lambda c, v: (c + climb(v), None), 0.0, kg.stack([x, x]))[0]
    elif where == "vmap":
        y = kg.vmap(climb)(kg.stack([x + 4, x])).sum()
    elif where == "gradients":
        y = kg.gradients(climb(x), x)
    else:
        y = kg.vmap(lambda v: kg.cond(v > 0.95, lambda: climb(v), lambda: v))(kg.stack([x, x + 1]))
    f = kg.compile([x], y)
    f(1.0)
    if where == "not taken":
        assert f(0.9).tolist() == [0.9, 1.9 * 8]
        return
    with pytest.raises(RuntimeError, match="maximum_iterations"):
        f(0.9)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_python_numbers_grow_to_the_type_of_what_they_meet(precision):
    calls = []

    def body(i, x, y):
        calls.append(1)
        return i + 1, x + w, y + x

    with kg.precision(precision):
        w = kg.placeholder()
        # y grows only after x has.
        i, x, y = kg.while_loop(lambda i, x, y: i < 3, body, (0, 0, 0))
        assert (i.dtype, x.dtype, y.dtype) == (np.int64, precision, precision)
        assert kg.compile([w], [i, x, y])(0.5) == [3, 1.5, 1.5]
    assert len(calls) <= 3


def test_functions_are_called_once():
    calls = []
    x = kg.placeholder()

    def cond(x):
        calls.append("cond")
        return x < 10

    def body(x):
        calls.append("body")
        return x * 2

    (y,) = kg.while_loop(cond, body, [x])
    f = kg.compile([x], [y, kg.gradients(y, x)])
    f(1.0), f(2.0)
    assert calls == ["cond", "body"]


def test_what_the_loop_reads_is_one_operand_and_its_gradient_a_sum_over_trips():
    x, w = kg.placeholder(), kg.placeholder()
    _i, y = kg.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w + 0 * w), (0, x))
    node = y.node.parents[0]
    assert [p for p in node.parents if p is w.node] == [w.node]
    assert kg.compile([x, w], kg.gradients(y, [x, w]))(2.0, 3.0) == [27, 54]


@pytest.mark.parametrize(
    "make",
    [
        lambda x, w: kg.while_loop(lambda y: y < 100, lambda y: y * w, [x], back_prop=False)[0],
        lambda x, w: kg.while_loop(lambda y: y < 100, lambda y: y * w, [x], grad="none")[0],
    ],
)
def test_without_gradient(make):
    x, w = kg.placeholder(), kg.placeholder()
    y = make(x, w) + x
    outputs = [y, *kg.gradients(y, [x, w]), kg.jvp(y, [x, w], [1.0, 1.0])]
    assert kg.compile([x, w], outputs)(2.0, 3.0) == [164, 1, 0, 1]
    assert interpreted(outputs, {x: 2.0, w: 3.0}) == [164, 1, 0, 1]
    # No trips are stored: all values are scalars.
    assert {shape for shape, _ in shapes_in(jaxpr_of(outputs[1:3], [x, w], 2.0, 3.0))} == {()}


def test_an_unused_result_that_feeds_another():
    x, w = kg.placeholder(), kg.placeholder()
    _, _, v = kg.while_loop(
        lambda i, u, v: i < 4, lambda i, u, v: (i + 1, u * w, v + u), (0, x, 0.0)
    )
    f = kg.compile([x, w], [v, *kg.gradients(v, [x, w])])
    # v = x (1 + w + w^2 + w^3)
    assert f(2.0, 3.0) == [80, 40, 2 * (1 + 2 * 3 + 3 * 9)]


def test_gradients_of_several_results_together():
    x, w = kg.placeholder(), kg.placeholder()
    i, u, v = kg.while_loop(lambda i, u, v: i < 3, lambda i, u, v: (i + 1, u * w, v + u), (0, x, x))
    total = u * 2 + v * i.astype(float)
    # u = x w^3, v = x (2 + w + w^2), i = 3
    f = kg.compile([x, w], kg.gradients(total, [x, w]))
    assert f(2.0, 3.0) == [2 * 27 + 3 * 14, 2 * 54 + 3 * 2 * 7]


def test_hints_change_nothing():
    x = kg.placeholder()

    def build(**hints):
        (y,) = kg.while_loop(lambda y: y < 50, lambda y: y * 1.1, [x], **hints)
        return kg.compile([x], [y, kg.gradients(y, x)])

    plain = build()(1.0)
    assert build(parallel_iterations=1)(1.0) == plain
    assert build(parallel_iterations=32, swap_memory=True)(1.0) == plain


def test_integers_and_booleans_have_no_gradient_and_are_not_kept():
    x = kg.placeholder()
    n = 37
    i, flag, y = kg.while_loop(
        lambda i, flag, y: i < 20,
        lambda i, flag, y: (i + 1, ~flag, y * 1.5),
        (0, False, x),
        n,
    )
    slope = kg.gradients(y, x)
    f = kg.compile([x], [i, flag, y, slope])
    np.testing.assert_allclose(f(1.0), [20, False, 1.5**20, 1.5**20])
    # y = 1.5 y is linear, so its derivative needs no values of the trips.
    buffers = {s for s in shapes_in(jaxpr_of([slope], [x], 1.0)) if s[0] and s[0][0] == n}
    assert buffers == set()


def test_only_what_the_backward_pass_needs_is_kept():
    x, w = kg.placeholder((5,)), kg.placeholder((7,))
    n = 37
    _i, _big, y = kg.while_loop(
        lambda i, big, y: i < 20,
        lambda i, big, y: (i + 1, big + 1.0, np.sin(y) * w.sum() + big.sum() * 0.0),
        (0, x, 0.5),
        n,
    )
    slope = kg.gradients(y, w)
    program = jaxpr_of([slope], [x, w], np.ones(5), np.ones(7))
    kept = {s for s in shapes_in(program) if s[0] and s[0][0] == n}
    # One row of y per trip, but no rows of the linear variable, the counter or the capture.
    assert kept == {((n,), "float64")}


def test_a_huge_bound_with_few_trips_costs_few():
    x = kg.placeholder((8,))
    _i, y = kg.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, np.sin(y)), (0, x), 2**20)
    slope = kg.gradients(y.sum(), x)
    f = kg.compile([x], slope)
    at = np.linspace(0.1, 2, 8)
    want, y = np.ones(8), at
    for _ in range(5):
        want, y = want * np.cos(y), np.sin(y)
    np.testing.assert_allclose(f(at), want, rtol=1e-13)
    sizes = [np.prod(shape) for shape, _ in shapes_in(jaxpr_of([slope], [x], at))]
    assert max(sizes) <= 8 * 1024


@pytest.mark.parametrize("grad", ["auto", "checkpoint"])
def test_more_trips_than_the_first_buffer_holds(grad):
    x, n = kg.placeholder(), kg.placeholder(dtype=int)
    _i, y = kg.while_loop(
        lambda i, y: i < n, lambda i, y: (i + 1, y + 0.01 * np.sin(y)), (0, x), grad=grad
    )
    f = kg.compile([x, n], [y, kg.gradients(y, x), kg.hessian(y, x)])
    for trips in (3, 64, 65, 300, 1000, 5):
        y, d, dd = 0.3, 1.0, 0.0
        for _ in range(trips):
            c = 1 + 0.01 * np.cos(y)
            dd = dd * c - 0.01 * np.sin(y) * d * d
            d = d * c
            y = y + 0.01 * np.sin(y)
        np.testing.assert_allclose(f(0.3, trips), [y, d, dd], rtol=1e-11)


def test_lanes_are_each_alone():
    x = kg.placeholder((5,))

    def climb(v):
        i, y = kg.while_loop(
            lambda i, y: y < 100, lambda i, y: (i + 1, y * y), (0, v), name="climb"
        )
        return y, i, y.loop.trips

    y, n, trips = kg.vmap(climb)(x)
    slope = kg.gradients((y * [1, 2, 3, 4, 5]).sum(), x)
    second = kg.gradients((slope * [1, 1, 1, 1, 1]).sum(), x)
    f = kg.compile([x], [y, n, trips, slope, second])
    at = np.array([2.0, 200.0, 1.01, 11.0, 100.0])
    y, n, trips, slope, second = f(at)
    want = []
    for v in at:
        count = 0
        while v ** (2**count) < 100:
            count += 1
        want.append(count)
    want = np.array(want)
    assert n.tolist() == trips.tolist() == want.tolist()
    assert sorted(want)[:2] == [0, 0]
    power = 2.0**want
    weights = np.arange(1, 6)
    np.testing.assert_allclose(y, at**power, rtol=1e-11)
    np.testing.assert_allclose(slope, weights * power * at ** (power - 1), rtol=1e-11)
    np.testing.assert_allclose(
        second, weights * power * (power - 1) * at ** (power - 2), rtol=1e-11
    )


def test_a_lane_that_does_not_take_a_branch_does_not_turn_its_loop():
    x = kg.placeholder((3,))

    def f(v):
        # For v <= 0 the loop would not end.
        return kg.cond(
            v > 0,
            lambda: kg.while_loop(lambda y: y < 100, lambda y: y * 2, [v])[0],
            lambda: v,
        )

    y = kg.vmap(f)(x)
    slope = kg.gradients(y.sum(), x)
    g = kg.compile([x], [y, slope, kg.jvp(slope, x, [1.0] * 3)])
    assert [r.tolist() for r in g([-1.0, 3.0, 0.0])] == [[-1, 192, 0], [1, 64, 1], [0, 0, 0]]


def test_a_finished_lane_does_not_turn_inner_loops():
    x = kg.placeholder((3,))

    def f(v):
        def body(i, y):
            # For y > 10 it would not end.
            (z,) = kg.while_loop(lambda z: (z < 4) | (z > 10), lambda z: z * 1.5, [y])
            return i + 1, z * 2

        return kg.while_loop(lambda i, y: (y < 8) & (i < 5), body, (0, v))[1]

    y = kg.vmap(f)(x)
    slope = kg.gradients(y.sum(), x)
    g = kg.compile([x], [y, slope, kg.jvp(slope, x, [1.0] * 3)])
    # 3 -> 4.5 -> 9; 20: no trip; 1 -> 1.5, 2.25, 3.375, 5.06 -> 10.125
    y, slope, second = g([3.0, 20.0, 1.0])
    assert y.tolist() == [9, 20, 2 * 1.5**4]
    assert slope.tolist() == [3, 1, 2 * 1.5**4]
    assert second.tolist() == [0, 0, 0]


def test_a_finished_lane_cannot_poison_derivatives():
    x = kg.placeholder((3,))

    def f(v):
        # After the last trip of a member, the derivative of sqrt(y - 1) is infinite or undefined.
        return kg.while_loop(lambda y: y > 1, lambda y: np.sqrt(y - 1), [v])[0]

    y = kg.vmap(f)(x)
    slope = kg.gradients(y.sum(), x)
    push = kg.jvp(y, x, [1.0] * 3)
    g = kg.compile(
        [x],
        [
            y,
            slope,
            push,
            kg.jvp(slope, x, [1.0] * 3),
            kg.gradients(slope.sum(), x),
            kg.gradients(push.sum(), x),
        ],
    )
    found = g([1.0, 26.0, 0.5])
    # 26 -> 5 -> 2 -> 1
    a, b, c = 25.0, 4.0, 1.0
    d = 0.125 * (a * b * c) ** -0.5
    # The second derivative by the chain rule of y3(y2(y1(x))).
    dd = 0.0
    first = 1.0
    for u in (a, b, c):
        d1, d2 = 0.5 * u**-0.5, -0.25 * u**-1.5
        dd = d2 * first**2 + d1 * dd
        first *= d1
    np.testing.assert_allclose(found[0], [1, 1, 0.5], rtol=1e-12)
    for row in found[1:3]:
        np.testing.assert_allclose(row, [1, d, 1], rtol=1e-13)
    for row in found[3:]:
        np.testing.assert_allclose(row, [0, dd, 0], rtol=1e-13)


def test_vectors_through_a_solver():
    a = kg.placeholder((3, 3))
    b = kg.placeholder((3,))

    def body(y, old):
        return b - a @ y, y

    y, _ = kg.while_loop(lambda y, old: ((y - old) ** 2).sum() > 1e-30, body, (b, b + 1), 1000)
    f = kg.compile([a, b], [y, *kg.gradients((y * [1.0, 2.0, 3.0]).sum(), [a, b])])
    rng = np.random.default_rng(1)
    at, rhs = 0.2 * rng.standard_normal((3, 3)), rng.standard_normal(3)
    y, da, db = f(at, rhs)
    full = np.eye(3) + at
    solution = np.linalg.solve(full, rhs)
    adjoint = np.linalg.solve(full.T, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(y, solution, rtol=1e-12)
    np.testing.assert_allclose(db, adjoint, rtol=1e-10)
    np.testing.assert_allclose(da, -np.outer(adjoint, solution), rtol=1e-10)


def test_swapped_kept_and_replaced_loop_variables():
    x, w = kg.placeholder(), kg.placeholder()
    i, a, b, c, d = kg.while_loop(
        lambda i, a, b, c, d: i < 3,
        lambda i, a, b, c, d: (i + 1, b, a * 2, c, w),
        (0, x, w, x, x),
    )
    total = a + 10 * b + 100 * c + 1000 * d
    f = kg.compile([x, w], [i, a, b, c, d, *kg.gradients(total, [x, w])])
    # (x, w) -> (w, 2x) -> (2x, 2w) -> (2w, 4x)
    assert f(3.0, 5.0) == [3, 10, 12, 3, 5, 140, 1002]


def test_lanes_of_a_switch_do_not_turn_the_loops_of_others():
    n, x = kg.placeholder((3,), int), kg.placeholder((3,))

    def halve_for_ever(v):
        return kg.while_loop(lambda y: y != 1, lambda y: y / 2 + 0 * v, [v])[0]

    def f(n, v):
        return kg.switch(n, [lambda: v**2, lambda: halve_for_ever(v), lambda: np.log(v)])

    y = kg.vmap(f)(n, x)
    g = kg.compile([n, x], [y, kg.gradients(y.sum(), x)])
    y, slope = g([0, 1, 2], [0.0, 8.0, 2.0])
    np.testing.assert_allclose(y, [0, 1, np.log(2)], rtol=1e-12)
    np.testing.assert_allclose(slope, [0, 0.125, 0.5], rtol=1e-12)


def test_a_number_takes_the_type_of_the_variable_it_replaces():
    x = kg.placeholder(name="x")
    i, y = kg.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, 7), [0, x])
    assert (i.dtype, y.dtype) == (np.int64, np.float64)
    assert kg.compile([x], y * 0.5)(0.25) == 3.5
