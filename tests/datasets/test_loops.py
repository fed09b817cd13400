"""Loops over datasets: early exits, iterators, derivatives, mini-batch descent."""

import itertools
import math

import numpy as np
import pytest
from tests.selection import thinned

import kinetograph as kg
from kinetograph.graph.control.scan import Scan

# Loops that end early, and iterators --------------------------------------------------------------


def test_the_first_element_before_a_break_is_zero():
    def f(x):
        seen = -1
        for i in kg.Dataset.range(3):
            seen = i
            break
        return seen + x

    def g(x):
        for i in kg.Dataset.range(3):
            if i >= x:
                return 10 * i
        return -1

    assert f(0) == kg.function(f)(0) == 0
    assert [int(kg.function(g)(x)) for x in (0, 2, 3)] == [g(x) for x in (0, 2, 3)] == [0, 20, -1]


def looped(x):
    it = iter(kg.Dataset.range(10))
    a, b, c = 0, 0, 0
    for i in it:
        if i >= x:
            break
        a += i
    for i in it:
        b += i
        if i >= 6:
            break
    d = next(it)
    for i in it:
        c += i
    return a, b, c, d, next(it, -1)


def test_an_iterator_goes_on_where_it_stood():
    f = kg.function(looped)
    for x in (0, 3, 5, 6):
        assert [int(v) for v in f(x)] == [int(v) for v in looped(x)]


def paired(x):
    it = iter(kg.Dataset.range(10).batch(2).map(lambda b: b.sum()))
    first = next(it)
    for e, y in zip(it, kg.data([1, 2])):
        x = 2 * x + e * y
    for i, e in enumerate(it):
        x = 2 * x + i * e
    return x + first


def test_an_iterator_of_known_position_is_scanned():
    f = kg.function(paired)
    expected, sums = 3, [1, 5, 9, 13, 17]
    for e, y in zip(sums[1:3], [1, 2]):
        expected = 2 * expected + e * y
    for i, e in enumerate(sums[3:]):
        expected = 2 * expected + i * e
    assert int(f(3)) == expected + 1
    controls = f.trace(3).controls()
    assert controls
    assert all(isinstance(node, Scan) for node in controls)


def test_next_in_branches_and_loops():
    def f(n, take):
        it = iter(kg.Dataset.range(1, 9))
        s = 0
        while n > 0:
            s = 10 * s + next(it)
            n -= 1
        if take:
            s = 10 * s + next(it)
        return 10 * s + next(it)

    g = kg.function(f)
    assert [int(g(n, t)) for n in (0, 2) for t in (False, True)] == [1, 12, 123, 1234]
    with pytest.raises(StopIteration, match=r"no elements left \(test_loops.py"):
        g(8, False)
    assert int(g(7, False)) == 12345678


def test_next_at_a_known_end():
    @kg.function
    def f(x):
        it = iter(kg.Dataset.range(1))
        return next(it) + next(it) + x

    with pytest.raises(StopIteration, match="no elements left"):
        f(0)


@pytest.mark.slow
def test_orders_of_an_iterator():
    @kg.function
    def f(x):
        it = iter(kg.Dataset.range(5).shuffle(seed=1).repeat())
        out, n = kg.data(np.zeros(15, int)), 0
        while n < 10:
            out = out.at[n].set(next(it) + x)
            n += 1
        for e in it:
            out = out.at[n].set(e)
            n += 1
            if n >= 15:
                break
        return out

    once = iter(kg.Dataset.range(5).shuffle(seed=1).repeat())
    assert f(0).tolist() == [int(next(once)) for _ in range(15)]


def test_an_iterator_is_not_moved_in_a_loop_over_itself():
    @kg.function
    def f(x):
        it = iter(kg.Dataset.range(6))
        for e in it:
            x = x + e * next(it)
        return x

    with pytest.raises(kg.StagingError, match="advanced in the body of a loop over itself"):
        f(0)


def test_loops_without_end_need_a_way_out():
    @kg.function
    def f(x):
        for e in kg.Dataset.range(3).repeat():
            x = x + e
        return x

    with pytest.raises(kg.StagingError, match=r"never ends \(test_loops.py.*Dataset without end"):
        f(0)


def test_plain_reading_inside_a_graph():
    known, mixed = kg.Dataset.range(3), kg.Dataset.range(3).shuffle(seed=1)

    @kg.function
    def good(x):
        return sum([e * x for e in known])

    @kg.function
    def bad(x):
        return sum([e * x for e in mixed])

    assert int(good(5)) == 15
    with pytest.raises(kg.SymbolicTruthError, match="shuffled dataset is read as plain Python"):
        bad(5)


# Use ----------------------------------------------------------------------------------------------


def regression(n=64):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(n, 2))
    return x, x @ [1.5, -0.5] + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("kind", thinned(["rows", "batches", "shuffled", "iterator"], 3))
def test_gradients_through_a_loop(kind):
    x, y = regression()
    dataset = {
        "rows": lambda d: d,
        "batches": lambda d: d.batch(16),
        "shuffled": lambda d: d.shuffle().batch(8),
        "iterator": lambda d: d.shuffle().batch(16),
    }[kind](kg.Dataset((x, y)))

    @kg.autograph.convert
    def loss(w):
        s = 0.0
        for rows, v in iter(dataset) if kind == "iterator" else dataset:
            s = s + ((rows @ w - v) ** 2).sum()
        return s

    w = kg.placeholder((2,), name="w")
    f = kg.compile([w], kg.gradients(loss(w), w))
    at = np.array([0.3, 0.7])
    np.testing.assert_allclose(f(at), 2 * x.T @ (x @ at - y), rtol=1e-11)


def test_gradients_with_respect_to_the_data():
    @kg.autograph.convert
    def f(x):
        s = 1.0
        for v in kg.Dataset(x):
            s = s * v
        return s

    x = kg.placeholder((4,), name="x")
    gradient = kg.compile([x], kg.gradients(f(x), x))([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(gradient, [24.0, 12.0, 8.0, 6.0], rtol=1e-12)


def descend(dataset, limit):
    def f(rate):
        w, steps = kg.data(np.zeros(2)), 0
        for rows, v in dataset:
            step = rate * rows.T @ (rows @ w - v) / 8
            w = w - step
            steps += 1
            if (kg.abs(step) < 1e-7).all() or steps >= limit:
                break
        return w, steps

    return kg.function(f)


def test_descent_until_it_has_converged():
    x, _ = regression()
    exact = kg.Dataset((x, x @ [1.5, -0.5])).shuffle(seed=8).repeat().batch(8)
    w, steps = descend(exact, 5000)(0.3)
    np.testing.assert_allclose(w, [1.5, -0.5], atol=1e-5)
    assert 8 < steps < 5000


def test_descent_is_that_of_numpy():
    x, y = regression()
    make = lambda: kg.Dataset((x, y)).shuffle(seed=8).repeat().batch(8)
    w, steps = descend(make(), 40)(0.1)
    expected = np.zeros(2)
    for rows, v in itertools.islice(make(), 40):
        expected = expected - 0.1 * rows.T @ (rows @ expected - v) / 8
    assert int(steps) == 40
    np.testing.assert_allclose(w, expected, rtol=1e-11)


@pytest.mark.slow
def test_langevin_dynamics_of_mini_batches():
    """SGLD of a normal mean with small steps.

    The posterior is N(mean(y), 1 / n).
    """
    y = np.random.default_rng(5).normal(2.0, 1.0, 100)
    dataset = kg.Dataset(y).shuffle(seed=3).repeat().batch(50)
    rate, steps = 2e-4, 50_000

    @kg.function
    def run(theta):
        total, n = 0.0, 0
        for batch in dataset:
            drift = 100 * (batch - theta).mean()
            theta = theta + rate / 2 * drift + math.sqrt(rate) * kg.random.normal()
            total = total + theta
            n += 1
            if n >= steps:
                break
        return total / n

    # The correlation time is 2 / (rate n) = 100 steps; 6 standard errors are allowed.
    assert abs(float(run(y.mean())) - y.mean()) < 6 * 0.1 * 1.2 * math.sqrt(2 * 100 / steps)


def scans(f, *arguments):
    return [node for node in f.trace(*arguments).controls() if isinstance(node, Scan)]


def test_rows_and_batches_are_scanned_without_gathers():
    def total(s, dataset):
        for row in dataset:
            s = s + row.sum()
        return s

    x = np.arange(12.0).reshape(6, 2)
    f = kg.function(total, static_argnames="dataset")
    (node,) = scans(f, 0.0, kg.Dataset(x))
    assert [p.shape for p in node.parents[node.carried : node.carried + node.rows]] == [(6, 2)]
    (node,) = scans(f, 0.0, kg.Dataset(x).skip(1).batch(2))
    assert [p.shape for p in node.parents[node.carried : node.carried + node.rows]] == [(2, 2, 2)]
    (node,) = scans(f, 0.0, kg.Dataset((x, x)).shuffle().batch(3).map(lambda e: e[0]))
    assert [p.shape for p in node.parents[node.carried : node.carried + node.rows]] == [(2, 3)]
