"""What statements carry, and which variables may be undefined."""

import ast

import pytest
from tests.autograph.sources import tree

from kinetograph.autograph.passes.carried import Carried


def carried(source, modules=()):
    node = tree("def f(a, n):\n" + "\n".join(f"    {line}" for line in source.split("\n")))
    return Carried(node, frozenset(modules), frozenset())


def states(source, **options):
    """Symbols of the statements in order: needed afterwards, shared, others."""
    found = []
    for state in carried(source, **options).states.values():
        ends = state.needed, state.needed + state.shared
        symbols = state.symbols
        found.append((symbols[: ends[0]], symbols[ends[0] : ends[1]], symbols[ends[1] :]))
    return found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 0\nif a: x = 1\nreturn x", (("x",), (), ())),
        ("x = 0\nif a: x = 1\nreturn n", ((), (), ())),
        ("x = 0\nif a: x = 1\nelse: n = x\nreturn n", (("n",), (), ("x",))),
        ("g = lambda: x\nx = 0\nif a: x = 1\nreturn g()", ((), ("x",), ())),
        ("if a: n.k = 1\nreturn n", (("n.k",), (), ())),
        ("if a: n.append(1)\nreturn a", (("n",), (), ())),
        ("if a:\n    x = []\n    x.append(1)\nreturn a", ((), (), ())),
        ("if a: n += 1\nreturn a", (("n",), (), ())),
        ("while n: n = n - 1", ((), (), ("n",))),
        ("for i in a: n = n + i\nreturn n", (("n",), (), ())),
        ("for i in a: pass\nreturn i", (("i",), (), ())),
        ("for i in a: t = i", ((), (), ())),
        ("global s\nif a: s = 1", (("s",), (), ())),
    ],
)
def test_states(source, expected):
    assert states(source) == [expected]


def test_modules_have_no_state():
    assert states("if a: np.append(a, n)") == [(("np",), (), ())]
    assert states("if a: np.append(a, n)", modules={"np"}) == [((), (), ())]


@pytest.mark.parametrize(
    ("source", "managed"),
    [
        ("if a: x = 1\nreturn x", {"x"}),
        ("x = 0\nif a: x = 1\nreturn x", set()),
        ("if a: x = 1\nelse: x = 2\nreturn x", {"x"}),
        ("for i in a: t = i\nreturn t", {"i", "t"} - {"i"}),
        ("x = 0\nif a: del x\nreturn a", {"x"}),
        ("return x\nx = 1", set()),
    ],
)
def test_managed(source, managed):
    assert carried(source).managed == managed


def test_reads_of_what_may_be_undefined_are_marked():
    found = carried("if a: x = 1\ny = x\nx = 2\nreturn x + y")
    reads = [
        (n.lineno, getattr(n, "unsure", False))
        for n in ast.walk(found.node)
        if isinstance(n, ast.Name) and n.id == "x" and isinstance(n.ctx, ast.Load)
    ]
    assert sorted(reads) == [(3, True), (5, False)]
