"""Probabilities that do not add up to 1 are refused."""

import warnings

import numpy as np
import pytest

import kinetograph as kg

USES = {
    "categorical: prob": kg.categorical,
    "multinomial: prob": lambda p: kg.multinomial(5, p),
    "markov_chain: initial": lambda p: kg.markov_chain(p, np.full((2, 2), 0.5), 4),
}
UNKNOWNS = {
    "beta": (lambda: kg.beta(1, 1, shape=2), r"kg\.dirichlet\(\[1\.0, 1\.0\]\), or p / p\.sum\(\)"),
    "uniform": (lambda: kg.uniform(0, 1, shape=2), r"p / p\.sum\(\)"),
    "gamma": (lambda: kg.gamma(2, 1, shape=2), r"p / p\.sum\(\)"),
    "normal": (lambda: kg.normal(0, 1, shape=2), r"kg\.softmax\(p\)"),
    "ordered": (lambda: kg.ordered_variable(2), r"kg\.softmax\(p\)"),
    "zero_sum": (lambda: kg.zero_sum_normal(1, 2), r"kg\.softmax\(p\)"),
}
ALLOWED = {
    "dirichlet": lambda: kg.dirichlet([1.0, 1.0]),
    "simplex": lambda: kg.simplex_variable(2),
    "data": lambda: kg.data([0.25, 0.75]),
    "softmax": lambda: kg.softmax(kg.normal(0, 1, shape=2)),
    "shares": lambda: (lambda w: w / w.sum())(kg.gamma(2, 1, shape=2)),
    "stacked": lambda: (lambda w: kg.stack([w, 1 - w]))(kg.beta(1, 1)),
    "a row": lambda: kg.dirichlet(np.ones((3, 2)))[0],
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", UNKNOWNS)
def test_unknowns_that_need_not_add_up_to_1(use, kind):
    make, way = UNKNOWNS[kind]
    p = make()
    said = f"^{use} must be positive with sum 1 .* elements of p .* add up to 1 .*{way}$"
    with pytest.raises(kg.ModelError, match=said):
        USES[use](p)


def test_the_sums_of_rows_are_told():
    p = kg.gamma(2, 1, shape=(3, 5))
    said = r"\[1\.0, 1\.0, 1\.0, \.\.\.\]\), or p / p\.sum\(-1, keepdims=True\)$"
    with pytest.raises(kg.ModelError, match=said):
        kg.categorical(p)


@pytest.mark.parametrize("use", USES)
def test_constants_that_do_not_add_up_to_1(use):
    for p in ([0.5, 0.6], kg.data([0.5, 0.6])):
        with pytest.raises(ValueError, match=f"^{use} must be .* 1 .*; divide by the sum$"):
            USES[use](p)


def test_weights_of_mixtures_are_divided_by_their_sum():
    """Unless an unknown may be negative."""

    def mixed(weights):
        return kg.mixture(kg.normal(0, 1), kg.normal(5, 1), weights=weights)

    for weights in ([1, 3], kg.gamma(2, 1, shape=2), kg.beta(1, 1, shape=2)):
        mixed(weights)
    w = kg.normal(0, 1, shape=2)
    said = r"^mixture: weights must be non-negative .* elements of .* may be negative .*softmax"
    with pytest.raises(kg.ModelError, match=said):
        mixed(w)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", ALLOWED)
def test_what_adds_up_to_1_or_may(use, kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        USES[use](ALLOWED[kind]())
