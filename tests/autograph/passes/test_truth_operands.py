"""Operands of tests, of which the truth counts."""

import pytest
from tests.autograph.sources import normal, rewritten

from kinetograph.autograph.passes.conditions import lower_conditions
from kinetograph.autograph.passes.truth_operands import mark_tested


def lower(node, namer):
    mark_tested(node)
    lower_conditions(node)


AND = "ag__.and_(ag__.truth(a, '`and`'), lambda: ag__.truth(b, '`and`'))"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("if a and b: pass", f"if {AND}: pass"),
        ("while a and b: pass", f"while {AND}: pass"),
        ("assert a and b", f"ag__.assert_stmt({AND})"),
        ("x = not (a and b)", f"x = ag__.not_({AND})"),
        ("x = c if a and b else d", f"x = ag__.if_exp({AND}, lambda: c, lambda: d)"),
        (
            "x = lambda: c if a and b else d",
            f"x = lambda: ag__.if_exp({AND}, lambda: c, lambda: d)",
        ),
        ("if c or a and b: pass", f"if ag__.or_(ag__.truth(c, '`or`'), lambda: {AND}): pass"),
        (
            "if (a if c else b): pass",
            "if ag__.if_exp(c, lambda: ag__.truth(a, 'conditional expression'), "
            "lambda: ag__.truth(b, 'conditional expression')): pass",
        ),
        ("if a: pass", "if a: pass"),
        ("x = a and b", "x = ag__.and_(a, lambda: b)"),
        ("if f(a and b): pass", "if f(ag__.and_(a, lambda: b)): pass"),
        ("if (x := a and b): pass", "if (x := ag__.and_(a, lambda: b)): pass"),
    ],
)
def test_operands_of_tests_alone(statement, expected):
    got = rewritten(f"def f():\n    {statement}", lower)
    assert got == normal(f"def f():\n    {expected}")
