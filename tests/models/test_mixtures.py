"""Mixtures and joint distributions against SciPy and NumPy."""

import pickle

import numpy as np
import pytest
from scipy import special, stats

import kinetograph as kg


def value(array):
    return kg.compile([], array)()


X = np.array([-3.0, -0.5, 0.4, 2.0, 60.0])


def by_hand(x):
    parts = [stats.norm(0, 1).logpdf(x), stats.t(3, 4, 2).logpdf(x), stats.norm(-2, 0.5).logpdf(x)]
    return special.logsumexp(np.stack(parts, -1) + np.log([0.2, 0.5, 0.3]), -1)


def three(weights):
    parts = kg.normal(0, 1), kg.student(3, 4, 2), kg.normal(-2, 0.5)
    return kg.mixture(*parts, weights=weights)


def test_the_density_is_that_of_the_sum():
    for weights in ([0.2, 0.5, 0.3], [2.0, 5.0, 3.0]):
        np.testing.assert_allclose(value(kg.log_density(three(weights), X)), by_hand(X), rtol=1e-12)
    shares = value(kg.responsibilities(three([0.2, 0.5, 0.3]), X))
    np.testing.assert_allclose(shares.sum(-1), 1, rtol=1e-14)
    wanted = 0.5 * stats.t(3, 4, 2).pdf(X) / np.exp(by_hand(X))
    np.testing.assert_allclose(shares[:, 1], wanted, rtol=1e-10)
    below = value(kg.cdf(three([0.2, 0.5, 0.3]), X))
    wanted = (
        0.2 * stats.norm.cdf(X) + 0.5 * stats.t(3, 4, 2).cdf(X) + 0.3 * stats.norm(-2, 0.5).cdf(X)
    )
    np.testing.assert_allclose(below, wanted, rtol=1e-10)


def test_components_along_an_axis_are_the_same():
    mu, sd = np.array([0.0, 4.0, -2.0]), np.array([1.0, 2.0, 0.5])
    w = [0.2, 0.5, 0.3]
    along = kg.log_density(kg.mixture(kg.normal(mu, sd), weights=w), X)
    parts = [kg.normal(m, s) for m, s in zip(mu, sd, strict=True)]
    np.testing.assert_allclose(
        value(along), value(kg.log_density(kg.mixture(*parts, weights=w), X)), rtol=1e-13
    )
    # One parameter value for all components, and a leading batch axis.
    batch = kg.mixture(kg.normal(mu, 2.0), weights=np.stack([w, w[::-1]]))
    assert batch.shape == (2,)
    found = value(kg.log_density(batch, np.array([0.3, 0.3])))
    each = stats.norm(mu, 2).logpdf(0.3)
    wanted = [special.logsumexp(each + np.log(v)) for v in (w, w[::-1])]
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_of_vectors():
    mean = np.array([[0.0, 0.0], [3.0, 3.0]])
    cov = np.array([[1.0, 0.5], [0.5, 2.0]])
    x = np.array([[0.1, 0.2], [2.0, 4.0], [1.0, 1.0]])
    each = np.stack([stats.multivariate_normal(m, cov).logpdf(x) for m in mean], -1)
    wanted = special.logsumexp(each + np.log([0.3, 0.7]), -1)
    along = kg.mixture(kg.multivariate_normal(mean, cov), weights=[0.3, 0.7])
    assert along.shape == (2,)
    np.testing.assert_allclose(value(kg.log_density(along, x)), wanted, rtol=1e-12)
    parts = [kg.multivariate_normal(m, cov) for m in mean]
    one_by_one = kg.mixture(*parts, weights=[0.3, 0.7])
    np.testing.assert_allclose(value(kg.log_density(one_by_one, x)), wanted, rtol=1e-12)
    drawn = kg.mixture(
        kg.multivariate_normal(mean, cov), weights=[0.3, 0.7], shape=(4000, 2), name="x"
    )
    x = np.asarray(kg.calculate(drawn, draws=1, seed=3)["x"]).reshape(-1, 2)
    far = x.sum(-1) > 3
    assert far.mean() == pytest.approx(0.7, abs=0.08)
    assert np.corrcoef(x[far].T)[0, 1] > 0.1


def test_of_counts_with_log_rates():
    """Components keep the logarithms of their rates, so rates may overflow."""
    t = kg.normal(0, 1, name="t")
    y = kg.observe(
        [0, 3], kg.mixture(kg.poisson(kg.exp(t - 800.0)), kg.poisson(2.0), weights=[0.5, 0.5])
    )
    assert y.shape == (2,)
    model = kg.model(t)
    three = np.log(0.5) + stats.poisson(2).logpmf(3)
    zero = special.logsumexp([np.log(0.5), np.log(0.5) - 2])
    assert model.log_prob([0.0]) == pytest.approx(zero + three + stats.norm.logpdf(0), rel=1e-12)
    assert np.isfinite(model.gradient([0.0])).all()


def test_zero_weights_and_points_that_no_component_reaches():
    w = kg.data([1.0, 0.0])
    mu = kg.normal(0, 1, name="mu")
    kg.observe([0.5], kg.mixture(kg.normal(mu, 1), kg.normal(1e6, 1e-3), weights=w))
    model = kg.model(mu)
    wanted = stats.norm.logpdf(0.5 - 0.2) + stats.norm.logpdf(0.2)
    assert model.log_prob([0.2]) == pytest.approx(wanted, rel=1e-12)
    assert model.gradient([0.2])[0] == pytest.approx(0.3 - 0.2, rel=1e-9)


def test_draws():
    x = kg.mixture(kg.normal(0, 1), kg.normal(20, 1), weights=[0.25, 0.75], shape=8000, name="x")
    drawn = np.asarray(kg.calculate(x, draws=1, seed=7)["x"]).reshape(-1)
    assert (drawn > 10).mean() == pytest.approx(0.75, abs=5.5 * np.sqrt(0.25 * 0.75 / 8000))
    assert stats.kstest(drawn[drawn > 10], stats.norm(20, 1).cdf).pvalue > 1e-7
    along = kg.mixture(kg.normal([0.0, 20.0], 1), weights=[0.25, 0.75], shape=8000, name="x")
    drawn = np.asarray(kg.calculate(along, draws=1, seed=7)["x"]).reshape(-1)
    assert (drawn > 10).mean() == pytest.approx(0.75, abs=5.5 * np.sqrt(0.25 * 0.75 / 8000))
    assert stats.kstest(drawn[drawn < 10], stats.norm(0, 1).cdf).pvalue > 1e-7


def test_an_unknown_that_follows_a_mixture():
    x = kg.mixture(kg.gamma(2, 1), kg.gamma(9, 0.5), weights=[0.4, 0.6], name="x")
    model = kg.model(x)
    u = np.array([[-1.0], [2.0]])
    each = np.stack(
        [stats.gamma(2).logpdf(np.exp(u)), stats.gamma(9, scale=2).logpdf(np.exp(u))], -1
    )
    wanted = special.logsumexp(each + np.log([0.4, 0.6]), -1)[:, 0] + u[:, 0]
    np.testing.assert_allclose(model.log_prob(u), wanted, rtol=1e-12)


def test_the_posterior_of_two_groups():
    rng = np.random.default_rng(2)
    y = np.concatenate([rng.normal(-2, 1, 60), rng.normal(3, 1, 140)])
    w = kg.dirichlet([1.0, 1.0], name="w")
    mu = kg.ordered_variable(2, name="mu")
    kg.factor(kg.log_density(kg.normal(0, 5), mu))
    kg.observe(y, kg.mixture(kg.normal(mu, 1.0), weights=w), name="y")
    model = kg.model(mu, w)
    fit = kg.mcmc(model, seed=1, progress=False)
    np.testing.assert_allclose(fit.posterior["mu"].mean(("chain", "draw")), [-2, 3], atol=0.6)
    assert float(fit.posterior["w"].mean(("chain", "draw"))[0]) == pytest.approx(0.3, abs=0.15)
    of = kg.responsibilities(kg.mixture(kg.normal(mu, 1.0), weights=w), y[:3])
    shares = kg.calculate(of, values=fit)
    assert shares is not None


def test_joint():
    x = kg.joint(kg.normal(0, 1), kg.gamma(2, 1), kg.uniform(-1, 3), name="x")
    model = kg.model(x)
    at = model.transform(np.array([[0.3, -0.4, 1.1]]))["x"][0]
    assert at[1] > 0
    assert -1 < at[2] < 3
    density = stats.norm.logpdf(at[0]) + stats.gamma(2).logpdf(at[1]) - np.log(4)
    jacobian = np.log(at[1]) + np.log((at[2] + 1) * (3 - at[2]) / 4)
    assert model.log_prob([0.3, -0.4, 1.1]) == pytest.approx(density + jacobian, rel=1e-12)
    many = kg.joint(kg.normal(0, 1), kg.gamma(2, 1), shape=(5000, 2), name="x")
    drawn = np.asarray(kg.calculate(many, draws=1, seed=4)["x"]).reshape(-1, 2)
    assert stats.kstest(drawn[:, 0], stats.norm.cdf).pvalue > 1e-7
    assert stats.kstest(drawn[:, 1], stats.gamma(2).cdf).pvalue > 1e-7
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.08
    counts = kg.log_density(kg.joint(kg.poisson(2.0), kg.binomial(4, 0.5)), [3, 1])
    wanted = stats.poisson(2).logpmf(3) + stats.binom(4, 0.5).logpmf(1)
    assert value(counts) == pytest.approx(wanted, rel=1e-12)


def parts(*makes):
    return lambda: kg.mixture(*(make() for make in makes), weights=[0.5, 0.5])


def n():
    return kg.normal(0, 1)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: kg.mixture(n(), weights=[1.0]), kg.ModelError, "there is one component"),
        (lambda: kg.mixture(weights=[1.0]), kg.ModelError, "no components"),
        (lambda: kg.mixture([n(), n()], weights=[1.0, 1.0]), TypeError, "not in a list"),
        (
            parts(
                lambda: kg.dirichlet([1.0, 1.0]),
                lambda: kg.multivariate_normal(np.zeros(2), np.eye(2)),
            ),
            kg.ModelError,
            "different supports",
        ),
        (parts(n, lambda: kg.poisson(2.0)), kg.ModelError, "a discrete and a continuous"),
        (
            parts(n, lambda: kg.multivariate_normal(np.zeros(2), np.eye(2))),
            kg.ModelError,
            "have values of different kinds",
        ),
        (
            lambda: kg.mixture(n(), n(), weights=[0.2, 0.3, 0.5]),
            kg.ShapeError,
            "must have 2 numbers",
        ),
        (lambda: kg.mixture(n(), n(), weights=[-1.0, 2.0]), ValueError, "weights must be"),
        (lambda: kg.mixture(n(), n(), weights=0.5), kg.ShapeError, "must have 2 numbers"),
        (lambda: kg.mixture(n(), 3.0, weights=[1, 1]), TypeError, "second argument"),
        (
            lambda: kg.mixture(kg.uniform([0.0, 1.0], 2.0), weights=[1, 1]),
            kg.ModelError,
            "different supports",
        ),
        (lambda: kg.responsibilities(n(), 1.0), TypeError, "is not a mixture"),
        (lambda: kg.joint(n()), kg.ModelError, "two or more"),
        (lambda: kg.joint(n(), kg.poisson(2.0)), kg.ModelError, "a discrete and a"),
        (
            lambda: kg.joint(n(), kg.dirichlet([1.0, 1.0])),
            kg.ModelError,
            "not a distribution of single",
        ),
    ],
)
def test_what_cannot_be_mixed(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_a_component_is_used_once():
    part = n()
    kg.mixture(part, n(), weights=[1.0, 1.0])
    with pytest.raises(kg.ModelError, match="a component of a mixture"):
        kg.mixture(part, n(), weights=[1.0, 1.0])


def test_as_it_was_written():
    w = kg.data([0.5, 0.5], name="w")
    x = kg.mixture(n(), kg.student(3, 0, 1), weights=w)
    text = x.node.distribution.expression()
    assert text == "mixture(normal(0, 1), student(3, 0, 1), weights=w)"


# Parts with supports of their own ----------------------------------------------------------------


def cut():
    """A normal truncated above 1, and a gamma truncated below 0.1."""
    mu = kg.normal(0, 1, name="mu")
    own = kg.normal(mu, 1, truncation=(None, 1.0)), kg.gamma(2, 1, truncation=(0.1, None))
    return mu, own


SPREAD = np.array([-0.5, 0.2, 3.0, 5.5])


def cut_by_hand(mu, x, weights):
    below = stats.norm.pdf(x, mu) / stats.norm.cdf(1.0, mu) * (x <= 1)
    above = stats.gamma.pdf(x, 2) / stats.gamma.sf(0.1, 2) * (x >= 0.1)
    return weights[0] * below, weights[1] * above


def test_data_of_parts_that_are_truncated_differently():
    mu, own = cut()
    y = kg.observe(SPREAD, kg.mixture(*own, weights=[0.3, 0.7]), name="y")
    model = kg.model(mu)

    def hand(u):
        return np.log(sum(cut_by_hand(u, SPREAD, (0.3, 0.7)))).sum() + stats.norm.logpdf(u)

    assert float(model.log_prob([0.4])) == pytest.approx(hand(0.4), rel=1e-12)
    slope = (hand(0.4 + 1e-6) - hand(0.4 - 1e-6)) / 2e-6
    np.testing.assert_allclose(model.gradient([0.4]), [slope], rtol=1e-7)
    assert pickle.loads(pickle.dumps(model)).log_prob([0.4]) == model.log_prob([0.4])
    drawn = kg.simulate(model, 4000, seed=1)["prior_predictive"]["y"].values
    # Values above 1 come from the second part only.
    share = 0.7 * stats.gamma.sf(1, 2) / stats.gamma.sf(0.1, 2)
    assert abs((drawn > 1).mean() - share) < 6 * 0.5 / np.sqrt(drawn.size)
    assert y.shape == (4,)


def test_which_part_data_are_of():
    _, own = cut()
    shares = kg.responsibilities(kg.mixture(*own, weights=[0.3, 0.7]), SPREAD)
    found = kg.calculate(shares=shares, values={"mu": 0.4})["shares"]
    both = np.stack(cut_by_hand(0.4, SPREAD, (0.3, 0.7)), -1)
    np.testing.assert_allclose(found, both / both.sum(-1, keepdims=True), rtol=1e-12)


@pytest.mark.slow
def test_bounds_of_parts_that_are_unknown_and_counts():
    edge = kg.gamma(2, 1, name="edge")
    parts_of = kg.uniform(0.0, edge), kg.exponential(edge)
    kg.observe([0.5, 3.0], kg.mixture(*parts_of, weights=[0.5, 0.5]), name="x")
    few = kg.poisson(edge, truncation=(None, 2)), kg.binomial(10, 0.5, truncation=(1, None))
    kg.observe([0, 1, 7], kg.mixture(*few, weights=[0.5, 0.5]), name="count")
    model = kg.model(edge)

    def hand(e):
        x, n = np.array([0.5, 3.0]), np.array([0, 1, 7])
        first = stats.uniform(0, e).pdf(x) + stats.expon(scale=1 / e).pdf(x)
        low = stats.poisson(e).pmf(n) / stats.poisson(e).cdf(2) * (n <= 2)
        high = stats.binom(10, 0.5).pmf(n) / stats.binom(10, 0.5).sf(0) * (n >= 1)
        terms = [np.log(first / 2), np.log((low + high) / 2), stats.gamma.logpdf([e], 2)]
        return np.concatenate(terms).sum()

    for e in (1.3, 4.0):
        free = model.untransform({"edge": e})
        assert float(model.log_prob(free, adjusted=False)) == pytest.approx(hand(e), rel=1e-11)
        slope = (
            hand(e + 1e-6) - hand(e - 1e-6)
        ) / 2e-6 * e + 1  # gradient of the logarithm, with the Jacobian
        np.testing.assert_allclose(model.gradient(free), [slope], rtol=1e-6)


def test_parts_with_supports_of_their_own_are_for_data():
    x = kg.mixture(kg.normal(0, 1), kg.gamma(2, 1), weights=[0.5, 0.5], name="x")
    with pytest.raises(kg.ModelError, match=r"x .*different supports \(real or positive\); data"):
        kg.model(x)
    d = kg.mixture(kg.uniform(0, 1), kg.uniform(0.5, 3), weights=[0.5, 0.5])
    text = "mixture data must be between 0 and 1 or between 0.5 and 3, but data is -1.0 at index 0"
    with pytest.raises(kg.DataError, match=text):
        kg.observe([-1.0, 2.0], d)


def test_tails_where_supports_differ():
    w = np.array([0.3, 0.7])
    x = np.array([-3.0, -0.5, 0.0, 0.4, 0.9999, 2.0, 40.0])
    mu = kg.placeholder((), name="mu")

    def mixed():
        return kg.mixture(kg.normal(mu, 1), kg.beta(2, 3), weights=w)

    at = kg.placeholder((7,), name="at")
    below = kg.log_cdf(mixed(), at)
    made = [below, kg.log_survival(mixed(), at), *kg.gradients(below.sum(), [at, mu])]
    found = kg.compile([mu, at], made)(0.2, x)
    normal, beta = stats.norm(0.2), stats.beta(2, 3)
    np.testing.assert_allclose(found[0], np.log(normal.cdf(x) * 0.3 + beta.cdf(x) * 0.7), rtol=1e-9)
    with np.errstate(divide="ignore"):
        wanted = np.logaddexp(np.log(0.3) + normal.logsf(x), np.log(0.7) + beta.logsf(x))
    np.testing.assert_allclose(found[1], wanted, rtol=1e-9)
    total = normal.cdf(x) * 0.3 + beta.cdf(x) * 0.7
    slope = (normal.pdf(x) * 0.3 + beta.pdf(x) * 0.7) / total
    np.testing.assert_allclose(found[2], slope, rtol=1e-7, atol=1e-300)
    np.testing.assert_allclose(found[3], (-0.3 * normal.pdf(x) / total).sum(), rtol=1e-9)
    # A zero-inflated binomial number.
    count = kg.mixture(kg.binomial(5, 0.4), kg.discrete_uniform(0, 0), weights=w)
    k = np.arange(-1, 7)
    np.testing.assert_allclose(
        kg.compile([], kg.cdf(count, k))(), 0.3 * stats.binom(5, 0.4).cdf(k) + 0.7 * (k >= 0)
    )
