"""Variables without a value."""

import itertools

import pytest

import kinetograph as kg
from kinetograph.autograph import operators as ag
from kinetograph.autograph.operators.undefined import LoopUndefined, Maybe, UndefinedError

USES = {
    "+": lambda u: u + 1,
    "r-": lambda u: 1 - u,
    "*": lambda u: u * 1,
    "<": lambda u: u < 1,
    "call": lambda u: u(),
    "item": lambda u: u[0],
    "iter": lambda u: list(u),
    "bool": lambda u: bool(u),
    "len": lambda u: len(u),
    "abs": lambda u: abs(u),
    "neg": lambda u: -u,
    "float": lambda u: float(u),
    "ld": ag.ld,
}


@pytest.mark.parametrize("use", USES)
def test_every_use_is_an_error(use):
    with pytest.raises(UndefinedError, match=r"'v' is used before assignment \(test_undefined\.py"):
        USES[use](ag.Undefined("v"))
    with pytest.raises(UndefinedError, match="'v' must be defined before the loop"):
        USES[use](LoopUndefined("v"))


def test_the_error_is_pythons_own():
    assert issubclass(UndefinedError, (UnboundLocalError,))
    assert issubclass(UndefinedError, ValueError)
    assert issubclass(UndefinedError, kg.KinetographError)


def test_values_are_read_as_they_are():
    value = object()
    assert ag.ld(value) is value
    assert ag.ldu(lambda: value, "v") is value
    assert ag.retval(value) is value


def test_return_values():
    assert ag.retval(ag.UndefinedReturnValue()) is None


def test_attributes_and_names_that_are_not_there():
    value = object()
    found = ag.ldu(lambda: value.missing, "value.missing")
    assert isinstance(found, ag.Undefined)
    assert repr(found) == "<undefined value.missing>"
    assert isinstance(ag.ldu(lambda: missing, "missing"), ag.Undefined)  # noqa: F821
    with pytest.raises(KeyError):
        ag.ldu(lambda: {}["k"], "k")


def test_perhaps_defined():
    f = kg.function(lambda x: ag.ld(Maybe("v", x * 2, x > 0, " (file.py:3)")))
    assert float(f(1.5)) == 3.0
    with pytest.raises(UndefinedError, match=r"at least once to initialize v \(file\.py:3\)"):
        f(-1.0)


def bound_by_a_loop_or_a_branch(x, n):
    for _ in kg.range(n):
        v = x * 2
    if x > 0:
        v = 10.0
    return v


def bound_by_two_loops(x, n):
    for _ in kg.range(n):
        v = x * 2
    if x < 0:
        for _ in kg.range(n - 1):
            v = x * 3
    return v


@pytest.mark.parametrize("f", [bound_by_a_loop_or_a_branch, bound_by_two_loops])
def test_variables_that_several_statements_may_bind(f):
    """A read fails for the arguments for which it fails in Python."""
    staged = kg.function(f)
    for x, n in itertools.product((3.0, -3.0), range(3)):
        try:
            expected = f(x, n)
        except UnboundLocalError:
            with pytest.raises(UndefinedError, match="'v' is used before assignment"):
                staged(x, n)
        else:
            assert float(staged(x, n)) == expected
