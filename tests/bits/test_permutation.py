"""Keyed permutations: each number once, all orders alike, no place that needs another one."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chi2

from kinetograph.bits.draws import chain_key, words
from kinetograph.bits.permutation import permuted, rounds
from kinetograph.graph.precision import x64

KEY = np.asarray(chain_key(4, 0))


def order(event, places, count):
    many = np.arange(rounds(count) // 4)
    return permuted(jnp.concatenate(words(KEY, event, 1, many)), places, count)


def orders(events: int, count: int, places: int | None = None) -> np.ndarray:
    at = np.arange(count if places is None else places)
    with x64():
        return np.asarray(jax.jit(jax.vmap(lambda e: order(e, at, count)))(np.arange(events)))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 16, 97, 1000, 46_341])
def test_each_number_once(count):
    for row in orders(3, count):
        np.testing.assert_array_equal(np.sort(row), np.arange(count))


def test_a_place_alone():
    """A number is the same whichever other places are computed, up to 2**31 of them."""
    with x64():
        all_numbers = np.asarray(order(5, np.arange(1000), 1000))
        np.testing.assert_array_equal(order(5, np.array([700, 3]), 1000), all_numbers[[700, 3]])
        far = np.asarray(order(5, np.arange(2**31 - 64, 2**31, dtype=np.uint32), 2**31))
    assert len(np.unique(far)) == 64
    assert far.max() < 2**31


@pytest.mark.parametrize("count", [3, 4, 5])
def test_all_orders_are_equally_likely(count):
    """The chi-squared statistic of all n! orders in 40,000 events, below its 1 - 1e-7 quantile."""
    many = 40_000
    codes = orders(many, count) @ count ** np.arange(count)
    seen = np.unique(codes, return_counts=True)[1]
    expected, kinds = many / math.factorial(count), math.factorial(count)
    assert len(seen) == kinds
    assert np.sum((seen - expected) ** 2) / expected < chi2(kinds - 1).ppf(1 - 1e-7)


@pytest.mark.parametrize("count", [12, 300])
def test_pairs_of_places_are_equally_likely(count):
    """Of two neighbouring places: all pairs of numbers, in cells of a third of the range each."""
    many, parts = 40_000, 3
    cells = orders(many, count, 2) * parts // count
    seen = np.bincount(cells @ [parts, 1], minlength=parts**2).reshape(parts, parts)
    size = count // parts
    chance = np.full((parts, parts), size * size / count / (count - 1))
    np.fill_diagonal(chance, size * (size - 1) / count / (count - 1))
    assert np.sum((seen - many * chance) ** 2 / (many * chance)) < chi2(8).ppf(1 - 1e-7)
