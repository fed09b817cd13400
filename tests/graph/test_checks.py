"""Conditions that must hold when the program runs."""

import copy
import pickle
import threading

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.checks import run_time_check
from kinetograph.programs.fingerprint import fingerprint
from kinetograph.programs.program import Program


def placeholder(name="x", shape=(), dtype=float):
    return kg.placeholder(shape, dtype, name=name)


def failure(f, *values):
    with pytest.raises(kg.CheckError) as caught:
        f(*values)
    return str(caught.value)


# Conditions that are known now.
@pytest.mark.parametrize("condition", [False, np.bool_(False), np.array([True, False])])
def test_a_known_condition_is_looked_at_now(condition):
    with pytest.raises(kg.CheckError, match=r"no good: .*test_checks.py:"):
        kg.check(condition, "no good")
    kg.check(np.ones(3, bool))
    kg.check(True)


def test_known_data_are_looked_at_now():
    with pytest.raises(kg.CheckError):
        kg.check(kg.data([True, False]))
    kg.check(kg.data([True, True]))


def test_a_condition_is_boolean():
    with pytest.raises(kg.SymbolicError, match=r"bool condition, got x of float64.*x > 0"):
        kg.check(placeholder())


# At the top.
def test_a_check_names_condition_and_place():
    x = placeholder()
    kg.check(x > 0, "scales are positive")
    f = kg.compile(x, x + 1)
    assert f(1.0) == 2.0
    text = failure(f, -1.0)
    assert text.startswith("scales are positive: x > 0 is false (test_checks.py:")
    assert f(2.0) == 3.0  # nothing is left of the failure


def test_all_elements_must_hold():
    x = placeholder(shape=(2, 2))
    kg.check(x > 0)
    f = kg.compile(x, x)
    f(np.ones((2, 2)))
    failure(f, [[1.0, 1.0], [1.0, 0.0]])


def test_nan_does_not_hold():
    x = placeholder()
    kg.check(x == x)
    failure(kg.compile(x, x), np.nan)


def test_the_first_check_that_fails_is_reported():
    x = placeholder()
    kg.check(x > 0, "one")
    kg.check(x > 1, "two")
    f = kg.compile(x, x)
    assert failure(f, 0.5).startswith("two")
    assert failure(f, -0.5).startswith("one")


def test_states_stay_as_before_a_call_that_fails():
    x, total = placeholder(), kg.state(0.0)
    total.assign_add(x)
    kg.check(total < 10, "too much")
    f = kg.compile(x, x)
    f(6.0)
    failure(f, 6.0)
    assert f.state[total] == 6.0
    f(1.0)
    assert f.state[total] == 7.0


def test_a_check_reads_the_state_at_its_place():
    x, s = placeholder(), kg.state(0.0)
    kg.check(s < 1, "before")
    s.assign(x)
    kg.check(s < 10, "after")
    f = kg.compile(x, x)
    assert failure(f, 10.0).startswith("after")
    f(5.0)
    assert failure(f, 0.0).startswith("before")


def test_checks_wait_for_a_function_with_their_inputs():
    x, y = placeholder("x"), placeholder("y")
    kg.check(x > 0, "x")
    kg.check(y > 0, "y")
    f, g = kg.compile(x, x + 1), kg.compile(y, y + 1)
    assert failure(f, -1.0).startswith("x")
    assert failure(g, -1.0).startswith("y")
    h = kg.compile([x, y], x + y)  # other functions have run both checks
    assert h(-1.0, -1.0) == -2.0


def test_a_check_of_an_unused_state_is_carried_out():
    x, s = placeholder(), kg.state(1.0)
    kg.check(s > 0)
    f = kg.compile(x, x)
    f(1.0)
    f.state[s] = -1.0
    failure(f, 1.0)


# In branches and loops.
def checked(value, condition, message):
    kg.check(condition, message)
    return value


def test_only_the_branch_that_is_taken_checks():
    x = placeholder()
    y = kg.cond(x > 0, lambda: checked(x, x < 10, "large"), lambda: checked(-x, x > -10, "small"))
    f = kg.compile(x, y)
    assert f(5.0) == f(-5.0) == 5.0
    assert failure(f, 11.0).startswith("large")
    assert failure(f, -11.0).startswith("small")


def test_a_check_in_one_branch_of_a_switch():
    i = placeholder("i", dtype=int)
    branches = [lambda: 0, lambda: checked(1, i < 0, "one"), lambda: 2]
    f = kg.compile(i, kg.switch(i, branches))
    assert (f(0), f(2)) == (0, 2)
    failure(f, 1)


def test_every_trip_is_checked_and_a_failure_ends_the_loop():
    x = placeholder()
    # Without its check this loop would never end.
    (y,) = kg.while_loop(lambda v: v != 0, lambda v: checked(v - 1, v > 0, "negative"), [x])
    f = kg.compile(x, y)
    assert f(4.0) == 0.0
    assert failure(f, 3.5).startswith("negative")


def test_the_predicate_of_a_loop_is_checked_once_more_than_its_body():
    x = placeholder()
    (y,) = kg.while_loop(lambda v: checked(v < 5, v < 6, "far"), lambda v: v + 2, [x])
    f = kg.compile(x, y)
    assert f(1.0) == 5.0
    assert failure(f, 2.0).startswith("far")


def test_rows_of_a_scan():
    x = placeholder(shape=(3,))
    total, _ = kg.scan(lambda s, v: (checked(s + v, s + v < 5, "sum"), None), 0.0, x)
    f = kg.compile(x, total)
    assert f([1.0, 1.0, 1.0]) == 3.0
    failure(f, [4.0, 4.0, -7.0])


def test_the_first_failure_in_time_is_reported():
    x = placeholder(shape=(3,))

    def body(s, v):
        kg.check(v < 10, "first line")
        kg.check(v > 0, "second line")
        return s, None

    f = kg.compile(x, kg.scan(body, 0.0, x)[0])
    assert failure(f, [1.0, -1.0, 11.0]).startswith("second line")
    assert failure(f, [1.0, 11.0, -1.0]).startswith("first line")


def test_any_row_of_a_batch():
    x = placeholder(shape=(3,))
    f = kg.compile(x, kg.vmap(lambda v: checked(kg.log(v), v > 0, "row"))(x))
    np.testing.assert_allclose(f([1.0, 2.0, 3.0]), np.log([1, 2, 3]))
    for i in range(3):
        failure(f, np.where(np.arange(3) == i, -1.0, 1.0))
    empty = placeholder(shape=(0,))
    assert kg.compile(empty, kg.vmap(lambda v: checked(v, v > 0, "row"))(empty))([]).size == 0


def test_rows_of_a_batch_check_the_branch_they_take():
    x = placeholder(shape=(2,))

    def row(v):
        return kg.cond(v > 0, lambda: checked(v, v < 10, "large"), lambda: -v)

    f = kg.compile(x, kg.vmap(row)(x))
    np.testing.assert_array_equal(f([-20.0, 5.0]), [20.0, 5.0])
    failure(f, [-20.0, 20.0])


def test_rows_of_a_batch_that_have_left_a_loop_do_not_check():
    x = placeholder(shape=(2,))

    def row(v):
        # One additional trip would make v at least 8.
        return kg.while_loop(lambda v: v < 4, lambda v: checked(v * 2, v < 4, "late"), [v])[0]

    f = kg.compile(x, kg.vmap(row)(x))
    np.testing.assert_array_equal(f([0.25, 3.0]), [4.0, 6.0])


def nested(x, limit):
    """Nested loops with a check inside; returns the number of halvings."""

    def halve(v, n):
        kg.check(n < limit, "too many")
        return v / 2, n + 1

    def outer(v, n):
        v, n = kg.cond(
            v > 8,
            lambda: tuple(kg.while_loop(lambda v, n: v > 8, halve, [v, n])),
            lambda: (v - 1, n),
        )
        return v, n

    return kg.while_loop(lambda v, n: v > 4, outer, [x, 0])[1]


def python_nested(x, limit):
    n = 0
    while x > 4:
        if x > 8:
            while x > 8:
                if n >= limit:
                    return None
                x, n = x / 2, n + 1
        else:
            x -= 1
    return n


def test_nested_checks_agree_with_python():
    x, limit = placeholder(), placeholder("limit", dtype=int)
    f = kg.compile([x, limit], nested(x, limit))
    generator = np.random.default_rng(0)
    outcomes = set()
    for _ in range(60):
        value, most = float(np.exp(generator.uniform(0, 8))), int(generator.integers(0, 10))
        expected = python_nested(value, most)
        outcomes.add(expected is None)
        if expected is None:
            assert failure(f, value, most).startswith("too many")
        else:
            assert f(value, most) == expected
    assert outcomes == {True, False}


def test_a_batch_of_nested_checks_agrees_with_its_rows():
    x = placeholder(shape=(4,))
    f = kg.compile(x, kg.vmap(lambda v: nested(v, 3))(x))
    np.testing.assert_array_equal(f([1.0, 20.0, 40.0, 60.0]), [0, 2, 3, 3])
    failure(f, [1.0, 20.0, 40.0, 70.0])


# Derivatives.
def doubling(x):
    def body(v):
        kg.check(v != 3, "three")
        return v * x

    return kg.while_loop(lambda v: v < 100, body, [x])[0]


@pytest.mark.parametrize("alone", [False, True])
def test_a_gradient_checks_what_it_differentiates(alone):
    x = placeholder()
    y = doubling(x)
    g = kg.gradients(y, x)
    f = kg.compile(x, [g] if alone else [g, y])
    assert f(2.0)[0] == 7 * 2.0**6
    failure(f, 3.0)


def test_other_derivatives_check_too():
    x = placeholder()
    y = doubling(x)
    f = kg.compile(x, [kg.hessian(y, x), kg.jvp(y, x, 1.0)])
    second, first = f(2.0)
    assert (first, second) == (7 * 2.0**6, 42 * 2.0**5)
    failure(f, 3.0)


def test_a_gradient_inside_of_a_loop():
    x = placeholder()

    def body(v):
        y = kg.cond(v > 0, lambda: checked(v**3, v < 50, "wide"), lambda: v)
        return v + kg.gradients(y, v)

    f = kg.compile(x, kg.while_loop(lambda v: v < 20, body, [x])[0])
    assert f(1.0) == 52.0
    assert failure(kg.compile(x, kg.while_loop(lambda v: v < 60, body, [x])[0]), 1.0)


def test_a_loop_that_needs_more_room_is_checked_once_more():
    x = placeholder()

    def body(v, n):
        kg.check(n < 300, "long")
        return v * x, n + 1

    y = kg.while_loop(lambda v, n: v < 100, body, [x, 0])[0]
    f = kg.compile(x, kg.gradients(y, x))
    n = int(np.ceil(np.log(100) / np.log(1.03)))  # more trips than the first capacity
    np.testing.assert_allclose(f(1.03), n * 1.03 ** (n - 1), rtol=1e-10)
    failure(f, 1.01)


# Copies, files, threads.
def test_pickled_and_copied_functions_check():
    x = placeholder()
    f = kg.compile(x, doubling(x))
    for g in (copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert g(2.0) == 128.0
        assert failure(g, 3.0) == failure(f, 3.0)


def test_saved_graphs_check(tmp_path):
    x = placeholder()
    path = tmp_path / "graph"
    kg.save_graph(path, {"x": x, "y": doubling(x)})
    loaded = kg.load_graph(path)
    f = kg.compile(loaded["x"], loaded["y"])
    assert f(2.0) == 128.0
    failure(f, 3.0)


def test_threads_build_and_run_their_own_checks():
    x = placeholder()
    shared = kg.compile(x, doubling(x))
    wrong = []

    def work(own):
        y = placeholder()
        kg.check(y != own, f"thread {own}")
        f = kg.compile(y, y)
        for value in range(4):
            try:
                assert f(float(value)) == value
                assert value != own
            except kg.CheckError as error:
                if not (value == own and str(error).startswith(f"thread {own}")):
                    wrong.append((own, value, str(error)))
            try:
                shared(float(value + 2))
                assert value != 1
            except kg.CheckError:
                assert value == 1

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_errors_of_other_kinds():
    x = placeholder()
    run_time_check(x > 0, AssertionError, "own text")
    f = kg.compile(x, x)
    with pytest.raises(AssertionError, match=r"^own text$"):
        f(-1.0)
    with pytest.raises(ZeroDivisionError):
        run_time_check(False, ZeroDivisionError, "now")


# kg.debug, models.
def test_debug_checks():
    x = placeholder()
    y = doubling(x)
    kg.check(x < 50, "pending")
    assert kg.debug(y, {x: 2.0}).values[0] == 128.0
    assert failure(lambda: kg.debug([y, kg.gradients(y, x)], {x: 3.0})).startswith("three")
    assert failure(lambda: kg.debug(y, {x: 60.0})).startswith("pending")
    assert failure(kg.compile(x, y), 60.0).startswith(
        "pending"
    )  # debugging did not use up the check


def checked_model():
    mu = kg.normal(0, 1, name="mu")
    y = kg.data([0.5, 1.0])

    def body(v, i):
        kg.check(v < 0, "irrelevant to a sampler")
        return v * 0.5, i + 1

    (mean, _) = kg.while_loop(lambda v, i: i < 3, body, [mu, 0])
    kg.observe(y, kg.normal(mean, 1))
    return kg.model(mu=mu), mean


def test_models_do_not_check():
    model, mean = checked_model()
    expected = -0.5 * 4 - 0.5 * ((0.5 - 0.25) ** 2 + (1 - 0.25) ** 2) - 1.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(model.log_prob([2.0]), expected, rtol=1e-12)
    np.testing.assert_allclose(model.gradient([2.0]), [-2 + 0.125 * (0.25 + 0.75)], rtol=1e-12)
    model.debug([2.0])
    unknown = kg.Array(model.component.unknowns[0])
    assert failure(kg.compile(unknown, mean), 1.0).startswith("irrelevant")


def test_models_with_checks_have_a_fingerprint():
    texts = []
    for _ in range(2):
        model, _ = checked_model()
        program = Program(model, kg.samplers.NUTS(), model.targets)
        texts.append(fingerprint(program, None))
    assert texts[0] == texts[1] is not None


def test_models_with_checks_are_sampled():
    model, _ = checked_model()
    settings = {"draws": 2000, "warmup": 500, "chains": 2, "progress": False}
    result = kg.mcmc(model, sampler=kg.samplers.MALA(), seed=1, **settings)
    # mu is normal with precision 1 + 2 / 64 and mean (0.5 + 1) / 8 over that; draws below 0 pass.
    draws = result.posterior["mu"].values
    np.testing.assert_allclose(draws.mean(), 1.5 / 8 / (1 + 2 / 64), atol=0.4)
    assert (draws > 0).any()
