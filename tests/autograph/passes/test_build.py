"""Pieces of syntax trees."""

import ast

import pytest
from tests.autograph.sources import tree

from kinetograph.autograph.passes import build


def test_fresh_names():
    node = tree(
        """
        def f(a, *b, c=1, **d):
            import x as e
            match a:
                case {**g}: pass
                case [*h] as i: pass
            try: pass
            except E as j: pass
            k = [l for l in m]
            n.o = lambda p: p
        """
    )
    namer = build.Namer(node)
    assert {*"fabcdeghijklmnp"} <= namer.used
    assert "o" not in namer.used  # an attribute is no variable
    assert [namer.fresh("a"), namer.fresh("a"), namer.fresh("new")] == ["a_1", "a_2", "new"]
    assert [namer.fresh("break_"), namer.fresh("break_")] == ["break_", "break_1"]
    assert namer.generated == {"a_1", "a_2", "new", "break_", "break_1"}


def test_places():
    source = ast.parse("x = 1\ny = long + name").body[1]
    inner = ast.parse("\n\n\n\nkept", mode="eval").body
    made = build.located(build.assign_name("z", ast.BinOp(inner, ast.Add(), build.text(2))), source)
    assert (made.lineno, made.col_offset, made.end_col_offset) == (2, 0, 15)
    assert made.value.right.lineno == 2
    assert made.value.left.lineno == 5
    compile(ast.fix_missing_locations(ast.Module([made], [])), "<made>", "exec")


@pytest.mark.parametrize(
    ("source", "end"),
    [
        ("while a < b:\n    c()", (1, 11)),
        ("for i in n:\n    c()", (1, 10)),
        ("if a and (\n    b):\n    c()", (2, 6)),
    ],
)
def test_headers(source, end):
    place = build.header(ast.parse(source).body[0])
    assert (place.lineno, place.col_offset) == (1, 0)
    assert (place.end_lineno, place.end_col_offset) == end


def test_calls():
    call = build.ag_call("if_exp", build.name("c"), build.lazy(build.text(1)), k=build.text(None))
    assert ast.unparse(call) == "ag__.if_exp(c, lambda: 1, k=None)"
    assert build.is_ag_call(call)
    assert not build.is_ag_call(ast.parse("ag__.x", mode="eval").body)
    assert not build.is_ag_call(ast.parse("ag.x()", mode="eval").body)
    assert ast.unparse(build.negation(build.name("a"))) == "not a"


def test_functions():
    made = build.define("g", [], ["p"], nonlocals={"b", "a"}, globals={"c"})
    assert (
        ast.unparse(ast.fix_missing_locations(made))
        == "def g(p):\n    nonlocal a, b\n    global c\n    pass"
    )


@pytest.mark.parametrize(
    ("source", "opaque"),
    [
        ("class A: pass", True),
        ("async def f(): pass", True),
        ("def f(): yield", True),
        ("def f():\n if x:\n  y = yield from z", True),
        ("def f():\n def g(): yield", False),
        ("def f(): return (x for x in y)", False),
        ("def f(): return lambda: (yield)", False),
        ("x = 1", False),
    ],
)
def test_opaque(source, opaque):
    assert build.is_opaque(ast.parse(source).body[0]) is opaque
    assert not build.is_opaque(ast.parse("lambda: x", mode="eval").body)
    assert build.is_opaque(ast.parse("lambda: (yield)", mode="eval").body)
