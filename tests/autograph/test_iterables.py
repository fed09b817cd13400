"""What a staged `for` runs over."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.autograph import iterables
from kinetograph.autograph.iterables import Rows, Sequenced, joined, rows_of, shortest
from kinetograph.autograph.operators.builtins import STAGED


class Evens:
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return iter(range(0, 2 * self.count, 2))


class MoreEvens(Evens):
    pass


@pytest.fixture
def _registered(monkeypatch):
    monkeypatch.setattr(iterables, "_REGISTRY", dict(iterables._REGISTRY))
    kg.autograph.register_iterable(Evens, lambda e: Rows(e.count, lambda i: 2 * i))


def test_python_iterables_are_pythons():
    for value in ([1], (1,), range(3), {1: 2}, "text", np.arange(3), iter([1]), 3, None, Evens(2)):
        assert rows_of(value) is None


def test_arrays():
    v = kg.placeholder((4, 2), name="v")
    rows = rows_of(v)
    assert rows.length == 4
    assert rows.xs is v
    i = kg.placeholder(dtype=int, name="i")
    assert rows.at(i).shape == (2,)
    got = kg.compile([v, i], rows.at(i))(np.arange(8.0).reshape(4, 2), 2)
    assert np.array_equal(got, [4, 5])


def test_ranges():
    n = kg.placeholder(dtype=int, name="n")
    assert rows_of(kg.range(3)).length == 3
    assert isinstance(rows_of(kg.range(n)).length, kg.Array)
    f = kg.compile([n], [rows_of(kg.range(2, n, 3)).length, rows_of(kg.range(2, n, 3)).at(n)])
    assert [int(r) for r in f(10)] == [len(range(2, 10, 3)), 2 + 3 * 10]


def test_numbers_are_no_iterables():
    with pytest.raises(TypeError, match=r"iterating over a 0-d array: x \(test_iter.*kg\.range"):
        rows_of(kg.placeholder(name="x"))


@pytest.mark.usefixtures("_registered")
def test_registered_types():
    for kind in (Evens, MoreEvens):
        assert rows_of(kind(3)).length == 3

    def total(x):
        for n in Evens(4):
            if n > x:
                break
            x = x + n
        return x

    f = kg.function(total)
    assert [int(f(x)) for x in (0, 3, 100)] == [total(x) for x in (0, 3, 100)]


def test_registry_of_wrong_things():
    with pytest.raises(TypeError, match="register_iterable: 3 is not a type"):
        kg.autograph.register_iterable(3, Rows)
    with pytest.raises(TypeError, match="rows must be callable, got int"):
        kg.autograph.register_iterable(Evens, 3)


@pytest.mark.usefixtures("_registered")
def test_endless_and_without_early_exit():
    kg.autograph.register_iterable(MoreEvens, lambda e: Rows(None, lambda i: 2 * i))
    kg.autograph.register_iterable(Evens, lambda e: Rows(3, lambda i: i, early_exit=False))

    def endless(x):
        for n in MoreEvens(0):
            x = x + n
        return x

    def first(x):
        for n in MoreEvens(0):
            if n * n > x:
                return n
        return -1

    def leaving(x):
        for n in Evens(3):
            if n > x:
                return n
        return x

    def breaking(x):
        for n in Evens(3):
            if n > x:
                break
        return x

    with pytest.raises(kg.StagingError, match="this `for` never ends"):
        kg.function(endless)(1)
    assert int(kg.function(first)(30)) == 6
    with pytest.raises(NotImplementedError, match="return statement cannot be placed inside this"):
        kg.function(leaving)(1)
    with pytest.raises(NotImplementedError, match="break and return statements are not yet"):
        kg.function(breaking)(1)


@pytest.mark.usefixtures("_registered")
def test_what_is_told_at_the_end():
    taken = []
    kg.autograph.register_iterable(
        Evens, lambda e: Rows(e.count, lambda i: 2 * i, done=taken.append)
    )

    def total(x):
        for n in Evens(4):
            x = x + n
        return x

    assert int(kg.function(total)(1)) == 13
    assert taken == [4]


def test_side_by_side():
    a, b = kg.placeholder(3, name="a"), kg.placeholder((2, 2), name="b")
    rows = joined([rows_of(a), rows_of(b)])
    assert rows.length == 2
    assert [x.shape for x in rows.xs] == [(2,), (2, 2)]
    mixed = joined([rows_of(a), rows_of(kg.range(5))], lambda row: row[0] + row[1])
    assert mixed.length == 3
    assert mixed.xs is None
    i = kg.placeholder(dtype=int, name="i")
    assert float(kg.compile([a, i], mixed.at(i))([1.0, 2.0, 3.0], 2)) == 5.0


def test_shortest():
    n = kg.placeholder(dtype=int, name="n")
    assert shortest([3, None, 2]) == 2
    assert shortest([None]) is None
    f = kg.compile([n], [shortest([3, n]), shortest([n, n + 1, None])])
    assert [int(r) for r in f(2)] == [2, 2]
    assert [int(r) for r in f(7)] == [3, 7]


def test_enumerate_zip_and_map_as_python_has_them():
    v = kg.placeholder(3, name="v")
    for made in (
        STAGED[enumerate](v, 1),
        STAGED[zip](v, v),
        STAGED[map](lambda x: x + 1, v),
        STAGED[zip](v, [1, 2, 3, 4]),
    ):
        assert isinstance(made, Sequenced)
        assert len(made) == len(list(made)) == 3
        assert repr(made).startswith(("enumerate(", "zip(", "map("))
    f = kg.compile([v], [n * x for n, x in STAGED[enumerate](v, 1)])
    assert [float(r) for r in f([5.0, 6.0, 7.0])] == [5.0, 12.0, 21.0]
    with pytest.raises(ValueError, match=r"zip with strict=True.*the lengths are 3, 2"):
        STAGED[zip](v, [1, 2], strict=True)
    with pytest.raises(TypeError, match="is used next to a symbolic iterable"):
        STAGED[zip](v, "abc")
