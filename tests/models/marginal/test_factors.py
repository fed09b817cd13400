"""Factors of discrete unknowns: sums that are taken apart, products, and what is impossible."""

from itertools import product

import numpy as np
import pytest
from scipy import special, stats

import kinetograph as kg

Y = np.array([1.0, 2.0, -1.0, 0.5])
SHARES = np.log([0.2, 0.3, 0.5])
AT = np.array([0.1, -0.4, 0.8])


def made(term):
    w = kg.normal(0, 1, shape=3, name="w")
    z = kg.categorical(np.exp(SHARES), shape=4, name="z")
    kg.factor(term(w, z))
    return kg.model(w)


def by_hand(w, c=1.0):
    return special.logsumexp(SHARES + c * np.outer(Y, w), -1).sum() + stats.norm.logpdf(w).sum()


SUMS = {
    "sum": lambda w, z: kg.sum(w[z] * Y),
    "mean": lambda w, z: 4.0 * kg.mean(w[z] * Y),
    "halves": lambda w, z: -(-(w[z] * Y).sum() / 2.0 - kg.sum(w[z] * Y) * 0.5),
    "with others": lambda w, z: w.sum() + kg.sum(w[z] * Y) - w.sum(),
    "along an axis": lambda w, z: (w[z] * Y).reshape(2, 2).sum(1).sum(),
    "one hot": lambda w, z: (kg.one_hot(z, 3) @ w * Y).sum(),
    "one hot, from the left": lambda w, z: w @ kg.one_hot(z, 3).T * Y,
    "one hot, of columns": lambda w, z: (kg.one_hot(z, 3) @ w[:, None])[:, 0] * Y,
}


@pytest.mark.parametrize("case", SUMS)
def test_sums_are_taken_apart(case):
    model = made(SUMS[case])
    assert float(model.log_prob(AT)) == pytest.approx(by_hand(AT), rel=1e-12)


def test_the_scale_of_a_sum_may_be_unknown():
    model = made(lambda w, z: kg.exp(w[0]) * kg.sum(w[z] * Y))
    assert float(model.log_prob(AT)) == pytest.approx(by_hand(AT, np.exp(AT[0])), rel=1e-12)
    slope = model.gradient(AT)
    moves = 1e-6 * np.eye(3)
    wanted = [
        (by_hand(AT + m, np.exp((AT + m)[0])) - by_hand(AT - m, np.exp((AT - m)[0]))) / 2e-6
        for m in moves
    ]
    np.testing.assert_allclose(slope, wanted, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    "term",
    [
        lambda w, z: kg.exp(kg.sum(w[z] * Y)),
        lambda w, z: kg.sum(w[z]) * kg.sum(w[z] * Y),
        lambda w, z: w[z] @ np.ones((4, 4)) @ w[z],
        lambda w, z: (kg.one_hot(z, 3).T @ Y) @ w,
    ],
)
def test_what_holds_elements_together(term):
    with pytest.raises(kg.ModelError, match="several elements of z at once"):
        made(term)


def test_long_sums():
    def term(w, z):
        total = 0.0 * w[0]
        for i in range(4):
            total = total + w[z[i]] * Y[i]
        for _ in range(300):
            total = total + 0.01 * w[0]
        return total

    assert float(made(term).log_prob(AT)) == pytest.approx(by_hand(AT) + 3.0 * AT[0], rel=1e-12)

    def doubled(w, z):
        total = kg.sum(w[z] * Y)
        for _ in range(40):  # of which 2**40 addends could be made
            total = total + total
        return total

    with pytest.raises(kg.ModelError, match="several elements of z at once"):
        made(doubled)


# What is impossible -------------------------------------------------------------------------------


def sigma(u):
    return special.expit(u)


def test_a_value_that_a_factor_excludes():
    p, z = kg.uniform(0, 1, name="p"), kg.bernoulli(0.4, name="z")
    kg.factor(kg.log(p * z))
    model = kg.model(p)
    # log 0.4 + log p + log p (1 - p), of p = sigma(u)
    wanted = np.log(0.4) + 2 * np.log(sigma(0.3)) + np.log(sigma(-0.3))
    assert float(model.log_prob([0.3])) == pytest.approx(wanted, rel=1e-13)
    np.testing.assert_allclose(model.gradient([0.3]), [2 - 3 * sigma(0.3)], rtol=1e-12)


def test_elements_that_factors_exclude_one_by_one():
    """Elements of an array, a single unknown beside them, and values that data exclude."""
    x = np.array([1.0, 2.0, 3.0])
    q = kg.uniform(0, 1, name="q")
    z, one = kg.categorical([0.2, 0.3, 0.5], shape=3, name="z"), kg.bernoulli(0.3, name="one")
    allowed = np.array([[0, 1, 1], [1, 1, 0], [0, 0, 1]])
    table = kg.data(allowed.astype(float))
    kg.factor(kg.log(q * x * table[np.arange(3), z] * one))
    model = kg.model(q)

    def hand(u):
        total = -np.inf
        for *zs, w in product(range(3), range(3), range(3), range(2)):
            ok = w * allowed[np.arange(3), zs].prod()
            if ok:
                own = np.log(sigma(u) * x).sum() + SHARES[list(zs)].sum() + np.log(0.3)
                total = np.logaddexp(total, own)
        return total + np.log(sigma(u) * sigma(-u))

    assert float(model.log_prob([0.3])) == pytest.approx(hand(0.3), rel=1e-12)
    slope = (hand(0.3 + 1e-6) - hand(0.3 - 1e-6)) / 2e-6
    np.testing.assert_allclose(model.gradient([0.3]), [slope], rtol=1e-7)


def test_when_all_values_are_excluded():
    p, z = kg.normal(0, 1, name="p"), kg.bernoulli(0.4, shape=2, name="z")
    kg.factor(kg.log(kg.exp(p) * 0.0 * (1 + z)))
    model = kg.model(p)
    assert model.log_prob([0.3]) == -np.inf
    assert np.isfinite(model.gradient([0.3])).all()
