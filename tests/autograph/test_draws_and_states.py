"""Random draws and states in converted code follow the program."""

import math

import numpy as np
import pytest

import kinetograph as kg


def within(observed, expected, variance):
    """Whether a mean of independent draws is within 6 standard errors: wrong once in 5e8 times."""
    return abs(observed - expected) < 6 * math.sqrt(variance)


def test_trips_of_a_drawn_condition_are_geometric():
    """A46"""
    streams = kg.RandomStreams(11)

    @kg.function
    def trips(n):
        x = 0
        while streams.uniform() > 0.5:
            x += 1
        return x

    count = 4000
    found = np.array([trips(0) for _ in range(count)])
    assert within(found.mean(), 1.0, 2 / count)  # variance of a geometric number: (1 - p) / p^2
    for k in range(4):
        p = 2.0 ** -(k + 1)
        assert within((found == k).mean(), p, p * (1 - p) / count)


def test_t_trips_draw_t_plus_one_times():
    """A46: a condition's draws are one stream, in order, of which nothing is left out."""
    streams, plain = kg.RandomStreams(5), kg.RandomStreams(5)

    @kg.function
    def f(level):
        t = 0
        while streams.uniform() > level:
            t += 1
        return t

    one = kg.compile([], plain.uniform())
    for _ in range(50):
        expected = 0
        while one() > 0.4:
            expected += 1
        assert f(0.4) == expected


def test_draws_in_conditions_of_if():
    """A46"""
    streams = kg.RandomStreams(9)

    @kg.function
    def f(n):
        c = 0
        for _ in kg.range(n):
            if streams.uniform() > 0.75:
                c += 1
        return c

    n = 100_000
    first, second = f(n), f(n)
    assert first != second
    for found in (first, second):
        assert within(found / n, 0.25, 0.25 * 0.75 / n)


def test_fresh_draw_per_call():
    """A46"""
    streams = kg.RandomStreams(3)

    @kg.function
    def f(x):
        if streams.uniform() > 0.5:
            return x
        return -x

    signs = [float(f(1.0)) for _ in range(60)]
    assert set(signs) == {-1.0, 1.0}  # all alike once in 2^59 times


def test_only_the_taken_branch_draws():
    """D4"""
    streams, plain = kg.RandomStreams(5), kg.RandomStreams(5)

    @kg.function
    def f(x):
        if x > 0:
            y = streams.normal()
        else:
            y = 0.0
        return y

    one = kg.compile([], plain.normal())
    taken = [1.0, -1.0, -1.0, 2.0, -3.0, 1.0]
    expected = [one() if x > 0 else 0.0 for x in taken]
    assert [float(f(x)) for x in taken] == expected


def test_short_circuit_draws_nothing():
    """A28, D4"""
    streams, plain = kg.RandomStreams(5), kg.RandomStreams(5)

    @kg.function
    def f(x):
        return x > 0 and streams.uniform() > 0.5

    one = kg.compile([], plain.uniform())
    for x in [1.0, -1.0, 1.0, -1.0, -1.0, 1.0]:
        assert f(x) == (x > 0 and one() > 0.5)


def test_draws_of_a_loop_are_independent():
    """A46"""
    streams = kg.RandomStreams(21)

    @kg.function
    def f(n):
        s = t = 0.0
        last = 0.0
        for _ in kg.range(n):
            u = streams.normal()
            s = s + u
            t = t + u * last
            last = u
        return s, t

    n = 40_000
    s, t = f(n)
    assert within(s / n, 0.0, 1 / n)
    assert within(t / n, 0.0, 1 / n)


def test_random_walk_of_a_callee_with_break():
    """A46: the time at which a walk leaves -1, 0, 1 has mean 4."""
    streams = kg.RandomStreams(77)

    def step(x):
        if streams.uniform() < 0.5:
            return x - 1
        return x + 1

    @kg.function
    def total(n):
        s = 0
        for _ in kg.range(n):
            x = 0
            for _ in kg.range(10_000):
                x = step(x)
                s += 1
                if abs(x) == 2:
                    break
        return s

    n = 5000
    # Two steps at a time: out with probability 1/2; T = 2 G, variance 4 * 2.
    assert within(total(n) / n, 4.0, 8 / n)


def test_states_in_branches():
    """A47"""
    s = kg.state(0, name="s")

    @kg.function
    def f(x):
        if x > 0:
            s.assign_add(1)
        return s

    assert [int(f(x)) for x in (1.0, -1.0, 2.0, -2.0, 3.0)] == [1, 1, 2, 2, 3]
    assert f.state[s] == 3


def test_states_in_loops():
    """A47"""
    s = kg.state(0, name="s")

    @kg.function
    def f(n):
        for i in kg.range(n):
            if i % 2 == 0:
                continue
            s.assign_add(i)
            if s > 10:
                break
        return s

    assert [int(f(n)) for n in (4, 0, 9, 2, 5)] == [4, 4, 13, 14, 15]


def test_states_in_conditions():
    """A47"""
    s = kg.state(0, name="s")

    @kg.function
    def f(n):
        t = 0
        while s.assign_add(1) < n:
            t += 1
        return t, s

    assert [tuple(map(int, f(n))) for n in (4, 4, 9)] == [(3, 4), (0, 5), (3, 9)]


def test_states_follow_the_order_of_the_program():
    """A47, D4"""
    s = kg.state(1.0, name="s")

    def bump():
        s.assign(s * 10)

    @kg.function
    def f(x):
        a = s + 0
        if x > 0:
            bump()
            b = s + 0
            s.assign_add(1)
        else:
            b = -s
        c = s + 0
        while s < 100:
            bump()
        return a, b, c, s

    assert f(1.0) == (1, 10, 11, 110)
    assert f(-1.0) == (110, -110, 110, 110)


def test_states_of_expressions():
    """A47"""
    s = kg.state(0, name="s")

    @kg.function
    def f(x):
        y = s.assign_add(10) if x > 0 else s.assign_add(1)
        return y, s

    assert [tuple(map(int, f(x))) for x in (1.0, -1.0, 1.0)] == [(10, 10), (11, 11), (21, 21)]


def test_states_of_a_failed_trace():
    s = kg.state(0, name="s")

    @kg.function
    def f(x):
        if x > 0:
            s.assign_add(1)
            y = x
        return y

    with pytest.raises(ValueError, match="else branch"):
        f(1.0)
    assert not f.state.cells


def test_the_same_draws_as_with_explicit_functions():
    """D4"""
    one, other = kg.RandomStreams(8), kg.RandomStreams(8)

    @kg.function
    def f(x):
        if x > 0:
            y = one.normal() * x
        else:
            y = one.uniform()
        i = 0
        while i < 3 * abs(x):
            y = y + one.normal()
            i = i + 1
        return y

    x = kg.placeholder(name="x")
    y = kg.cond(x > 0, lambda: other.normal() * x, lambda: other.uniform())
    _, y = kg.while_loop(
        lambda i, y: i < 3 * abs(x), lambda i, y: (i + 1, y + other.normal()), (kg.data(0), y)
    )
    g = kg.compile([x], y)
    for value in (1.0, -1.0, 2.0):
        assert f(value) == g(value)
