"""Variables that only generated functions bind."""

import ast

import pytest
from tests.autograph.sources import normal, tree

from kinetograph.autograph.passes.bindings import bind_first, head_of


def completed(source, own):
    node = tree(source)
    node.local_names = set(own)
    bind_first(node)
    return ast.unparse(node)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def g(): nonlocal x; x = 1", "x = ag__.Undefined('x')"),
        ("x = 0\n    def g(): nonlocal x; x = 1", None),
        ("for x in a: pass\n    def g(): nonlocal x; x = 1", None),
        ("try: pass\n    except E as x: pass\n    def g(): nonlocal x; x = 1", None),
        ("def g():\n        def h(): nonlocal x; x = 1", "x = ag__.Undefined('x')"),
        ("def g():\n        x = 0\n        def h(): nonlocal x; x = 1", None),
        ("nonlocal x\n    def g(): nonlocal x; x = 1", None),
        ("def g(): nonlocal a; a = 1", None),
    ],
)
def test_what_is_missing(body, expected):
    source = f"def f(a):\n    {body}"
    got = completed(source, set() if body.startswith("nonlocal") else {"x"})
    if expected is None:
        assert got == normal(source)
    else:
        assert got == normal(f"def f(a):\n    {expected}\n    {body}")


def test_other_functions_variables_are_not_bound():
    source = "def f(a):\n    def g(): nonlocal x; x = 1"
    assert completed(source, set()) == normal(source)


def test_the_docstring_and_declarations_stay_first():
    body = tree("def f():\n    'text'\n    global g\n    nonlocal n\n    'no docstring'").body
    assert head_of(body) == 3
    source = "def f():\n    'text'\n    def g(): nonlocal x; x = 1"
    assert "'''text'''" in completed(source, {"x"}).split("\n")[1].replace('"""', "'''")


def test_completed_functions_compile():
    source = "def f(a):\n    def g():\n        nonlocal x\n        x = a\n    g()\n    return x"
    with pytest.raises(SyntaxError, match="no binding for nonlocal"):
        compile(source, "<test>", "exec")
    compile(completed(source, {"x"}), "<test>", "exec")
