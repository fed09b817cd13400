"""`if`, `while` and `for` as calls of operators: which variables they carry."""

import ast
import re

import pytest
from tests.autograph.sources import function

import kinetograph as kg


def states(source, **names):
    """For each staged statement, in the order of the text: its kind, symbols and their counts."""
    text = kg.autograph.to_code(function(source, **names))
    found = []
    for call in ast.walk(ast.parse(text)):
        word = getattr(getattr(call, "func", None), "attr", "")
        if word in ("if_stmt", "while_stmt", "for_stmt"):
            place = {"if_stmt": 5, "while_stmt": 4, "for_stmt": 5}[word]
            symbols = ast.literal_eval(call.args[place])
            counts = [ast.literal_eval(a) for a in call.args[place + 1 :]]
            found.append((word.partition("_")[0], " ".join(symbols), *counts))
    return found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if a: x = 1\nelse: x = 2\nreturn x", ("if", "x", 1)),
        ("if a: x = 1\nelse: x = 2\nreturn a", ("if", "", 0)),
        ("if a: x = 1; y = x\nreturn y", ("if", "y", 1)),
        ("x = 1\nif a: x = x + 1\nreturn a", ("if", "x", 0)),
        ("if a: b.c = 1\nreturn b", ("if", "b.c", 1)),
        ("if a: b.c.d = 1", ("if", "b.c.d", 1)),
        ("if a: b = a; b.c = 1\nreturn b", ("if", "b", 1)),
        ("if a: b.append(1)", ("if", "b", 1)),
        ("if a: b[0] = 1", ("if", "b", 1)),
        ("if a: b.c[0] = 1", ("if", "b.c", 1)),
        ("if a: del b", ("if", "b", 0)),
        ("x = 1\nif a: x = 2\ng = lambda: x\nreturn g", ("if", "x", 1)),
        ("x = 1\ng = lambda: x\nif a: x = 2\nreturn a", ("if", "x", 0, 1)),
        ("global x\nif a: x = 1", ("if", "x", 1)),
        ("if a: import math as m\nreturn m", ("if", "m", 1)),
        ("if a: math.pi = 3", ("if", "", 0)),
        (
            "while a < 3: a = a + 1\nreturn a",
            (
                "while",
                "a",
            ),
        ),
        (
            "while a < 3: a = a + 1; x = a\nreturn b",
            (
                "while",
                "a",
            ),
        ),
        (
            "while (x := g(a)): a = x",
            (
                "while",
                "a x",
            ),
        ),
        (
            "x = 0\nfor i in a: x = x + i\nreturn x",
            (
                "for",
                "x",
            ),
        ),
        (
            "x = 0\nfor i in a: x = x + i\nreturn x, i",
            (
                "for",
                "i x",
            ),
        ),
        (
            "for i in a: b = i\nelse: return b",
            (
                "for",
                "b",
            ),
        ),
        (
            "for b.c in a: g(b.c)",
            (
                "for",
                "b.c",
            ),
        ),
        (
            "for a in a: b = b + a\nreturn b",
            (
                "for",
                "b",
            ),
        ),
        ("try:\n  if a: x = 1\n  g()\nexcept E: y = x", ("if", "x", 1)),
    ],
)
def test_what_is_carried(body, expected):
    import math

    indented = "\n".join("    " + line for line in body.splitlines())
    (found,) = states(f"def f(a, b):\n{indented}\n", math=math)
    assert found == expected


def test_inner_statements_carry_their_own():
    found = states(
        """
        def f(a, x):
            while a > 0:
                if x > 1:
                    a = a - 1
                    t = a
                else:
                    t = x
                a = a - t
            return a
        """
    )
    assert sorted(found) == [("if", "a t", 2), ("while", "a")]


def test_functions_inside_are_lowered_and_generators_are_not():
    text = kg.autograph.to_code(
        function(
            """
            def f(a):
                def g(b):
                    if b: return 1
                    return 2
                def h():
                    if a: yield 1
                class A:
                    if a: x = 1
                return g
            """
        )
    )
    assert text.count("ag__.if_stmt") == 1
    assert "if a:\n            yield 1" in text
    assert "if a:\n            x = 1" in text


def test_generated_names_do_not_meet_the_users():
    f = function(
        """
        def f(get_state, set_state, if_body, state, break_, itr, loop_body, else_body, do_return):
            for itr in [1, 2]:
                if get_state > itr: break
                set_state = if_body + state + break_ + loop_body + else_body + do_return
            return set_state, itr
        """
    )
    made = kg.autograph.convert(f, fast=False)
    assert made(1, 2, 3, 4, 5, 6, 7, 8, 9) == f(1, 2, 3, 4, 5, 6, 7, 8, 9)


def test_options():
    text = kg.autograph.to_code(
        function(
            "def f(x):\n    while x > 1:\n        kg.autograph.set_loop_options(grad='stop')\n"
            "        x = x / 2\n    return x\n",
            kg=kg,
        )
    )
    assert re.search(r"ag__\.while_stmt\(.*, \('x',\), grad='stop'\)", text)


def test_attributes_of_attributes_are_read_and_written_by_their_whole_path():
    text = kg.autograph.to_code(function("def f(a, b):\n    if a: b.c.d.e = 1"))
    assert "ag__.set_attribute(b.c.d, 'e', state[0])" in text
    assert "ag__.changed_owner(b.c.d).e = 1" in text
    assert not re.search(r"b\.(e|c\.e|d)\b", text)
