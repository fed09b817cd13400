"""Forms that generated functions cannot hold."""

import pytest
from tests.autograph.sources import normal, rewritten

from kinetograph.autograph.passes.plain_forms import plain_forms


def lower(node, namer):
    plain_forms(node)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x: int = 3", "x = 3"),
        ("x: int", "pass"),
        ("(x): int = 3", "x = 3"),
        ("a.b: int = 3", "a.b = 3"),
        ("a[0]: int = super().f()", "a[0] = super(__class__, self).f()"),
        ("return super().f()", "return super(__class__, self).f()"),
        ("return super(A, b).f()", "return super(A, b).f()"),
        ("return x.super()", "return x.super()"),
        ("return [super().f() for x in y]", "return [super(__class__, self).f() for x in y]"),
    ],
)
def test_forms(source, expected):
    head = "def f(self, x):\n    "
    assert rewritten(head + source, lower) == normal(head + expected)


def test_functions_without_parameters_keep_super():
    source = "def f(*self):\n    return super().f()"
    assert rewritten(source, lower) == normal(source)


def test_what_is_left_alone():
    source = """
    def f(self):
        class A:
            x: int = 3
            def g(self): return super().g()
        def h():
            y: int = 1
            yield y
    """
    assert rewritten(source, lower) == normal(source)


def test_functions_inside():
    got = rewritten("def f(self):\n def g():\n  x: int = super().f()", lower)
    assert "x = super(__class__, self).f()" in got
