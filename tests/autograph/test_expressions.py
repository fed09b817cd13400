"""Expressions (A28), built-in functions (A33), assertions (A34), `:=` (A41) and items (A50)."""

import contextlib
import itertools

import numpy as np
import pytest
from tests.autograph.refusals import refused

import kinetograph as kg

ONE_OF = []


def staged_and_python(f):
    """A function that must do staged what it does in Python, for each of several numbers."""
    ONE_OF.append(f)
    return f


@staged_and_python
def conditional_expression(x):
    return x * 2 if x > 1 else -x


@staged_and_python
def nested_conditional_expressions(x):
    return 1 if x > 3 else 2 if x > 1 else (3 if x < 0 else 4)


@staged_and_python
def lazy_branches(x):
    return 1 / x if x != 0 else 0.0


@staged_and_python
def chained_comparison(x):
    return 0 < x < 5, -1 <= x != 2 < 9, 0 < x * 1 < (x + 1) * 1 < 4


@staged_and_python
def and_or_not(x):
    return x > 1 and x < 4, x > 3 or x < 0, not x > 1, not (x > 1 and not x > 3)


@staged_and_python
def mixed_operands(x):
    none = None
    return x > 1 and True, False or x > 1, none or x, True and x > 2, x > 2 or False


@staged_and_python
def python_values_keep_their_value(x):
    return [] or "a", 0 and x, 3 or x, x and 5 if x is None else 7


@staged_and_python
def lazy_and(x):
    return 1 if x != 0 and 1 / x > 0.4 else 0


@staged_and_python
def membership(x):
    return x in [1, 2], x not in (1, 2), x in range(3), 2 in [x, 7]


@staged_and_python
def membership_by_hash(x):
    return x in {1, 2, 7}, x in {1: "a", 2: "b"}, x not in frozenset([2])


@staged_and_python
def comparisons_with_none(x):
    return x is None, x is not None


@staged_and_python
def tuples(x):
    a, b = (x, 1) if x > 1 else (2, -x)
    return a - b


@staged_and_python
def builtin_numbers(x):
    return abs(x), min(x, 2), max([x, 2, 1]), divmod(x, 2), pow(x, 2), round(x), sum([x, 1])


@staged_and_python
def conversions(x):
    return int(x / 2), float(x), bool(x > 1)


@staged_and_python
def any_and_all(x):
    return any([x > 1, x > 5]), all([x > 1, x > 2]), any(t > 2 for t in (x, x + 1)), all([])


@staged_and_python
def walrus_in_if(x):
    if (y := x * 2) > 3:
        y = y + 1
    return y


@staged_and_python
def walrus_that_is_not_reached(x):
    q = 7
    if x > 1 and (q := x * 3) > 5:
        return q
    return q * 100


@staged_and_python
def walrus_in_branches(x):
    y = (z := 1) if x > 1 else (z := 2)
    return y * 10 + z


@staged_and_python
def walrus_in_comprehension(x):
    squares = [y := t * t for t in (x, x + 1)]
    return squares, y


@staged_and_python
def operands_of_tests(x, text="a", none=None, items=(1, 2)):
    trips, q = 0, 9
    if x > 0 and text:
        trips += 1
    if x % 3 or (q := q // 3) > x:
        trips += 10
    while (none or x < 9) and (x % 5 or not items or (q := q - 1)):
        x, trips = x + 1, trips + 100
    assert x > 50 or items
    half = 0.5 if (none if x < 3 else x * np.ones(1)) else 0.25
    return trips + half, not (x and none), q


@staged_and_python
def items_of_a_list(x):
    items = [1, 2, 3]
    items[1] = x
    items[0] += 5
    items[1:] = [items[1] * 2, 7]
    return items


@pytest.mark.parametrize("f", ONE_OF, ids=lambda f: f.__name__)
def test_as_in_python(f):
    """A28, A33, A41"""
    staged = kg.function(f)
    for x in (2, 0, -3, 4):
        wanted, got = f(x), staged(x)
        assert _same(wanted, got), f"f({x}): got {got!r}, expected {wanted!r}"


def _same(wanted, got):
    if isinstance(wanted, tuple | list):
        return len(wanted) == len(got) and all(map(_same, wanted, got))
    return wanted is got or np.allclose(wanted, got, rtol=1e-12, atol=0)


def test_operands_are_lazy():
    """A28: an operand that is not reached is not evaluated when the program runs, either."""
    s = kg.state(0, name="s")

    @kg.function
    def f(x):
        a = x > 0 and s.assign_add(1) > 0
        b = x > 0 or s.assign_add(10) > 0
        c = s.assign_add(100) if x > 1 else s
        return a, b, c

    assert [int(f(x)[2]) for x in (2.0, 0.5, -1.0)] == [101, 102, 112]


@pytest.mark.parametrize("numbers", [(3, -2), (3, -2.5), (True, 4), (True, 0.5), (2.0, True)])
def test_numbers_as_operands(numbers):
    """A28"""

    def f(a, b, c):
        found = 1 if (a and not b) or (c > 0 and a) else 0
        return a and b, a or b, a and c > 0, c > 0 and a, c > 0 or a, a or c > 0, found, not a

    staged = kg.function(f)
    for a, b, c in itertools.product(*((n, n * 0) for n in numbers), (1.0, -1.0)):
        a, b = type(numbers[0])(a), type(numbers[1])(b)
        assert staged(a, b, c) == f(a, b, c), (a, b, c)


def test_operands_that_bind_have_one_type_as_those_that_do_not():
    def f(a):
        first = (a % 3) or (_q := 2.5)
        second = (a > 3) and (_r := a * 2)
        third = (a > 3) or (_s := a) or a + 0.5
        return first, second, third

    staged = kg.function(f)
    for a in (0, 3, 4):
        assert staged(a) == f(a), a


def test_messages_write_operands_that_bind_as_the_user_does():
    def text(a):
        return (_q := "no") if a > 2 else a

    def nothing(a):
        b = (_q := None) if a > 2 else a
        return b

    def shaped(a):
        return (a > 3) and (q := a) > 2 and kg.stack([q, q])

    for function, written in (
        (text, "the value of `(_q := 'no') if a > 2 else a` is the text 'no'"),
        (nothing, "the value of `(_q := None) if a > 2 else a` is None"),
        (shaped, "the value of `a > 3 and (q := a) > 2 and kg.stack([q, q])` has shape"),
    ):
        with pytest.raises((TypeError, ValueError)) as error:
            kg.function(function)(3)
        assert written in str(error.value)


@pytest.mark.parametrize("value", [0, 2, 0.0, -0.5, np.nan, np.uint8(0), np.float32(3)])
def test_numbers_as_conditions(value):
    """A28, A33, A34"""

    def f(x):
        n = 0
        while x and n < 3:
            n += 1
        assert n == 0 or x
        return n, any([x, False]), all([x, True]), bool(x), [v for v in [1] if n is not None]

    assert kg.function(f)(value) == f(value)


def test_assertions_of_numbers():
    def f(x):
        assert x, "nothing"
        return x

    with pytest.raises(AssertionError, match="nothing"):
        kg.function(f)(0)


def test_conditional_expressions_agree():
    """A8"""

    def f(x):
        return kg.stack([x, x]) if x > 0 else x  # here

    refused(ValueError, f, (1.0,), r"shape \(2,\) in the main branch", r"shape \(\) in the else")


def test_len_is_static_where_it_can_be():
    """A33"""

    @kg.function
    def f(v, n):
        assert type(len(v)) is int
        assert isinstance(len(kg.range(n)), kg.Array)
        return len(v) + len(kg.range(n)) + len([1, 2])

    assert f(np.zeros((3, 2)), 4) == 9


def test_int_of_digits():
    """A33"""

    def f(x):
        return int(x, base=2)  # here

    refused(NotImplementedError, f, (1.0,), "int of the symbolic x with a base")


def test_python_range_of_an_array():
    """A33"""

    def f(n):
        s = 0
        for i in range(n):  # here
            s += i
        return s

    refused(TypeError, f, (3,), r"range\(n\)", r"kg\.range")


def test_sorted_any_all_min_max_of_rows():
    """A33"""

    @kg.function
    def f(v):
        return sorted(v), any(v > 2), all(v > 2), min(v), max(v), sum(v)

    rows = f([3.0, 1.0, 2.0])
    assert [np.asarray(r).tolist() for r in rows] == [[1, 2, 3], True, False, 1, 3, 6]


def test_print_is_at_tracing_and_kg_print_at_run(capsys):
    """A33"""

    @kg.function
    def f(x):
        print("tracing")
        if x > 0:
            kg.print("value", x)
        return x

    for x in (1.5, 2.5, -1.0):
        f(x)
    assert capsys.readouterr().out.splitlines() == ["tracing", "value 1.5", "value 2.5"]


def test_assertions():
    """A34"""

    @kg.function
    def f(x):
        assert x > 0, "must be positive"
        if x > 5:
            assert x < 7, "must be small"
        for i in kg.range(3):
            assert x != i + 1
        return x

    assert f(0.5) == 0.5
    with pytest.raises(AssertionError, match="must be positive"):
        f(-1.0)
    with pytest.raises(AssertionError, match="must be small"):
        f(8.0)
    with pytest.raises(AssertionError, match="test_expressions"):
        f(2.0)


def test_assertions_of_python_values():
    """A34"""

    @kg.function
    def f(x, n=3):
        assert isinstance(x, kg.Array), "not symbolic"
        assert n is None, f"n is {n}"
        return x

    with pytest.raises(AssertionError, match="n is "):
        kg.function(f.python_function, static_argnames="n")(1.0)


def test_comprehensions_over_arrays():
    """A42"""

    def f(v):
        return [e * 2 for e in v]  # here

    refused(TypeError, f, ([1.0, 2.0],), "comprehension", r"kg\.scan", r"kg\.stack")


def test_comprehensions_over_lists():
    """A42"""

    @kg.function
    def f(x):
        return [t if t > 2 else 0.0 for t in (x, x + 1)], {k: k * x for k in (1, 2)}

    assert f(1.5) == ([0, 2.5], {1: 1.5, 2: 3})


def test_filters_of_comprehensions():
    """A42: the length of a list cannot depend on a value."""

    def f(x):
        return [t for t in (x, x + 1) if t > 2]  # here

    refused(TypeError, f, (1.5,), "condition of a comprehension is symbolic: x > 2", "kg.where")


@pytest.mark.parametrize("where", ["top", "branch", "loop"])
def test_items_of_arrays(where):
    """A50"""

    def f(v, where):
        old = v.copy()
        if where == "top":
            v[0] = 5.0
            v[1:] *= 2
            v[-1] += v[0]
        elif where == "branch":
            if v[0] > 0:
                v[0] = 5.0
                v[1:] *= 2
                v[-1] += v[0]
        else:
            for i in kg.range(1):
                v[i] = 5.0
                v[1:] *= 2
                v[-1] += v[0]
        return v, old

    new, old = kg.function(f, static_argnames="where")(np.array([1.0, 2.0, 3.0]), where)
    assert list(new) == [5, 4, 11]
    assert list(old) == [1, 2, 3]


def test_items_of_arrays_in_branches_not_taken():
    """A50"""

    @kg.function
    def f(v):
        w = v.copy()
        if v[0] > 10:
            v[0] = -1.0
        for i in kg.range(len(v)):
            if v[i] > 1:
                w[i] = 0.0
        return v, w

    v, w = f([1.0, 2.0, 3.0])
    assert (list(v), list(w)) == ([1, 2, 3], [1, 0, 0])


def test_the_callers_arrays_are_never_changed():
    """A50"""

    @kg.function
    def f(v):
        v[0] = 7.0
        v += 1
        return v

    own = np.array([1.0, 2.0])
    assert list(f(own)) == [8, 3]
    assert list(own) == [1, 2]


def touch(a, x):
    if x > 0:
        a[0] = 5.0


def put(a, x):
    a[0] = x


@pytest.mark.parametrize("change", [touch, put])
def test_numpy_arrays_changed_by_a_function(change):
    """A50: carried or refused, never lost."""

    def f(x):
        a = np.zeros(2)
        change(a, x)
        return a

    staged = kg.function(f)
    for x in (1.0, -1.0):
        with contextlib.suppress(kg.StagingError, kg.SymbolicError):
            assert np.array_equal(staged(x), f(x))


@pytest.mark.parametrize("change", ["item", "view"])
def test_numpy_arrays_of_two_names(change):
    """A50: carried or refused, never lost."""

    def f(x):
        a = np.zeros((2, 2))
        b = a[0] if change == "view" else a
        if x > 0:
            b[0] = 5.0
        return a

    staged = kg.function(f)
    for x in (1.0, -1.0):
        with contextlib.suppress(kg.StagingError, kg.SymbolicError):
            assert np.array_equal(staged(x), f(x))


# Truth values as numbers.
COUNTS = {
    "sum": lambda x: (x > 0) + (x > 1),
    "difference": lambda x: (x > 0) - (x > 1),
    "product": lambda x: (x > 0) * (x > 1) + (x > 2),
    "with True": lambda x: True + (x > 1),
    "negative": lambda x: -(x > 1),
    "floor division": lambda x: (x > 0) // True,
    "remainder": lambda x: (x > 1) % True,
    "power": lambda x: (x > 1) ** (x > 0),
    "absolute": lambda x: abs(x > 1) + abs(x > 0),
    "quotient": lambda x: (x > 1) / True,
    "with numbers": lambda x: 3 * (x > 1) + 0.5 * (x > 0),
    "sum of a list": lambda x: sum([x > 0, x > 1, x > 2]),
}


@pytest.mark.parametrize("name", COUNTS)
def test_comparisons_of_numbers_are_whole_numbers(name):
    f = COUNTS[name]
    x = kg.placeholder(name="x")
    got = kg.compile([x], kg.autograph.convert(f)(x))
    for value in (-1.0, 0.5, 1.5, 3.0):
        wanted = f(value)
        assert got(value) == wanted
        assert got(value).dtype == np.asarray(wanted).dtype


def test_comparisons_of_arrays_are_numpys():
    x = np.array([-1.0, 0.5, 1.5])
    f = kg.function(lambda x: ((x > 0) + (x > 1), (x > 0) * (x > 1), (x > 0).sum(), ~(x > 0)))
    wanted = ((x > 0) + (x > 1), (x > 0) * (x > 1), (x > 0).sum(), ~(x > 0))
    for one, other in zip(f(x), wanted, strict=True):
        assert np.array_equal(one, other)


def test_counters_count_comparisons():
    @kg.function
    def f(xs):
        n, both = 0, 0
        for x in xs:
            n += x > 0
            both = both + ((x > 0) + (x > 1) == 2)
        return n, both

    assert f([-1.0, 0.5, 1.5, 3.0]) == (3, 2)
