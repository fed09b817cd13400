"""Statements that speak to the converter."""

import ast

import pytest
from tests.autograph.sources import function, normal, tree

import kinetograph as kg
from kinetograph.autograph.passes.directives import OPTIONS, read_directives

KNOWN = {"options": "options", "element_type": "types", "kg.options": "options"}


def read(source):
    node = tree(source)
    read_directives(node, lambda e: KNOWN.get(ast.unparse(e)), "options", "types")
    return node


@pytest.mark.parametrize("head", ["while t:", "for i in r:"])
def test_options_go_to_the_loop(head):
    node = read(f"def f():\n {head}\n  kg.options(maximum_iterations=3, name='l')\n  g()")
    loop = node.body[0]
    assert {k.arg: ast.unparse(k.value) for k in loop.options} == {
        "maximum_iterations": "3",
        "name": "'l'",
    }
    assert ast.unparse(node) == normal(f"def f():\n {head}\n  g()")


def test_options_of_nested_loops_and_empty_ones():
    node = read("def f():\n while a:\n  options(grad='stop')\n  for i in r:\n   options(name='x')")
    outer = node.body[0]
    (inner,) = outer.body
    assert [k.arg for k in outer.options] == ["grad"]
    assert [k.arg for k in inner.options] == ["name"]
    assert ast.unparse(inner.body) == "pass"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("def f():\n options()", "must be used inside a statement"),
        ("def f():\n while t:\n  g()\n  options()", r"must be the first statement .*:4"),
        ("def f():\n while t:\n  if u: options()", "must be the first statement"),
        ("def f():\n while t: options(3)", r"keywords only \(:2\)"),
        ("def f():\n while t: options(speed=3)", "unknown option 'speed'.*maximum_iterations"),
        ("def f():\n while t: options(**d)", "unknown option None"),
        ("def f():\n element_type()", "first argument must be the variable"),
        ("def f():\n element_type(a.b)", r"first argument must be the variable.*:2"),
    ],
)
def test_misuse(source, text):
    with pytest.raises(ValueError, match=text):
        read(source)


def test_typed_lists():
    node = read("def f():\n l = []\n element_type(l, int, capacity=3)")
    assert ast.unparse(node.body[1]) == "l = ag__.typed_list(l, int, capacity=3)"
    assert node.body[1].lineno == 3


def test_the_options_are_those_of_the_function():
    import inspect

    assert set(OPTIONS) == set(inspect.signature(kg.autograph.set_loop_options).parameters)


@pytest.mark.parametrize(
    "name", ["kg.autograph.set_loop_options", "autograph.set_loop_options", "set_loop_options", "o"]
)
def test_under_any_name(name):
    """Told by the object, not by how it is called."""
    f = function(
        f"def f(x):\n    while x > 0:\n        {name}(maximum_iterations=5)\n        x = x - 1\n"
        "    return x\n",
        kg=kg,
        autograph=kg.autograph,
        set_loop_options=kg.autograph.set_loop_options,
        o=kg.autograph.set_loop_options,
    )
    assert "maximum_iterations=5)" in kg.autograph.to_code(f)
    assert "set_loop_options" not in kg.autograph.to_code(f)


def test_another_function_of_this_name():
    told = []
    f = function(
        "def f(x):\n    while x > 0:\n        set_loop_options(x)\n        x = x - 1\n",
        set_loop_options=told.append,
    )
    kg.autograph.convert(f, fast=False)(2)
    assert told == [2, 1]


def test_without_conversion_they_do_nothing():
    values = [1]
    assert kg.autograph.set_element_type(values, int, capacity=3) is None
    assert kg.autograph.set_loop_options(maximum_iterations=3) is None
    assert values == [1]
