"""Conditional expressions, `and`, `or`, `not`, comparisons, `in` and `assert` as calls."""

import ast

import pytest
from tests.autograph.sources import function, normal, rewritten

import kinetograph as kg
from kinetograph.autograph.passes.conditions import COMPARISONS, lower_conditions


def lower(node, namer, *arguments):
    lower_conditions(node, *arguments)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a if c else b", "ag__.if_exp(c, lambda: a, lambda: b)"),
        ("a and b and c", "ag__.and_(a, lambda: b, lambda: c)"),
        ("a or b and c", "ag__.or_(a, lambda: ag__.and_(b, lambda: c))"),
        ("not a", "ag__.not_(a)"),
        ("-a", "-a"),
        ("a < b", "a < b"),
        ("a is not None", "a is not None"),
        ("a < b < c", "ag__.and_(a < b, lambda: b < c)"),
        ("a < 3 in c", "ag__.and_(a < 3, lambda: ag__.in_(3, c))"),
        ("a < f(b) <= c", "ag__.chain(a, '<', f(b), '<=', lambda: c)"),
        ("a not in b", "ag__.not_(ag__.in_(a, b))"),
        ("[a and b for x in c if not x]", None),
        ("lambda x=a and b: x or c", "lambda x=ag__.and_(a, lambda: b): ag__.or_(x, lambda: c)"),
        ("f'{a and b}'", "f'{ag__.and_(a, lambda: b)}'"),
    ],
)
def test_expressions(source, expected):
    if expected is None:
        rest = "for x in ag__.elements(c) if ag__.chosen(ag__.not_(x))"  # each `for`
        expected = f"[ag__.and_(a, lambda: b) {rest}]"
    got = rewritten(f"def f():\n    return {source}", lower)
    assert got == normal(f"def f():\n    return {expected}")


def test_asserts():
    source = "def f():\n    assert a, b or c\n    assert a"
    assert rewritten(source, lower, True) == normal(
        "def f():\n    ag__.assert_stmt(a, lambda: ag__.or_(b, lambda: c))\n    ag__.assert_stmt(a)"
    )
    assert rewritten(source, lower, False) == normal("def f():\n    pass")


def test_every_comparison():
    assert set(COMPARISONS) == set(ast.cmpop.__subclasses__())
    for kind, word in COMPARISONS.items():
        assert isinstance(ast.parse(f"a {word} b", mode="eval").body.ops[0], kind)


def test_what_is_left_alone():
    source = """
    def f(a, b):
        class A:
            x = a and b
            def g(self): return not a
        def h():
            yield a and b
        async def k(): return a or b
        g = lambda: (yield not a)
    """
    assert rewritten(source, lower) == normal(source)


@pytest.mark.parametrize(
    "body",
    [
        "return t(0) and t(2), t(0) or t(2), t(1) and t(0) or t(3)",
        "return t(1) < t(2) < t(3), t(2) < t(1) < t(3)",
        "return t(1) < t(2) in (t(2), t(3)) is not None",
        "return t(1) in [t(2)] in t(5)",
        "return t(1) if t(0) else t(2) if t(3) else t(4)",
        "return (x := t(0)) and (x := t(5)), x",
        "return (x := t(1)) and (x := t(5)), x",
        "return [y for z in (0, 1, 2) if (y := t(z)) or t(7)], y",
        "return t(1) if (x := t(0)) or (x := t(6)) else t(3), x",
        "return t(1) < (x := t(2)) < t(x), x",
        "g = lambda: t(1) and (y := t(2))\n    return g()",
        "x = 0\n    while (x := x + 1) < 4 and (y := t(x)) != 3: t(y)\n    return x, y",
        "assert t(1), t(2)\n    assert not t(0) or t(3)\n    return 1",
        "assert t(0), t(2)",
        "return not t(0), not t(3), not [], t([]) and 1, t('') or {}",
        "return any(t(x) for x in (0, 2, 3)), [t(x) > 1 and t(9) for x in (1, 2)]",
    ],
)
def test_same_as_python(body):
    """Operands are evaluated in Python's order, and no more of them than in Python."""
    f = function(f"def f(t):\n    x = y = None\n    {body}\n")

    def run(g):
        told = []

        def t(value):
            told.append(value)
            return value

        try:
            return g(t), told
        except Exception as error:
            return type(error), error.args, told

    expected = run(f)
    assert run(kg.autograph.convert(f, fast=False)) == expected
