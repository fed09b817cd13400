"""`for`."""

import itertools
import warnings

import numpy as np
import pytest
from tests.autograph.refusals import refusal, refused

import kinetograph as kg
from kinetograph.autograph.operators import python_for


def test_rows_of_an_array(capsys):
    """A18"""

    @kg.function
    def f(a):
        s = kg.stack([0.0, 0.0])
        for r in a:
            print("traced", r.shape)
            s = 10 * s + r
        return s

    assert list(f([[1.0, 2.0], [3.0, 4.0]])) == [13, 24]
    assert capsys.readouterr().out == "traced (2,)\n"
    assert list(f(np.zeros((0, 2)))) == [0, 0]


def test_sum_of_products():
    """3.3, second example"""

    @kg.function
    def g(t):
        s = 0.0
        for r in t:
            s = s + r[0] * r[1]
        return s

    assert g([[1, 2], [3, 4]]) == 14


def test_numbers_have_no_rows():
    """A18"""

    def f(x):
        for r in x:  # here
            x = x + r
        return x

    refused(TypeError, f, (1.0,), "iterating over a 0-d array: x")


def test_the_iterated_array_is_read_before_the_loop():
    """A18, A50"""

    @kg.function
    def f(v):
        s = 0.0
        for e in v:
            v = v * 0 + e
            s = s + e
        return s, v

    s, v = f([1.0, 2.0, 3.0])
    assert s == 6
    np.testing.assert_array_equal(v, [3, 3, 3])


@pytest.mark.parametrize(
    "bounds", [(3,), (0,), (-2,), (2, 7), (7, 2), (0, 10, 3), (10, 0, -3), (0, -5, -1), (5, 5, 2)]
)
def test_ranges(bounds):
    """A19"""

    def f(*bounds):
        s, i = 0, -7
        for i in kg.range(*bounds):
            s = 10 * s + i
        return s, i

    s, i = 0, -7
    for i in range(*bounds):
        s = 10 * s + i
    assert kg.function(f)(*bounds) == (s, i)
    assert kg.function(f, static_argnames="bounds")(*bounds) == (s, i)


def test_targets_of_no_trips():
    """A15, A19"""

    def f(n):
        for i in kg.range(n):  # noqa: B007 # here
            pass
        return i

    staged = kg.function(f)
    assert staged(3) == 2
    with pytest.raises(UnboundLocalError) as caught:
        staged(0)
    gist = "loop must iterate at least once to initialize i"
    refusal(caught.value, f, UnboundLocalError, gist)


@pytest.mark.parametrize("static", [(), ("step",)])
def test_ranges_have_a_step(static):
    """A19"""

    def f(step):
        s = 0
        for i in kg.range(0, 3, step):
            s = s + i
        return s

    staged = kg.function(f, static_argnames=static)
    assert staged(1) == 3
    with pytest.raises(ValueError, match="step is zero"):
        staged(0)


def three(x):
    yield x
    yield 2 * x
    yield 3 * x


@pytest.mark.parametrize(
    "make", [lambda x: [x, 2 * x, 3 * x], lambda x: (x, 2 * x, 3 * x), three, None]
)
def test_python_iterables_are_unrolled(make, capsys):
    """A20"""

    @kg.function
    def f(x):
        s = 0.0
        for e in range(1, 4) if make is None else make(x):
            print("trip")
            s = 10 * s + e
        return s

    assert f(1.0) == 123
    assert capsys.readouterr().out.split() == ["trip"] * 3


def test_stacked_lists_are_arrays(capsys):
    """A20"""

    @kg.function
    def f(x):
        s = 0.0
        for e in kg.stack([x, 2 * x, 3 * x]):
            print("trip")
            s = 10 * s + e
        return s

    assert f(1.0) == 123
    assert capsys.readouterr().out.split() == ["trip"]


def test_long_unrolled_loops_are_warned_of():
    """A21"""

    def f(x, n):
        for i in range(n):  # here
            x = x * 1.01**i
        return x

    staged = kg.function(f, static_argnames="n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        staged(1.0, 40)
    with pytest.warns(kg.AutographWarning) as caught:
        staged(1.0, 120)
    assert len(caught) == 1
    advice = r"in 51 iterations.*Write kg\.range\(\.\.\.\) in place.*kg\.data\(array\) in place"
    gists = "Large unrolled loop detected", advice
    refusal(caught[0].message, f, kg.AutographWarning, *gists)


def test_loops_that_add_nothing_are_not_warned_of():
    """A21"""

    def f(x):
        n = 0
        for i in range(5000):
            n += i
        return x + n

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kg.function(f)(0.0) == 12497500


def test_registered_iterables():
    """A22"""

    class Squares:
        def __init__(self, count):
            self.count = count

    kg.autograph.register_iterable(
        Squares, lambda s: kg.autograph.Rows(s.count, lambda i: i * i, early_exit=False)
    )

    @kg.function
    def total(x, n):
        for s in Squares(n):
            x = x + s
        return x

    assert total(0, 4) == 14

    def broken(x):
        for s in Squares(5):  # here
            if s > x:
                break
        return x

    refused(NotImplementedError, broken, (3,), "break and return statements are not yet supported")

    def paired(x):
        for s, _ in zip(Squares(5), kg.range(5)):  # here
            if s > x:
                break
        return x

    refused(NotImplementedError, paired, (3,), "break and return statements are not yet supported")

    def returning(x):
        for s in Squares(5):  # here
            if s > x:
                return s
        return x

    gist = "a return statement cannot be placed inside this Squares loop"
    refused(NotImplementedError, returning, (3,), gist)


def breaks(n, kind):
    s = 0
    for i in kg.range(n) if kind == "range" else kg.stack([0, 1, 2, 3, 4]):
        if i == 3:
            break
        if i == 1:
            s = s + 100
            if n > 4:
                s = s + 1000
                break
        s = s + 1
    return s


@pytest.mark.parametrize("kind", ["range", "rows"])
def test_breaks(kind):
    """A23"""
    staged = kg.function(breaks, static_argnames="kind")
    expected = {"range": [0, 1, 103, 103, 1101], "rows": [103, 103, 103, 103, 1101]}
    assert [int(staged(n, kind)) for n in (0, 1, 3, 4, 5)] == expected[kind]


@pytest.mark.parametrize("numbers", [range(5), range(7, -4, -3), range(1, 2), range(4, 8, 9)])
@pytest.mark.parametrize("kind", ["break", "return"])
def test_ranges_that_become_staged_make_every_trip(numbers, kind):
    """The condition is a number at first; the loop ends by itself or by the jump."""

    def breaks(x, most):
        total, i = 0.0, -99
        for i in numbers:
            total = 10 * total + x + i
            if i != numbers[0] and total > most:
                break
        return total, i

    def returns(x, most):
        total = 0.0
        for i in numbers:
            total = 10 * total + x + i
            if i != numbers[0] and total > most:
                return total, i
        return total, 50

    f = breaks if kind == "break" else returns
    staged = kg.function(f)
    for most in (0.0, 300.0, np.inf):
        assert tuple(map(float, staged(2.0, most))) == tuple(map(float, f(2.0, most)))


def test_breaks_of_nested_loops():
    """A23"""

    @kg.function
    def primes(n):
        c = 0
        for k in kg.range(2, n):
            d = 2
            while d * d <= k:
                if k % d == 0:
                    break
                d += 1
            else:
                c += 1
            if c == 20:
                break
        return c

    assert [int(primes(n)) for n in (2, 3, 10, 30, 1000)] == [0, 1, 4, 10, 20]


def test_code_of_a_break():
    """A23"""

    def f(x):
        for i in kg.range(3):
            if x > i:
                break
            x = x + 1
        return x

    code = kg.autograph.to_code(f)
    assert "ag__.for_stmt(" in code
    assert "ag__.not_(break_)" in code
    compile(code, "<code>", "exec")


@pytest.mark.parametrize("inline", [False, True])
def test_iterators_that_others_may_go_on_with(inline):
    """A24"""

    def held(x):
        elements = enumerate([1, 2, 3])
        for _, y in elements:  # here
            if x == y:
                break
        return x, list(elements)

    def generated(x):
        for y in (2 * i for i in range(3)):  # here
            if x == y:
                return x
        return -x

    gist = (
        "break and return statements which depend on a symbolic condition are not supported in "
        "Python for loops over "
    )
    if inline:
        refused(NotImplementedError, generated, (1.0,), gist + "a generator", "over a list")
    else:
        refused(NotImplementedError, held, (1.0,), gist + "the iterator 'elements'")


def test_loops_that_make_no_trip():
    """A15: what only an iteration binds has no value then, not 0."""

    def rows(x):
        for row in x:
            y = 2 * row
        return y  # here

    refused(UnboundLocalError, rows, (np.zeros(0),), "'y' is used before assignment")

    def bounded(x):
        for row in x:  # here
            kg.autograph.set_loop_options(maximum_iterations=0)
            y = 2 * row
        return y

    gists = "the loop must iterate at least once to initialize y"
    refused(UnboundLocalError, bounded, (np.ones(3),), gists)


@pytest.mark.parametrize("bound", [2, 9])
def test_the_smaller_of_length_and_maximum_iterations_holds(bound):
    @kg.function
    def f(x):
        s = 0.0
        for row in x:
            kg.autograph.set_loop_options(maximum_iterations=bound)
            if row > 4:
                break
            s = s + row
        return s

    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert f(x) == {2: 3.0, 9: 10.0}[bound]


def test_iterators_without_an_end():
    def f(x):
        for i in itertools.count():  # here
            if x < i:
                return i

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(python_for, "_GUARDED", 5)
        refused(
            kg.StagingError, f, (1.0,), "iteration limit exceeded", r"than 5 elements.*kg\.data\("
        )


def test_continues():
    """A25"""

    def f(n):
        s = 0
        for i in kg.range(n):
            if i % 2 == 0:
                continue
            try:
                if i == 3:
                    continue
                s += i
            finally:
                s += 100
            j = 0
            while j < i:
                j += 1
                if j == 2:
                    continue
                s += 10000
        return s

    def python(n):
        s = 0
        for i in range(n):
            if i % 2 == 0:
                continue
            s += 100
            if i == 3:
                continue
            s += i + 10000 * len([j for j in range(1, i + 1) if j != 2])
        return s

    staged = kg.function(f)
    assert [int(staged(n)) for n in (0, 2, 4, 9)] == [python(n) for n in (0, 2, 4, 9)]


def test_else_of_loops():
    """A39"""

    @kg.function
    def f(n):
        r = 0
        for i in kg.range(n):
            if i == 3:
                break
            r += i
        else:
            r = -1
        while n > 0:
            n -= 2
            if n == 1:
                break
        else:
            r += 1000
        return r

    assert [int(f(n)) for n in (0, 2, 3, 4, 5)] == [999, 999, -1, 1003, 3]


def test_sequences_of_arrays():
    """A33"""

    @kg.function
    def f(v):
        s = t = u = w = 0.0
        for i, e in enumerate(v):
            s = s + i * e
        for a, b in zip(v, v[1:], strict=False):  # noqa: RUF007
            t = 10 * t + a * b
        for m in map(lambda e: 2 * e, v):
            u = 10 * u + m
        for e in reversed(v):
            w = 10 * w + e
        return s, t, u, w

    assert [float(x) for x in f([1.0, 2.0, 3.0])] == [8, 26, 246, 321]


def test_zip_ends_with_the_shortest():
    """A33"""

    @kg.function
    def f(n, v):
        s = 0.0
        for i, e in zip(kg.range(n), v, strict=False):
            s = s + i * e
        return s

    assert [float(f(n, [1.0, 2.0, 3.0])) for n in (0, 2, 3, 7)] == [0, 2, 8, 8]


def test_elements_are_unpacked():
    @kg.function
    def f(m):
        s = 0.0
        for a, *rest in m:
            s = s + a * rest[1]
        return s

    assert f([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]) == 27


def test_items_written_while_looping():
    """A50"""

    @kg.function
    def f(v):
        old = v.copy()
        for i in kg.range(1, len(v)):
            v[i] += v[i - 1]
        v[0] = -1.0
        return v, old

    new, old = f([1.0, 2.0, 3.0])
    assert list(new) == [-1, 3, 6]
    assert list(old) == [1, 2, 3]


@pytest.mark.parametrize("kind", ["range", "rows", "enumerate"])
def test_loop_targets_are_called_by_their_names(kind):
    """D7"""

    def f(n):
        weights, s = {0: 1.0, 1: 2.0, 2: 3.0}, 0.0
        if kind == "range":
            for k in kg.range(n):
                s += weights[k]  # range
        elif kind == "rows":
            for k in kg.stack([n, n]):
                s += weights[k]  # rows
        else:
            for k, _ in enumerate(kg.range(n)):
                s += weights[k]  # enumerate
        return s

    refused(TypeError, f, (3,), r"symbolic key 'k'", at=kind)


@pytest.mark.parametrize("loop", ["for", "while"])
def test_a_variable_that_is_bound_on_no_way_that_is_built(loop):
    def f(n, wanted):
        s = i = 0
        if loop == "for":
            for i in kg.range(n):
                if wanted:
                    v = i
                if wanted:
                    s = s + v
                s = s + 1
        else:
            while i < n:
                if wanted:
                    v = i
                if wanted:
                    s = s + v
                s = s + 1
                i = i + 1
        return s

    staged = kg.function(f, static_argnames="wanted")
    assert [int(staged(4, wanted)) for wanted in (False, True)] == [4, 10]
