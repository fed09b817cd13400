"""Random programs of branches and loops: compiled, interpreted and in plain Python they agree.

A program is a tree of tuples over two numbers, which two interpreters read: one builds a graph, one
runs Python on jets, which carry exact derivatives. Values that Python does not compute, or that are
not read, must not matter. Therefore roots, logarithms and quotients are evaluated at the ends of
their domains in branches that are not taken, in loop variables that are not read, and before
branches and loops that do not read them.
"""

import functools

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.graph.control.helpers import (
    DIRECTION,
    Graph,
    check_derivatives,
    interpreted,
    plain_derivatives,
)

import kinetograph as kg

COEFFICIENTS = st.sampled_from([-1.2, -0.5, 0.3, 0.7, 1.1])
AFFINE = st.tuples(st.just("affine"), COEFFICIENTS, COEFFICIENTS, COEFFICIENTS)
SINE = st.tuples(st.just("sin"), COEFFICIENTS)
READERS = st.sampled_from(
    ["loop", "start", "branches", "branch in loop", "branch in scan", "loop in branch"]
)
QUOTIENT = st.tuples(st.just("quotient"), st.sampled_from([1.5, 2.5]))


def programs(depth):
    """Programs with at least one branch or loop, nested up to a given depth."""
    simple = st.one_of(AFFINE, SINE, QUOTIENT)
    inner = st.one_of(programs(depth - 1), simple) if depth > 1 else simple
    return st.one_of(
        st.tuples(st.just("then"), inner, inner),
        st.tuples(st.just("cond"), COEFFICIENTS, inner, inner),
        st.tuples(st.just("while"), st.sampled_from([0.4, 2.0, 5.0]), st.integers(0, 4), inner),
        st.tuples(st.just("scan"), st.integers(0, 3), inner),
        st.tuples(st.just("rows"), inner),
        st.tuples(st.just("root"), st.integers(0, 8)),
        st.tuples(st.just("unread"), st.integers(0, 3), inner),
        st.tuples(st.just("edge"), st.sampled_from(["where", "cond"]), st.booleans()),
        st.tuples(st.just("pick"), st.integers(0, 4)),
        st.tuples(st.just("side"), COEFFICIENTS, st.booleans(), inner, inner),
        st.tuples(st.just("given"), st.booleans(), READERS, READERS),
    )


def run(program, ops, a, b):
    """The next two numbers."""
    kind, *parts = program
    if kind == "affine":
        p, q, r = parts
        return p * a + q * b + r, q * a - p * b
    if kind == "sin":
        return ops.sin(a + parts[0] * b), ops.sin(b * parts[0]) + a
    if kind == "quotient":
        return a / (parts[0] + ops.sin(b)), b * ops.sin(a)
    if kind == "then":
        return run(parts[1], ops, *run(parts[0], ops, a, b))
    if kind == "cond":
        level, yes, no = parts
        return ops.cond(a > level, lambda: run(yes, ops, a, b), lambda: run(no, ops, a, b))
    if kind == "while":
        level, most, body = parts

        def turn(i, s, a, b):
            c, d = run(body, ops, a, b)
            return i + 1, s + 0.3 + c * c, c, d + i * 0.1

        i, s, a, b = ops.loop(
            lambda i, s, a, b: (s < level) & (i < most), turn, (0, 0 * a + b * b, a, b)
        )
        return a + 0.1 * i, b + 0.2 * s
    if kind == "scan":
        count, body = parts
        return ops.scan(lambda a, b: run(body, ops, a, b), (a, b), count)
    if kind == "root":
        return root(ops, parts[0], a, b)
    if kind == "unread":
        return unread(ops, *parts, a, b)
    if kind == "edge":
        return edge(ops, *parts, a, b)
    if kind == "pick":
        return pick(ops, *parts, a, b)
    if kind == "side":
        return side(ops, *parts, a, b)
    if kind == "given":
        return given_inside(ops, *parts, a, b)
    assert kind == "rows"
    (body,) = parts

    def row(a, b):
        c, d = run(body, ops, a, b)
        return c + 0.5 * d

    return ops.total(row, [a, b + 1, a - b], [b, a, 2 * a]) * 0.4, b


def side(ops, level, apart, yes, no, a, b):
    """A branch: the results of one of two programs."""
    log = ops.log(ops.where(a > level, a - level, 0 * a))
    (c, d), (e, f) = run(yes, ops, a, b), run(no, ops, a, b)
    if not apart:
        return ops.where(a > level, c + 0.1 * log, e), ops.where(a > level, d, f)
    return ops.where(a > level, c * log, e), 0.3 * d + ops.where(a > level, b, f)


def root(ops, most, a, b):
    """Newton's iteration until nothing changes, with the root of the change, 0."""
    square = a * a + 0.5

    def turn(x, change, n):
        new = 0.5 * (x + square / x)
        return new, ops.sqrt((new - x) * (new - x)), n + 1

    def more(x, change, n):
        return (change > 1e-12) & (n < most)

    x, _, n = ops.loop(more, turn, (0 * a + 1.0, 0 * a + 1.0, 0))
    return x + 0.1 * b, b * x + 0.1 * n


def unread(ops, count, body, a, b):
    """Loop variables whose last values are not read; some read one another."""

    def turn(i, a, b, p, q, r):
        c, d = run(body, ops, a, b)
        return i + 1, c, d, ops.sqrt(0 * c), q * p + d / (c - c), ops.log(0 * r)

    _, a, b, *_ = ops.loop(
        lambda i, *rest: i < count, turn, (0, a, b, 0 * a + 1.0, 0 * a + 1.0, 0 * b + 1.0)
    )
    return a, b


def edge(ops, how, equal, a, b):
    """Both sides are at the ends of their domains where they are not taken."""
    level = ops.where(a > 0, a, 0 * a) if equal else 0.4
    gap = a - level
    sides = (lambda: ops.sqrt(gap) + ops.log(gap)), (lambda: b / (1 + b * b))
    above = ops.where(gap > 0, sides[0](), sides[1]()) if how == "where" else None
    chosen = ops.cond(gap > 0, *sides) if how == "cond" else above
    return 0.3 * chosen + 0.5 * a, b - 0.2 * chosen


def pick(ops, count, a, b):
    """Reads by computed places."""

    def turn(i, s):
        return i + 1, s + ops.pick([a, b, a * b], (2 * i + 1) % 3) * (i + 0.5)

    _, s = ops.loop(lambda i, s: i < count, turn, (0, 0 * a))
    return 0.5 * s, a - 0.3 * b


def given_inside(ops, equal, first, second, a, b):
    """A value computed outside is read inside only where it is finite."""
    level = ops.where(a > 0, a, 0 * a) if equal else 0.4
    gap = a - level
    value = ops.sqrt(gap) + ops.log(gap) * 0.1 + 1e-3 * b / gap
    c = reading(ops, first, gap, value, a, b)
    d = reading(ops, second, gap, 0.5 * value, b, c)
    return 0.4 * c + a, 0.3 * d - b


def reading(ops, how, gap, value, a, b):
    """A number computed from a and b, and from the value if the gap is positive."""
    if how == "branches":
        return ops.cond(
            gap > -9, lambda: ops.cond(gap > 0, lambda: a + value, lambda: a * b), lambda: value
        )
    if how == "branch in scan":

        def turn(s, c):
            return ops.cond(gap > 0, lambda: s + value * b, lambda: s * b), c

        return ops.scan(turn, (a, b), 2)[0]
    most = ops.where(gap > 0, 2, 0)
    if how == "loop in branch":

        def loop():
            return ops.loop(lambda i, s: i < most, lambda i, s: (i + 1, s + value), (0, a * b))[1]

        return ops.cond(gap > -9, loop, lambda: a)
    if how == "loop":
        return ops.loop(
            lambda i, s, t: i < most, lambda i, s, t: (i + 1, s * value + t, t), (0, a, b * b)
        )[1]
    if how == "start":

        def overwrite(i, s, t):
            return i + 1, ops.where(gap > 0, s, b) * t, t

        return ops.loop(lambda i, s, t: i < 2, overwrite, (0, value, a))[1]
    assert how == "branch in loop"

    def body(i, s):
        return i + 1, ops.cond(gap > i, lambda: s + value, lambda: s * a)

    return ops.loop(lambda i, s: i < 3, body, (0, b))[1]


def outcome(program, ops, a, b):
    c, d = run(program, ops, a, b)
    return c + 0.7 * d


def plain(program, at):
    with np.errstate(all="ignore"):
        return plain_derivatives(lambda ops, a, b: outcome(program, ops, a, b), at)


def check_rows(program, points):
    """Value, gradient and Hessian times a direction of every row of a batch, or of one point."""
    expected = [plain(program, at) for at in points]
    one = len(points) == 1
    x, y = (kg.placeholder(() if one else (len(points),), name=name) for name in "xy")
    graph = functools.partial(outcome, program, Graph())
    rows = graph(x, y) if one else kg.vmap(graph)(x, y)
    slopes = kg.gradients(rows if one else rows.sum(), [x, y])
    products = kg.jvp(slopes, [x, y], [np.full(x.shape, d) for d in DIRECTION])
    f = kg.compile([x, y], [rows, *slopes, *products])
    given_rows = points[0] if one else np.transpose(points)
    found = np.reshape(f(*given_rows), (5, -1)).T
    for row, (value, slope, curvature) in zip(found, expected, strict=True):
        wanted = [value, *slope, *(curvature @ np.array(DIRECTION))]
        atol = 1e-10 * (1 + np.abs(curvature).max() + np.abs(slope).max())
        np.testing.assert_allclose(row, wanted, rtol=1e-8, atol=atol)


def check(program, at, interpret=slice(None)):
    """All derivatives, compiled and, for those in `interpret`, node by node."""
    expected_value, slope, curvature = plain(program, at)
    assert np.all(np.isfinite(curvature))
    x, y = kg.placeholder(name="x"), kg.placeholder(name="y")
    z = outcome(program, Graph(), x, y)
    first = kg.gradients(z, [x, y])
    along = sum(g * d for g, d in zip(first, DIRECTION))
    push = kg.jvp(z, [x, y], DIRECTION)
    product = curvature @ np.array(DIRECTION)
    outputs = {
        "value": [z],
        "gradients": first,
        "reverse over reverse": kg.gradients(along, [x, y]),
        "forward over reverse": kg.jvp(first, [x, y], DIRECTION),
        "reverse over forward": kg.gradients(push, [x, y]),
    }
    expected = dict.fromkeys(outputs, product)
    expected |= {"value": [expected_value], "gradients": slope}
    scale = 1 + np.abs(curvature).max() + np.abs(slope).max()
    given = dict(zip((x, y), at, strict=True))
    for run, chosen in (
        (lambda flat: kg.compile([x, y], flat)(*at), list(outputs)),
        (lambda flat: interpreted(flat, given), list(outputs)[interpret]),
    ):
        rest = iter(run([array for name in chosen for array in outputs[name]]))
        found = {name: [next(rest) for _ in outputs[name]] for name in chosen}
        wanted = {name: expected[name] for name in chosen}
        check_derivatives(found, wanted, rtol=1e-9, atol=1e-11 * scale)


POINTS = st.tuples(st.sampled_from([-1.3, 0.2, 0.9]), st.sampled_from([-0.6, 0.4, 1.7]))
QUIET = {
    "deadline": None,
    "database": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}


@settings(max_examples=3, **QUIET)
@given(programs(2), POINTS)
def test_random_programs(program, at):
    check(program, at, interpret=slice(2))  # value and gradients


@pytest.mark.parametrize("reader", ["branch in loop", "loop in branch", "start"])
def test_what_only_some_trips_read(reader):
    check_rows(("given", False, reader, "branches"), [(0.9, 0.4)])


ROWS = [(-1.3, 0.4), (0.4, -0.6), (0.9, 1.7), (0.2, 0.4)]


@settings(max_examples=4, **QUIET)
@given(programs(2))
def test_random_programs_in_batches(program):
    check_rows(program, ROWS)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=500, phases=[Phase.generate], **QUIET)
@given(programs(2))
def test_500_random_programs_in_batches(program):
    check_rows(program, ROWS)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=500, phases=[Phase.generate], **QUIET)
@given(programs(2), POINTS)
def test_500_random_programs(program, at):
    check_rows(program, [at])


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=80, **QUIET)
@given(programs(3), POINTS)
def test_many_random_programs(program, at):
    check(program, at)
