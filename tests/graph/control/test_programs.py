"""Random programs of branches and loops: compiled, interpreted and in plain Python they agree.

A program is a tree of tuples over two numbers, which two interpreters read: one builds a graph, one
runs Python on jets, which carry exact derivatives along.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
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
QUOTIENT = st.tuples(st.just("quotient"), st.sampled_from([1.5, 2.5]))


def programs(depth):
    """Programs of at most so many nested branches and loops, and at least one."""
    simple = st.one_of(AFFINE, SINE, QUOTIENT)
    inner = st.one_of(programs(depth - 1), simple) if depth > 1 else simple
    return st.one_of(
        st.tuples(st.just("then"), inner, inner),
        st.tuples(st.just("cond"), COEFFICIENTS, inner, inner),
        st.tuples(st.just("while"), st.sampled_from([0.4, 2.0, 5.0]), st.integers(0, 4), inner),
        st.tuples(st.just("scan"), st.integers(0, 3), inner),
        st.tuples(st.just("rows"), inner),
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
    assert kind == "rows"
    (body,) = parts

    def row(a, b):
        c, d = run(body, ops, a, b)
        return c + 0.5 * d

    return ops.total(row, [a, b + 1, a - b], [b, a, 2 * a]) * 0.4, b


def outcome(program, ops, a, b):
    c, d = run(program, ops, a, b)
    return c + 0.7 * d


def check(program, at):
    expected_value, slope, curvature = plain_derivatives(
        lambda ops, a, b: outcome(program, ops, a, b), at
    )
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
    flat = [array for arrays in outputs.values() for array in arrays]

    def named(results):
        rest = iter(results)
        return {name: [next(rest) for _ in arrays] for name, arrays in outputs.items()}

    scale = 1 + np.abs(curvature).max() + np.abs(slope).max()
    for results in (
        kg.compile([x, y], flat)(*at),
        interpreted(flat, dict(zip((x, y), at, strict=True))),
    ):
        check_derivatives(named(results), expected, rtol=1e-9, atol=1e-11 * scale)


POINTS = st.tuples(st.sampled_from([-1.3, 0.2, 0.9]), st.sampled_from([-0.6, 0.4, 1.7]))
QUIET = {
    "deadline": None,
    "database": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}


@settings(max_examples=8, **QUIET)
@given(programs(2), POINTS)
def test_random_programs(program, at):
    check(program, at)


@pytest.mark.slow
@settings(max_examples=80, **QUIET)
@given(programs(3), POINTS)
def test_many_random_programs(program, at):
    check(program, at)
