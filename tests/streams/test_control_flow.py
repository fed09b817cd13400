"""Draws in branches, loops and batches: as often as taken, and never again."""

import numpy as np
import pytest

import kinetograph as kg


def test_the_branching_example_is_right_as_written():
    """100 uniform draws, the small ones added up in one state, the large ones in another."""
    r = kg.RandomStreams(12)
    u = r.uniform()
    lower, higher = kg.state(0.0, name="lower_sum"), kg.state(0.0, name="higher_sum")
    out = kg.cond(u < 0.5, lambda: lower.assign_add(u), lambda: higher.assign_add(u))
    step = kg.compile([], [out, u])
    sums = np.zeros(2)
    for _ in range(100):
        before = np.array([step.state[lower], step.state[higher]])
        _, drawn = step()
        after = np.array([step.state[lower], step.state[higher]])
        sums[int(drawn >= 0.5)] += drawn
        assert np.count_nonzero(after != before) == 1
        np.testing.assert_allclose(after, sums, rtol=1e-12)
    means = sums / 100
    assert abs(means[0] - 0.125) < 5 * 0.0161
    assert abs(means[1] - 0.375) < 5 * 0.0389
    assert not abs(means[0] - 0.5) < 5 * 0.0161  # both branches firing on every draw


def test_one_loop_of_a_hundred_draws_is_a_hundred_calls():
    r = kg.RandomStreams(12)
    u = r.uniform()
    total = kg.state(0.0)
    calls = kg.compile([], total.assign_add(u))
    for _ in range(100):
        calls()
    again = kg.RandomStreams(12)
    (count, s) = kg.while_loop(
        lambda i, s: i < 100, lambda i, s: (i + 1, s + again.uniform()), [0, 0.0]
    )
    assert kg.compile([], [count, s])()[1] == pytest.approx(calls.state[total], rel=1e-13)


def test_a_branch_that_is_not_taken_draws_nothing():
    r = kg.RandomStreams(1)
    x = kg.placeholder(name="x")
    inside = []

    def yes():
        inside.append(r.normal())
        return inside[0]

    f = kg.compile([x], kg.cond(x > 0, yes, lambda: 0.0))
    stream = inside[0].rng
    values = [f(v) for v in (1.0, -1.0, -1.0, 1.0)]
    assert f.state[stream].counter == 2
    assert values[1] == values[2] == 0
    assert values[0] != values[3]


@pytest.mark.parametrize("bound", [None, 4])
def test_a_draw_in_the_predicate_is_made_once_more_than_the_body(bound):
    r = kg.RandomStreams(2)
    tests = []

    def going(i):
        tests.append(r.uniform())
        return tests[0] > 0.5

    (i,) = kg.while_loop(going, lambda i: i + 1, [0], maximum_iterations=bound)
    f = kg.compile([], i)
    trips = [int(f()) for _ in range(200)]
    assert f.state[tests[0].rng].counter == sum(trips) + 200
    assert max(trips) > 1
    if bound is None:
        assert abs(np.mean(trips) - 1) < 5 * np.sqrt(2 / 200)  # geometric: mean 1, variance 2
    else:
        assert max(trips) == 4


def test_draws_in_loops_scans_and_switches_are_those_of_straight_lines():
    def straight(n):
        f = kg.compile([], kg.RandomStreams(3).normal())
        return [float(f()) for _ in range(n)]

    r = kg.RandomStreams(3)
    _, ys = kg.scan(lambda c, _: (c, r.normal()), 0.0, length=5)
    np.testing.assert_array_equal(kg.compile([], ys)(), straight(5))
    r2 = kg.RandomStreams(3)
    i = kg.placeholder(dtype=int, name="i")
    f = kg.compile([i], kg.switch(i, [lambda: 0.0, r2.normal]))
    assert [float(f(k)) for k in (1, 0, 1)] == [straight(2)[0], 0.0, straight(2)[1]]


def test_a_backward_pass_draws_nothing_again():
    r = kg.RandomStreams(4)
    w = kg.placeholder(name="w")
    drawn = []

    def body(v, i):
        drawn.append(r.normal())
        return v + w * drawn[0] * v, i + 1

    v, _ = kg.while_loop(lambda v, i: i < 100, body, [1.0, 0])
    f = kg.compile([w], [v, kg.gradients(v, w), kg.jvp(v, w, 1.0)])
    value, gradient, forward = f(0.05)
    stream = drawn[0].rng
    assert f.state[stream].counter == 100
    z = kg.compile([], kg.RandomStreams(4).normal())
    numbers = np.array([float(z()) for _ in range(100)])
    factors = 1 + 0.05 * numbers
    assert value == pytest.approx(np.prod(factors), rel=1e-12)
    assert gradient == pytest.approx(np.prod(factors) * np.sum(numbers / factors), rel=1e-11)
    assert forward == pytest.approx(gradient, rel=1e-12)


def test_rows_of_a_batch_have_streams_of_their_own():
    def drawn(rows):
        r = kg.RandomStreams(5)
        f = kg.compile([], kg.vmap(lambda a: a + r.normal(shape=(2,)))(np.zeros(rows)))
        return f(), f()

    first, second = drawn(64)
    assert len(np.unique(np.concatenate([first, second]))) == 256
    np.testing.assert_array_equal(drawn(7)[1], second[:7])  # however large the batch


def test_rows_that_loop_longer_do_not_move_the_others():
    def trips(limits):
        r = kg.RandomStreams(6)

        def row(limit):
            return kg.while_loop(
                lambda i, s: i < limit, lambda i, s: (i + 1, s + r.uniform()), [0, 0.0]
            )[1]

        f = kg.compile([], kg.vmap(row)(np.array(limits)))
        return f(), f()

    a, b = trips([3, 1]), trips([3, 50])
    assert a[0][0] == b[0][0]
    c, d = trips([3, 1]), trips([3, 1])
    np.testing.assert_array_equal(c, d)


@pytest.mark.slow
def test_how_often_rows_draw_does_not_move_the_later_draws_of_others():
    r = kg.RandomStreams(8)
    drawn = []

    def row(limit):
        def body(i, s):
            drawn.append(r.uniform())
            return i + 1, s + drawn[0]

        even = r.normal()
        return kg.while_loop(lambda i, s: i < limit, body, [0, 0.0])[1], even

    limits = kg.placeholder((2,), dtype=int, name="limits")
    f = kg.compile([limits], kg.vmap(row)(limits))
    start = r.getstate(f)
    (first, _), (second, _) = f([3, 1]), f([3, 2])
    assert f.state[drawn[0].rng].counter == 2 * 2**32
    r.setstate(f, start)
    (one, _), (two, _) = f([3, 50]), f([3, 0])
    assert (one[0], two[0]) == (first[0], second[0])
    assert len({*first, *second, *one[1:]}) == 5  # and no number twice
    even = next(a for a in r.results() if a is not drawn[0])
    assert f.state[even.rng].counter == 2  # draws that all rows make are counted


def test_a_loop_that_is_built_twice_counts_its_draws_once():
    r = kg.RandomStreams(7)
    kg.while_loop(lambda v: v < 3, lambda v: v + r.uniform(), [0])  # 0 has to become 0.0
    assert len(list(r.results())) == 1
    other = kg.RandomStreams(7)
    other.uniform()
    assert kg.compile([], r.uniform())() == kg.compile([], other.uniform())()
