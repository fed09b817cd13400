"""Lines printed when the program runs."""

import copy
import pickle

import numpy as np
import pytest

import kinetograph as kg


def placeholder(name="x", shape=(), dtype=float):
    return kg.placeholder(shape, dtype, name=name)


@pytest.fixture
def lines(capsys):
    """The lines that a call prints, without earlier output."""

    def printed(f, *values):
        capsys.readouterr()
        f(*values)
        return capsys.readouterr().out.splitlines()

    return printed


def shown(value, *texts):
    kg.print(*texts)
    return value


# The text that is printed.
def test_nothing_is_printed_while_the_graph_is_built(capsys, lines):
    x = placeholder()
    kg.print("x is", x)
    f = kg.compile(x, x)
    assert capsys.readouterr().out == ""
    assert lines(f, 2.5) == ["x is 2.5"]
    assert lines(f, 3.0) == ["x is 3.0"]


VALUES = [
    0.1 + 0.2,
    1e-300,
    float("nan"),
    -0.0,
    7,
    -(2**62),
    True,
    np.arange(3),
    np.array([[0.5, 1.5]]),
    np.zeros((0,)),
    np.linspace(0, 1, 5000),
    np.ones((2, 2), bool),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_are_printed_as_python_prints_them(value, capsys, lines):
    x = placeholder("x", np.shape(value), np.asarray(value).dtype)
    kg.print("a", x, [x, (x, 1), {"k": x, "none": None}], 2.5, None, sep="-", end="!\n")
    printed = lines(kg.compile(x, x), value)
    print(
        "a", value, [value, (value, 1), {"k": value, "none": None}], 2.5, None, sep="-", end="!\n"
    )
    assert printed == capsys.readouterr().out.splitlines()


def test_single_precision_is_printed_with_its_own_digits(lines):
    x = placeholder("x", (), np.float32)
    kg.print(x, [x])
    assert lines(kg.compile(x, x), np.float32(0.1)) == ["0.1 [0.1]"]


def test_what_is_known_is_printed_as_it_is_now(lines):
    x, known = placeholder(), [1, 2]
    kg.print(known, x)
    known.append(3)
    assert lines(kg.compile(x, x), 0.0) == ["[1, 2] 0.0"]


def test_outside_of_a_graph_lines_without_arrays_are_printed_at_once(lines):
    assert lines(lambda: kg.print("a", 1, [2.0], sep="")) == ["a1[2.0]"]
    assert lines(kg.print) == [""]


# The time when it is printed.
def test_lines_come_in_the_order_of_the_program(lines):
    x = placeholder()
    kg.print("first", x)
    y = kg.cond(x > 0, lambda: shown(x, "positive"), lambda: shown(-x, "negative"))
    kg.print("second", y)
    kg.print("third", x)
    f = kg.compile(x, y)
    assert lines(f, 1.0) == ["first 1.0", "positive", "second 1.0", "third 1.0"]
    assert lines(f, -2.0) == ["first -2.0", "negative", "second 2.0", "third -2.0"]


def test_lines_wait_for_a_function_with_their_inputs(lines):
    x, y = placeholder("x"), placeholder("y")
    kg.print("1", y)
    kg.print("2", x)
    kg.print("3", y)
    f, g = kg.compile(x, x), kg.compile(y, y)
    assert lines(f, 0.5) == ["2 0.5"]
    assert lines(g, 0.5) == ["1 0.5", "3 0.5"]


def test_once_a_trip(lines):
    x = placeholder()
    (y,) = kg.while_loop(lambda v: shown(v < 8, "?"), lambda v: shown(v * 2, v), [x])
    f = kg.compile(x, y)
    assert lines(f, 2.0) == ["?", "2.0", "?", "4.0", "?"]
    assert lines(f, 9.0) == ["?"]


def test_rows_of_a_scan(lines):
    x = placeholder(shape=(3,))
    total, _ = kg.scan(lambda s, v: (shown(s + v, s, v), None), 0.0, x)
    assert lines(kg.compile(x, total), [1.0, 2.0, 3.0]) == ["0.0 1.0", "1.0 2.0", "3.0 3.0"]


def test_row_by_row_in_a_batch_and_only_where_a_row_is(lines):
    x = placeholder(shape=(3,))

    def row(v):
        kg.print("row", v)
        v = kg.cond(v > 5, lambda: shown(v, "large", v), lambda: shown(v * 10, "small", v))
        return kg.while_loop(lambda v: v < 100, lambda v: shown(v * 10, "trip", v), [v])[0]

    f = kg.compile(x, kg.vmap(row)(x))
    found = lines(f, [1.0, 7.0, 200.0])
    assert found[:3] == ["row 1.0", "row 7.0", "row 200.0"]
    assert [s for s in found if "large" in s] == ["large 7.0", "large 200.0"]
    assert [s for s in found if "small" in s] == ["small 1.0"]
    assert sorted(s for s in found if "trip" in s) == ["trip 10.0", "trip 7.0", "trip 70.0"]
    assert len(found) == 9


def nested(x):
    """Random nesting in one program, with a line for each event."""

    def outer(v, n):
        kg.print("outer", v)
        v = kg.cond(
            v > 10,
            lambda: kg.while_loop(lambda v: v > 10, lambda v: shown(v / 2, "half", v), [v])[0],
            lambda: shown(v - 1, "less"),
        )
        return v, n + 1

    return kg.while_loop(lambda v, n: v > 8, outer, [x, 0])[1]


def python_nested(x):
    found, n = [], 0
    while x > 8:
        found.append(f"outer {x}")
        if x > 10:
            while x > 10:
                found.append(f"half {x}")
                x /= 2
        else:
            found.append("less")
            x -= 1
        n += 1
    return [*found, f"end {n}"]


def test_nested_lines_agree_with_python(lines):
    x = placeholder()
    y = nested(x)
    kg.print("end", y)
    f = kg.compile(x, y)
    generator = np.random.default_rng(1)
    for value in np.exp(generator.uniform(1, 6, 25)).tolist():
        assert lines(f, value) == python_nested(value)


def test_nothing_is_printed_after_a_check_has_failed(capsys):
    x = placeholder()
    kg.print("one", x)
    kg.check(x > 0)
    kg.print("two", x)
    f = kg.compile(x, x)
    with pytest.raises(kg.CheckError):
        f(-1.0)
    assert capsys.readouterr().out == "one -1.0\n"
    f(1.0)
    assert capsys.readouterr().out == "one 1.0\ntwo 1.0\n"


# Derivatives.
def squares(x):
    return kg.while_loop(lambda v: v < 100, lambda v: shown(v * v, "at", v), [x])[0]


TRIPS = ["at 2.0", "at 4.0", "at 16.0"]


@pytest.mark.parametrize("strategy", ["auto", "checkpoint"])
def test_a_gradient_prints_the_trips_of_its_forward_pass(strategy, lines):
    x = placeholder()
    y = kg.while_loop(lambda v: v < 100, lambda v: shown(v * v, "at", v), [x], grad=strategy)[0]
    kg.print("end")
    g = kg.gradients(y, x)
    found = lines(kg.compile(x, [y, g]), 2.0)
    assert found[:3] == TRIPS
    assert set(found) <= set(TRIPS)


def test_a_gradient_alone_and_other_derivatives(lines):
    x = placeholder()
    y = squares(x)
    assert lines(kg.compile(x, kg.gradients(y, x)), 2.0) == TRIPS
    assert lines(kg.compile(x, kg.hessian(y, x)), 2.0) == TRIPS
    assert lines(kg.compile(x, kg.jvp(y, x, 1.0)), 2.0) == TRIPS


def test_a_gradient_through_a_scan(lines):
    x = placeholder()
    y, _ = kg.scan(lambda s, _: (shown(s * x, s), None), x, length=2)
    f = kg.compile(x, kg.gradients(y, x))
    assert f(2.0) == 12.0
    assert lines(f, 3.0) == ["3.0", "9.0"]


def test_a_loop_that_needs_more_room_prints_its_first_attempt_too(lines):
    x = placeholder()
    (y,) = kg.while_loop(lambda v: v < 100, lambda v: shown(v * x, v), [x])
    f = kg.compile(x, kg.gradients(y, x))
    trips = int(np.ceil(np.log(100) / np.log(1.03))) - 1
    assert len(lines(f, 1.03)) > trips
    again = lines(f, 1.03)
    assert len(again) == trips
    assert again[0] == "1.03"


# Copies, kg.debug, models.
def test_pickled_and_copied_functions_print(lines):
    x = placeholder()
    kg.print({"x": x}, [x, "text"])
    f = kg.compile(x, squares(x))
    for g in (f, copy.copy(f), pickle.loads(pickle.dumps(f))):
        assert lines(g, 2.0) == ["{'x': 2.0} [2.0, 'text']", *TRIPS]


def test_large_arrays(lines):
    x = placeholder(shape=(10**6,))
    kg.print(x)
    f = kg.compile(x, x.sum())
    for i in range(10):
        assert lines(f, np.full(10**6, float(i))) == [f"[{i}. {i}. {i}. ... {i}. {i}. {i}.]"]


def test_debug_prints(lines):
    x = placeholder()
    y = squares(x)
    kg.print("end", y)
    assert lines(lambda: kg.debug([y, kg.gradients(y, x)], {x: 2.0})) == [*TRIPS, "end 256.0"]


def test_models_with_prints_are_sampled_in_silence(lines):
    mu = kg.normal(0, 1, name="mu")
    (mean, _) = kg.while_loop(lambda v, i: i < 3, lambda v, i: (shown(v / 2, v), i + 1), [mu, 0])
    y = kg.data([0.5, 1.0])
    kg.observe(y, kg.normal(mean, 1))
    model = kg.model(mu=mu)
    settings = {"draws": 600, "warmup": 150, "chains": 2, "progress": False}
    for run in (
        lambda: kg.mcmc(model, sampler=kg.samplers.MALA(), seed=1, **settings),
        lambda: model.gradient([0.5]),
        lambda: model.log_prob([0.5]),
    ):
        assert lines(run) == []
    assert lines(kg.compile(mu, mean), 4.0) == ["4.0", "2.0", "1.0"]
