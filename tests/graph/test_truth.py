"""Uses of an array as a Python truth value, number or iterable."""

import numpy as np
import pytest

import kinetograph as kg


def placeholder():
    return kg.placeholder(name="x")


USES = {
    "bool": (lambda x: bool(x), "bool"),
    "if": (lambda x: 1 if x > 0 else 2, "bool"),
    "and": (lambda x: x and True, "bool"),
    "not": (lambda x: not x, "bool"),
    "in": (lambda x: 3 in kg.stack([x, x]), "bool"),
    "in data": (lambda x: x in kg.data([1.0, 2.0]), "bool"),
    "int": (lambda x: int(x), "int"),
    "float": (lambda x: float(x), "float"),
    "index": (lambda x: [1, 2, 3][kg.round(x).astype(int)], "int"),
    "range": (lambda x: range(x), "int"),
}


@pytest.mark.parametrize("use", USES)
def test_uses_that_need_a_value_are_refused(use):
    function, kind = USES[use]
    gist = f"using a symbolic array as a Python {kind} is not allowed"
    with pytest.raises(kg.SymbolicTruthError, match=gist) as caught:
        function(placeholder())
    text = str(caught.value)
    assert "test_truth.py:" in text
    assert "x" in text
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, NotImplementedError)


def test_whether_a_list_holds_an_array_is_asked_by_identity():
    x, y = placeholder(), kg.placeholder(name="y")
    with pytest.raises(kg.SymbolicTruthError, match=r"any\(x is y for x in \.\.\.\)"):
        y in [x, y]  # noqa: B015
    assert any(v is y for v in [x, y])
    with pytest.raises(kg.SymbolicTruthError) as caught:
        bool(x == 1)
    assert "any(" not in str(caught.value)


def test_the_message_says_what_to_do():
    x = placeholder()
    with pytest.raises(kg.SymbolicTruthError) as caught:
        x > 0 and x < 1
    for part in ("x > 0", "@kg.function", "kg.cond", "kg.while_loop", "kg.where"):
        assert part in str(caught.value)


def test_known_values_have_a_truth():
    known = kg.data([1.0, 2.0], name="y")
    assert 2 in known
    assert 3 not in known
    assert kg.data(1.0) in known
    assert bool(kg.data(True)) is True
    assert int(kg.data(3)) == 3
    assert float(kg.data(2.5)) == 2.5
    assert [10, 20][kg.data(1)] == 20


def test_rows_are_known_and_single_numbers_have_none():
    x = kg.placeholder((3,), name="x")
    assert len(x) == len(list(x)) == 3
    with pytest.raises(TypeError, match="iterating over a 0-d array: x"):
        iter(placeholder())
    with pytest.raises(TypeError, match="no length"):
        len(placeholder())


def test_rows_of_an_array_are_its_rows():
    x = kg.placeholder((2, 2), name="x")
    first, second = x
    f = kg.compile([x], [first, second])
    np.testing.assert_array_equal(f([[1.0, 2.0], [3.0, 4.0]]), [[1.0, 2.0], [3.0, 4.0]])
