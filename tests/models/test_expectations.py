"""`kg.expectation` and `kg.variance` as arrays of the graph."""

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg


def value(array):
    return kg.compile([], array)()


def test_shapes_are_those_of_the_distribution():
    rate = np.array([[1.0], [2.0]])
    for make, other in (
        (lambda: kg.gamma([1.0, 2.0, 3.0], rate), stats.gamma([1, 2, 3], scale=1 / rate)),
        (lambda: kg.normal(1, 2, shape=(2, 3)), stats.norm(np.full((2, 3), 1.0), 2)),
        (lambda: kg.bernoulli(logit=0.0, shape=4), stats.bernoulli(np.full(4, 0.5))),
        (lambda: kg.dirichlet([1.0, 2.0, 5.0]), stats.dirichlet([1, 2, 5])),
    ):
        mean, variance = kg.expectation(make()), kg.variance(make())
        assert mean.shape == variance.shape == make().shape
        np.testing.assert_allclose(value(mean), other.mean(), rtol=1e-14)
        np.testing.assert_allclose(value(variance), other.var(), rtol=1e-14)
    matrix = kg.expectation(kg.wishart(5, np.eye(2), shape=3))
    np.testing.assert_allclose(value(matrix), np.tile(5 * np.eye(2), (3, 1, 1)), atol=1e-14)
    chain = kg.variance(kg.markov_chain([0.5, 0.5], np.eye(2), 6, shape=(2, 6)))
    np.testing.assert_allclose(value(chain), np.full((2, 6), 0.25))
    steps = kg.variance(kg.random_walk(2.0, 3, init_sd=1.0, shape=2))
    np.testing.assert_allclose(value(steps), [[1.0, 5.0, 9.0]] * 2)


def test_of_distributions_made_of_others():
    joint = kg.joint(kg.poisson([1.0, 2.0]), kg.bernoulli(0.25))
    np.testing.assert_allclose(value(kg.expectation(joint)), [[1.0, 0.25], [2.0, 0.25]])
    parts = [kg.normal(0, 1), kg.normal(np.zeros((2, 1)), [1.0, 2.0, 3.0])]
    mixed = kg.mixture(*parts, weights=[1, 3])
    wanted = np.array([[1.0, 13 / 4, 7.0]] * 2)
    np.testing.assert_allclose(value(kg.variance(mixed)), wanted)
    cut = kg.normal([0.0, 1.0], 1, truncation=(0, None))
    wanted = stats.truncnorm([0, -1], np.inf, loc=[0, 1]).mean()
    np.testing.assert_allclose(value(kg.expectation(cut)), wanted, rtol=1e-12)
    cuts = [kg.exponential(rate, truncation=(1, None)) for rate in (1, 2)]
    both = kg.mixture(*cuts, weights=[1, 1])
    assert value(kg.expectation(both)) == pytest.approx(1.75)


def test_slopes_and_calculate():
    alpha, rate = kg.placeholder((), name="alpha"), kg.placeholder((), name="rate")
    spread = kg.variance(kg.gamma(alpha, rate))
    found = kg.compile([alpha, rate], kg.gradients(spread, [alpha, rate]))(3.0, 2.0)
    np.testing.assert_allclose(found, [0.25, -0.75])
    mu = kg.normal(0, 1, name="mu")
    mean = kg.expectation(kg.lognormal(mu, 0.5))
    got = kg.calculate(mean, values={mu: 1.0})
    np.testing.assert_allclose(next(iter(got.values())), np.exp(1.125), rtol=1e-14)


def test_the_type_is_that_of_the_parameters():
    narrow = kg.data(np.float32(0.1))
    assert kg.expectation(kg.exponential(narrow)).dtype == np.float32
    assert value(kg.variance(kg.exponential(narrow))).dtype == np.float32


def test_bad_input():
    with pytest.raises(TypeError, match=r"first argument.*is not a distribution"):
        kg.expectation(kg.data([1.0]))
    with pytest.raises(
        TypeError, match=r"variance of gamma\(2, 1, truncation=.*no closed form.*draws"
    ):
        kg.variance(kg.gamma(2, 1, truncation=(1, None)))
    own = kg.distribution(lambda x, scale: -x / scale, name="mine")
    with pytest.raises(TypeError, match=r"expectation: the expectation of mine\(2\) is not known"):
        kg.expectation(own(2.0))
    with pytest.raises(TypeError, match="is not known"):
        kg.expectation(kg.normal(0, 1, censoring=(0, None)))
