"""Distribution functions and quantiles as arrays of the graph, against SciPy."""

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg


def value(array):
    return kg.compile([], array)()


def test_values_are_scipys():
    x = np.array([-40.0, -1.0, 0.3, 6.0])
    both = [kg.log_cdf(kg.normal(0, [[1.0], [2.0]]), x), kg.log_survival(kg.normal(0, 2), x)]
    found = [value(a) for a in both]
    np.testing.assert_allclose(found[0], stats.norm.logcdf(x, 0, [[1], [2]]), rtol=1e-12)
    np.testing.assert_allclose(found[1], stats.norm.logsf(x, 0, 2), rtol=1e-12)
    np.testing.assert_allclose(
        value(kg.cdf(kg.poisson(2.0), [0, 3, -1])), stats.poisson(2).cdf([0, 3, -1])
    )


@pytest.mark.parametrize("of", [kg.cdf, kg.log_cdf, kg.log_survival, kg.normal_score, kg.quantile])
def test_the_shape_and_the_dims_of_a_distribution_are_those_of_its_probability(of):
    mu = kg.normal(0, 1, name="mu")
    along = of(kg.normal(mu, 1, shape=4, dims="group"), 0.5)
    array = of(kg.normal(0, 1, shape=4), [[0.5], [0.2]])
    assert value(array).shape == array.shape == (2, 4)
    assert kg.model(mu, along=along).dims(along.node) == ("group",)
    assert of(kg.normal(kg.data(np.zeros(4)), 1), 0.5).shape == (4,)


def test_quantiles_and_their_ends():
    p = np.array([0.0, 0.1, 0.5, 1.0])
    for make, other in (
        (kg.normal(1, 2), stats.norm(1, 2)),
        (kg.gamma(2, 3), stats.gamma(2, scale=1 / 3)),
        (kg.beta(2, 3), stats.beta(2, 3)),
        (kg.student(4, 0, 1), stats.t(4)),
        (kg.exponential(2), stats.expon(scale=0.5)),
        (kg.uniform(-1, 3), stats.uniform(-1, 4)),
    ):
        np.testing.assert_allclose(value(kg.quantile(make, p)), other.ppf(p), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(
        value(kg.quantile(kg.poisson(3.0), [0.1, 0.9, 1.0])), [1, 5, np.inf]
    )
    np.testing.assert_array_equal(value(kg.quantile(kg.binomial(7, 0.5), [0.5, 1.0])), [3, 7])


def test_of_a_truncated_distribution():
    other = stats.truncnorm(1, np.inf)
    x = np.array([0.5, 1.0, 2.5])
    np.testing.assert_allclose(
        value(kg.cdf(kg.normal(0, 1, truncation=(1, None)), x)), other.cdf(x), atol=1e-14
    )
    ends = value(kg.quantile(kg.normal(0, 1, truncation=(1, 1.5)), [0.0, 1.0]))
    np.testing.assert_allclose(ends, [1.0, 1.5], rtol=1e-12)
    assert 1.0 <= ends[0] <= ends[1] <= 1.5
    found = value(kg.quantile(kg.normal(0, 1, truncation=(1, None)), 0.3))
    assert found == pytest.approx(other.ppf(0.3), rel=1e-12)


@pytest.mark.slow
def test_slopes():
    at = kg.placeholder((), name="at")
    scale = kg.placeholder((), name="scale")
    share = kg.placeholder((), name="share")
    up = kg.cdf(kg.gamma(2.0, scale), at)
    across = kg.quantile(kg.gamma(2.0, scale), share)
    slopes = kg.compile(
        [at, scale, share], [*kg.gradients(up, [at, scale]), *kg.gradients(across, [scale, share])]
    )
    a, s, p = 1.3, 0.7, 0.4
    found = slopes(a, s, p)
    density = stats.gamma.pdf(a, 2, scale=1 / s)
    x = stats.gamma.ppf(p, 2, scale=1 / s)
    wanted = [density, density * a / s, -x / s, 1 / stats.gamma.pdf(x, 2, scale=1 / s)]
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_a_factor_of_a_survival_probability():
    """None of ten machines failed in three months: equal to censored data."""
    rate = kg.gamma(2, 5, name="rate")
    kg.factor(10 * kg.log_survival(kg.exponential(rate), 3.0))
    other = kg.gamma(2, 5, name="other")
    kg.observe(np.full(10, 3.0), kg.exponential(other, censoring=(None, 3.0)))
    at = np.array([[-1.0], [0.4]])
    np.testing.assert_allclose(
        kg.model(rate).log_prob(at), kg.model(other).log_prob(at), rtol=1e-12
    )


def test_bad_input():
    with pytest.raises(TypeError, match=r"first argument.*is not a distribution"):
        kg.cdf(kg.data([1.0]), 1.0)
    with pytest.raises(TypeError, match=r"the cdf of dirichlet\(.*is not available"):
        kg.cdf(kg.dirichlet([1.0, 1.0]), 1.0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        kg.quantile(kg.normal(0, 1), 1.5)
    with pytest.raises(kg.ShapeError, match="does not fit"):
        kg.cdf(kg.normal([0.0, 1.0], 1), [1.0, 2.0, 3.0])
    p = kg.placeholder((2,), name="p")
    assert np.isnan(kg.compile([p], kg.quantile(kg.normal(0, 1), p))([-0.1, np.nan])).all()


def test_normal_scores_far_out():
    """Scores by the tails' logarithms, against mpmath's inverse of the normal tail."""
    import mpmath as mp

    def score(log_upper):
        start = mp.sqrt(-2 * log_upper)
        return mp.findroot(lambda z: mp.log(mp.erfc(z / mp.sqrt(2)) / 2) - log_upper, start)

    with mp.workdps(60):
        x = [1.0, 5.0, 30.0, 800.0, 1e6]
        z = kg.compile([], kg.normal_score(kg.exponential(1.0), x))()
        np.testing.assert_allclose(z, [float(score(-mp.mpf(v))) for v in x], rtol=1e-13)
        # The lower tail of a Weibull distribution: P(X <= x) = x^2 to first order.
        z = kg.compile([], kg.normal_score(kg.weibull(2.0, 1.0), [1e-3, 1e-150]))()
        exact = [-float(score(mp.log(-mp.expm1(-(mp.mpf(v) ** 2))))) for v in (1e-3, 1e-150)]
        np.testing.assert_allclose(z, exact, rtol=1e-13)


def test_a_gaussian_copula_of_two_distributions():
    """The joint log density, by SciPy's distributions."""
    x, y, rho = np.array([0.3, 2.0, 9.0]), np.array([-1.0, 0.4, 3.0]), 0.6
    a = kg.normal(0, 1, name="a")
    first, second = kg.gamma(2.0, kg.exp(a)), kg.student(4, a, 1.0)
    scores = kg.stack([kg.normal_score(first, x), kg.normal_score(second, y)], axis=-1)
    joint = kg.log_density(kg.multivariate_normal(np.zeros(2), [[1, rho], [rho, 1]]), scores)
    model = kg.model(a, factors=[joint.sum() + 0.5 * (scores**2).sum()])
    at = 0.7
    u = stats.gamma(2, scale=np.exp(-at)), stats.t(4, at)
    z = np.stack([stats.norm.isf(d.sf(v)) for d, v in zip(u, (x, y), strict=True)], -1)
    expected = stats.multivariate_normal(np.zeros(2), [[1, rho], [rho, 1]]).logpdf(z).sum()
    expected += 0.5 * (z**2).sum() + stats.norm.logpdf(at)
    assert model.log_prob([at]) == pytest.approx(expected, rel=1e-10)
    step = 1e-5
    slope = (model.log_prob([at + step]) - model.log_prob([at - step])) / (2 * step)
    assert model.gradient([at])[0] == pytest.approx(slope, rel=1e-6)


def test_counts_have_no_normal_score():
    with pytest.raises(TypeError, match=r"poisson\(2\) is discrete.*kg.log_cdf at both sides"):
        kg.normal_score(kg.poisson(2.0), 1)


def test_one_distribution_has_several_probabilities_and_a_likelihood():
    """As for a new subject: its median and its survival curve."""
    life = kg.weibull(1.5, 10.0)
    median, alive = kg.quantile(life, 0.5), kg.log_survival(life, [1.0, 5.0])
    mean, density = kg.expectation(life), kg.log_density(life, 2.0)
    law = stats.weibull_min(1.5, scale=10)
    computed = kg.compile([], [median, alive, mean, density])()
    for value, expected in zip(
        computed, (law.median(), law.logsf([1, 5]), law.mean(), law.logpdf(2)), strict=True
    ):
        np.testing.assert_allclose(value, expected, rtol=1e-6)
    k = kg.half_normal(1)
    life = kg.weibull(k, 10.0)
    kg.quantile(life, 0.5)
    y = kg.data([1.0, 2.0])
    kg.observe(y, life)
    kg.log_survival(life, 3.0)
    with pytest.raises(kg.ModelError, match=r"this weibull is the likelihood of y .* already"):
        kg.observe(y, life)
    assert kg.model(k).names == ("k",)
