"""Assignments of items."""

import ast

import pytest
from tests.autograph.sources import function, normal, rewritten

import kinetograph as kg
from kinetograph.autograph.passes.items import OPERATORS_IN_PLACE, lower_items


def lower(node, namer):
    node.body = lower_items(node.body, {"x", "a", "i"}, namer)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x[i] = v", "x = ag__.assign_item(v, x, i)"),
        ("x[i][j] = v", "x = ag__.assign_item(v, x, i, j)"),
        ("x[1:, ...] = v", "x = ag__.assign_item(v, x, (S(1, None, None), ...))"),
        ("x[::2] = v", "x = ag__.assign_item(v, x, S(None, None, 2))"),
        ("x[:] = v", "x = ag__.assign_item(v, x, S(None, None, None))"),
        ("x[i] += v", "x = ag__.update_item('+=', ag__.item(x, i), v)"),
        ("x[i][j] **= v", "x = ag__.update_item('**=', ag__.item(x, i, j), v)"),
        ("o.x[i] = v", "ag__.assign_item_of(v, o, 'x', i)"),
        ("o.p.x[i] -= v", "ag__.update_item_of('-=', ag__.item_of(o.p, 'x', i), v)"),
        ("other[i] = v", "ag__.assign_item_in(v, other, i)"),
        ("g()[i] @= v", "ag__.update_item_in('@=', ag__.item(g(), i), v)"),
        ("y = x[i] = v", "value = v\ny = value\nitem = value\nx = ag__.assign_item(item, x, i)"),
        ("y, x[i] = v", "y, item = v\nx = ag__.assign_item(item, x, i)"),
        ("x[i], i = v", "item, item_1 = v\nx = ag__.assign_item(item, x, i)\ni = item_1"),
        ("[*x[0]], y = v", "[*item], item_1 = v\nx = ag__.assign_item(item, x, 0)\ny = item_1"),
        ("y, z = v", "y, z = v"),
        ("x += v", "x += v"),
        ("o.x = v", "o.x = v"),
        ("def g(): x[i] = v", "def g(): x[i] = v"),
        ("class A: x[i] = v", "class A: x[i] = v"),
        ("with c:\n     x[i] = v", "with c:\n     x = ag__.assign_item(v, x, i)"),
    ],
)
def test_forms(source, expected):
    lines = "\n".join("    " + line for line in expected.replace("S(", "ag__.slice(").split("\n"))
    assert rewritten(f"def f():\n    {source}", lower) == normal(f"def f():\n{lines}")


def test_every_operator():
    assert set(OPERATORS_IN_PLACE) == set(ast.operator.__subclasses__())
    for kind, word in OPERATORS_IN_PLACE.items():
        assert isinstance(ast.parse(f"x {word} 1").body[0].op, kind)


@pytest.mark.parametrize(
    "body",
    [
        "x[i], x[j] = x[j], x[i]",
        "x[i], i = 7, 2",
        "i, x[i] = 2, 7",
        "x[0] += called()",
        "x[i := 1] += i",
        "x[i] = i = 2",
        "x[0], *x[1], i = 1, 2, 3, 4",
        "x[called()] = called()",
        "x[called()] -= called()",
        "x[1:] = [4]",
        "x[1:] += [4]",
        "nested[0][1] *= 3",
        "nested[0], (x, nested[1][0]) = [1], ([2], 3)",
        "nested[0] += [1]",
        "table['k'] = table['j'] = 2",
        "box.v[0], box.v = 1, [3]",
    ],
)
def test_same_as_python(body):
    """What is evaluated, and in which order."""
    source = f"""
    def f():
        class box: v = [5, 6]
        x, i, j, nested, table, told = [1, 2, 3], 0, 1, [[1, 2], [3]], {{'k': 1}}, []
        alias, inner = x, nested[0]
        def called():
            told.append(x[:])
            x[0] = 10 * x[0]
            return len(told)
        {body}
        return x, i, nested, table, told, box.v, alias, inner
    """
    f = function(source)
    assert kg.autograph.convert(f, fast=False)() == f()
