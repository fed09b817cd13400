"""Private names are mangled as Python does."""

import ast

import pytest
from tests.autograph.sources import normal, tree

from kinetograph.autograph.passes.private_names import mangle_private_names

BODY = """
def f(self, __p, *, __k=1):
    global __g
    self.__a = __p.__b + __g
    __x = other.__dunder__ + _single + __k
    import os as __m, a.__b
    try:
        pass
    except E as __e:
        pass
    match self:
        case P(__c=1) as __t:
            pass
        case [[*__r], {**__s}]:
            pass
    call(__key=1)
    def __inner(__q): return __q
    class Nested:
        __own = 1
        def m(self): return self.__own
    class Based(__Base): pass
"""


def mangled_names(node):
    return {part for part in ast.unparse(node).replace(".", " ").split() if "_T__" in part}


def mangled(source, owner):
    node = tree(source)
    mangle_private_names(node, owner)
    return ast.unparse(node)


@pytest.mark.parametrize(
    ("owner", "name"),
    [("T", "_T__p"), ("_T", "_T__p"), ("__T", "_T__p"), ("___", "__p"), (None, "__p")],
)
def test_the_owner(owner, name):
    assert mangled("def f(): return __p", owner) == normal(f"def f(): return {name}")


def test_all_that_has_a_name():
    text = mangled(BODY, "T")
    for name in (
        "p",
        "k",
        "g",
        "a",
        "b",
        "x",
        "m",
        "e",
        "r",
        "s",
        "t",
        "key",
        "inner",
        "q",
        "Base",
    ):
        assert f"_T__{name}" in text, name
    for name in ("__dunder__", "_single", "__own = 1", "self.__own", "a.__b"):
        assert name in text
    assert "_T__own" not in text
    assert "_T__dunder" not in text


def test_same_names_as_the_compilers():
    """The names that code within the class has, as Python's compiler made them."""
    source = "class T:\n" + "\n".join("    " + line for line in BODY.splitlines())
    made = tree(BODY)
    mangle_private_names(made, "T")

    def code(text, path):
        found = compile(text, "<names>", "exec")
        for name in path:
            found = next(c for c in found.co_consts if getattr(c, "co_name", "") == name)
        return found

    inside, outside = code(source, ["T", "f"]), code(ast.unparse(made), ["f"])
    assert set(inside.co_varnames) == set(outside.co_varnames)
    assert set(inside.co_names) - {"a"} == set(outside.co_names) - {"a"}
