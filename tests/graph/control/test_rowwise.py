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
from kinetograph.graph.errors import BoundsError

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
    for owner, offset, again in spec["writes"]:
        x, kind = arrays[owner], spec["kinds"][owner]
        if kind == "vector":
            x[t + offset] = 0.5 * s + 0.1 * a
        elif kind == "rows":
            x[t + offset, 0] = 0.4 * s + 0.1 * b
            x[t + offset, 1] = s * a * 0.2 + x[t + offset, 0]
        else:
            x[1, t + offset] = 0.3 * s
        if again:
            s = 0.9 * s + 0.1 * item(x, kind, t + offset)
    return s


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
        s = loop(spec, ops, a, b, s, arrays, outside)
    total = s
    for x in arrays:
        for place in np.ndindex(*x.shape):
            total = total + (0.3 + 0.1 * sum(place)) * x[place]
    return total


def loop(spec, ops, a, b, s, arrays, outside):
    lo, hi, step = spec["range"]
    if spec["how"] == "for":
        for t in ops.range(lo, hi, step):
            s = bodied(spec, ops, a, b, t, s, arrays, outside)
    elif spec["how"] == "break":
        for t in ops.range(lo, hi, step):
            if s > spec["level"]:
                break
            s = bodied(spec, ops, a, b, t, s, arrays, outside)
    elif spec["how"] == "while":
        t = lo
        while s < spec["level"] and (t < hi if step > 0 else t > hi):
            s = bodied(spec, ops, a, b, t, s, arrays, outside)
            t = t + step
    else:
        for i in ops.range(2):
            s = s + 0.1 * i
            for t in ops.range(lo, hi, step):
                s = bodied(spec, ops, a, b, t, s, arrays, outside)
    return s


OFFSETS = st.sampled_from([0, -1, -1, -2, -3, 1, 2])


@st.composite
def loops(draw):
    kinds = draw(st.lists(st.sampled_from(["vector", "vector", "rows", "columns"]), min_size=1, max_size=2))
    owners = st.integers(0, len(kinds) - 1)
    size = draw(st.integers(1, 7))
    step = draw(st.sampled_from([1, 1, 1, 2, -1, -2, 3]))
    ends = st.integers(0, size)
    lo, hi = sorted((draw(ends), draw(ends)))
    weights = st.sampled_from([0.5, -0.8, 1.1])
    return {
        "kinds": kinds,
        "size": size,
        "range": (lo, hi, step) if step > 0 else (hi - 1, lo - 1, step),
        "reads": draw(st.lists(st.tuples(owners, OFFSETS, weights), max_size=3)),
        "outside": draw(st.lists(st.sampled_from([0, -1, 1]), max_size=1)),
        "writes": draw(
            st.lists(
                st.tuples(owners, st.sampled_from([0, 0, 0, 1, -1]), st.booleans()),
                min_size=1,
                max_size=2,
            )
        ),
        "how": draw(st.sampled_from(["for", "for", "break", "while", "nested"])),
        "level": draw(st.sampled_from([0.3, 0.8, 5.0])),
        "repeats": draw(st.integers(1, 2)),
    }


def expected(spec, at):
    found = filled(spec, PlainArrays(), *Jet.inputs(*at))
    return [found.v, *found.g, *(found.h @ np.array(DIRECTION))]


def check(spec, points=POINTS):
    """Value, gradient and Hessian times a direction, of each point and of all in a batch."""
    staged = functools.partial(kg.function(filled), spec, GraphArrays())
    x, y = kg.placeholder(name="x"), kg.placeholder(name="y")
    one = compiled(staged, x, y)
    try:
        wanted = [expected(spec, at) for at in points]
    except IndexError:
        with pytest.raises(IndexError):
            [one(*at) for at in points]
        return
    for at, row in zip(points, wanted, strict=True):
        np.testing.assert_allclose(one(*at), row, rtol=1e-9, atol=1e-10, err_msg=str(spec))
    xs, ys = (kg.placeholder((len(points),), name=name) for name in "xy")
    batch = compiled(kg.vmap(staged), xs, ys)
    found = np.transpose(batch(*np.transpose(points)))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10, err_msg=str(spec))


def compiled(f, x, y):
    rows = f(x, y)
    slopes = kg.gradients(rows if not x.shape else rows.sum(), [x, y])
    products = kg.jvp(slopes, [x, y], [np.full(x.shape, d) for d in DIRECTION])
    return kg.compile([x, y], [rows, *slopes, *products])


@settings(max_examples=6, **QUIET)
@given(loops())
def test_random_loops(spec):
    check(spec)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=400, phases=[Phase.generate], **QUIET)
@given(loops())
def test_400_random_loops(spec):
    check(spec)
