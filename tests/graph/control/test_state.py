"""kg.state: program order, in branches and loops, too; a small generator replays draws."""

import jax
import numpy as np
import pytest

import kinetograph as kg

MODULUS = 2**31


def step(n):
    return (n * 1103515245 + 12345) % MODULUS


class Generator:
    """A linear congruential generator in a state, whose result depends on the order."""

    def __init__(self, seed=12345):
        self.state = kg.state(np.int64(seed), name="generator")

    def uniform(self):
        return self.state.assign(step(self.state)) / MODULUS


def stream(seed=12345):
    """The numbers of the generator in plain Python."""
    while True:
        seed = step(seed)
        yield seed / MODULUS


def after(n, seed=12345):
    """The generator's state after n draws."""
    for _ in range(n):
        seed = step(seed)
    return seed


def branching():
    generator = Generator()
    u = generator.uniform()
    lower, higher = kg.state(0.0, name="lower_sum"), kg.state(0.0, name="higher_sum")
    out = kg.cond(u < 0.5, lambda: lower.assign_add(u), lambda: higher.assign_add(u))
    return kg.compile([], out), generator, lower, higher


def test_the_naive_branching_example_is_right_as_written():
    f, generator, lower, higher = branching()
    sums, numbers = [0.0, 0.0], stream()
    for _ in range(100):
        before = [f.state[lower], f.state[higher]]
        result = f()
        u = next(numbers)
        sums[u >= 0.5] += u
        now = [f.state[lower], f.state[higher]]
        assert now == sums
        assert [a != b for a, b in zip(now, before)] == [u < 0.5, u >= 0.5]
        assert result == now[u >= 0.5]
    assert f.state[generator.state] == after(100)
    # Expectation (0.125, 0.375) for the mean over all draws, at five standard deviations.
    assert abs(sums[0] / 100 - 0.125) < 5 * 0.0161
    assert abs(sums[1] / 100 - 0.375) < 5 * 0.0389


def test_a_hundred_draws_in_one_loop_equal_a_hundred_calls():
    f, _, lower, higher = branching()
    for _ in range(100):
        f()
    generator, low, high = Generator(), kg.state(0.0), kg.state(0.0)

    def body(i):
        u = generator.uniform()
        kg.cond(u < 0.5, lambda: low.assign_add(u), lambda: high.assign_add(u))
        return i + 1

    g = kg.compile([], kg.while_loop(lambda i: i < 100, body, [0])[0])
    assert g() == 100
    assert g.state[low] == f.state[lower]
    assert g.state[high] == f.state[higher]
    assert g.state[generator.state] == after(100)


def test_an_assignment_outside_of_branches_always_runs():
    x = kg.placeholder()
    count, other = kg.state(0, name="count"), kg.state(0.0, name="other")
    count.assign_add(1)
    y = kg.cond(x > 0, lambda: other.assign_add(x), lambda: x)
    f = kg.compile([x], y)
    f(1.0), f(-1.0), f(2.0)
    assert f.state[count] == 3
    assert f.state[other] == 3


def test_read_assign_read():
    s, x = kg.state(1.0, name="s"), kg.placeholder()
    before = s * 1.0
    s.assign(x)
    between = s * 1.0
    s.assign_add(10)
    f = kg.compile([x], [before, between, s * 1.0])
    assert f(5.0) == [1, 5, 15]
    assert f(7.0) == [15, 7, 17]


def test_the_last_assignment_wins():
    s, x = kg.state(0.0, name="s"), kg.placeholder()
    kg.cond(x > 0, lambda: s.assign(x), lambda: x)
    after_branch = s * 1.0
    s.assign(s * 100)
    s.assign_add(1)
    f = kg.compile([x], after_branch)
    assert (f(3.0), f.state[s]) == (3, 301)
    assert (f(-1.0), f.state[s]) == (301, 30101)


def test_branches_read_what_was_assigned_before_and_in_them():
    s, x = kg.state(0.0, name="s"), kg.placeholder()
    s.assign(x + 1)

    def yes():
        first = s * 1.0
        s.assign(s * 2)
        return first, s * 1.0

    first, second = kg.cond(x > 0, yes, lambda: (s * 1.0, -s))
    f = kg.compile([x], [first, second, s * 1.0])
    assert f(4.0) == [5, 10, 10]
    assert f(-4.0) == [-3, 3, -3]


def test_updates_in_a_conditional_in_a_loop():
    s, n = kg.state(0, name="s"), kg.placeholder(dtype=int)

    def body(i):
        kg.cond(i % 3 == 0, lambda: s.assign(s * 2 + i), lambda: s.assign_add(1))
        return i + 1

    (i,) = kg.while_loop(lambda i: i < n, body, [0])
    f = kg.compile([n], i)
    want = 0
    for count in (7, 0, 4):
        for i in range(count):
            want = want * 2 + i if i % 3 == 0 else want + 1
        f(count)
        assert f.state[s] == want


def test_gradients_flow_through_a_state_within_a_call():
    x = kg.placeholder()
    s = kg.state(2.0, name="s")
    s.assign(x * s)

    def body(i):
        s.assign(s * x + i)
        return i + 1

    kg.while_loop(lambda i: i < 2, body, [0])
    kg.cond(x > 0, lambda: s.assign(s * s), lambda: s + 0)
    y = s * 1.0
    f = kg.compile([x], [y, kg.gradients(y, x), kg.hessian(y, x), kg.jvp(y, x, 1.0)])
    # s = (a x^3 + 1)^2 with a the state before the call
    value, first, second, push = f(1.5)
    a, x = 2.0, 1.5
    np.testing.assert_allclose(value, (a * x**3 + 1) ** 2)
    np.testing.assert_allclose([first, push], 2 * (a * x**3 + 1) * 3 * a * x**2)
    np.testing.assert_allclose(
        second, 2 * (3 * a * x**2) ** 2 + 2 * (a * x**3 + 1) * 6 * a * x, rtol=1e-13
    )
    assert f.state[s] == value


def test_the_derivative_does_not_draw_again():
    generator, x = Generator(), kg.placeholder()

    def body(i, y):
        return i + 1, y * (x + generator.uniform())

    _, y = kg.while_loop(lambda i, y: i < 5, body, (0, 1.0))
    f = kg.compile([x], [y, kg.gradients(y, x), kg.hessian(y, x)])
    numbers = stream()
    for call in (1, 2):
        factors = [0.5 + next(numbers) for _ in range(5)]
        product = np.prod(factors)
        inverse = 1 / np.array(factors)
        first = product * inverse.sum()
        second = product * (inverse.sum() ** 2 - (inverse**2).sum())
        np.testing.assert_allclose(f(0.5), [product, first, second], rtol=1e-12)
        assert f.state[generator.state] == after(5 * call)


@pytest.mark.parametrize("bound", [None, 2])
def test_draws_in_the_predicate(bound):
    generator = Generator(7)
    (x,) = kg.while_loop(lambda x: generator.uniform() > 0.3, lambda x: x + 1, [0], bound)
    f = kg.compile([], [x, x.loop.truncated])
    numbers, draws = stream(7), 0
    seen = set()
    for _ in range(20):
        want = 0
        while True:
            going = next(numbers) > 0.3
            draws += 1
            if not going or want == bound:
                break
            want += 1
        assert f() == [want, going]
        assert f.state[generator.state] == after(draws, 7)
        seen.add(want)
    assert len(seen) > 2


def test_draws_in_predicate_and_body():
    generator = Generator(3)

    def body(x, k):
        return x + generator.uniform(), k + 1

    x, k = kg.while_loop(lambda x, k: x < 2 + generator.uniform(), body, (0.0, 0))
    f = kg.compile([], [x, k])
    numbers = stream(3)
    want, count = 0.0, 0
    while want < 2 + next(numbers):
        want += next(numbers)
        count += 1
    assert f() == [want, count]
    assert f.state[generator.state] == after(2 * count + 1, 3)


def test_draws_in_the_predicate_under_derivatives():
    generator, x = Generator(), kg.placeholder()
    (y,) = kg.while_loop(lambda y: generator.uniform() * y < x, lambda y: y * x, [x])
    f = kg.compile([x], [y, kg.gradients(y, x), kg.hessian(y, x), y.loop.trips])
    numbers, at, power = stream(), 3.0, 1
    while next(numbers) * at**power < at:
        power += 1
    assert power > 1
    expected = [at**power, power * at ** (power - 1), power * (power - 1) * at ** (power - 2)]
    np.testing.assert_allclose(f(at), [*expected, power - 1], rtol=1e-13)
    assert f.state[generator.state] == after(power)


def test_a_draw_in_a_branch_advances_only_if_taken():
    generator, x = Generator(), kg.placeholder()
    y = kg.cond(x > 0, generator.uniform, lambda: x)
    f = kg.compile([x], y)
    f(-1.0)
    assert f.state[generator.state] == 12345
    assert f(1.0) == next(stream())
    f(-1.0)
    assert f.state[generator.state] == after(1)


def test_an_update_on_which_a_loop_depends_runs_once_before_it():
    s, n = kg.state(0, name="s"), kg.placeholder(dtype=int)
    updated = s.assign_add(1)
    (_i, total) = kg.while_loop(
        lambda i, total: i < n, lambda i, total: (i + 1, total + updated), (0, 0)
    )
    f = kg.compile([n], total)
    assert (f(5), f.state[s]) == (5, 1)
    assert (f(3), f.state[s]) == (6, 2)
    assert (f(0), f.state[s]) == (0, 3)


def test_an_error_on_the_host_leaves_states_as_they_were():
    s, x = kg.state(1.0, name="s"), kg.placeholder()

    def check(v):
        if v < 0:
            raise ValueError("negative")
        return np.asarray(v)

    s.assign_add(x)
    checked = kg.lift(
        lambda v: jax.pure_callback(check, jax.ShapeDtypeStruct(v.shape, v.dtype), v)
    )(s * 1.0)
    f = kg.compile([x], checked)
    assert f(2.0) == 3
    with pytest.raises(Exception, match="negative"):
        f(-10.0)
    assert f.state[s] == 3
    assert f(1.0) == 4


def test_reaching_a_bound_leaves_states_as_they_were():
    s, x = kg.state(0, name="s"), kg.placeholder()

    def body(y):
        s.assign_add(1)
        return y * 2

    (y,) = kg.while_loop(lambda y: y < 100, body, [x], 4, on_limit="error")
    f = kg.compile([x], y)
    assert (f(20.0), f.state[s]) == (160, 3)
    with pytest.raises(RuntimeError, match="states are as before"):
        f(1.0)
    assert f.state[s] == 3
    assert (f(20.0), f.state[s]) == (160, 6)


def test_running_again_with_more_room_does_not_count_twice():
    generator, s, x = Generator(), kg.state(0, name="s"), kg.placeholder()

    def body(i, y):
        s.assign_add(1)
        return i + 1, y * (x + generator.uniform() * 1e-3)

    _, y = kg.while_loop(lambda i, y: i < 300, body, (0, 1.0))
    f = kg.compile([x], [y, kg.gradients(y, x)])
    value, slope = f(1.0)
    numbers = stream()
    factors = 1 + np.array([next(numbers) for _ in range(300)]) * 1e-3
    np.testing.assert_allclose(value, factors.prod(), rtol=1e-12)
    np.testing.assert_allclose(slope, factors.prod() * (1 / factors).sum(), rtol=1e-12)
    assert f.state[s] == 300
    assert f.state[generator.state] == after(300)


def test_states_of_functions_are_their_own():
    s = kg.state(0.0, name="s")
    x = kg.placeholder()
    f = kg.compile([x], s.assign_add(x))
    g = kg.compile([x], s.assign_add(2 * x))
    f(1.0), f(1.0), g(1.0)
    assert (f.state[s], g.state[s]) == (2, 2)
    f.state[s] = 10
    assert (f(1.0), g(1.0)) == (11, 4)


def test_the_first_value_cannot_be_changed_where_it_is_shown():
    (value,) = kg.debug(kg.state(np.zeros(2))).values
    with pytest.raises(ValueError, match="read-only"):
        value[0] = 1.0


def test_a_message_reads_no_state():
    """The search for names of arrays visits scopes that contain states, too."""
    unread = kg.state(0.0, name="unread")
    f = kg.function(lambda x: x + kg.random.normal(0.0, 1.0, shape=(2,))[0])
    float(f(1.0))
    with pytest.raises(kg.ShapeError, match="do not fit together"):
        kg.function(lambda x: kg.normal(x * np.ones(2), np.ones(3)))(1.0)
    assert [cell.name for cell in f.state.cells if cell.name == "unread"] == []
    assert unread.held is None
