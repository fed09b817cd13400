"""Families, links and additions: densities against SciPy's and NumPy's."""

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from tests.formulas.cases import assert_same_density, computed, frame

import kinetograph as kg

DATA = frame()


def eta_of(values, prefix=""):
    return (
        values[f"b_{prefix}x"] * (DATA["x"].to_numpy() - DATA["x"].mean())
        + values[f"Intercept{'_' + prefix.rstrip('_') if prefix else ''}"]
    )


def inverse_gaussian(y, mu, shape):
    return 0.5 * np.log(shape / (2 * np.pi * y**3)) - shape * (y - mu) ** 2 / (2 * mu**2 * y)


def zeros(y, share, base):
    return np.where(y == 0, np.log(share + (1 - share) * np.exp(base)), np.log1p(-share) + base)


def hurdle(y, share, base, at_zero):
    return np.where(y == 0, np.log(share), np.log1p(-share) + base - np.log1p(-np.exp(at_zero)))


def zero_or(y, share, base):
    return np.where(y == 0, np.log(share), np.log1p(-share) + base)


def negative_binomial(y, mu, shape):
    return stats.nbinom.logpmf(y, shape, shape / (shape + mu))


def skewed(y, mean, sd, alpha):
    """SciPy's density with this mean and this standard deviation."""
    unit = stats.skewnorm(alpha)
    scale = sd / unit.std()
    return stats.skewnorm.logpdf(y, alpha, mean - scale * unit.mean(), scale)


def at_quantile(y, mu, sigma, q):
    """SciPy's density, whose quantile of the probability q is mu."""
    law = stats.laplace_asymmetric(np.sqrt(q / (1 - q)), mu, sigma / np.sqrt(q * (1 - q)))
    np.testing.assert_allclose(law.cdf(mu), q)
    return law.logpdf(y)


EXPIT, EXP = special.expit, np.exp
CASES = {
    "gaussian": ("y", lambda y, e, v: stats.norm.logpdf(y, e, v["sigma"])),
    "student": ("y", lambda y, e, v: stats.t.logpdf(y, v["nu"], e, v["sigma"])),
    "skew_normal": ("y", lambda y, e, v: skewed(y, e, v["sigma"], v["alpha"])),
    "asym_laplace": ("y", lambda y, e, v: at_quantile(y, e, v["sigma"], v["quantile"])),
    "lognormal": (
        "positive",
        lambda y, e, v: stats.lognorm.logpdf(y, v["sigma"], scale=EXP(e)),
    ),
    "bernoulli": ("b", lambda y, e, v: stats.bernoulli.logpmf(y, EXPIT(e))),
    "binomial": (
        "count | trials(n)",
        lambda y, e, v: stats.binom.logpmf(y, DATA["n"], EXPIT(e)),
    ),
    "beta_binomial": (
        "count | trials(n)",
        lambda y, e, v: stats.betabinom.logpmf(
            y, DATA["n"], EXPIT(e) * v["phi"], EXPIT(-e) * v["phi"]
        ),
    ),
    "zero_inflated_binomial": (
        "count | trials(n)",
        lambda y, e, v: zeros(y, v["zi"], stats.binom.logpmf(y, DATA["n"], EXPIT(e))),
    ),
    "poisson": ("count", lambda y, e, v: stats.poisson.logpmf(y, EXP(e))),
    "negbinomial": ("count", lambda y, e, v: negative_binomial(y, EXP(e), v["shape"])),
    "geometric": ("count", lambda y, e, v: stats.geom.logpmf(y + 1, 1 / (1 + EXP(e)))),
    "gamma": (
        "positive",
        lambda y, e, v: stats.gamma.logpdf(y, v["shape"], scale=EXP(e) / v["shape"]),
    ),
    "exponential": ("positive", lambda y, e, v: stats.expon.logpdf(y, scale=EXP(e))),
    "weibull": (
        "positive",
        lambda y, e, v: stats.weibull_min.logpdf(
            y, v["shape"], scale=EXP(e) / special.gamma(1 + 1 / v["shape"])
        ),
    ),
    "inverse_gaussian": ("positive", lambda y, e, v: inverse_gaussian(y, EXP(e), v["shape"])),
    "beta": (
        "share",
        lambda y, e, v: stats.beta.logpdf(y, EXPIT(e) * v["phi"], EXPIT(-e) * v["phi"]),
    ),
    "von_mises": (
        "angle",
        lambda y, e, v: stats.vonmises.logpdf(y, v["kappa"], 2 * np.arctan(e)),
    ),
    "zero_inflated_poisson": (
        "count",
        lambda y, e, v: zeros(y, v["zi"], stats.poisson.logpmf(y, EXP(e))),
    ),
    "zero_inflated_negbinomial": (
        "count",
        lambda y, e, v: zeros(y, v["zi"], negative_binomial(y, EXP(e), v["shape"])),
    ),
    "hurdle_poisson": (
        "count",
        lambda y, e, v: hurdle(y, v["hu"], stats.poisson.logpmf(y, EXP(e)), -EXP(e)),
    ),
    "hurdle_negbinomial": (
        "count",
        lambda y, e, v: hurdle(
            y,
            v["hu"],
            negative_binomial(y, EXP(e), v["shape"]),
            negative_binomial(0, EXP(e), v["shape"]),
        ),
    ),
    "hurdle_gamma": (
        "rain",
        lambda y, e, v: zero_or(
            y, v["hu"], stats.gamma.logpdf(y, v["shape"], scale=EXP(e) / v["shape"])
        ),
    ),
    "hurdle_lognormal": (
        "rain",
        lambda y, e, v: zero_or(y, v["hu"], stats.lognorm.logpdf(y, v["sigma"], scale=EXP(e))),
    ),
    "zero_inflated_beta": (
        "cover",
        lambda y, e, v: zero_or(
            y, v["zi"], stats.beta.logpdf(y, EXPIT(e) * v["phi"], EXPIT(-e) * v["phi"])
        ),
    ),
}


@pytest.mark.parametrize("family", CASES)
def test_densities_and_links(family):
    text, expected = CASES[family]
    model = kg.formula(f"{text} ~ x", DATA, family=family)
    values = model.transform(np.random.default_rng(7).normal(0, 0.4, model.free_size))
    y = DATA[text.partition(" ")[0]].to_numpy()
    density = computed(model, kg.log_density(model.response(), y), values)
    np.testing.assert_allclose(density, expected(y, eta_of(values), values), rtol=1e-9)
    # The model adds the density of the same data to the priors of its unknowns.
    prior = sum(
        np.sum(computed(model, kg.log_density(as_distribution(model, name), values[name]), values))
        for name in model.names
    )
    np.testing.assert_allclose(
        model.log_prob(values, adjusted=False), prior + density.sum(), rtol=1e-9
    )


def as_distribution(model, name):
    """A new distribution with the parameters of an unknown's prior."""
    prior = model[name].node.distribution
    function = getattr(kg, prior.family.name)
    return function(*(parent.value for parent in prior.parents), shape=prior.shape)


LINKS = {
    "logit": EXPIT,
    "probit": stats.norm.cdf,
    "cloglog": lambda e: -np.expm1(-EXP(e)),
    "cauchit": stats.cauchy.cdf,
}


@pytest.mark.parametrize("link", LINKS)
def test_links_of_probabilities(link):
    model = kg.formula("b ~ x", DATA, family="bernoulli", link=link)
    values = model.transform(np.random.default_rng(7).normal(0, 0.4, model.free_size))
    mean = computed(model, model.parameter("mu"), values)
    np.testing.assert_allclose(mean, LINKS[link](eta_of(values)), rtol=1e-12)


def probabilities(family, link, thresholds, eta):
    """P(y = k) by the definitions of Buerkner and Vuorre (2019)."""
    f = EXPIT if link == "logit" else stats.norm.cdf
    z = thresholds[None, :] - eta[:, None]
    below = f(z)
    if family == "cumulative":
        return np.diff(np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))), axis=1)
    if family == "acat":
        scores = np.pad(np.cumsum(np.log(f(-z) / f(z)), 1), ((0, 0), (1, 0)))
        return special.softmax(scores, 1)
    stop = below if family == "sratio" else 1 - f(-z)
    going = np.cumprod(1 - stop, 1)
    first = np.pad(going, ((0, 0), (1, 0)), constant_values=1.0)
    return first * np.pad(stop, ((0, 0), (0, 1)), constant_values=1.0)


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("family", ["cumulative", "sratio", "cratio", "acat"])
def test_ordered_classes(family, link):
    model = kg.formula("grade ~ x", DATA, family=family, link=link)
    values = model.transform(np.random.default_rng(7).normal(0, 0.4, model.free_size))
    x = DATA["x"].to_numpy()
    expected = probabilities(family, link, values["thresholds"], values["b_x"] * (x - x.mean()))
    at_zero = computed(model, model["b_thresholds"], values)
    np.testing.assert_allclose(
        probabilities(family, link, at_zero, values["b_x"] * x), expected, rtol=1e-9
    )
    y = DATA["grade"].to_numpy() - 1
    density = computed(model, kg.log_density(model.response(), y), values)
    np.testing.assert_allclose(density, np.log(expected[np.arange(len(y)), y]), rtol=1e-9)
    assert np.isfinite(model.log_prob(values))


def test_ordered_categories_and_classes_have_labels():
    levels = ["low", "mid", "high", "top"]
    ordered = DATA.assign(t=pd.Categorical(DATA["t"], categories=levels, ordered=True))
    model = kg.formula("t ~ x", ordered, family="cumulative")
    codes = DATA["t"].map({level: i for i, level in enumerate(levels)})
    assert np.array_equal(model["t"].node.value, codes)
    assert list(model.coords["threshold"]) == levels[:-1]
    model = kg.formula(["kind ~ x", "mur ~ z"], DATA, family="categorical")
    assert set(model.names) == {
        "b_muq_x", "Intercept_muq", "b_mur_z", "Intercept_mur", "b_mus_x", "Intercept_mus",
    }  # fmt: skip
    values = model.transform(np.random.default_rng(7).normal(0, 0.4, model.free_size))
    z = DATA["z"].to_numpy() - DATA["z"].mean()
    etas = [
        np.zeros(len(z)),
        eta_of(values, "muq_"),
        values["b_mur_z"] * z + values["Intercept_mur"],
        eta_of(values, "mus_"),
    ]
    expected = special.log_softmax(np.stack(etas, 1), 1)
    y = DATA["kind"].map(dict(zip("pqrs", range(4)))).to_numpy()
    density = computed(model, kg.log_density(model.response(), y), values)
    np.testing.assert_allclose(density, expected[np.arange(len(y)), y], rtol=1e-10)


def test_further_parameters_have_formulas():
    model = kg.formula(["y ~ x", "sigma ~ x + (1 | g)"], DATA)
    values = model.transform(np.random.default_rng(7).normal(0, 0.4, model.free_size))
    codes = DATA["g"].map({"a": 0, "b": 1, "c": 2, "d": 3}).to_numpy()
    eta = eta_of(values, "sigma_") + values["sd_sigma_g"] * values["z_sigma_g"][codes]
    sigma = computed(model, model.parameter("sigma"), values)
    np.testing.assert_allclose(sigma, np.exp(eta), rtol=1e-12)
    assert model.priors["b_sigma_x"] == "normal(0, 1)"
    assert model.priors["Intercept_sigma"] == "normal(0, 1)"
    y = DATA["y"].to_numpy()
    density = computed(model, kg.log_density(model.response(), y), values)
    np.testing.assert_allclose(density, stats.norm.logpdf(y, eta_of(values), sigma), rtol=1e-10)


def test_two_offsets_add_up():
    model = kg.formula("count ~ x + offset(z) + offset(log(n))", DATA, family="poisson")
    values = model.transform(np.random.default_rng(7).normal(0, 0.4, model.free_size))
    got = computed(model, model.parameter("mu", DATA[:7]), values)
    expected = np.exp(eta_of(values) + DATA["z"]) * DATA["n"]
    np.testing.assert_allclose(got, expected[:7], rtol=1e-12)


SURVIVAL = {
    "exponential": lambda e, v: stats.expon(scale=EXP(e)),
    "weibull": lambda e, v: stats.weibull_min(
        v["shape"], scale=EXP(e) / special.gamma(1 + 1 / v["shape"])
    ),
    "lognormal": lambda e, v: stats.lognorm(v["sigma"], scale=EXP(e)),
    "gamma": lambda e, v: stats.gamma(v["shape"], scale=EXP(e) / v["shape"]),
}


@pytest.mark.parametrize("family", SURVIVAL)
def test_censored_survival(family):
    """The density differs from that of observed times by the survival function."""
    kinds = np.resize(["none", "right", "left", "interval"], len(DATA))
    data = DATA.assign(c=kinds, later=DATA["positive"] + 1)
    model = kg.formula("positive | cens(c, later) ~ x", data, family=family)
    observed = kg.formula("positive ~ x", data, family=family)
    values = model.transform(np.random.default_rng(7).normal(0, 0.4, model.free_size))
    law, y = SURVIVAL[family](eta_of(values), values), data["positive"].to_numpy()
    expected = np.select(
        [kinds == "none", kinds == "right", kinds == "left"],
        [law.logpdf(y), law.logsf(y), law.logcdf(y)],
        np.log(law.cdf(y + 1) - law.cdf(y)),
    )
    change = model.log_prob(values) - observed.log_prob(values)
    assert np.isclose(change, expected.sum() - law.logpdf(y).sum(), rtol=1e-8)
    assert model.response().shape == (len(data),)


@pytest.mark.parametrize("kind", [int, float, bool, np.int8])
def test_censoring_by_an_expression(kind):
    """Events are the opposite of censored times."""
    event = np.resize([1, 0, 1], len(DATA)).astype(kind)
    data = DATA.assign(event=event, c=np.where(event, "none", "right"))
    wanted = kg.formula("positive | cens(c) ~ x", data, family="weibull")
    values = wanted.transform(np.random.default_rng(7).normal(0, 0.4, wanted.free_size))
    for written in ("1 - event", "event == 0"):
        model = kg.formula(f"positive | cens({written}) ~ x", data, family="weibull")
        assert model.log_prob(values) == wanted.log_prob(values)


def test_only_intervals_have_an_upper_end_and_it_may_be_infinite():
    kinds = np.resize(["right", "interval"], len(DATA))
    later = np.where(kinds == "right", np.nan, DATA["positive"] + 1)
    data = DATA.assign(c=kinds, later=later)
    model = kg.formula("positive | cens(c, later) ~ x", data, family="weibull")
    values = model.transform(np.random.default_rng(7).normal(0, 0.4, model.free_size))
    unlimited = data.assign(later=np.where(np.arange(len(data)) % 4 < 2, np.inf, later))
    other = kg.formula("positive | cens(c, later) ~ x", unlimited, family="weibull")
    right = data.assign(c=np.where(np.arange(len(data)) % 4 < 2, "right", kinds))
    same = kg.formula("positive | cens(c, later) ~ x", right, family="weibull")
    assert np.isclose(other.log_prob(values), same.log_prob(values), rtol=1e-12)
    assert model.log_prob(values) < other.log_prob(values) < 0
    with pytest.raises(kg.DataError, match=r"'later', but .* missing there, first in row 1"):
        kg.formula("positive | cens(c, later) ~ x", data.assign(later=np.nan), family="weibull")


def test_weights_and_truncation_and_offsets():
    model = kg.formula("count | weights(w) ~ x + offset(log(n))", DATA, family="poisson")

    def build():
        x = DATA["x"].to_numpy()
        b_x = kg.normal(0, 2.5 / x.std(), name="b_x")
        scale = np.sqrt(2.5**2 + (2.5 / x.std() * x.mean()) ** 2)
        intercept = kg.normal(0, scale, name="Intercept")
        rate = DATA["n"].to_numpy() * kg.exp(intercept + (x - x.mean()) * b_x)
        density = kg.log_density(kg.poisson(rate), DATA["count"].to_numpy())
        kg.factor(DATA["w"].to_numpy() * density)
        return b_x, intercept

    assert_same_density(model, kg.model(build))
    cut = kg.formula("positive | trunc(lb=0.05) ~ x", DATA)
    values = cut.transform(np.random.default_rng(7).normal(0, 0.4, cut.free_size))
    mean, sd = eta_of(values), values["sigma"]
    y = DATA["positive"].to_numpy()
    density = computed(cut, kg.log_density(cut.response(), y), values)
    expected = stats.norm.logpdf(y, mean, sd) - stats.norm.logsf(0.05, mean, sd)
    np.testing.assert_allclose(density, expected, rtol=1e-9)


def test_text_of_two_levels_is_binary():
    model = kg.formula("h ~ x", DATA, family="bernoulli")
    assert np.array_equal(model["h"].node.value, (DATA["h"] == "v").astype(int))


def test_expected_counts_with_extra_zeros():
    model = kg.formula("count | trials(n) ~ x", DATA, family="zero_inflated_binomial")
    values = model.transform(np.random.default_rng(7).normal(0, 0.4, model.free_size))
    mean = computed(model, kg.expectation(model.response()), values)
    expected = (1 - values["zi"]) * DATA["n"] * EXPIT(eta_of(values))
    np.testing.assert_allclose(mean, expected, rtol=1e-12)


@pytest.mark.slow
def test_zeros_have_a_formula():
    """Amounts that are often 0: known parameters are recovered, and rows are predicted."""
    rng = np.random.default_rng(4)
    n = 600
    x = rng.normal(size=n)
    none = rng.random(n) < EXPIT(-0.5 + 1.0 * x)
    amounts = np.where(none, 0.0, rng.gamma(3.0, EXP(0.7 - 0.5 * x) / 3.0))
    data = pd.DataFrame({"y": amounts, "x": x})
    model = kg.formula(["y ~ x", "hu ~ x"], data, family="hurdle_gamma")
    assert model.links == {"mu": "log", "hu": "logit"}
    assert model.priors["b_hu_x"] == "normal(0, 1)"
    results = kg.mcmc(model, draws=300, chains=2, seed=2, progress=False)
    truth = {"b_Intercept": 0.7, "b_x": -0.5, "shape": 3.0, "b_hu_Intercept": -0.5, "b_hu_x": 1.0}
    posterior = results["posterior"]
    for name, expected in truth.items():
        draws = posterior[name].values
        assert abs(draws.mean() - expected) < 5 * draws.std(), name
        assert draws.std() < 0.3
    new = {"x": [-1.0, 1.0]}
    mean = model.predict(results, new, kind="mean", seed=1)["predictions"]["y_mean"].values
    eta = {
        name: posterior[f"b_{name}Intercept"].values[..., None]
        + posterior[f"b_{name}x"].values[..., None] * new["x"]
        for name in ("", "hu_")
    }
    np.testing.assert_allclose(mean, EXPIT(-eta["hu_"]) * EXP(eta[""]), rtol=1e-9)
    drawn = model.predict(results, new, seed=1)["predictions"]["y"].values.reshape(-1, 2)
    share, expected = (drawn == 0).mean(0), EXPIT(eta["hu_"]).mean((0, 1))
    assert (abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / len(drawn))).all()
    pointwise = kg.log_likelihood(model, results)["log_likelihood"]["y"].values
    law = stats.gamma(posterior["shape"].values[..., None], scale=1.0)
    mu = EXP(posterior["b_Intercept"].values[..., None] + posterior["b_x"].values[..., None] * x)
    hu = EXPIT(
        posterior["b_hu_Intercept"].values[..., None] + posterior["b_hu_x"].values[..., None] * x
    )
    rate = posterior["shape"].values[..., None] / mu
    some = law.logpdf(np.where(none, 1.0, amounts) * rate) + np.log(rate)
    np.testing.assert_allclose(pointwise, zero_or(amounts, hu, some), rtol=1e-7)
    assert np.isfinite(float(kg.loo(model, results).elpd))
    simulated = kg.simulate(model, draws=20, seed=3)["prior_predictive"]["y"].values
    assert 0 < (simulated == 0).mean() < 1


@pytest.mark.parametrize("rules", ["bambi", "brms"])
def test_priors_of_families_with_zeros(rules):
    zi = {"bambi": "beta(2, 2)", "brms": "beta(1, 1)"}[rules]
    model = kg.formula("cover ~ x", DATA, family="zero_inflated_beta", default_priors=rules)
    assert model.priors["zi"] == zi
    model = kg.formula("rain ~ x", DATA, family="hurdle_lognormal", default_priors=rules)
    assert model.priors["hu"] == zi
    if rules == "brms":
        logs = np.log(np.where(DATA["rain"] == 0, 0.1, DATA["rain"]))
        assert model.priors["Intercept"].startswith(f"student(3, {round(np.median(logs), 1):g}, ")
