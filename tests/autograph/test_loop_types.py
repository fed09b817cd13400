"""The types of loop variables that begin as Python numbers: those NumPy gives when it runs."""

import math
import warnings

import numpy as np
import pytest

import kinetograph as kg

STARTS = [2, 2.0, np.float64(2.0)]
ROWS = [np.dtype(name) for name in ("?", "u1", "i4", "i8", "f4", "f8")]
STEPS = {
    "count": lambda s, v, w: s + 1,
    "python": lambda s, v, w: -(abs(s * 0.5 + 1) ** 2),
    "add": lambda s, v, w: s + v,
    "subtract": lambda s, v, w: v - s,
    "divide": lambda s, v, w: s / v,
    "compare": lambda s, v, w: s + (v > s),
    "through Python": lambda s, v, w: (s + 1) * v,
    "narrow and wide": lambda s, v, w: s * v + w,
    "power": lambda s, v, w: s**2 * v,
    "function": lambda s, v, w: np.exp(s) * v,
}


def over_rows(step, s, rows, w, m):
    for v in rows:
        s = step(s, v, w)
    return s, s * w


def while_true(step, s, rows, w, m):
    n = 0
    while n < m:
        s = step(s, rows[n], w)
        n += 1
    return s, s * w, n, n * w


def with_break(step, s, rows, w, m):
    for i in range(3):
        if i == m:
            break
        s = step(s, rows[i], w)
    return s, s * w


def in_a_loop(step, s, rows, w, m):
    for v in rows:
        k = 0
        while k < m:
            s = step(s, v, w)
            k = k + 1
        s = s + 0
    return s, s * w, k * w


def by_while_loop(step, s, rows, w, m):
    n, s = kg.while_loop(lambda n, s: n < m, lambda n, s: (n + 1, step(s, rows[n], w)), (0, s))
    return s, s * w, n, n * w


def by_scan(step, s, rows, w, m):
    s, _ = kg.scan(lambda s, v: (step(s, v, w), None), s, rows)
    return s, s * w


def eager(loop, step, start, dtype):
    """The types NumPy gives; None where it refuses."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            w, m = np.ones(1, np.float32)[0], np.int64(3)
            found = loop(step, start, np.ones(3, dtype), w, m)
    except TypeError:
        return None
    return [np.asarray(value).dtype for value in found]


def in_graph(loop, step, start, dtype):
    rows, m = kg.placeholder((3,), dtype=dtype), kg.placeholder(dtype=int)
    w = kg.placeholder(dtype=np.float32)
    found = kg.autograph.convert(loop)(step, start, rows, w, m)
    return [value.dtype for value in found]


PLAIN = {by_while_loop: while_true, by_scan: over_rows}
LOOPS = [over_rows, while_true, with_break, in_a_loop, by_while_loop, by_scan]


@pytest.mark.parametrize("loop", LOOPS)
def test_types_are_those_of_numpy(loop):
    wrong = []
    for start in STARTS:
        for name, step in STEPS.items():
            for dtype in ROWS[2::2] if loop is in_a_loop else ROWS:
                expected = eager(PLAIN.get(loop, loop), step, start, dtype)
                if expected is None:
                    continue
                found = in_graph(loop, step, start, dtype)
                if found != expected:
                    wrong.append((start, name, dtype, expected, found))
    assert not wrong, "\n".join(map(str, wrong))


def test_truth_values_become_numbers():
    rows = kg.placeholder((3,), dtype=np.float32)
    w = kg.placeholder(dtype=np.float32)
    s, scaled = kg.autograph.convert(over_rows)(STEPS["add"], False, rows, w, 3)
    assert (s.dtype, scaled.dtype) == (np.float32, np.float32)
    s, scaled = kg.autograph.convert(over_rows)(STEPS["count"], False, rows, w, 3)
    assert (s.dtype, scaled.dtype) == (np.int64, np.float32)


def test_nothing_is_narrowed_on_the_way_to_a_wide_type():
    def f(rows, wide):
        s, u = 0.0, 0.1
        for v in rows:
            s = s + v * u  # float32 as long as u is Python's
            u = u + wide
        return s, u

    rows, wide = np.float32([0.1, 0.2, 0.3]), np.float64(0.3)
    s, u = kg.function(f)(rows, wide)
    assert (s.dtype, u.dtype) == (np.float64, np.float64)
    exact = rows.astype(float)
    assert s == pytest.approx(f(exact, wide)[0], rel=1e-14)
    assert u == f(exact, wide)[1]


def test_a_number_that_becomes_an_array_of_its_own_type_is_one_from_the_start():
    def f(rows, wide):
        s, t = 0.1, 0.0
        for v in rows:
            s = s * v + wide
            t = t + s
        return s, t, t * v

    rows, wide = np.float32([0.1, 0.2, 0.3]), np.float64(0.3)
    s, t, _ = kg.function(f)(rows, wide)
    assert [float(s), float(t)] == pytest.approx(f(rows.astype(float), wide)[:2], rel=1e-14)

    def g(wide, narrow):
        s, t = 0.0, 0.0
        for _ in kg.range(3):
            s = s + wide
            t = t + s
        return t * narrow

    wide, narrow = kg.placeholder(), kg.placeholder(dtype=np.float32)
    assert kg.autograph.convert(g)(wide, narrow).dtype == np.float64


def test_python_numbers_adapt_to_the_other_way():
    def f(x, row):
        s = 0.0 if x > 0 else row
        t = 0 if x > 0 else 1.5
        if x > 1:
            u = t + 1
        else:
            u = 2
        return s, t, u, u * row

    x, row = kg.placeholder(), kg.placeholder(dtype=np.float32)
    types = [value.dtype for value in kg.autograph.convert(f)(x, row)]
    assert types == [np.float32, np.float64, np.float64, np.float32]
    chosen = kg.cond(x > 0, lambda: 1, lambda: 2.0)
    assert (chosen.dtype, (chosen * row).dtype) == (np.float64, np.float32)


def test_a_whole_number_that_a_narrow_type_does_not_have():
    @kg.function
    def f(n, rows):
        k = 0
        while k < n:
            k += 1
        return k * rows

    rows = np.array([1, 2], np.int8)
    assert f(63, rows).dtype == np.int8
    assert list(f(63, rows)) == [63, 126]
    with pytest.raises(OverflowError, match="Python integer k out of bounds for int8"):
        f(128, rows)
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds for int8"):
        kg.scan(lambda s, v: (s + v, None), 300, rows)


def test_a_loop_that_no_type_depends_on_is_built_once():
    calls = []

    def step(s, v):
        calls.append(s)
        return s + v, None

    kg.scan(step, 0.0, kg.placeholder((3,)))
    assert len(calls) == 1


def test_a_conversion_makes_an_array_of_a_python_number():
    def f(m, row):
        s = 0.0
        while s < m:
            s += 1
        return s * row, s.astype(float) * row, float(s) * row, math.exp(s) * row

    types = kg.autograph.convert(f)(kg.placeholder(), kg.placeholder(dtype=np.float32))
    assert [value.dtype for value in types] == [np.float32, np.float64, np.float32, np.float32]
