"""`while`, and lists in it."""

import numpy as np
import pytest
from tests.autograph.refusals import refusal, refused

import kinetograph as kg


class Box:
    def __init__(self, n=0.0):
        self.n = n


def test_symbolic_conditions_make_loops_of_the_graph():
    """A11"""

    @kg.function
    def collatz(n):
        trips = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            trips += 1
        return trips

    assert [collatz(n) for n in (1, 7, 27)] == [0, 16, 111]
    assert collatz.traces == 1


def test_early_return_in_a_staged_loop():
    """3.3, first example"""

    @kg.function
    def f(x):
        i = 0
        while i < x:
            if i > 3:
                return i
            i += 1
        return i

    assert [f(x) for x in (-1, 2, 4, 9)] == [0, 2, 4, 4]


def test_test_is_traced_twice_at_most_and_the_body_once(capsys):
    """S12"""

    @kg.function
    def f(n):
        s = 0
        while told("test", n > 0):
            print("body")
            s = s + n
            n = n - 1
        return s

    assert f(4) == 10
    words = capsys.readouterr().out.split()
    assert words.count("test") <= 2
    assert words.count("body") == 1


def test_the_body_is_traced_twice_if_it_makes_variables(capsys):
    """S12"""

    @kg.function
    def f(n):
        while n > 0:
            print("body")
            last = n
            n = n - 1
        return last

    assert f(4) == 1
    assert capsys.readouterr().out.split().count("body") == 2


@kg.autograph.do_not_convert
def told(word, value):
    print(word)
    return value


def test_loop_variables_keep_their_dtype():
    """A11"""

    def f(n):
        while n < 10:  # here
            n = n * np.float32(1.5)
        return n

    gist = "'n' has dtype int32 before the loop, but dtype float(32|64) after one iteration"
    refused(TypeError, f, (np.int32(1),), gist)


def test_loop_variables_keep_their_shape():
    """A11"""

    def f(n):
        t = kg.stack([n])
        while n < 10:  # here
            t = kg.concatenate([t, t])
            n = n + 1
        return t

    gist = r"'t' has shape \(1,\) before the loop, but shape \(2,\) after"
    refused(ValueError, f, (1.0,), gist)


@pytest.mark.parametrize("kind", [tuple, list])
def test_loop_variables_keep_their_structure(kind):
    """A11"""

    def f(n):
        s = kind([n])
        while n < 10:  # here
            s = kind([n, n])
            n = n + 1
        return s

    refused(TypeError, f, (1.0,), "'s' does not have the same nested structure after one iteration")


def test_loop_variables_are_not_none():
    """A11"""

    def f(n):
        x = None
        while n < 10:  # here
            x = n
            n = n + 1
        return x

    refused(ValueError, f, (1.0,), "'x' is not allowed to be None before the loop")


def test_python_numbers_become_what_the_loop_makes_of_them():
    """A11, W5"""

    @kg.function
    def f(n):
        s = t = u = 0
        while n > 0:
            s = s + 0.5
            if n > 2:
                t = t + 1.5
            if n == 1:
                break
            u = u + n / 2
            n = n - 1
        return s, t, u

    assert [float(v) for v in f(4)] == [2, 3, 4.5]


def test_python_conditions_make_python_loops(capsys):
    """A12"""

    @kg.function
    def f(x):
        i = 0
        while i < 3:
            print("trip")
            x = x * 2
            i += 1
        return x, i

    assert f(1.0) == (8, 3)
    assert capsys.readouterr().out.split() == ["trip"] * 3


@pytest.mark.parametrize("bound", [0, 2, 5, 50])
def test_maximum_iterations_counts_all_trips(bound):
    def f(x):
        i = 0
        while i < 2 or x > 0:
            kg.autograph.set_loop_options(maximum_iterations=bound)
            i += 1
            x = x - 1
        return i

    assert kg.function(f)(7) == max(2, min(7, bound))  # trips of Python are not bounded

    def g(x):
        for i in range(100):
            kg.autograph.set_loop_options(maximum_iterations=bound)
            if i == x:
                break
        return i

    assert kg.function(g)(7) == max(0, min(7, bound - 1))


def test_effects_of_conditions_that_become_symbolic():
    """A46, A47: once for each time that the condition is asked."""
    asked = kg.state(0, name="asked")

    @kg.function
    def f(x):
        n = 0
        while n < 2 or x > asked.assign_add(1):
            n += 1
        return n

    assert [(f(5), f.state[asked]) for _ in range(2)] == [(6, 5), (2, 6)]


def test_derivatives_of_loops_that_become_symbolic():
    """A48"""
    a = kg.placeholder(name="a")

    def decay(a, h):
        y, t = 1.0, 0.0
        while t < 0.99:
            y = y - h(t, y, a) * a * y
            t = t + h(t, y, a)
        return y

    adapted = kg.function(lambda a: decay(a, lambda t, y, a: 0.1 if y * a > 0.5 else 0.2))(a)
    value, slope = kg.compile([a], [adapted, kg.gradients(adapted, a)])(0.8)
    program = lambda a: decay(a, lambda t, y, a: 0.1 if y * a > 0.5 else 0.2)
    assert value == pytest.approx(program(0.8), rel=1e-12)
    near = (program(0.8 + 1e-6) - program(0.8 - 1e-6)) / 2e-6  # error about 1e-9
    assert slope == pytest.approx(near, rel=1e-7)


def test_loop_variables_that_are_no_numbers():
    def f(x):
        word = "a"
        while True:  # here
            if x > 3:
                break
            word = word + "b"
            x = x + 1
        return x, word

    refused(TypeError, f, (3.0,), "'word' is the text 'a' in the main branch", at="")


def test_variables_made_in_the_loop():
    """A15"""

    def f(n):
        while n < 10:  # here
            y = n * 2
            n = n + 1
        return y

    staged = kg.function(f)
    assert staged(3) == 18
    with pytest.raises(UnboundLocalError) as caught:
        staged(10)
    gist = "loop must iterate at least once to initialize y"
    refusal(caught.value, f, UnboundLocalError, gist, "'y' is used before assignment")
    assert staged(9) == 18


def test_variables_made_in_the_loop_are_checked_where_they_are_read():
    """A15"""

    @kg.function
    def f(n):
        m = n
        while m > 0:
            y = 10 * m
            m = m - 1
        r = -1
        if n > 0:
            r = y
        y = 5
        return r + y

    assert (f(3), f(0)) == (15, 4)


@pytest.mark.parametrize("n", [0, 1])
def test_variables_made_by_no_trip_at_all(n):
    """A15: made only behind a condition that no trip fulfils."""

    @kg.function
    def f(n):
        i = 0
        while i < n:
            if i == 1:
                y = i
            i += 1
        return y

    assert f(2) == 1
    with pytest.raises(UnboundLocalError, match="'y' is used before assignment"):
        f(n)


def test_variables_read_before_they_are_made():
    """A16"""

    def f(n):
        while n < 10:
            x = x + 1  # noqa: F821 # here
            n = n + 1
        return x

    refused(ValueError, f, (1.0,), "'x' must be defined before the loop")


def test_variables_used_inside_only():
    """A17"""

    @kg.function
    def f(n):
        s = 0
        while n > 0:
            t = n * n
            s = s + t
            del t
            n = n - 1
        return s

    assert (f(3), f(0)) == (14, 0)


def test_walrus_in_the_condition():
    """A41"""

    @kg.function
    def f(n):
        s = 0
        while (m := n - s) > 0 and (k := m * 2) > 3:
            s = s + k
        return s, m

    for n in (0, 1, 5, 40):
        s = 0
        while (m := n - s) > 0 and (k := m * 2) > 3:
            s = s + k
        assert f(n) == (s, m)


def test_nothing_symbolic_is_carried():
    """A11: a loop whose body changes only a state."""
    s = kg.state(0, name="s")

    @kg.function
    def f(n):
        while s.assign_add(1) < n:
            pass
        return s

    assert [int(f(n)) for n in (4, 2, 9)] == [4, 5, 9]


# Lists, and other things that are changed in place.
def test_growing_lists():
    """A32"""

    def f(n):
        items = []
        while n > 0:  # here
            items.append(n)
            n = n - 1
        return items

    refused(TypeError, f, (3,), "list 'items' is modified inside a staged loop", "TensorArray")


def test_shrinking_lists():
    """A32"""

    def f(n):
        items = [1, 2, 3]
        while n > 0:  # here
            items.pop()
            n = n - 1
        return items

    refused(TypeError, f, (2,), "list 'items' is modified inside a staged loop")


def test_lists_of_an_element_type():
    """A32"""

    @kg.function
    def f(n):
        items = [7]
        kg.autograph.set_element_type(items, int, capacity=6)
        while n > 0:
            items.append(n)
            if n % 2 == 0:
                items.pop()
            n = n - 1
        return len(items), items[0], items[-1], items[1]

    assert [int(v) for v in f(5)] == [4, 7, 1, 5]
    with pytest.raises(OverflowError, match=r"list is full .*capacity of 6"):
        f(21)
    with pytest.raises(IndexError, match="list index out of range"):
        f(0)


def test_lists_of_an_element_type_end_when_empty():
    """A32"""

    @kg.function
    def f(n):
        items = [1.0, 2.0]
        kg.autograph.set_element_type(items, capacity=4)
        s = 0.0
        while n > 0:
            s = s * 10 + items.pop()
            n = n - 1
        return s

    assert f(2) == 21
    with pytest.raises(IndexError, match="pop from empty list"):
        f(3)


def test_items_and_attributes_are_carried():
    """A3, A50"""

    @kg.function
    def f(n):
        items, table, box, a = [0.0, 1.0], {"k": 0.0}, Box(), np.zeros(4)
        while n > 0:
            items[0], items[1] = items[1], items[0] + items[1]
            table["k"] += n
            box.n = box.n + 2
            a[n] = a[n] + n
            a[0] += 1
            n -= 1
        return items, table, box.n, a

    items, table, n, a = f(3)
    assert ([float(v) for v in items], table, n) == ([2, 3], {"k": 6}, 6)
    assert list(a) == [3, 1, 2, 3]


def put(items):
    items[0] = items[0] + 5.0


def by_a_function(n):
    items = [0.0]
    while n > 0:
        put(items)
        n = n - 1
    return items[0]


def object_in_a_list(n):
    boxes = [Box()]
    while n > 0:
        boxes[0].n += 1
        n = n - 1
    return boxes[0].n


def numpy_array_by_a_function(n):
    a = np.zeros(2)
    while n > 0:
        put(a)
        n = n - 1
    return a[0]


def set_of_numbers(n):
    seen = {0}
    while n > 0:
        seen.add(1)
        n = n - 1
    return len(seen)


def cell_of_a_function(n):
    count = 0.0

    def make():
        own = 0.0

        def add(value):
            nonlocal own
            own = own + value
            return own

        return add

    add = make()
    while n > 0:
        count = add(1.0)
        n = n - 1
    return count


def swallowed_exception(x):
    r = 0.0
    while x > 0:
        try:
            if x == 2:
                raise ValueError
            r += 1
        except ValueError:
            r += 100
        x -= 1
    return r


@pytest.mark.parametrize(
    "f",
    [
        by_a_function,
        object_in_a_list,
        numpy_array_by_a_function,
        set_of_numbers,
        cell_of_a_function,
        swallowed_exception,
    ],
    ids=lambda f: f.__name__,
)
def test_what_cannot_be_carried_is_refused(f):
    """5.3"""
    staged = kg.function(f)
    for n in (3, 0):
        try:
            got = staged(n)
        except (kg.StagingError, ValueError):
            continue
        assert got == f(n)


def test_refused_changes_name_the_variable():
    """5.3"""

    def f(n):
        items = [0.0]
        while n > 0:  # here
            put(items)
            n = n - 1
        return items

    refused(kg.StagingError, f, (1,), "'items' is modified inside a staged `while`")


def test_what_a_loop_without_a_trip_would_have_made_is_nan_in_a_density():
    """Nothing can be raised there."""

    @kg.autograph.convert
    def after(x):
        while x < 3:
            y = x + 1
            x = x + 2
        return y

    mu = kg.normal(0, 1)
    kg.factor(after(mu))
    model = kg.model(mu)
    assert np.isnan(model.log_prob([5.0]))
    np.testing.assert_allclose(model.log_prob([1.0]), 2 - 0.5 - 0.5 * np.log(2 * np.pi))
