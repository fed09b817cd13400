"""`kg.Dataset`: equal elements in plain Python, converted code and compiled code."""

import random
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
from tests.datasets.reading import compiled, plain
from tests.selection import thinned

import kinetograph as kg

Pair = namedtuple("Pair", "x y")


@dataclass
class Rows:
    x: object
    y: object


X = np.arange(12.0).reshape(6, 2)
Y = np.arange(6) * 10


# Structures ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arrays", "read"),
    [
        (X, lambda e: e),
        ((X, Y), lambda e: e[0] * e[1]),
        ({"x": X, "y": Y}, lambda e: e["x"] * e["y"]),
        (Pair(X, Y), lambda e: e.x * e.y),
        (Rows(X, Y), lambda e: e.x * e.y),
        ({"p": (X, Y)}, lambda e: e["p"][0] * e["p"][1]),
        ([[1.0, 2.0], [3.0, 5.0]], lambda e: e),
        ((kg.data(X), Y), lambda e: e[0] * e[1]),
    ],
    ids=["array", "tuple", "dict", "named tuple", "dataclass", "nested", "list", "kg.data"],
)
@pytest.mark.parametrize("batched", thinned([False, True], 2))
def test_elements_have_the_structure_of_the_arrays(arrays, read, batched):
    dataset = kg.Dataset(arrays).batch(2) if batched else kg.Dataset(arrays)
    if batched:
        read_whole, read = read, lambda e: batch_read(read_whole, e)

    def total(s):
        for element in dataset:
            s = 2 * s + read(element)
        return s

    start = np.zeros(2)
    expected = total(start.copy())
    np.testing.assert_allclose(kg.function(total)(start), expected, rtol=1e-13)
    converted = kg.autograph.convert(total)(start)
    np.testing.assert_allclose(kg.compile([], converted)(), expected, rtol=1e-13)
    assert np.abs(expected).max() > 0


def batch_read(read, batch):
    """The sum of the elements of a batch of two."""

    def row(value, i):
        if isinstance(value, dict):
            return {k: row(v, i) for k, v in value.items()}
        if isinstance(value, Rows):
            return Rows(row(value.x, i), row(value.y, i))
        if isinstance(value, tuple):
            parts = [row(v, i) for v in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return value[i]

    return read(row(batch, 0)) + read(row(batch, 1))


def test_plain_elements_are_rows_with_the_structure():
    (first, *_) = kg.Dataset(Rows(X, Y))
    assert isinstance(first, Rows)
    assert first.x.tolist() == [0.0, 1.0]
    assert int(first.y) == 0
    (batch, *_) = kg.Dataset({"x": X}).batch(4)
    assert batch["x"].tolist() == X[:4].tolist()


def test_symbolic_arrays():
    def total(x, y):
        s = 0.0
        for row, v in kg.Dataset((x, y)).skip(1).batch(2):
            s = s + (row[:, 0] * v).sum() * row[0, 1]
        return s

    expected = total(X, Y)
    assert float(kg.function(total)(X, Y)) == pytest.approx(float(expected), rel=1e-13)
    x = kg.placeholder((3,), name="x")
    with pytest.raises(kg.SymbolicTruthError, match=r"holds x.*test_dataset.py.*kg.function"):
        list(kg.Dataset(x))


# The order of operations --------------------------------------------------------------------------


# Each step on lists, according to its definition.
STEPS = {
    "batch": lambda v, n: [v[i : i + n] for i in range(0, len(v) - n + 1, n)],
    "repeat": lambda v, n: v * n,
    "take": lambda v, n: v[:n],
    "skip": lambda v, n: v[n:],
    "map": lambda v, n: [square_plus(e, n) for e in v],
}


def square_plus(e, n):
    return [square_plus(i, n) for i in e] if isinstance(e, list) else e * e + n


def apply(dataset, step, n):
    if step == "map":
        return dataset.map(lambda e: e * e + n)
    return getattr(dataset, step)(n)


def chains(count):
    """Random chains of steps that keep some elements."""
    rng = random.Random(20211121)
    while count:
        values, chain, depth = list(range(rng.randint(3, 7))), [], 0
        chain.append(len(values))
        for _ in range(rng.randint(1, 5)):
            step, n = rng.choice(list(STEPS)), rng.randint(1, 3)
            after = STEPS[step](values, n)
            if not after or len(after) > 40 or (step == "batch" and depth == 2):
                continue
            depth += step == "batch"
            values = after
            chain.append((step, n))
        if len(chain) > 2:
            count -= 1
            yield tuple(chain), values


@pytest.mark.parametrize(("chain", "expected"), thinned(chains(16), 4), ids=str)
@pytest.mark.parametrize("early", [False, True])
def test_chains_are_those_of_lists(chain, expected, early):
    dataset = kg.Dataset.range(chain[0])
    for step, n in chain[1:]:
        dataset = apply(dataset, step, n)
    assert len(dataset) == len(expected)
    assert plain(dataset) == expected
    shape = np.asarray(expected).shape[1:]
    assert compiled(dataset, len(expected), shape, early)(0).tolist() == expected


def test_batches_across_the_end_of_a_pass():
    crossing = kg.Dataset.range(3).repeat(2).batch(2)
    within = kg.Dataset.range(3).batch(2).repeat(2)
    assert plain(crossing) == [[0, 1], [2, 0], [1, 2]]
    assert plain(within) == [[0, 1], [0, 1]]
    assert compiled(crossing, 3, (2,))(0).tolist() == plain(crossing)
    assert compiled(within, 2, (2,))(0).tolist() == plain(within)


@pytest.mark.parametrize("bounds", [(5,), (2, 9), (9, 2, -3), (0, 7, 2), (3, 3)])
def test_range(bounds):
    dataset = kg.Dataset.range(*bounds)
    expected = list(range(*bounds))
    assert plain(dataset) == expected
    assert len(dataset) == len(expected)
    assert compiled(dataset, 4, early=True)(0).tolist()[: len(expected)] == expected[:4]
    assert all(isinstance(i, np.int64) for i in dataset)


def test_enumerate_and_zip():
    letters = kg.Dataset.range(10, 14)
    pairs = letters.repeat(2).enumerate(start=1).zip(kg.Dataset.range(20, 26), letters.repeat())
    expected = list(zip(enumerate([*range(10, 14)] * 2, 1), range(20, 26), [*range(10, 14)] * 2))
    assert [((int(i), int(a)), int(b), int(c)) for (i, a), b, c in pairs] == expected

    @kg.function
    def weighted(x):
        for (i, a), b, c in pairs:
            x = 3 * x + i * a + b - c
        return x

    total = 0
    for (i, a), b, c in expected:
        total = 3 * total + i * a + b - c
    assert int(weighted(0)) == total


def test_built_in_functions_of_converted_code():
    dataset = kg.Dataset.range(3, 7)

    def f(x):
        for i, e in enumerate(dataset):
            x = 2 * x + i * e
        for e, y in zip(dataset, kg.data([1, 2])):
            x = 2 * x + e * y
        for e in map(lambda v: v * v, dataset):
            x = 2 * x + e
        return x + len(dataset)

    x = 0
    for i, e in enumerate(range(3, 7)):
        x = 2 * x + i * e
    for e, y in zip(range(3, 7), [1, 2]):
        x = 2 * x + e * y
    for e in range(3, 7):
        x = 2 * x + e * e
    assert int(kg.function(f)(0)) == x + 4


def test_lengths_and_truth():
    endless = kg.Dataset.range(3).repeat()
    with pytest.raises(TypeError, match=r"without end.*has no length.*test_dataset.py"):
        len(endless)
    assert len(endless.take(7)) == 7
    assert endless
    assert not kg.Dataset.range(0)
    assert len(kg.Dataset.range(3).repeat(0)) == 0 == len(kg.Dataset.range(3).skip(5))
    assert len(endless.repeat(0)) == 0
    assert plain(endless.skip(1).take(4)) == [1, 2, 0, 1]
    assert repr(endless) == "<kinetograph.Dataset without end>"


def test_map_draws_anew_for_each_element():
    noisy = kg.Dataset.range(4).map(lambda i: i + kg.random.uniform()).batch(2)

    @kg.function
    def f(x):
        out, n = kg.data(np.zeros((2, 2))), 0
        for batch in noisy:
            out = out.at[n].set(batch)
            n += 1
        return out

    first, second = f(0), f(0)
    parts = np.concatenate([first.ravel(), second.ravel()]) % 1
    assert len(set(parts)) == 8
    assert np.floor(first).tolist() == [[0, 1], [2, 3]]


# Mistakes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda d: kg.Dataset({"x": X, "y": Y[:4]}), kg.ShapeError, "'x'. has 6, .*'y'. has 4"),
        (lambda d: kg.Dataset((X, 3.0)), kg.ShapeError, r"arrays\[1\] is a single number \(0-d"),
        (lambda d: kg.Dataset(()), ValueError, "expected an array"),
        (lambda d: kg.Dataset(np.array(["a"])), kg.DataError, "not numbers"),
        (lambda d: kg.Dataset([1.0, np.nan]), kg.DataError, "nan at index 1"),
        (lambda d: d.batch(0), ValueError, "size must be positive, got 0"),
        (lambda d: d.batch(2.0), TypeError, "size must be a Python whole number, got 2.0"),
        (lambda d: d.batch(True), TypeError, "got True"),
        (lambda d: d.batch(kg.data(2)), TypeError, "size must be a Python whole number"),
        (lambda d: d.batch(7), ValueError, "size 7 is larger than the dataset, which has 6"),
        (lambda d: d.batch(4, drop_remainder=False), ValueError, "1 batches of 4 and 2 elements"),
        (lambda d: d.take(-1), ValueError, "n must be not negative, got -1"),
        (lambda d: d.skip(-1), ValueError, "n must be not negative, got -1"),
        (lambda d: d.repeat(-1), ValueError, "count must be not negative, got -1"),
        (lambda d: d.take(0).repeat(), ValueError, "has no elements"),
        (lambda d: d.repeat().shuffle(), ValueError, "has no end"),
        (lambda d: d.shuffle(kg.random, seed=1), ValueError, "streams or seed, not both"),
        (lambda d: d.shuffle(3), TypeError, "must be kg.RandomStreams, got int"),
        (lambda d: d.map(3), TypeError, "f must be callable, got int"),
        (lambda d: d.zip([1, 2]), TypeError, "expected datasets, got list"),
        (lambda d: kg.Dataset.range(2.5), TypeError, "bound must be a Python whole number"),
    ],
)
def test_mistakes(make, error, text):
    with pytest.raises(error, match=f"(?s){text}") as raised:
        make(kg.Dataset.range(6))
    assert "test_dataset.py:" in str(raised.value)


def test_batches_that_fit_may_keep_the_remainder():
    assert plain(kg.Dataset.range(4).batch(2, drop_remainder=False)) == [[0, 1], [2, 3]]
