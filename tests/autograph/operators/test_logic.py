"""`and`, `or`, `not`, comparisons, `in`, `assert` and patterns: Python's, and of arrays."""

import itertools

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.autograph import operators as ag
from kinetograph.graph.messages import describe

VALUES = [0, 1, "", "a", [], [0], None, 2.5, np.float64(0), np.bool_(True)]


def later(values, told):
    def one(value):
        return lambda: (told.append(value), value)[1]

    return [one(value) for value in values]


@pytest.mark.parametrize("values", list(itertools.permutations(VALUES[:6], 3)))
def test_python_values(values):
    a, b, c = values
    told = []
    assert ag.and_(a, *later([b, c], told)) is (a and b and c)
    assert len(told) == (0 if not a else 1 if not b else 2)
    told.clear()
    assert ag.or_(a, *later([b, c], told)) is (a or b or c)
    assert len(told) == (0 if a else 1 if b else 2)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_not(value):
    assert ag.not_(value) is (not value)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_truth(value):
    assert ag.truth(value, "`or`") is bool(value)


def test_truth_of_arrays():
    for dtype in (bool, int, float):
        x = kg.placeholder((1, 1), dtype=dtype, name="x")
        f = kg.compile([x], ag.truth(x, "`or`"))
        assert [bool(f([[value]])) for value in (False, True)] == [False, True]
    flag = kg.placeholder(dtype=bool, name="flag")
    assert ag.truth(flag, "`or`") is flag
    with pytest.raises(ValueError, match="condition of `or` expected to be a scalar"):
        ag.truth(kg.placeholder(2, name="x"), "`or`")


def table(build):
    """Truth values of what is built of two arrays, for all of theirs."""
    a, b = kg.placeholder(dtype=bool, name="a"), kg.placeholder(dtype=bool, name="b")
    f = kg.compile([a, b], build(a, b))
    return [bool(f(x, y)) for x, y in itertools.product([False, True], repeat=2)]


def test_arrays():
    """All of it in one program."""
    cases = [
        (lambda a, b: ag.and_(a, lambda: b), lambda a, b: a and b),
        (lambda a, b: ag.or_(a, lambda: b), lambda a, b: a or b),
        (lambda a, b: ag.and_(ag.not_(a), lambda: b, lambda: a), lambda a, b: not a and b and a),
        (lambda a, b: ag.or_(a, lambda: ag.not_(b), lambda: a), lambda a, b: a or not b or a),
        (lambda a, b: ag.and_(True, lambda: a), lambda a, b: a),
        (lambda a, b: ag.and_(a, lambda: True), lambda a, b: a),
        (lambda a, b: ag.and_(a, lambda: False), lambda a, b: False),
        (lambda a, b: ag.or_(a, lambda: np.bool_(False)), lambda a, b: a),
        (lambda a, b: ag.in_(a, [b, True]), lambda a, b: a in [b, True]),
        (lambda a, b: ag.if_exp(a, lambda: b, lambda: ag.not_(b)), lambda a, b: b if a else not b),
    ]
    x, y = kg.placeholder(dtype=bool, name="x"), kg.placeholder(dtype=bool, name="y")
    f = kg.compile([x, y], [kg.stack([build(x, y)]) for build, _ in cases])
    for one, two in itertools.product([False, True], repeat=2):
        for (_, python), got in zip(cases, f(one, two), strict=True):
            assert bool(got[0]) == python(one, two)


def test_lazily():
    """An operand that fails where it is not wanted is not evaluated there."""

    def program(x):
        def risky():
            kg.check(x > 0, "risky")
            return kg.log(x) > 0

        return ag.and_(x > 0, risky), ag.or_(x <= 0, risky)

    f = kg.function(program)
    for v in (-1.0, 0.5, 2.0):
        assert [bool(r) for r in f(v)] == [v > 1, v <= 0 or v > 1]


@pytest.mark.parametrize(("sines", "together"), [(14, True), (15, False)])
def test_a_little_arithmetic_is_no_branch(sines, together):
    """An operand of up to sixteen operations and numbers is computed at once."""
    x = kg.placeholder(name="x")

    def operand():
        y = x
        for _ in range(sines):
            y = kg.sin(y)
        return y > 0  # one more, and a number

    text = describe(ag.and_(x > 0, operand).node)
    assert text.startswith("logical_and(") == together


def test_a_number_or_a_truth_value():
    """`x or flag` is x where x is true, as in Python, not its truth."""
    x = kg.placeholder(name="x")
    f = kg.compile([x], [ag.or_(x, lambda: x > -1), ag.and_(x, lambda: x > -1)])
    assert [tuple(map(float, f(v))) for v in (3.0, 0.0)] == [(3.0, 1.0), (1.0, 0.0)]


def test_chains():
    x = kg.placeholder(name="x")
    f = kg.compile([x], ag.chain(0, "<", x * 1, "<=", lambda: 5, "!=", lambda: x))
    assert [bool(f(v)) for v in (-1.0, 3.0, 5.0, 6.0)] == [False, True, False, False]
    for word, expected in [("==", False), ("!=", True), ("<", True), (">=", False), ("is", False)]:
        assert ag.chain(1, word, 2) is expected
    assert ag.chain(1, "in", [1]) is True
    assert ag.chain(1, "not in", [1]) is False
    assert ag.chain(1, "is not", None) is True


@pytest.mark.parametrize("container", [[1, 2], (1, 2), {1, 2}, {1: 2}, "12", range(1, 3)])
def test_in_python(container):
    value = "1" if isinstance(container, str) else 1
    assert ag.in_(value, container) is True
    assert ag.in_("9" if isinstance(container, str) else 9, container) is False


def test_vectors_in_lists_are_equal_in_all_elements():
    rows = [np.array([1.0, 2.0]), np.array([1.0, 3.0])]
    x = kg.placeholder(2, name="x")
    f = kg.compile([x], [ag.in_(x, rows), ag.in_(rows[0], (x, x + 1)), ag.in_(x, [rows[0], 1.0])])
    for at in ([1.0, 2.0], [1.0, 3.0], [1.0, 4.0], [5.0, 3.0], [0.0, 1.0], [1.0, 1.0]):
        wanted = [
            any(np.all(at == row) for row in rows),
            bool(np.all(at == rows[0]) or np.all(np.add(at, 1) == rows[0])),
            bool(np.all(at == rows[0]) or np.all(np.array(at) == 1.0)),
        ]
        assert [bool(found) for found in f(at)] == wanted


def test_in_arrays():
    x, v = kg.placeholder(name="x"), kg.placeholder(3, name="v")
    f = kg.compile([x, v], [ag.in_(x, v), ag.in_(x, (1.0, 2.0)), ag.in_(2.0, [x, 5.0])])
    assert [bool(r) for r in f(2.0, [1.0, 2.0, 3.0])] == [True, True, True]
    assert [bool(r) for r in f(4.0, [1.0, 2.0, 3.0])] == [False, False, False]


def test_asserts():
    ag.assert_stmt(1)
    ag.assert_stmt([1], lambda: 1 / 0)
    with pytest.raises(AssertionError) as caught:
        ag.assert_stmt(0)
    assert caught.value.args == ()
    with pytest.raises(AssertionError) as caught:
        ag.assert_stmt([], lambda: ("a", 1))
    assert caught.value.args == (("a", 1),)


def test_asserts_of_arrays():
    def small(x):
        assert x < 1, "too large"
        return x

    f = kg.function(small)
    assert float(f(0.5)) == 0.5
    with pytest.raises(AssertionError, match="too large"):
        f(2.0)


@pytest.mark.parametrize(
    "use", [ag.not_, lambda v: ag.and_(v, lambda: True), lambda v: ag.or_(v, lambda: True)]
)
@pytest.mark.parametrize("kind", [{"shape": 3, "dtype": bool}, {"shape": 0}], ids=str)
def test_conditions_that_are_none(use, kind):
    gist = (
        r"expected to be a scalar, got v: .* ambiguous .*; use .any\(\) or .all\(\); .*is not None"
    )
    with pytest.raises(ValueError, match=gist):
        use(kg.placeholder(**kind, name="v"))


def test_patterns():
    x = kg.placeholder(dtype=int, name="x")
    assert ag.matches(3, lambda subject: subject == 3, None) is True
    found = [ag.matches(x, None, (1, 2)), ag.matches(x, None, (None, "a", 7))]
    f = kg.compile([x], kg.stack(found))
    assert [list(f(v)) for v in (2, 3, 7)] == [[True, False], [False, False], [False, True]]
    assert ag.matches(x, None, (None, "a")) is False
    with pytest.raises(TypeError, match=r"match on the symbolic x \(test_logic\.py.*only literals"):
        ag.matches(x, None, None)


def writing(array, value, answer):
    array[0] = value
    return answer


def writes_in_and(x):
    a = x * np.ones(2)
    flag = x > 0 and writing(a, 10.0, True)
    return a[0], a[1], 0.0 + flag


def writes_in_or(x):
    a = x * np.ones(2)
    flag = x > 0 or writing(a, 10.0, x > -1)
    return a[0], a[1], 0.0 + flag


def writes_in_the_last_of_three(x):
    a = x * np.ones(2)
    flag = x > 0 and x < 2 and writing(a, 10.0, x > 1)
    return a[0], a[1], 0.0 + flag


def writes_by_nonlocal(x):
    a = x * np.ones(2)

    def write():
        nonlocal a
        a[0] = 10.0
        return x > 1

    flag = x > 0 and write()
    return a[0], a[1], 0.0 + flag


def binds(x):
    n = 0.0
    flag = x > 0 and (n := 3 * x) > 3
    return n, x, 0.0 + flag


def binds_in_or(x):
    n = 0.0
    flag = x > 0 or (n := 3 * x) > -3
    return n, x, 0.0 + flag


@pytest.mark.parametrize(
    "function",
    [writes_in_and, writes_in_or, writes_in_the_last_of_three, writes_by_nonlocal],
    ids=lambda f: f.__name__,
)
def test_what_an_operand_writes_into_an_array_is_not_lost(function):
    assert function(0.5)[0] == (10.0 if "or" not in function.__name__ else 0.5)
    with pytest.raises(kg.StagingError, match=r"an array is used .* that has changed"):
        kg.autograph.convert(function)(kg.placeholder(name="x"))


@pytest.mark.parametrize("function", [binds, binds_in_or], ids=lambda f: f.__name__)
def test_what_an_operand_binds_is_there_if_it_is_evaluated(function):
    x = kg.placeholder(name="x")
    f = kg.compile([x], list(kg.autograph.convert(function)(x)))
    for point in (-2.0, -0.5, 0.5, 1.5, 3.0):
        assert [float(part) for part in f(point)] == [float(part) for part in function(point)]
