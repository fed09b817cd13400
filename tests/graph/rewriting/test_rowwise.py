"""Loops that fill arrays row by row: values and derivatives are those of plain Python.

A random loop is one function, which Python runs on arrays of jets, and the graph as a staged loop:
arrays that are written at a moving index and read at others, near or far, before and after they are
written, in loops that end early, go down, are nested, or leave the array. What costs as much as the
whole array in each trip is found in the program.
"""

import functools

import jax
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.graph.control.helpers import DIRECTION, Jet, Plain

import kinetograph as kg
from kinetograph.graph.precision import x64

QUIET = {
    "deadline": None,
    "database": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
POINTS = [(0.7, -0.4), (-0.3, 1.1)]


class PlainArrays:
    """NumPy's arrays of jets, which are written in place."""

    range = staticmethod(range)

    def __init__(self):
        self.sin = Plain().sin

    def array(self, shape, a, b):
        whole = np.empty(shape, object)
        for i, place in enumerate(np.ndindex(*shape)):
            whole[place] = a * (0.3 + 0.1 * i) + b * (0.2 - 0.07 * i) + 0.05 * i
        return whole

    def number(self, x):
        return x


class GraphArrays:
    """Arrays of the graph."""

    range = staticmethod(kg.range)
    sin = staticmethod(kg.sin)

    def array(self, shape, a, b):
        i = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        return a * (0.3 + 0.1 * i) + b * (0.2 - 0.07 * i) + 0.05 * i


def bodied(spec, ops, a, b, t, s, arrays, outside):
    """A trip: what is read, then what is written; the sum goes on."""
    for owner, offset, weight in spec["reads"]:
        s = s * 0.6 + weight * ops.sin(item(arrays[owner], spec["kinds"][owner], t + offset))
    for offset in spec["outside"]:
        s = s + 0.2 * b * outside[t + offset]
    for owner, offset, again, level in spec["writes"]:
        x, kind = arrays[owner], spec["kinds"][owner]
        if level is not None:
            if s > level:
                x = put(x, kind, t + offset, 0.7 * item(x, kind, t + offset) - s * b)
            else:
                s = s + 0.1
        elif kind == "vector":
            x[t + offset] = 0.5 * s + 0.1 * a
        elif kind == "rows":
            x[t + offset, 0] = 0.4 * s + 0.1 * b
            x[t + offset, 1] = s * a * 0.2 + x[t + offset, 0]
        else:
            x[1, t + offset] = 0.3 * s
        if again:
            s = 0.9 * s + 0.1 * item(x, kind, t + offset)
        arrays[owner] = x
    return s, arrays


def put(x, kind, place, value):
    if kind == "vector":
        x[place] = value
    elif kind == "rows":
        x[place, 1] = value
    else:
        x[1, place] = value
    return x


def item(x, kind, place):
    if kind == "vector":
        return x[place]
    return x[place, 1] if kind == "rows" else x[1, place]


def filled(spec, ops, a, b):
    """A number of all that a loop leaves."""
    n = spec["size"]
    shapes = {"vector": (n,), "rows": (n, 2), "columns": (2, n)}
    arrays = [ops.array(shapes[kind], a, b) for kind in spec["kinds"]]
    outside = ops.array((n,), b, a)
    s = 0.1 * a
    for _ in range(spec["repeats"]):
        s, arrays = loop(spec, ops, a, b, s, arrays, outside)
    total = s
    for x in arrays:
        total = total + ((0.3 + 0.1 * np.indices(x.shape).sum(0)) * x).sum()
    return total


def loop(spec, ops, a, b, s, arrays, outside):
    lo, hi, step = spec["range"]
    if spec["how"] == "for":
        for t in ops.range(lo, hi, step):
            s, arrays = bodied(spec, ops, a, b, t, s, arrays, outside)
    elif spec["how"] == "break":
        for t in ops.range(lo, hi, step):
            if s > spec["level"]:
                break
            s, arrays = bodied(spec, ops, a, b, t, s, arrays, outside)
    elif spec["how"] == "while":
        t = lo
        while s < spec["level"] and (t < hi if step > 0 else t > hi):
            s, arrays = bodied(spec, ops, a, b, t, s, arrays, outside)
            t = t + step
    else:
        for i in ops.range(2):
            s = s + 0.1 * i
            for t in ops.range(lo, hi, step):
                s, arrays = bodied(spec, ops, a, b, t, s, arrays, outside)
    return s, arrays


OFFSETS = st.sampled_from([0, 0, -1, -1, -1, -2, -2, -3, 1])


@st.composite
def loops(draw):
    kinds = draw(
        st.lists(st.sampled_from(["vector", "vector", "rows", "columns"]), min_size=1, max_size=2)
    )
    owners = st.integers(0, len(kinds) - 1)
    size = draw(st.integers(3, 8))
    step = draw(st.sampled_from([1, 1, 1, 2, -1, -2, 3]))
    starts = st.sampled_from([0, 0, 1, 2])
    lo, hi = draw(starts), size - draw(starts)
    reads = st.tuples(owners, OFFSETS, st.sampled_from([0.5, -0.8, 1.1]))
    writes = st.tuples(
        owners,
        st.sampled_from([0, 0, 0, 0, 1, -1]),
        st.booleans(),
        st.sampled_from([None, None, 0.1]),
    )
    return {
        "kinds": kinds,
        "size": size,
        "range": (lo, hi, step) if step > 0 else (hi - 1, lo - 1, step),
        "reads": draw(st.lists(reads, max_size=3)),
        "outside": draw(st.lists(st.sampled_from([0, -1, 1]), max_size=1)),
        "writes": draw(st.lists(writes, min_size=1, max_size=2)),
        "how": draw(st.sampled_from(["for", "for", "break", "while", "nested"])),
        "level": draw(st.sampled_from([0.3, 0.8, 5.0])),
        "repeats": draw(st.integers(1, 2)),
    }


def expected(spec, at):
    found = filled(spec, PlainArrays(), *Jet.inputs(*at))
    return [found.v, *found.g, *(found.h @ np.array(DIRECTION))]


def check(spec, points=POINTS, alone=True, together=True):
    """Value, gradient and Hessian times a direction, of each point, and of all in a batch."""
    staged = functools.partial(kg.function(filled), spec, GraphArrays())
    x, y = kg.placeholder(name="x"), kg.placeholder(name="y")
    one = compiled(staged, x, y)
    try:
        wanted = [expected(spec, at) for at in points]
    except IndexError:
        with pytest.raises(IndexError):
            [one(*at) for at in points]
        return
    for at, row in zip(points if alone else (), wanted, strict=alone):
        np.testing.assert_allclose(one(*at), row, rtol=1e-9, atol=1e-10, err_msg=str(spec))
    if not together:
        return
    xs, ys = (kg.placeholder((len(points),), name=name) for name in "xy")
    batch = compiled(kg.vmap(staged), xs, ys)
    found = np.transpose(batch(*np.transpose(points)))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10, err_msg=str(spec))


def compiled(f, x, y):
    rows = f(x, y)
    slopes = kg.gradients(rows if not x.shape else rows.sum(), [x, y])
    products = kg.jvp(slopes, [x, y], [np.full(x.shape, d) for d in DIRECTION])
    return kg.compile([x, y], [rows, *slopes, *products])


@settings(max_examples=4, **QUIET)
@given(loops())
def test_random_loops(spec):
    check(spec, together=False)


@settings(max_examples=2, **QUIET)
@given(loops())
def test_random_loops_in_batches(spec):
    check(spec, alone=False)


@pytest.mark.parametrize(
    ("size", "numbers", "offset"),
    [
        (3, (1, 3, 1), -4),  # counted from the end, a row that the loop has written
        (3, (2, -1, -1), -1),
        (72, (36, 72, 1), -33),  # of more trips ago than there are rows carried
    ],
)
def test_rows_that_are_written_before_or_not(size, numbers, offset):
    spec = {"kinds": ["vector"], "outside": [], "writes": [(0, 0, False, None)], "repeats": 1}
    spec |= {"size": size, "range": numbers, "reads": [(0, offset, 0.5)], "how": "for", "level": 1}
    check(spec, POINTS[:1], together=False)


def from_the_end(x, put):
    """The row read is the one that the trip has just written, counted from the end."""
    y, s = x * 1.0, 0.0
    for t in kg.range(0, 9):
        y = put(y, t, 100.0 * x[t])
        s = s + y[t - 9]
    return s


def going_down(x, put):
    y, s = x * 1.0, 0.0
    for t in kg.range(8, -1, -1):
        y = put(y, t, 100.0 * x[t])
        s = s + y[t - 9]
    return s


def set_at(y, t, value):
    return y.at[t].set(value)


def add_at(y, t, value):
    return y.at[t].add(value - y[t])


@pytest.mark.parametrize("put", [set_at, add_at])
@pytest.mark.parametrize("f", [from_the_end, going_down])
def test_the_row_just_written_counted_from_the_end(f, put):
    x = kg.placeholder((9,), name="x")
    y = kg.function(f)(x, put)
    value, slope = kg.compile([x], [y, kg.gradients(y, x)])(np.arange(1.0, 10.0))
    assert value == 4500
    np.testing.assert_array_equal(slope, np.full(9, 100.0))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=400, phases=[Phase.generate], **QUIET)
@given(loops())
def test_400_random_loops(spec):
    check(spec)


# What a trip costs.
SIZE = 50


def inside(equation):
    """The programs in an operation."""
    for value in jax.tree.leaves(dict(equation.params), is_leaf=lambda v: hasattr(v, "eqns")):
        if hasattr(value, "eqns"):
            yield getattr(value, "jaxpr", value)


def trips_of(jaxpr):
    """The bodies of the loops of a program."""
    for equation in jaxpr.eqns:
        name, params = equation.primitive.name, equation.params
        if name in ("scan", "while"):
            yield params["jaxpr" if name == "scan" else "body_jaxpr"].jaxpr
        for inner in inside(equation):
            yield from trips_of(inner)


def large(jaxpr):
    """The operations of a loop's body that compute something as large as the arrays outside.

    But for those that put a row into what the loop gives: they are done in place.
    """
    for equation in jaxpr.eqns:
        name = equation.params.get("name", equation.primitive.name)
        if name in ("dynamic_update_index_in_dim", "scan", "while"):
            continue
        if any(v.aval.size >= SIZE for v in equation.outvars):
            yield equation
        for inner in inside(equation):
            yield from large(inner)


def costs_rows_only(y, inputs):
    """Whether no trip of a loop, forward or backward, computes with whole arrays."""
    f = kg.compile(inputs, kg.gradients(y, inputs))
    values = [np.ones(array.shape) for array in inputs]
    with x64():
        program = functools.partial(f._lower, f._scope(f.capacity))
        data = [node.value for node in f._data]
        jaxpr = jax.make_jaxpr(program)(values, (), data).jaxpr
    bodies = [body for body in trips_of(jaxpr) if not list(trips_of(body))]
    assert len(bodies) == 2  # forward and backward
    return not any(list(large(body)) for body in bodies)


def autoregression(p, eps):
    x = np.zeros(SIZE)
    for t in kg.range(2, len(eps)):
        x[t] = 0.9 * kg.sin(x[t - 1]) * p + x[t - 2] * p**2 + eps[t]
    return (x**2).sum()


def moving_average(p, eps):
    nu, error = np.zeros(SIZE), np.zeros(SIZE)
    for t, obs in enumerate(eps):
        nu[t] = 0.3 * p + 0.4 * p * error[t - 1]
        error[t] = obs - nu[t]
    return (error**2).sum()


def garch(p, eps):
    h, total = np.ones(SIZE), 0.0
    for t in kg.range(1, SIZE):
        h[t] = 0.2 * p + 0.3 * p * eps[t - 1] ** 2 + 0.5 * h[t - 1]
        total = total - kg.log(h[t]) - eps[t] ** 2 / h[t]
    return total


def rows_of_matrices(p, eps):
    x, y = np.zeros((SIZE, 3)), np.zeros((2, SIZE))
    for t in kg.range(SIZE - 2, -1, -1):
        x[t] = kg.cos(x[t + 1] * p) + eps[t]
        y[:, t] = x[t, :2] * y[1, t + 1] + p
    return x.sum() + (y**2).sum()


def in_place(p, eps):
    x = eps * p
    for t in kg.range(1, SIZE):
        x[t] = x[t] * p + x[t - 1] ** 2
    return x.sum()


def stopping(p, eps):
    x, t, last = np.ones(SIZE), 1, 0.0
    while t < SIZE and last < 100.0 * p:
        last = x[t - 1] + eps[t] * p
        x[t] = last
        t += 1
    return x.sum()


def left_early(p, eps):
    x = np.ones(SIZE)
    for t in kg.range(SIZE - 1):
        if x[t] > 100.0 * p:
            break
        x[t + 1] = x[t] + eps[t] * p
    return x.sum()


def branches(p, eps):
    x, y = np.ones(SIZE), np.ones(SIZE)
    for t in kg.range(1, SIZE):
        if eps[t] > 0:
            x[t] = x[t - 1] * p + eps[t - 1]
        elif p > 0:
            y[t] = x[t] * y[t - 1]
    return (x * y).sum()


def nested(p, eps):
    total = 0.0
    for i in kg.range(3):
        x = np.ones(SIZE)
        for t in kg.range(1, SIZE):
            x[t] = kg.sin(x[t - 1] * p) + i * eps[t]
        total = total + x[-1]
    return total


@pytest.mark.parametrize(
    "f",
    [
        autoregression,
        moving_average,
        garch,
        rows_of_matrices,
        in_place,
        stopping,
        left_early,
        branches,
        nested,
    ],
)
def test_a_trip_costs_its_rows(f):
    p, eps = kg.placeholder(name="p"), kg.placeholder((SIZE,), name="eps")
    assert costs_rows_only(kg.function(f)(p, eps), [p, eps])


def test_functional_updates_are_filled_row_by_row():
    p, eps = kg.placeholder(name="p"), kg.placeholder((SIZE,), name="eps")
    _, x = kg.while_loop(
        lambda t, x: t < SIZE,
        lambda t, x: (t + 2, x.at[t].set(kg.sin(x[t - 2]) * p + eps[t - 1])),
        [2, kg.data(np.ones(SIZE)) * p],
    )
    assert costs_rows_only(x.sum(), [p, eps])
    value, *slopes = kg.compile([p, eps], [x.sum(), *kg.gradients(x.sum(), [p, eps])])(
        0.7, np.arange(SIZE) * 0.01
    )

    @jax.jit
    def by_hand(p, eps):
        rows = [p] * SIZE
        for t in range(2, SIZE, 2):
            rows[t] = jax.numpy.sin(rows[t - 2]) * p + eps[t - 1]
        return sum(rows)

    with x64():
        expected = jax.value_and_grad(by_hand, (0, 1))(0.7, np.arange(SIZE) * 0.01)
    np.testing.assert_allclose(value, expected[0], rtol=1e-13)
    np.testing.assert_allclose(slopes[0], expected[1][0], rtol=1e-12)
    np.testing.assert_allclose(slopes[1], expected[1][1], rtol=1e-12)


def out_of_order(p, eps):
    x = np.ones(SIZE)
    for t in kg.range(1, SIZE):
        x[t] = x[SIZE - 1 - t] * p + eps[t]
    return x.sum()


def read_by_a_condition(p, eps):
    x, t = np.ones(SIZE), 1
    while t < SIZE and x[t - 1] < 100.0 * p:
        x[t] = x[t - 1] + eps[t] * p
        t += 1
    return x.sum()


def all_of_it(p, eps):
    x = np.ones(SIZE)
    for t in kg.range(1, SIZE):
        x[t] = x.sum() * p + eps[t]
    return x.sum()


@pytest.mark.parametrize("f", [out_of_order, read_by_a_condition, all_of_it])
def test_what_is_read_or_written_otherwise_is_carried(f):
    p, eps = kg.placeholder(name="p"), kg.placeholder((SIZE,), name="eps")
    assert not costs_rows_only(kg.function(f)(p, eps), [p, eps])
