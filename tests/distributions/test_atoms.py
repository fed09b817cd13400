"""Families of real numbers in which 0 has a positive probability, against SciPy and by hand."""

import numpy as np
import pytest
from scipy import special, stats
from tests.distributions.drawing import LEVEL, draw
from tests.selection import thinned

import kinetograph as kg

ZERO, GAMMA = 0.3, stats.gamma(2.0, scale=1 / 1.5)
LAWS = {
    "hurdle_gamma": ((2.0, 1.5), GAMMA),
    "hurdle_lognormal": ((0.5, 0.7), stats.lognorm(0.7, scale=np.exp(0.5))),
    "zero_inflated_beta": ((0.5, 3.0), stats.beta(0.5, 3.0)),
}
BASES = {
    "hurdle_gamma": kg.gamma,
    "hurdle_lognormal": kg.lognormal,
    "zero_inflated_beta": kg.beta,
}


def rain(zero=ZERO, **settings):
    return kg.hurdle_gamma(zero, 2.0, 1.5, **settings)


def value(array):
    return np.asarray(kg.compile([], array)())


def at(distribution, x):
    return value(kg.log_density(distribution, np.asarray(x, float)))


@pytest.mark.parametrize("name", thinned(LAWS, 3))
def test_draws(name):
    parameters, law = LAWS[name]
    x = draw(name, ZERO, *parameters)
    assert stats.binomtest(int((x == 0).sum()), len(x), ZERO).pvalue > LEVEL
    assert stats.kstest(x[x > 0], law.cdf).pvalue > LEVEL
    # Whether a number is 0 does not depend on the number before.
    u = x[:-1] == 0
    assert stats.binomtest(int((x[1:][u] == 0).sum()), int(u.sum()), ZERO).pvalue > LEVEL


def test_draws_of_extreme_and_impossible_parameters():
    assert (draw("hurdle_gamma", 1.0, 2.0, 1.5) == 0).all()
    assert (draw("hurdle_gamma", 0.0, 2.0, 1.5) > 0).all()
    for zero, alpha in [(1.5, 2.0), (np.nan, 2.0), (1.0, -2.0)]:
        assert np.isnan(draw("hurdle_gamma", zero, alpha, 1.5)).all()


def test_certain_and_impossible_zeros():
    x = [0.0, 0.8]
    np.testing.assert_allclose(at(rain(0.0), x), [-np.inf, GAMMA.logpdf(0.8)])
    np.testing.assert_allclose(at(rain(1.0), x), [0.0, -np.inf])


def test_the_share_of_zeros_is_computed_from_its_logit():
    t = kg.placeholder(name="t")
    density = kg.log_density(kg.hurdle_gamma(kg.ilogit(t), 2.0, 1.5), np.array([0.0, 0.8]))
    run = kg.compile([t], [density, kg.gradients(kg.sum(density), t)])
    for far in (-800.0, 800.0, 0.3):
        values, slope = run(far)
        expected = special.log_expit([far, -far]) + np.array([0.0, GAMMA.logpdf(0.8)])
        np.testing.assert_allclose(values, expected, rtol=1e-12)
        np.testing.assert_allclose(slope, 1 - 2 * special.expit(far), rtol=1e-12)


def test_zeros_have_no_derivative_by_the_other_parameters():
    log_rate = kg.placeholder(name="log_rate")
    density = kg.log_density(kg.hurdle_gamma(0.3, 2.0, kg.exp(log_rate)), 0.0)
    run = kg.compile([log_rate], [density, kg.gradients(density, log_rate)])
    np.testing.assert_allclose(run(800.0), [np.log(0.3), 0.0])


def test_truncation_keeps_zeros_inside_the_bounds():
    x = [0.0, 0.8, 1.9]
    plain = [np.log(ZERO), *np.log1p(-ZERO) + GAMMA.logpdf(x[1:])]
    below = ZERO + (1 - ZERO) * GAMMA.cdf(2.0)
    for low in (None, 0.0):
        inside = at(rain(truncation=(low, 2.0)), x)
        np.testing.assert_allclose(inside, plain - np.log(below), rtol=1e-12)
    share = GAMMA.cdf(2.0) - GAMMA.cdf(0.5)
    cut = at(rain(truncation=(0.5, 2.0)), x[1:])
    np.testing.assert_allclose(cut, GAMMA.logpdf(x[1:]) - np.log(share), rtol=1e-12)
    with pytest.raises(kg.DataError, match=r"between 0\.5 and 2, but .* is 0"):
        kg.observe(np.array([0.0, 1.0]), rain(truncation=(0.5, 2.0)))


def test_censoring():
    seen = at(rain(censoring=(0.5, 2.0)), [0.5, 0.8, 2.0])
    expected = [
        np.log(ZERO + (1 - ZERO) * GAMMA.cdf(0.5)),
        np.log1p(-ZERO) + GAMMA.logpdf(0.8),
        np.log1p(-ZERO) + GAMMA.logsf(2.0),
    ]
    np.testing.assert_allclose(seen, expected, rtol=1e-12)
    np.testing.assert_allclose(at(rain(censoring=(0.0, None)), 0.0), np.log(ZERO), rtol=1e-12)
    intervals = [[0.0, 0.0], [-np.inf, 1.0], [0.0, 1.0], [1.0, np.inf]]
    below = ZERO + (1 - ZERO) * GAMMA.cdf(1.0)
    expected = [ZERO, below, below, (1 - ZERO) * GAMMA.sf(1.0)]  # both ends are included
    seen = at(rain(censoring="interval", shape=(4, 2)), intervals)
    np.testing.assert_allclose(seen, np.log(expected), rtol=1e-12)


def test_probabilities_and_quantiles():
    x = np.array([-1.0, 0.0, 0.8])
    expected = [0.0, ZERO, ZERO + (1 - ZERO) * GAMMA.cdf(0.8)]
    np.testing.assert_allclose(value(kg.cdf(rain(), x)), expected, rtol=1e-12)
    p = np.array([0.0, 0.1, ZERO, 0.5, 0.999])
    expected = [0.0, 0.0, 0.0, *GAMMA.ppf((p[3:] - ZERO) / (1 - ZERO))]
    np.testing.assert_allclose(value(kg.quantile(rain(), p)), expected, rtol=1e-9)


def test_mixtures():
    mixed = kg.mixture(rain(), kg.hurdle_lognormal(0.6, 0.5, 0.7), weights=[0.25, 0.75])
    x = np.array([0.0, 0.8])
    parts = [
        [np.log(z), np.log1p(-z) + law.logpdf(0.8)]
        for z, law in ((ZERO, GAMMA), (0.6, LAWS["hurdle_lognormal"][1]))
    ]
    expected = special.logsumexp(parts, 0, b=np.array([[0.25], [0.75]]))
    np.testing.assert_allclose(at(mixed, x), expected, rtol=1e-12)
    with pytest.raises(kg.ModelError, match=r"only one gives 0 a positive.*zero=0"):
        kg.mixture(rain(), kg.gamma(2.0, 1.0), weights=[0.5, 0.5])


def test_unknowns_are_refused():
    amount = rain(name="amount")
    with pytest.raises(kg.ModelError, match=r"amount.* hurdle_gamma, in which 0 has.*kg.where"):
        kg.model(amount)
    cut = rain(truncation=(None, 3.0), name="cut")
    with pytest.raises(kg.ModelError, match=r"cut.* in which 0 has a positive probability"):
        kg.model(cut)
    pair = kg.mixture(rain(), rain(0.5), weights=[0.5, 0.5], name="pair")
    with pytest.raises(kg.ModelError, match=r"pair.* in which 0 has a positive probability"):
        kg.model(pair)
    y = kg.data([0.0, None, 1.0], name="y", missing="impute")
    with pytest.raises(kg.ModelError, match=r"missing values.*hurdle_gamma.*; leave"):
        kg.observe(y, rain())
    with pytest.raises(kg.ModelError, match=r"joint: hurdle_gamma.* gives 0 a positive"):
        kg.joint(rain(), kg.normal(0, 1))
    with pytest.raises(TypeError, match=r"gives 0 a positive probability.*jumps"):
        kg.normal_score(rain(), 1.0)


@pytest.mark.parametrize("name", LAWS)
def test_data(name):
    parameters, _ = LAWS[name]
    base = BASES[name]
    with pytest.raises(kg.DataError, match=rf"y.* is 0\.0 .*for data with zeros use kg\.{name}$"):
        kg.observe([0.5, 0.0], base(*parameters), name="y")
    with pytest.raises(kg.DataError, match=f"{name} data must be at least 0.* is -1"):
        kg.observe([0.5, -1.0], getattr(kg, name)(ZERO, *parameters))
    with pytest.raises(ValueError, match=r"zero must be between 0 and 1"):
        getattr(kg, name)(1.2, *parameters)


def test_ones_are_not_beta_numbers():
    with pytest.raises(kg.DataError, match=r"at least 0 and below 1, but .* is 1"):
        kg.observe([0.5, 1.0], kg.zero_inflated_beta(ZERO, 2.0, 3.0))
