"""Shuffled datasets: fair orders, new in every pass, equal to plain Python's."""

import itertools
import random

import numpy as np
import pytest
from scipy.stats import chi2
from tests.datasets.reading import collector, compiled, plain
from tests.selection import thinned

import kinetograph as kg

FALSE_ALARM = 1e-7


SHUFFLED = {
    "one pass": (lambda d: d.shuffle(seed=1), 6, ()),
    "passes": (lambda d: d.shuffle(seed=1).repeat(3), 18, ()),
    "endless": (lambda d: d.shuffle(seed=1).repeat(), 20, ()),
    "batches across": (lambda d: d.shuffle(seed=1).repeat().batch(4), 9, (4,)),
    "batches that fit": (lambda d: d.shuffle(seed=1).repeat().batch(3), 9, (3,)),
    "not aligned": (lambda d: d.shuffle(seed=1).repeat().skip(1).batch(3), 9, (3,)),
    "large batches": (lambda d: d.shuffle(seed=1).repeat().batch(14), 5, (14,)),
    "batches within": (lambda d: d.shuffle(seed=1).batch(4).repeat(), 5, (4,)),
    "twice": (lambda d: d.shuffle(seed=2).repeat(3).shuffle(seed=5), 18, ()),
    "batches of batches": (lambda d: d.shuffle(seed=2).batch(2).repeat().batch(2), 7, (2, 2)),
    "cut": (lambda d: d.shuffle(seed=2).take(4).repeat(3).skip(1), 11, ()),
    "endless within": (lambda d: d.shuffle(seed=2).repeat().take(8).repeat(2).batch(5), 3, (5,)),
    "order of batches": (lambda d: d.batch(2).shuffle(seed=3).repeat(2), 6, (2,)),
    "mixed": (lambda d: d.shuffle(seed=3).repeat(2).batch(3).shuffle(seed=4).repeat(3), 12, (3,)),
    "mapped": (lambda d: d.shuffle(seed=1).map(lambda i: 7 * i).batch(2).repeat(), 7, (2,)),
    "zipped": (lambda d: d.shuffle(seed=1).zip(d.shuffle(seed=2)).map(sum).batch(3), 2, (3,)),
}


@pytest.mark.parametrize(
    "name",
    [n if n == "batches across" else pytest.param(n, marks=pytest.mark.slow) for n in SHUFFLED],
)
def test_orders_are_those_of_plain_python(name):
    make, length, shape = SHUFFLED[name]
    one, other = make(kg.Dataset.range(6)), make(kg.Dataset.range(6))
    f = compiled(one, length, shape, early=True)
    first, second = plain(other, length), plain(other, length)
    assert f(0).tolist() == first
    assert f(0).tolist() == second
    assert first != second


@pytest.mark.parametrize("batch", thinned([4, 1], 2))
def test_each_pass_has_every_element_once(batch):
    dataset = kg.Dataset.range(12).shuffle(seed=7).repeat(4).batch(batch)
    f = compiled(dataset, 48 // batch, (batch,))
    passes = np.concatenate([f(0).reshape(4, 12), f(0).reshape(4, 12)])
    assert np.array_equal(np.sort(passes, axis=1), np.tile(np.arange(12), (8, 1)))
    assert len({tuple(p) for p in passes}) == 8


def unfair(counts):
    """Whether the chi-square statistic exceeds its quantile at 1 - FALSE_ALARM."""
    counts = np.asarray(counts)
    expected = counts.sum() / counts.size
    return ((counts - expected) ** 2 / expected).sum() > chi2.isf(FALSE_ALARM, counts.size - 1)


def test_orders_are_equally_likely():
    f = compiled(kg.Dataset.range(4).shuffle(seed=11).repeat(5000), 20_000)
    orders = f(0).reshape(5000, 4)
    places = {p: i for i, p in enumerate(itertools.permutations(range(4)))}
    assert not unfair(np.bincount([places[tuple(o)] for o in orders.tolist()], minlength=24))
    assert not unfair(np.bincount(orders[:, 0], minlength=4))
    follows = np.bincount(4 * orders[:-1, 0] + orders[1:, 0], minlength=16)
    assert not unfair(follows)  # passes are independent


def test_orders_of_orders_are_equally_likely():
    mixed = compiled(kg.Dataset.range(4).shuffle(seed=11).repeat(2000).shuffle(seed=12), 8000)(0)
    assert np.bincount(mixed).tolist() == [2000] * 4
    assert not unfair(np.bincount(4 * mixed[:-1:2] + mixed[1::2], minlength=16))


def test_the_chi_square_test_can_fail():
    """Swapping each place with any place, a well-known mistake, prefers some orders."""
    rng, counts = random.Random(1), dict.fromkeys(itertools.permutations(range(4)), 0)
    for _ in range(5000):
        order = list(range(4))
        for i in range(4):
            j = rng.randrange(4)
            order[i], order[j] = order[j], order[i]
        counts[tuple(order)] += 1
    assert unfair(list(counts.values()))


def test_calls_and_loops_have_orders_of_their_own():
    dataset = kg.Dataset.range(20).shuffle(seed=1)

    @kg.function
    def twice(x):
        one, other = kg.data(np.zeros(20, int)), kg.data(np.zeros(20, int))
        n = 0
        for e in dataset:
            one = one.at[n].set(e + x)
            n += 1
        n = 0
        for e in dataset:
            other = other.at[n].set(e + x)
            n += 1
        return one, other

    orders = {tuple(o) for _ in range(3) for o in twice(0)}
    assert len(orders) == 6


def test_streams_decide_the_order():
    streams = kg.RandomStreams(5)
    dataset = kg.Dataset.range(50).shuffle(streams)
    f = compiled(dataset, 50)
    first, second = f(0).tolist(), f(0).tolist()
    streams.seed(f, 5)
    assert f(0).tolist() == first != second
    saved = streams.getstate(f)
    third = f(0).tolist()
    streams.setstate(f, saved)
    assert f(0).tolist() == third
    streams.seed(f, 6)
    assert f(0).tolist() != first
    same = kg.Dataset.range(50).shuffle(seed=5)
    assert plain(same) == first
    assert plain(kg.Dataset.range(50).shuffle(streams)) != first  # another member of the streams


def test_shuffled_data_in_a_loop_of_the_graph():
    dataset = kg.Dataset.range(8).shuffle(seed=2)

    @kg.function
    def epochs(n):
        out, place = kg.data(np.zeros((3, 8), int)), 0
        for epoch in kg.range(n):
            place = 0
            for e in dataset:
                out = out.at[epoch, place].set(e)
                place += 1
        return out

    orders = epochs(3)
    assert orders.tolist() == [plain(dataset) for _ in range(3)]


def test_rows_of_a_batch_of_graphs():
    dataset = kg.Dataset.range(6).shuffle(seed=4).repeat().take(15).batch(4)
    x = kg.placeholder((5,), "int64", name="x")
    result = kg.vmap(kg.autograph.convert(collector(dataset, 3, (4,), early=True)))(x)
    orders = kg.compile([x], result)(np.zeros(5, int)).reshape(5, 12)
    assert len({tuple(o) for o in orders}) == 5
    for halves in orders.reshape(5, 2, 6):
        assert np.array_equal(np.sort(halves, axis=1), np.tile(np.arange(6), (2, 1)))
