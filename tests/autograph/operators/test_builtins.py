"""Built-in functions: Python's own, and of arrays of the graph."""

import builtins

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.autograph.operators.builtins import STAGED
from kinetograph.autograph.operators.python_math import MATH

CALLS = [
    *((len, ([1, 2],)), (int, ("11", 2)), (int, ()), (float, ("2.5",)), (bool, ([],)), (bool, ())),
    *((any, ([0, 3],)), (any, ([],)), (all, ([1, 0],)), (all, ((),))),
    *(
        (sum, ([1, 2],)),
        (sum, ([[1], [2]], [])),
        (min, (3, 2)),
        (max, ([3, 2],)),
        (round, (2.567, 1)),
    ),
    *((round, (2.5,)), (sorted, ([3, 1],)), (range, (3,)), (range, (1, 5, 2))),
]


@pytest.mark.parametrize(("original", "arguments"), CALLS, ids=repr)
def test_python_values(original, arguments):
    got, expected = STAGED[original](*arguments), original(*arguments)
    assert got == expected
    assert type(got) is type(expected)


def test_iterators_and_keywords():
    assert list(STAGED[enumerate]("ab", 2)) == list(enumerate("ab", 2))
    assert list(STAGED[zip]("ab", [1, 2])) == [("a", 1), ("b", 2)]
    assert list(STAGED[map](lambda x: x + 1, [1, 2])) == [2, 3]
    assert list(STAGED[filter](lambda x: x > 1, [1, 2])) == [2]
    assert list(STAGED[filter](None, [0, 2])) == [2]
    assert list(STAGED[reversed]([1, 2])) == [2, 1]
    assert list(STAGED[iter]([1, 2])) == [1, 2]
    assert list(STAGED[iter](iter([1, 2]).__next__, 2)) == [1]
    assert STAGED[sorted]([1, 3], key=lambda x: -x) == [3, 1]
    assert STAGED[sorted]([1, 3], reverse=True) == [3, 1]
    assert STAGED[min]([], default=4) == 4
    assert STAGED[max]("a", "bb", key=len) == "bb"
    with pytest.raises(ValueError, match=r"zip\(\) argument 2"):
        list(STAGED[zip]("ab", "a", strict=True))
    told = []
    assert STAGED[any](told.append(x) or x for x in [0, 1, 2]) is True
    assert told == [0, 1]


def test_errors_are_pythons():
    for original, arguments in (
        (len, (3,)),
        (int, ("x",)),
        (min, ([],)),
        (sum, (3,)),
        (range, ("a",)),
    ):
        with pytest.raises(Exception) as expected:
            original(*arguments)
        with pytest.raises(expected.type):
            STAGED[original](*arguments)


ARRAYS = {
    "len": lambda v, x: STAGED[len](v),
    "int": lambda v, x: STAGED[int](x),
    "float": lambda v, x: STAGED[float](STAGED[int](x)),
    "bool": lambda v, x: STAGED[bool](x),
    "any": lambda v, x: STAGED[any](v > 2),
    "all": lambda v, x: STAGED[all]([x > 0, True, x < 9]),
    "sum": lambda v, x: STAGED[sum](v, 10),
    "min": lambda v, x: STAGED[min](v),
    "max": lambda v, x: STAGED[max](x, 3, 1),
    "abs": lambda v, x: abs(-x),
    "round": lambda v, x: STAGED[round](x),
    "sorted": lambda v, x: STAGED[sorted](v, reverse=True),
    "sorted_list": lambda v, x: STAGED[sorted]([x, 1.0, 5.0]),
    "reversed": lambda v, x: STAGED[reversed](v),
}
PYTHON = {
    "len": lambda v, x: len(v),
    "int": lambda v, x: int(x),
    "float": lambda v, x: float(int(x)),
    "bool": lambda v, x: bool(x),
    "any": lambda v, x: any(v > 2),
    "all": lambda v, x: all([x > 0, True, x < 9]),
    "sum": lambda v, x: sum(v, 10),
    "min": lambda v, x: min(v),
    "max": lambda v, x: max(x, 3, 1),
    "abs": lambda v, x: abs(-x),
    "round": lambda v, x: round(x),
    "sorted": lambda v, x: sorted(v, reverse=True),
    "sorted_list": lambda v, x: sorted([x, 1.0, 5.0]),
    "reversed": lambda v, x: list(reversed(v)),
}


def test_arrays():
    v, x = kg.placeholder(3, name="v"), kg.placeholder(name="x")
    assert ARRAYS.keys() == PYTHON.keys()
    built = {name: build(v, x) for name, build in ARRAYS.items()}
    arrays = [r for r in built.values() if isinstance(r, kg.Array)]
    f = kg.compile([v, x], arrays)
    for values, number in (([1.0, 3.0, 2.0], 2.7), ([0.0, -1.0, 0.5], -1.2)):
        results = iter(f(values, number))
        for name, made in built.items():
            got = next(results) if isinstance(made, kg.Array) else made
            expected = PYTHON[name](np.array(values), number)
            assert np.array_equal(got, expected), name


@pytest.mark.parametrize(
    ("use", "error", "text"),
    [
        (lambda v, x: STAGED[int](x, base=2), NotImplementedError, "int of the symbolic x"),
        (lambda v, x: STAGED[int](v), TypeError, r"int\(v\).*shape \(3,\)"),
        (lambda v, x: STAGED[float](v), TypeError, r"float\(v\)"),
        (lambda v, x: STAGED[range](x), kg.SymbolicError, r"range\(x\).*kg\.range"),
        (lambda v, x: STAGED[min](x), ValueError, r"min\(x\).*expected a vector"),
        (lambda v, x: STAGED[max](v, key=abs), NotImplementedError, r"with a key.*kg\.argmax"),
        (lambda v, x: STAGED[sorted](v, key=abs), NotImplementedError, "with a key"),
        (lambda v, x: STAGED[sorted](x), ValueError, r"sorted\(x\).*expected a vector"),
        (lambda v, x: STAGED[filter](abs, v), NotImplementedError, "filter over a symbolic array"),
    ],
)
def test_misuse(use, error, text):
    with pytest.raises(error, match=text):
        use(kg.placeholder(3, name="v"), kg.placeholder(name="x"))


def test_all_are_built_in():
    own = set(STAGED) - set(MATH)
    assert all(getattr(builtins, function.__name__) is function for function in own)
