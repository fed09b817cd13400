"""Missing values as unknowns: densities of complete data, closed-form posteriors."""

import copy

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

NAN = np.nan


def assert_moments(draws, mean, sd, ess=1500):
    """Compare moments within six standard errors for `ess` independent draws.

    Means and variances are compared.
    """
    draws = np.asarray(draws).ravel()
    assert abs(draws.mean() - mean) < 6 * sd / np.sqrt(ess)
    assert abs(draws.var() / sd**2 - 1) < 6 * np.sqrt(2 / ess)


def test_normal_outcomes():
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    y = kg.data([1.0, NAN, 3.0, NAN, 2.0], "y", dims="t", missing="impute")
    mu = kg.normal(0, 2, name="mu")
    assert kg.observe(y, kg.normal(mu + kg.data(x, "x"), 0.5)) is y
    without, model = kg.model(mu), kg.model(mu, y)
    assert without.names == ("mu",)  # the missing ones integrate to 1
    residuals = np.array([1.0, 1.0, -2.0])
    wanted = stats.norm.logpdf(residuals, 0.3, 0.5).sum() + stats.norm.logpdf(0.3, 0, 2)
    assert without.log_prob([0.3]) == pytest.approx(wanted)
    wanted += stats.norm.logpdf([1.2, 3.4], 0.3 + x[[1, 3]], 0.5).sum()
    assert model.log_prob([0.3, 1.2, 3.4]) == pytest.approx(wanted)
    results = kg.mcmc(model, seed=1, draws=2000, progress=False)
    precision = 1 / 4 + 3 / 0.25
    mean = residuals.sum() / 0.25 / precision
    posterior = results["posterior"]
    assert posterior["y"].dims == ("chain", "draw", "t")
    assert_moments(posterior["mu"], mean, precision**-0.5)
    for t in (1, 3):
        assert_moments(posterior["y"][..., t], mean + t, np.sqrt(1 / precision + 0.25))
    for t, value in ((0, 1.0), (2, 3.0), (4, 2.0)):
        assert (posterior["y"][..., t] == value).all()
    again = kg.predict(model, results, seed=1)["posterior_predictive"]["y_observed"]
    assert again["y_observed_at"].values.tolist() == [0, 2, 4]
    found = kg.log_likelihood(model, results)["log_likelihood"]["y_observed"]
    draws = posterior["mu"].values[..., None]
    np.testing.assert_allclose(found, stats.norm.logpdf(residuals, draws, 0.5), rtol=1e-6)


def test_names_and_labels():
    import pandas as pd

    series = pd.Series([1.0, NAN, 3.0], index=pd.Index(["a", "b", "c"], name="school"))
    table = kg.data([[1.0, NAN], [NAN, 4.0]], "table", dims=("row", "column"), missing="impute")
    mu = kg.normal(0, 1, name="mu")
    effect = kg.observe(kg.data(series, missing="impute"), kg.normal(mu, 1), name="effect")
    kg.observe(table, kg.normal(mu, 1))
    model = kg.model(mu, effect, table)
    assert model.names == ("mu", "effect_missing", "table_missing")
    assert model.coords["effect_missing_at"].tolist() == ["b"]
    assert model.coords["school"].tolist() == ["a", "b", "c"]
    assert model.coords["table_missing_at"].tolist() == ["0, 1", "1, 0"]
    prior = kg.simulate(model, 3, seed=1)["prior"]
    assert prior["effect_missing"].sel(effect_missing_at="b").shape == (1, 3)
    drawn = prior["table"].sel(row=0, column=1)
    np.testing.assert_array_equal(drawn, prior["table_missing"].sel(table_missing_at="0, 1"))
    twin = copy.deepcopy(model)
    at = np.linspace(-1, 1, 4)
    assert twin.log_prob(at) == model.log_prob(at)


def test_labels_of_an_index_without_a_name():
    """Missing values keep the labels of their rows, without `dims=`, too; saved models as well."""
    import pandas as pd

    values = [1.0, NAN, 3.0, NAN]
    frame = pd.DataFrame({"u": values, "v": [0.0, 1.0, 2.0, NAN]}, index=[7, 3, 9, 4])
    days = pd.Series(values, pd.date_range("2024-03-01", periods=4), name="days")
    names = pd.Series(values, pd.Index(["a", "b", "c", "d"]), name="names").astype("Float64")
    mu = kg.normal(0, 1, name="mu")
    for data in (frame["u"], days, names):
        kg.observe(kg.data(data, missing="impute"), kg.normal(mu, 1))
    table = kg.data(frame, "table", dims=(None, "column"), missing="impute")
    kg.observe(table, kg.normal(mu, 1))
    model = kg.model(mu, table)
    for each in (model, copy.deepcopy(model)):
        at = each.coords
        assert at["u_observed_at"].tolist() == [7, 9]
        assert at["names_observed_at"].tolist() == ["a", "c"]
        assert [str(t)[:10] for t in at["days_observed_at"]] == ["2024-03-01", "2024-03-03"]
        assert at["table_missing_at"].tolist() == ["3, u", "4, u", "4, v"]


def test_labels_of_the_data_that_the_model_is_given():
    """Observed and missing parts have labels, also if data are a target."""
    mu = kg.normal(0, 1, name="mu")
    row = kg.data([1.0, NAN, 3.0], "y", dims="row", missing="impute")
    table = kg.data([[1.0, NAN], [2.0, 4.0]], "t", dims=("pupil", "column"), missing="impute")
    kg.observe(row, kg.normal(mu, 1))
    kg.observe(table, kg.normal(mu, 1))
    labels = {"row": ["a", "b", "c"], "pupil": ["d", "e"]}
    alone, whole = kg.model(mu, coords=labels), kg.model(mu, row, coords=labels)
    for model in (alone, whole):
        at = {name: known.tolist() for name, known in model.coords.items()}
        assert (at["y_observed_at"], at["t_observed_at"]) == (["a", "c"], ["d, 0", "e, 0", "e, 1"])
    assert "row" not in alone.coords
    assert whole.coords["row"].tolist() == ["a", "b", "c"]
    assert whole.coords["y_missing_at"].tolist() == ["b"]
    with pytest.raises(kg.DimsError, match=r"'row' has length 2 in its labels and 3 in y"):
        kg.model(mu, coords={"row": ["a", "b"]})
    with pytest.raises(kg.DimsError, match=r"'rows', which is not a dimension"):
        kg.model(mu, coords={"rows": ["a", "b", "c"]})


def test_predictors():
    """A missing predictor x of a linear y is normal given both."""
    x = kg.data([1.0, NAN, 3.0], "x", missing="impute")
    kg.observe(x, kg.normal(2.0, 1.5))
    a = kg.normal(0, 1, name="a")
    kg.observe([2.0, 5.0, 6.5], kg.normal(a + 2 * x, 0.5), name="y")
    model = kg.model(a, x)
    results = kg.mcmc(model, seed=1, draws=2000, progress=False)
    design = np.array([[1.0, 0], [1, 2], [1, 0]])  # posterior covariance of a and the missing x
    known = np.array([2.0, 0, 6.0])
    precision = np.diag([1, 1 / 1.5**2]) + design.T @ design / 0.25
    right = np.array([0, 2 / 1.5**2]) + design.T @ (np.array([2, 5, 6.5]) - known) / 0.25
    mean, sd = np.linalg.solve(precision, right), np.sqrt(np.diag(np.linalg.inv(precision)))
    assert_moments(results["posterior"]["a"], mean[0], sd[0])
    assert_moments(results["posterior"]["x"][..., 1], mean[1], sd[1])


def full(kind, n):
    """Families of numbers, with parameters for each element or all, and SciPy's."""
    rng = np.random.default_rng(0)
    m, s = rng.normal(size=n), rng.uniform(0.5, 2, size=n)
    return {
        "normal": (kg.normal(kg.data(m) * 2, s), stats.norm(2 * m, s)),
        "lognormal": (kg.lognormal(kg.data(m), 0.7), stats.lognorm(0.7, scale=np.exp(m))),
        "gamma": (kg.gamma(2.0, kg.data(s)), stats.gamma(2, scale=1 / s)),
        "beta": (kg.beta(s, 2.0), stats.beta(s, 2.0)),
        "uniform": (kg.uniform(-s, s), stats.uniform(-s, 2 * s)),
        "truncated": (
            kg.normal(kg.data(m), 1.0, truncation=(kg.data(m) - 0.5, None)),
            stats.truncnorm(-0.5, np.inf, m, 1.0),
        ),
    }[kind]


@pytest.mark.parametrize("kind", ["normal", "lognormal", "gamma", "beta", "uniform", "truncated"])
@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_densities(kind, shape):
    ours, theirs = full(kind, 6)
    whole = theirs.ppf(np.linspace(0.15, 0.85, 6))
    seen = whole.copy()
    seen[[1, 4]] = NAN
    if len(shape) > 1:
        parents = [kg.Array(p) for p in ours.node.distribution.parents]
        parents = [p.reshape(shape) if p.shape == (6,) else p for p in parents]
        make = {"truncated": lambda m, s, low: kg.normal(m, s, truncation=(low, None))}
        ours = make.get(kind, getattr(kg, kind, None))(*parents)
    level = kg.normal(0, 1, name="level")
    y = kg.data(seen.reshape(shape), "y", missing="impute")
    kg.observe(y, ours)
    model = kg.model(level, total=y.sum() + level)
    assert model.names == ("level", "y_missing")
    at = {"level": 0.0, "y_missing": whole[[1, 4]]}
    found = model.log_prob(model.untransform(at), adjusted=False)
    # The observed part has known parameters here: its density is a constant.
    wanted = stats.norm.logpdf(0) + theirs.logpdf(whole)[[1, 4]].sum()
    assert found == pytest.approx(wanted)
    if kind != "normal":
        with pytest.raises(ValueError, match="y_missing: must be"):
            model.untransform(at | {"y_missing": np.full(2, -50.0)})


def test_parameters_that_are_unknown():
    """Unknown parameters by group, by index, and with an unknown truncation bound."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 3, 30)
    values = rng.normal(size=30) + 3.0
    missing = np.zeros(30, bool)
    missing[[2, 5, 17]] = True
    alpha = kg.normal(0, 1, shape=3, name="alpha")
    slope, low = kg.normal(0, 1, name="slope"), kg.normal(-5, 1, name="low")
    index, x = kg.data(group, "group"), kg.data(rng.normal(size=30), "x")
    mean = alpha[index] + slope * x
    y = kg.data(np.where(missing, NAN, values), "y", missing="impute")
    kg.observe(y, kg.normal(mean, 1.3, truncation=(low, None)))
    model = kg.model(alpha, slope, low, y)
    at = {"alpha": [0.1, 0.2, 0.3], "slope": 0.4, "low": -4.5, "y_missing": values[missing]}
    mu = np.array([0.1, 0.2, 0.3])[group] + 0.4 * x.node.value
    theirs = stats.truncnorm((-4.5 - mu) / 1.3, np.inf, mu, 1.3)
    wanted = theirs.logpdf(values).sum() + stats.norm.logpdf([0.1, 0.2, 0.3, 0.4, 0.5]).sum()
    found = model.log_prob(model.untransform(at), adjusted=False)
    assert found == pytest.approx(wanted)
    model.set_data(x=np.zeros(30), group=np.zeros(30, int), y_observed=np.full(27, 1.0))
    theirs = stats.truncnorm((-4.5 - 0.1) / 1.3, np.inf, 0.1, 1.3)
    values = np.where(missing, values, 1.0)
    wanted = theirs.logpdf(values).sum() + stats.norm.logpdf([0.1, 0.2, 0.3, 0.4, 0.5]).sum()
    found = model.log_prob(model.untransform(at), adjusted=False)
    assert found == pytest.approx(wanted)


def test_a_linear_model_of_what_is_seen_is_compressed():
    rng = np.random.default_rng(2)
    alpha, x = kg.normal(0, 1, shape=3), kg.data(rng.normal(size=90))
    group = kg.data(rng.integers(0, 3, 90))
    y = kg.data(np.where(np.arange(90) % 9, rng.normal(size=90), NAN), "y", missing="impute")
    kg.observe(y, kg.normal(alpha[group] + 2.0 * x, 1.0))
    model = kg.model(alpha)
    assert [term.compressed is not None for term in model.density.terms] == [False, True]
    seen = ~np.isnan(np.where(np.arange(90) % 9, 0.0, NAN))
    at = np.array([0.3, -0.2, 0.5])
    values = next(n for n in model.data if model.name(n) == "y_observed").value
    mu = at[group.node.value] + 2 * x.node.value
    wanted = stats.norm.logpdf(values, mu[seen], 1.0).sum() + stats.norm.logpdf(at).sum()
    assert model.log_prob(at) == pytest.approx(wanted)


COV = np.array([[2.0, 0.8, -0.3], [0.8, 1.5, 0.4], [-0.3, 0.4, 1.0]])
ROWS = np.array([[1.0, NAN, 0.5], [0.3, 0.1, -1.0], [NAN, NAN, 2.0], [1.5, 0.2, 0.1]])


def test_vectors_seen_in_part():
    mean = np.array([0.5, -0.5, 1.0])
    rows = kg.data(ROWS, "rows", dims=("row", "part"), missing="impute")
    shift = kg.normal(0, 1, name="shift")
    kg.observe(rows, kg.multivariate_normal(shift + mean, cov=COV))
    model = kg.model(shift, rows)
    assert model.names == ("shift", "rows_missing")
    assert model.coords["rows_missing_at"].tolist() == ["0, 1", "2, 0", "2, 1"]
    whole = ROWS.copy()
    whole[np.isnan(ROWS)] = [0.2, -0.4, 0.9]
    wanted = stats.multivariate_normal(mean + 0.3, COV).logpdf(whole).sum()
    wanted += stats.norm.logpdf(0.3)
    assert model.log_prob([0.3, 0.2, -0.4, 0.9]) == pytest.approx(wanted)
    given = kg.condition(model, shift=0.0)
    results = kg.mcmc(given, seed=1, draws=2500, progress=False)
    found = results["posterior"]["rows"].values
    for row, gone in ((0, [1]), (2, [0, 1])):
        seen = [i for i in range(3) if i not in gone]
        gain = COV[np.ix_(gone, seen)] @ np.linalg.inv(COV[np.ix_(seen, seen)])
        centre = mean[gone] + gain @ (ROWS[row, seen] - mean[seen])
        cov = COV[np.ix_(gone, gone)] - gain @ COV[np.ix_(seen, gone)]
        for k, i in enumerate(gone):
            assert_moments(found[..., row, i], centre[k], np.sqrt(cov[k, k]))
    seen = ~np.isnan(ROWS)
    assert (found[..., seen] == ROWS[seen]).all()


def test_vectors_missing_in_whole_beside_vectors_missing_in_part():
    """All missing elements are one unknown."""
    values, mean = np.array([[0.2, NAN], [NAN, NAN], [0.5, -1.0]]), np.array([0.5, -0.5])
    rows = kg.data(values.copy(), "rows", missing="impute")
    mu = kg.normal(0, 1, name="mu")
    kg.observe(rows, kg.multivariate_normal(mu + mean, cov=COV[:2, :2]))
    model = kg.model(mu, rows)
    assert model.names == ("mu", "rows_missing")
    assert model.coords["rows_missing_at"].tolist() == ["0, 1", "1, 0", "1, 1"]
    values[np.isnan(values)] = [0.3, 0.6, -0.7]
    wanted = stats.multivariate_normal(mean + 0.1, COV[:2, :2]).logpdf(values).sum()
    wanted += stats.norm.logpdf(0.1)
    assert model.log_prob([0.1, 0.3, 0.6, -0.7]) == pytest.approx(wanted)


def test_vectors_that_are_missing_in_whole():
    rows = kg.data([[0.2, 0.8], [NAN, NAN]], "share", missing="impute")
    strength = kg.gamma(2, 1, name="strength")
    kg.observe(rows, kg.dirichlet(strength * np.array([1.0, 2.0])))
    model = kg.model(strength, rows)
    at = {"strength": 2.0, "share_missing": [[0.4, 0.6]]}
    wanted = sum(stats.dirichlet([2.0, 4.0]).logpdf(p) for p in ([0.2, 0.8], [0.4, 0.6]))
    wanted += stats.gamma.logpdf(2.0, 2)
    assert model.log_prob(model.untransform(at), adjusted=False) == pytest.approx(wanted)


def test_whole_numbers():
    """A missing class is marginalised; a missing count gives no information."""
    k = kg.data([1, None, 0, 1], "k", missing="impute")
    p, alpha = kg.beta(2, 2, name="p"), kg.normal(0, 1, shape=2, name="alpha")
    kg.observe(k, kg.bernoulli(p))
    y = np.array([1.0, 0.5, -1.0, 0.7])
    kg.observe(y, kg.normal(alpha[k], 0.5), name="y")
    counts = kg.data([3, None], "counts", missing="impute")
    kg.observe(counts, kg.poisson(p))
    model = kg.model(p, alpha)
    assert model.names == ("p", "alpha")
    at = {"p": 0.3, "alpha": [-0.5, 0.8]}
    means = np.array(at["alpha"])
    wanted = stats.norm.logpdf(y[[0, 2, 3]], means[[1, 0, 1]], 0.5).sum()
    wanted += stats.bernoulli.logpmf([1, 0, 1], 0.3).sum() + stats.poisson.logpmf(3, 0.3)
    wanted += np.log(np.dot([0.7, 0.3], stats.norm.pdf(0.5, means, 0.5)))
    wanted += stats.beta.logpdf(0.3, 2, 2) + stats.norm.logpdf(means).sum()
    found = model.log_prob(model.untransform(at), adjusted=False)
    assert found == pytest.approx(wanted)
    with pytest.raises(kg.ModelError, match=r"counts_missing.* infinitely many values"):
        kg.model(p, counts)
    with pytest.raises(kg.DataError, match=r"counts is 1\.5 at index 1"):
        kg.observe(kg.data([NAN, 1.5], "counts", missing="impute"), kg.poisson(p))


def test_all_missing_is_an_unknown():
    y = kg.data([NAN, NAN], "y", missing="impute")
    kg.observe(y, kg.normal([0.0, 1.0], 2.0))
    model = kg.model(y)
    wanted = stats.norm.logpdf([0.5, 0.7], [0, 1], 2).sum()
    assert model.log_prob([0.5, 0.7]) == pytest.approx(wanted)


def test_observed_once_more():
    mu = kg.normal(0, 1, name="mu")
    y = kg.data([1.0, NAN], "y", missing="impute")
    kg.observe(y, kg.normal(mu, 1))
    with pytest.raises(kg.ModelError, match=r"y has been observed, as normal at .*log_density\("):
        kg.observe(y, kg.normal(mu, 3))
    kg.factor(kg.log_density(kg.normal(mu, 3), y))  # the text of the message
    model = kg.model(mu, y)
    wanted = stats.norm.logpdf(0.1) + stats.norm.logpdf([1.0, 0.4], 0.1, [[1], [3]]).sum()
    assert model.log_prob([0.1, 0.4]) == pytest.approx(wanted)


def test_observed_once_more_by_code_that_is_run_again():
    space = {"kg": kg, "__name__": "__main__", "mu": kg.normal(0, 1, name="mu")}
    space["y"] = kg.data([1.0, NAN], "y", missing="impute")
    cell = "kg.observe(y, kg.normal(mu, 3))"
    exec(compile(cell, "<cell>", "exec"), space)
    with pytest.warns(kg.KinetographWarning, match="replaces"):
        exec(compile(cell, "<cell>", "exec"), space)
    model = kg.model(space["mu"], space["y"])
    wanted = stats.norm.logpdf(0.1) + stats.norm.logpdf([1.0, 0.4], 0.1, 3).sum()
    assert model.log_prob([0.1, 0.4]) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("value", "make", "error", "text"),
    [
        (
            [1.0, NAN],
            lambda: kg.normal(0, 1, censoring=(None, 2)),
            kg.ModelError,
            "cannot be inferred under",
        ),
        (
            [[0.5, NAN]],
            lambda: kg.dirichlet([1.0, 1]),
            kg.ModelError,
            "values that are partly missing",
        ),
        (
            [[NAN, 2], [-1, 1]],
            lambda: kg.gamma(2, 1),
            kg.DataError,
            r"y is -1.0 at index \(1, 0\)",
        ),
        ([1.0, NAN], lambda: kg.normal(np.zeros(3), 1), kg.ShapeError, "do not fit"),
    ],
)
def test_what_cannot_be_inferred(value, make, error, text):
    y = kg.data(value, missing="impute")
    with pytest.raises(error, match=text):
        kg.observe(y, make())
