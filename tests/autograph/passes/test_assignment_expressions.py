"""Operands with `:=` that may not be evaluated, as statements."""

import ast
import itertools

import pytest
from tests.autograph.sources import normal, rewritten, tree

from kinetograph.autograph.passes.assignment_expressions import (
    binds_lazily,
    lower_assignment_expressions,
)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("(a := 1) and b", False),
        ("a and (b := 1)", True),
        ("not (a or f(b := 1))", True),
        ("(a := 1) if b else c", True),
        ("a if (b := 1) else c", False),
        ("a < (b := 1)", False),
        ("a < (b := 1) < c", False),
        ("a < b < (c := 1)", True),
        ("[x for x in a if b and (c := x)]", False),
        ("lambda: a and (b := 1)", False),
    ],
)
def test_where_an_operand_binds_lazily(expression, expected):
    assert binds_lazily(ast.parse(expression, mode="eval").body) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "if a and (b := f()): g(b)",
            """
            operand = a
            if operand:
                operand = (b := f())
            if operand:
                g(b)
            """,
        ),
        (
            "return a or (b := 1) or c",
            """
            operand = a
            if not operand:
                operand = (b := 1)
            if not operand:
                operand = c
            return operand
            """,
        ),
        (
            "x = (b := 1) if a else (b := 2)",
            """
            if a:
                operand = (b := 1)
            else:
                operand = (b := 2)
            x = operand
            """,
        ),
        (
            "while a and (b := f()): g(b)",
            """
            operand = a
            if operand:
                operand = (b := f())
            going_on = operand
            while going_on:
                g(b)
                operand = a
                if operand:
                    operand = (b := f())
                going_on = operand
            """,
        ),
        ("x = f(a and (b := 1))", "x = f(a and (b := 1))"),
        ("while (b := f()): g(b)", "while (b := f()): g(b)"),
    ],
)
def test_statements(source, expected):
    def body(text):
        lines = "\n".join(f"    {line}" for line in text.strip("\n").split("\n"))
        return f"def f(a, c):\n{lines}"

    import textwrap

    got = rewritten(body(source), lower_assignment_expressions)
    assert got == normal(body(textwrap.dedent(expected)))


@pytest.mark.parametrize(
    "expression",
    [
        "p(1) and (y := p(2)) and p(3)",
        "p(1) or (y := p(2)) or (y := p(3))",
        "not (p(1) and (y := p(2)))",
        "(y := p(1)) if p(2) else (p(3) and (y := p(4)))",
        "(z := (p(1) and (y := p(2))))",
    ],
)
def test_order_and_values_are_pythons(expression):
    source = f"def f(p):\n    y = z = None\n    x = {expression}\n    return x, y, z"
    made = rewritten(source, lower_assignment_expressions)
    assert made != normal(source)
    results = []
    for values in itertools.product([0, 5], repeat=4):
        outcome = []
        for text in (source, made):
            names = {}
            exec(text, names)
            told = []

            def p(number, told=told):
                told.append(number)
                return values[number - 1]

            outcome.append((names["f"](p), told))
        assert outcome[0] == outcome[1]
        results.append(str(outcome[0]))
    assert len(set(results)) > 2  # the ways differ


def test_branches_of_operands_are_marked():
    node = tree("def f(a):\n    return a and (b := 1)")
    from kinetograph.autograph.passes.build import Namer

    lower_assignment_expressions(node, Namer(node))
    (branch,) = (s for s in node.body if isinstance(s, ast.If))
    assert branch.operands
