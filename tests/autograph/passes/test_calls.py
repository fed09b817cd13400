"""What is called is converted."""

import math

import numpy as np
import pytest
from tests.autograph.sources import function, normal, rewritten

import kinetograph as kg
from kinetograph.autograph.passes.calls import lower_calls


def lower(node, namer):
    lower_calls(node, lambda callee: getattr(callee, "id", "") == "plain")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f(x)", "ag__.converted(f)(x)"),
        ("plain(x, f(y))", "plain(x, ag__.converted(f)(y))"),
        ("a.b(x)(y)", "ag__.converted(ag__.converted(a.b)(x))(y)"),
        ("f(*a, **b)", "ag__.converted(f)(*a, **b)"),
        ("ag__.and_(f(a), lambda: g())", None),
        ("ag__.ld(x)", "ag__.ld(x)"),
        ("[f(x) for x in g()]", "[ag__.converted(f)(x) for x in ag__.converted(g)()]"),
        ("lambda: f(x)", "lambda: ag__.converted(f)(x)"),
    ],
)
def test_forms(source, expected):
    if expected is None:
        expected = "ag__.and_(ag__.converted(f)(a), lambda: ag__.converted(g)())"
    got = rewritten(f"def h():\n    return {source}", lower)
    assert got == normal(f"def h():\n    return {expected}")


def test_what_is_left_alone():
    source = """
    def f():
        class A(B):
            x = g()
            def m(self): return g()
        async def h(): return g()
        def k(): yield g()
    """
    assert rewritten(source, lower) == normal(source)


def test_what_is_known_to_need_no_conversion():
    f = function(
        """
        def f(x, len):
            isinstance(x, str); sqrt(x); math.sqrt(x); np.sum(x); list(x)
            abs_ = x.copy()
            len(x); sum(x); user(x); kg.exp(x); unknown(x)
        """,
        math=math,
        np=np,
        kg=kg,
        sqrt=math.sqrt,
        user=lambda: 1,
    )
    text = kg.autograph.to_code(f)
    for plain in ("isinstance(x, str)", "np.sum(x)", "list(x)", "kg.exp(x)"):
        assert f"\n    {plain}" in text, plain
    for name in ("len", "sum", "user", "unknown", "x.copy", "sqrt", "math.sqrt"):
        assert f"ag__.converted({name})" in text, name
