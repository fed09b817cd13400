"""The text that arrays print."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.value_texts import in_words, value_text

CASES = {
    "a normal": (
        lambda: kg.normal(0, 1, shape=3),
        "<variable following a normal distribution, shape (3,)>",
    ),
    "with a name": (
        lambda: kg.exponential(1, name="wait"),
        "<'wait', variable following an exponential distribution, a number>",
    ),
    "truncated": (
        lambda: kg.normal(0, 1, truncation=(0, None)),
        "<variable following a normal distribution truncated below, a number>",
    ),
    "a mixture": (
        lambda: kg.mixture(kg.normal(0, 1), kg.normal(5, 1), weights=[1, 1]),
        "<variable following a mixture distribution, a number>",
    ),
    "flat": (lambda: kg.variable(lower=0, shape=(2, 3)), "<variable, shape (2, 3)>"),
    "data": (
        lambda: kg.data([1.0, 2.5], name="y"),
        "<data 'y', shape (2,), float64>\n[1.  2.5]",
    ),
    "whole numbers": (lambda: kg.data([[1, 2]]), "<data shape (1, 2), int64>\n[[1 2]]"),
    "many numbers": (
        lambda: kg.data(np.arange(100)),
        "<data shape (100,), int64>\n[ 0  1  2 ... 97 98 99]",
    ),
    "a placeholder": (
        lambda: kg.placeholder((2,), name="x"),
        "<placeholder 'x', shape (2,), float64>",
    ),
    "computed": (
        lambda: 2 * kg.normal(0, 1, name="mu") + 1,
        "<operation 2 * mu + 1, a number, float64>",
    ),
    "a comparison": (
        lambda: kg.normal(0, 1, name="mu", shape=2) > 0,
        "<operation mu > 0, shape (2,), bool>",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_array_says_what_it_is(name):
    make, text = CASES[name]
    assert repr(make()) == text


def example():
    """A function, for a message."""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (3, "the number 3"),
        (np.float64(2.5), "the number 2.5"),
        ("mu", "the text 'mu'"),
        (np.zeros((2, 3)), "a NumPy array of shape (2, 3)"),
        ([1.0], "a list"),
        ({}, "a dict"),
        (int, "the class int"),
        (example, "the function example"),
        (OSError("x"), "an OSError"),
    ],
)
def test_what_a_value_is_in_words(value, text):
    assert in_words(value) == text


def test_an_array_in_words_has_the_name_of_its_variable():
    mu = kg.normal(0, 1)
    assert in_words(mu) == "the array mu"
    assert in_words(2 * mu) == "the array 2 * mu"


def test_what_is_computed_prints_in_the_words_of_errors():
    mu, tau = kg.normal(0, 1), kg.half_normal(1)
    z = kg.normal(0, 1, shape=3)
    theta = mu + tau * z
    assert repr(theta) == "<operation mu + tau * z, shape (3,), float64>"
    assert repr(theta * 2) == "<operation theta * 2, shape (3,), float64>"
    with pytest.raises(kg.ShapeError, match=r"in mu \+ tau \* z \+ "):
        (mu + tau * z) + np.ones(4)


def test_arrays_of_infinite_numbers_have_no_range():
    assert value_text(np.array([-np.inf, np.inf])) == "shape (2,), -inf at [0]"
    assert value_text(np.array([1.0, np.nan])) == "shape (2,), from 1 to 1, nan at [1]"
