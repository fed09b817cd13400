"""What is refused, and where."""

import ast

import pytest
from tests.autograph.sources import function, normal

import kinetograph as kg
from kinetograph.autograph.passes.unsupported import Unsupported, refuse_unsupported


def refuse(source):
    (node,) = ast.parse(normal(source)).body
    refuse_unsupported(node)


@pytest.mark.parametrize(
    ("source", "text", "line"),
    [
        ("async def f():\n    pass", "async functions are not supported", 1),
        ("def f():\n    x = 1\n    yield x", "generators are not supported", 3),
        ("def f():\n    return (yield from g())", "generators are not supported", 2),
        ("def f():\n try: g()\n finally:\n  return 1", "`return` inside `finally`", 5),
        ("def f():\n while g():\n  try: g()\n  finally: break", "`break` inside `finally`", 6),
        (
            "def f():\n while g():\n  try: g()\n  finally:\n   if h: continue",
            "`continue` inside `finally`",
            7,
        ),
        (
            "def f():\n try: g()\n finally:\n  for i in h:\n   with k: return 1",
            "`return` inside `finally`",
            7,
        ),
        (
            "def f():\n try: g()\n finally:\n  match h:\n   case 1: return 1",
            "`return` inside `finally`",
            7,
        ),
    ],
)
def test_refused(source, text, line):
    with pytest.raises(Unsupported, match=text) as caught:
        refuse(source)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n def g(): yield 1\n return g",
        "def f():\n async def g(): await h()\n return g",
        "def f(): return (x for x in y)",
        "def f(): return lambda: (yield 1)",
        "def f():\n class A:\n  def g(self): yield 1",
        "def f():\n try: return 1\n finally: g()",
        "def f():\n try: g()\n finally:\n  for i in h: break",
        "def f():\n try: g()\n finally:\n  def k(): return 1",
        "def f():\n for i in h:\n  try: break\n  except E: continue\n  else: return 1",
    ],
)
def test_not_refused(source):
    refuse(source)


def test_what_users_see():
    f = function("def f(x):\n    try:\n        return x\n    finally:\n        return 2\n")
    with pytest.warns(kg.AutographWarning, match=r"f .*line 5: `return` inside `finally`"):
        made = kg.autograph.convert(f)
    assert made(1) == 2
    with pytest.raises(kg.ConversionError, match="`return` inside `finally`"):
        kg.autograph.convert(f, strict=True)
    for source, text in (
        ("def g(x):\n    yield x\n", "generators are not supported: collect"),
        ("async def g(x):\n    return x\n", "async functions are not supported"),
        ("async def g(x):\n    yield x\n", "async functions are not supported"),
        ("g = lambda: (yield 1)\n", "generators are not supported"),
    ):
        g = function(source)
        with pytest.raises(kg.ConversionError, match=text):
            kg.autograph.convert(g)
        with pytest.raises(kg.ConversionError, match=text):
            kg.autograph.to_code(g)
