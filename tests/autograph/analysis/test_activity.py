"""What code reads, binds, removes and mutates."""

import ast

import pytest
from tests.autograph.sources import normal

from kinetograph.autograph.analysis.activity import activity, path_of, root, without_items


def found(source):
    return activity(ast.parse(normal(source)).body)


@pytest.mark.parametrize(
    ("source", "reads", "binds"),
    [
        ("x = y", "y", "x"),
        ("x += y", "x y", "x"),
        ("x: int = y", "int y", "x"),
        ("a, (b, *c) = d", "d", "a b c"),
        ("a = b = c", "c", "a b"),
        ("x = a.b.c", "a a.b a.b.c", "x"),
        ("a.b = x", "a x", "a.b"),
        ("a.b += x", "a a.b x", "a.b"),
        ("a.b.c = 1", "a a.b", "a.b.c"),
        ("f().b = x", "f x", ""),
        ("x[i] = y", "x i y", ""),
        ("(x := y)", "y", "x"),
        ("for i in n: s = i", "n i", "i s"),
        ("with a as b, c: pass", "a c", "b"),
        ("import a.b, c as d", "", "a d"),
        ("from a import b as c, e", "", "c e"),
        ("try: f()\nexcept E as e: pass", "f E", "e"),
        ("match s:\n case [a, *b, {'k': c, **d}] as e: pass", "s", "a b c d e"),
        ("match s:\n case P(x=1, y=z) | _: pass", "s P", "z"),
        ("match s:\n case A.B: pass", "s A A.B", ""),
        ("type T = list[x]", "list x", "T"),
        ("type T[U] = dict[U, x]", "dict x", "T"),
        ("def f[U](x: U, *y: V, z: W = d, **k: K) -> R: return x", "V W K R d", "f"),
        ("f'{x:{w}}'", "x w", ""),
        ("lambda x, y=d: x + z", "d z", ""),
        ("def f(x, y=d): return x + z", "d z", "f"),
        ("async def f(): return z", "z", "f"),
        ("@d\ndef f(): pass", "d", "f"),
        ("class A(B, m=C):\n x = y\n z = x", "B C y", "A"),
        ("[x for x in xs if x > t]", "xs t", ""),
        ("[x + y for x in xs for y in x.ys]", "xs", ""),
        ("{k: v + w for k, v in d}", "d w", ""),
        ("[(last := x) for x in xs]", "xs", "last"),
        ("[[y for y in x] for x in xs]", "xs", ""),
        ("x = [x for x in x]", "x", "x"),
    ],
)
def test_reads_and_binds(source, reads, binds):
    got = found(source)
    assert got.reads == set(reads.split())
    assert got.binds == set(binds.split())


@pytest.mark.parametrize(
    ("source", "removes"),
    [("del x", "x"), ("del x, y", "x y"), ("try: f()\nexcept E as e: pass", "e")],
)
def test_removes(source, removes):
    assert found(source).removes == set(removes.split())


@pytest.mark.parametrize(
    ("source", "mutates"),
    [
        ("x.append(1)", "x"),
        ("a.b.extend(y)", "a.b"),
        ("x[0].append(1)", "x"),
        ("x[i] = 1", "x"),
        ("x[i][j] += 1", "x"),
        ("a.x[i] = 1", "a.x"),
        ("del x[i]", "x"),
        ("x.count(1)", ""),
        ("x[0]", ""),
        ("f().append(1)", ""),
        ("g = lambda: x.pop()", "x"),
        ("g = lambda x: x.pop()", ""),
        ("[x.add(y) for y in z]", "x"),
        ("[y.add(1) for y in z]", ""),
    ],
)
def test_mutates(source, mutates):
    assert found(source).mutates == set(mutates.split())


def test_functions_around():
    got = found(
        """
        def f(p):
            nonlocal a
            a = p
            def g():
                nonlocal b, p
                b = p = c
            return g
        """
    )
    assert got.rebound == {"a", "b"}
    assert got.captured == {"a", "b", "c"}
    assert got.binds == {"f"}
    assert not got.calls
    assert "a" not in got.modifies
    called = found("def f():\n nonlocal a\n a = 1\nf()")
    assert called.calls
    assert called.modifies == {"f", "a"}


def test_declarations():
    got = found("global a, b\na = 1\nnonlocal_ = 2")
    assert got.globals == {"a", "b"}
    assert got.binds == {"a", "nonlocal_"}


def test_names_of_inner_functions_are_theirs():
    got = found("def f(x):\n y = x\n return y + z")
    assert got.reads == {"z"}
    assert got.captured == {"z"}


def test_union():
    one, two = found("x = y"), found("f(a)\ndel b")
    one.include(two)
    assert (one.reads, one.binds, one.removes, one.calls) == (
        {"y", "f", "a", "b"},
        {"x"},
        {"b"},
        True,
    )


def test_symbols():
    node = ast.parse("a.b.c", mode="eval").body
    assert path_of(node) == "a.b.c"
    assert path_of(ast.parse("f().b", mode="eval").body) is None
    assert path_of(ast.parse("a[0].b", mode="eval").body) is None
    assert root("a.b.c") == "a"
    inner = without_items(ast.parse("a.b[0][i]", mode="eval").body)
    assert path_of(inner) == "a.b"
