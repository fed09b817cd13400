"""Markov chains: densities of paths written out, and frequencies of draws."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats
from tests.distributions.drawing import draw

import kinetograph as kg

FIRST = np.array([0.2, 0.8])
MOVES = np.array([[0.9, 0.1], [0.4, 0.6]])


def probability(path):
    steps = [MOVES[a, b] for a, b in pairwise(path)]
    return FIRST[path[0]] * np.prod(steps)


def test_the_density_of_a_path_is_the_product_of_its_steps():
    paths = np.array(list(product(range(2), repeat=4)))
    term = kg.log_density(kg.markov_chain(FIRST, MOVES, 4), paths)
    found = kg.compile([], term)()
    np.testing.assert_allclose(found, np.log([probability(p) for p in paths]), rtol=1e-12)
    assert np.exp(found).sum() == pytest.approx(1, rel=1e-12)


def test_one_state_is_that_of_the_start():
    z = kg.markov_chain([FIRST, FIRST[::-1]], MOVES, 1)
    assert z.shape == (2, 1)
    found = kg.compile([], kg.log_density(z, [[0], [0]]))()
    np.testing.assert_allclose(found, np.log([0.2, 0.8]), rtol=1e-12)


def test_draws_have_the_frequencies_of_paths():
    z = kg.markov_chain(FIRST, MOVES, 3, shape=(6000, 3), name="z")
    drawn = np.asarray(kg.calculate(z, draws=1, seed=1)["z"]).reshape(-1, 3)
    paths = list(product(range(2), repeat=3))
    counts = [(drawn == p).all(-1).sum() for p in paths]
    expected = 6000 * np.array([probability(p) for p in paths])
    assert stats.chisquare(counts, expected).pvalue > 1e-7
    assert stats.chisquare(counts, expected[::-1]).pvalue < 1e-7


def test_steps_that_are_impossible():
    moves = kg.data(np.array([[1.0, 0.0], [0.5, 0.5]]))
    term = kg.log_density(kg.markov_chain([1.0, 0.0], moves, 3), [[0, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(kg.compile([], term)(), [0.0, -np.inf])


def test_slopes_beside_impossible_steps():
    """Steps of probability 0 in both of two mixed matrices: the slope by the weight is exact."""
    one = np.array([[0.5, 0.5, 0.0], [0.0, 0.7, 0.3], [0.0, 0.0, 1.0]])
    other = np.array([[0.9, 0.1, 0.0], [0.0, 0.2, 0.8], [0.0, 0.0, 1.0]])
    w = kg.placeholder(name="w")
    start = w * np.array([1.0, 0.0, 0.0]) + (1 - w) * np.array([0.4, 0.6, 0.0])
    chain = kg.markov_chain(start, w * one + (1 - w) * other, 4)
    path = [0, 0, 1, 2]
    term = kg.log_density(chain, path)
    value, slope = kg.compile([w], [term, kg.gradients(term, w)])(0.25)
    pairs = [(1.0, 0.4), *((one[step], other[step]) for step in pairwise(path))]
    mixed = np.array([0.25 * a + 0.75 * b for a, b in pairs])
    assert float(value) == pytest.approx(np.log(mixed).sum(), rel=1e-12)
    assert float(slope) == pytest.approx(sum([a - b for a, b in pairs] / mixed), rel=1e-12)


@pytest.mark.parametrize("share", [0.25, 1.0, 4.0])
def test_rows_are_weights_of_any_sum(share):
    """A row whose sum is not 1, also by rounding, has its own proportions in draws."""
    law = draw("markov_chain", FIRST, MOVES, shape=(4000, 3))
    drawn = draw("markov_chain", share * FIRST, share * MOVES, shape=(4000, 3))
    np.testing.assert_array_equal(drawn, law)
    frequencies = [(law == p).all(-1).sum() for p in product(range(2), repeat=3)]
    expected = [4000 * probability(p) for p in product(range(2), repeat=3)]
    assert stats.chisquare(frequencies, expected).pvalue > 1e-7


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: kg.markov_chain(FIRST, MOVES, 0), TypeError, "length must be a whole number"),
        (lambda: kg.markov_chain(MOVES, FIRST, 4), kg.ShapeError, "is initial, transition"),
        (lambda: kg.markov_chain(FIRST, FIRST, 4), kg.ShapeError, r"got shape \(2,\) \(.*\)$"),
        (lambda: kg.markov_chain(FIRST, np.eye(3), 4), kg.ShapeError, "2 rows and columns"),
        (lambda: kg.markov_chain([0.5, 0.6], MOVES, 4), ValueError, "initial must be"),
        (lambda: kg.markov_chain(FIRST, MOVES * 2, 4), ValueError, "transition must be"),
    ],
)
def test_what_is_no_chain(make, error, text):
    with pytest.raises(error, match=text):
        make()
