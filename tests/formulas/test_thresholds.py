"""Priors of thresholds: ordered cut points of `cumulative`, free ones of other ordinal families."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special, stats
from tests.formulas.cases import computed, frame

import kinetograph as kg

DATA = frame()
DATA["seven"] = np.arange(len(DATA)) % 7
DATA["thirteen"] = np.arange(len(DATA)) % 13
DATA["three"] = np.arange(len(DATA)) % 3


def cumulative(response, prior=None, **settings):
    given = None if prior is None else {"thresholds": prior}
    return kg.formula(f"{response} ~ 1", DATA, family="cumulative", prior=given, **settings)


def likelihood(response, cuts):
    below = np.concatenate([[0.0], special.expit(cuts), [1.0]])
    return np.log(np.diff(below)[DATA[response]]).sum()


def density_at(model, cuts, **values):
    return model.log_prob({"thresholds": cuts, **values}, adjusted=False)


CUTS = {"three": [-0.7, 1.1], "seven": [-2.0, -1.1, -0.2, 0.4, 1.5, 2.5]}


@pytest.mark.parametrize(
    ("response", "prior", "settings", "density"),
    [
        ("seven", lambda: kg.normal(0, 2), {}, lambda c: stats.norm.logpdf(c, 0, 2)),
        ("seven", lambda: kg.student(3, 0, 2.5, shape=6), {}, lambda c: stats.t.logpdf(c / 2.5, 3)),
        ("three", lambda: kg.normal([-1, 1], 1), {}, lambda c: stats.norm.logpdf(c, [-1, 1])),
        ("seven", None, {}, lambda c: stats.norm.logpdf(c, np.linspace(-2, 2, 6))),
        ("seven", None, {"default_priors": "brms"}, lambda c: stats.t.logpdf(c / 2.5, 3)),
        ("seven", lambda: kg.ordered_variable(6), {}, lambda c: 0.0 * c),
        ("three", lambda: kg.variable(), {}, lambda c: 0.0 * c),
        (
            "three",
            lambda: kg.mixture(kg.normal(-1, 1), kg.normal(2, 3), weights=[0.4, 0.6]),
            {},
            lambda c: np.log(0.4 * stats.norm.pdf(c, -1) + 0.6 * stats.norm.pdf(c, 2, 3)),
        ),
    ],
)
def test_the_density_is_that_of_the_prior_at_ordered_numbers(response, prior, settings, density):
    model = cumulative(response, prior and prior(), **settings)
    cuts, others = np.array(CUTS[response]), np.sort(np.random.default_rng(1).normal(size=9))
    others = others[: len(cuts)]
    got = density_at(model, cuts) - density_at(model, others)
    expected = likelihood(response, cuts) + density(cuts).sum()
    expected -= likelihood(response, others) + density(others).sum()
    np.testing.assert_allclose(got, expected, rtol=1e-9)
    with pytest.raises(ValueError, match="increasing"):
        density_at(model, cuts[::-1])


@pytest.mark.parametrize("family", ["cumulative", "sratio", "cratio", "acat"])
@pytest.mark.parametrize("rules", ["bambi", "brms"])
def test_the_prior_is_that_at_the_means_of_the_columns(family, rules):
    """brms: b_Intercept[k] = Intercept[k] + dot_product(means_X, b)."""
    settings = {"family": family, "default_priors": rules}
    age = DATA["x"] * 10 + 50
    far = kg.formula("three ~ age + g", DATA.assign(age=age), **settings)
    near = kg.formula("three ~ age + g", DATA.assign(age=age - age.mean()), **settings)
    values = {"b_age": 0.3, "b_g": [0.1, -0.2, 0.4], "thresholds": [-0.4, 1.3]}
    assert far.log_prob(values) == pytest.approx(near.log_prob(values), rel=1e-9)
    at_zero = computed(far, far["b_thresholds"], values)
    shift = 0.3 * age.mean() + 0.25 * (0.1 - 0.2 + 0.4)
    np.testing.assert_allclose(at_zero, np.array([-0.4, 1.3]) + shift)
    raw = kg.formula("three ~ 0 + age", DATA.assign(age=age), **settings)
    values = {"b_age": 0.3, "thresholds": [-0.4, 1.3]}
    at_zero = computed(raw, raw["b_thresholds"], values)
    np.testing.assert_allclose(at_zero, [-0.4, 1.3])


def test_vectors_of_other_laws():
    covariance = np.array([[1.0, 0.5], [0.5, 2.0]])
    model = cumulative("three", kg.multivariate_normal([0.0, 1.0], covariance))
    law = stats.multivariate_normal([0.0, 1.0], covariance)
    points = np.array([[-0.3, 0.8], [0.1, 2.5]])
    values = [density_at(model, p) - likelihood("three", p) for p in points]
    np.testing.assert_allclose(values[0] - values[1], -np.subtract(*law.logpdf(points[::-1])))
    positive = cumulative("three", kg.exponential(1.0))
    assert density_at(positive, [0.5, 2.0]) == pytest.approx(
        likelihood("three", [0.5, 2.0]) - 2.5 + np.log(2.0)
    )
    drawn = kg.simulate(positive, 200, seed=3)["prior"]["thresholds"].values[0]
    assert (drawn[:, 0] > 0).all()
    assert (np.diff(drawn) > 0).all()


def test_equal_laws_have_the_density_of_order_statistics():
    """The density of K sorted draws is K! times that of the draws."""
    model = cumulative("seven", kg.normal(0, 2))
    cuts = np.array(CUTS["seven"])
    expected = stats.norm.logpdf(cuts, 0, 2).sum() + special.gammaln(7)
    got = density_at(model, cuts) - likelihood("seven", cuts)
    np.testing.assert_allclose(got, expected)


@pytest.mark.parametrize("response", ["three", "seven", "thirteen"])
def test_draws_of_equal_laws_are_order_statistics(response):
    count = DATA[response].nunique() - 1
    model = cumulative(response, kg.normal(0, 2))
    simulated = kg.simulate(model, 4000, seed=2)
    cuts = simulated["prior"]["thresholds"].values[0]
    assert (np.diff(cuts) > 0).all()
    for k in range(count):  # F(x) is a beta number
        law = stats.beta(k + 1, count - k)
        assert stats.kstest(stats.norm.cdf(cuts[:, k], 0, 2), law.cdf).pvalue > 1e-8
    codes = simulated["prior_predictive"][response].values
    assert set(np.unique(codes)) == set(range(count + 1))


def test_draws_of_different_laws_are_conditioned_on_their_order():
    cuts = kg.simulate(cumulative("three", kg.normal([0.5, 0.0], [1.0, 2.0])), 5000, seed=4)
    cuts = cuts["prior"]["thresholds"].values[0]
    assert (np.diff(cuts) > 0).all()
    total = stats.norm.cdf(-0.5 / np.sqrt(5.0))

    def density(t):
        return stats.norm.pdf(t, 0.5) * stats.norm.sf(t / 2.0)

    def below(x):
        return integrate.quad(density, -9, x)[0] / total

    grid = np.quantile(cuts[:, 0], np.linspace(0.02, 0.98, 25))
    shares = np.mean(cuts[:, 0] <= grid[:, None], -1)
    # The bound of Dvoretzky, Kiefer and Wolfowitz: 2 exp(-2 n d^2) = 1e-8.
    assert np.abs(shares - [below(x) for x in grid]).max() < np.sqrt(np.log(2e8) / (2 * len(cuts)))


def test_the_default_prior_has_draws():
    cuts = kg.simulate(cumulative("seven"), 3000, seed=5)["prior"]["thresholds"].values[0]
    rng = np.random.default_rng(6)
    independent = rng.normal(np.linspace(-2, 2, 6), 1.0, (400_000, 6))
    kept = independent[(np.diff(independent) > 0).all(1)]
    for k in range(6):
        assert stats.ks_2samp(cuts[:, k], kept[:, k]).pvalue > 1e-8
    with pytest.raises(kg.ModelError, match="give all of them the same one"):
        kg.simulate(cumulative("thirteen"), 5, seed=1)
    with pytest.raises(kg.ModelError, match="or their means decrease"):
        kg.simulate(cumulative("three", kg.normal([1, -1], 0.01)), 5, seed=1)


def test_evidence_needs_the_probability_of_the_order():
    DATA["eleven"] = np.arange(len(DATA)) % 11
    kg.simulate(cumulative("eleven"), 3, seed=1)
    with pytest.raises(kg.ModelError, match=r"thresholds.* is in order is not known"):
        kg.temper(cumulative("three"), seed=1, progress=False)


def test_unknown_scales_of_the_prior():
    tau = kg.half_normal(1, name="tau")
    model = cumulative("seven", kg.normal(0, tau))
    assert model.priors["thresholds"] == "normal(0, tau), ordered"
    cuts = np.array(CUTS["seven"])
    values = [density_at(model, cuts, tau=t) for t in (0.7, 2.0)]
    expected = [stats.norm.logpdf(cuts, 0, t).sum() + stats.halfnorm.logpdf(t) for t in (0.7, 2.0)]
    np.testing.assert_allclose(np.diff(values), np.diff(expected))
    drawn = kg.simulate(model, 50, seed=1)["prior"]
    assert (np.diff(drawn["thresholds"].values) > 0).all()


def test_many_classes_can_be_sampled():
    """Only ordered starting points are tried."""
    results = kg.mcmc(
        cumulative("seven", kg.normal(0, 2)), seed=2, draws=40, warmup=60, progress=False
    )
    assert (np.diff(results["posterior"]["thresholds"].values) > 0).all()


@pytest.mark.parametrize("family", ["sratio", "cratio", "acat"])
def test_other_families_have_free_thresholds(family):
    model = kg.formula("three ~ 1", DATA, family=family)
    assert model.priors["thresholds"] == "normal(0, 1)"
    assert np.isfinite(density_at(model, [1.0, -1.0]))
    brms = kg.formula("three ~ 1", DATA, family=family, default_priors="brms")
    assert brms.priors["thresholds"] == "student(3, 0, 2.5)"
    given = {"thresholds": kg.ordered_variable(2)}
    ordered = kg.formula("three ~ 1", DATA, family=family, prior=given)
    with pytest.raises(ValueError, match="increasing"):
        density_at(ordered, [1.0, -1.0])


@pytest.mark.parametrize(
    ("prior", "error"),
    [
        (lambda: kg.uniform(-3, 3), "between -3 and 3, but ordered numbers have no bounds"),
        (lambda: kg.dirichlet([1, 1]), "ordered numbers have no bounds"),
        (lambda: kg.ordered_variable(3), r"has shape \(3,\), but thresholds has shape \(2,\)"),
    ],
)
def test_priors_that_do_not_fit(prior, error):
    with pytest.raises(ValueError, match=error):
        cumulative("three", prior())


def test_two_classes_are_refused():
    with pytest.raises(kg.DataError, match=r"'b' has two classes, 0 and 1.*family='bernoulli'"):
        cumulative("b")


def test_flat_priors_of_other_unknowns():
    """An unknown without a density is copied with its support."""
    given = {"b_h": kg.ordered_variable(2), "b_x": kg.variable(lower=0)}
    model = kg.formula("y ~ 0 + h + x", DATA, prior=given)
    assert model.priors["b_h"] == "flat, ordered"
    with pytest.raises(ValueError, match="sd_g must be positive"):
        kg.formula("y ~ (1 + x | g)", DATA, prior={"sd_g": kg.ordered_variable(2)})


def test_the_evidence_of_equal_laws():
    def density(second, first):
        prior = stats.norm.logpdf([first, second], 0, 2).sum() + np.log(2.0)
        return np.exp(likelihood("three", [first, second]) + prior + 40.0)

    whole = integrate.dblquad(density, -4, 4, lambda first: first, lambda first: 6.0)[0]
    model = cumulative("three", kg.normal(0, 2))
    attributes = kg.temper(model, seed=1, progress=False).attrs
    error = attributes["log_evidence"] - (np.log(whole) - 40.0)
    assert abs(error) < 6 * attributes["log_evidence_se"] < 0.6


def gapped(kind):
    """A column of classes, one of which has no rows, and the frame without the gap."""
    codes = DATA["three"].to_numpy()
    if kind == "numbers":
        return np.array([0, 1, 3])[codes]
    return pd.Categorical.from_codes(np.array([0, 1, 3])[codes], list("abcde"), ordered=True)


@pytest.mark.parametrize("kind", ["numbers", "categories"])
@pytest.mark.parametrize("family", ["cumulative", "sratio"])
def test_a_class_without_rows_between_others_is_warned_of(kind, family):
    data = DATA.assign(a=gapped(kind))
    missing = "2" if kind == "numbers" else "'c'"
    message = f"response 'a' has no rows of {missing}, between .*no such class"
    with pytest.warns(kg.KinetographWarning, match=message) as caught:
        kg.formula("a ~ x", data, family=family)
    code = str(caught[0].message).rpartition("does not exist: ")[2]
    data["a"] = eval(code, {"data": data, "pandas": pd})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.formula("a ~ x", data, family=family)
