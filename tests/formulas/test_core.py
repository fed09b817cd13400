"""Formula models against the same models written by hand, and against NumPy."""

import pickle
import re
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import special
from tests.formulas.cases import ROWS, assert_same_density, computed, frame

import kinetograph as kg

DATA = frame()


def columns(*names):
    return np.column_stack([np.asarray(DATA[name], float) for name in names])


def test_a_regression_is_the_model_written_by_hand():
    """Centred columns, priors by bambi's rules."""
    model = kg.formula("y ~ x + z", DATA)

    def build():
        y, c = np.asarray(DATA["y"]), columns("x", "z")
        scales = 2.5 * y.std() / c.std(0)
        b_x, b_z = kg.normal(0, scales[0], name="b_x"), kg.normal(0, scales[1], name="b_z")
        sd = np.sqrt((2.5 * y.std()) ** 2 + np.sum(scales**2 * c.mean(0) ** 2))
        intercept = kg.normal(y.mean(), sd, name="Intercept")
        sigma = kg.half_student(4, y.std(), name="sigma")
        centred = c - c.mean(0)
        mu = intercept + centred[:, 0] * b_x + centred[:, 1] * b_z
        kg.observe(y, kg.normal(mu, sigma), name="y")
        return b_x, b_z, intercept, sigma

    assert_same_density(model, kg.model(build))
    free = np.random.default_rng(1).normal(size=model.free_size)
    values = model.transform(free)
    full = computed(model, model["b_Intercept"], values)
    shift = DATA["x"].mean() * values["b_x"] + DATA["z"].mean() * values["b_z"]
    assert np.isclose(full, values["Intercept"] - shift)


def test_effects_of_groups_are_correlated_and_not_centred():
    model = kg.formula("b ~ x + (1 + x | g)", DATA, family="bernoulli")

    def build():
        x = np.asarray(DATA["x"])
        codes = DATA["g"].map({"a": 0, "b": 1, "c": 2, "d": 3}).to_numpy()
        b_x = kg.normal(0, 1 / x.std(), name="b_x")
        intercept = kg.normal(0, 1.5, name="Intercept")
        of_intercept = np.sqrt(2.5**2 + (1 / x.std()) ** 2 * x.mean() ** 2)
        sd = kg.half_normal([of_intercept, 2.5 / x.std()], name="sd_g")
        z = kg.normal(0, 1, shape=(4, 2), name="z_g")
        cor = kg.lkj_correlation(1, 2, name="cor_g")
        r = (z @ kg.cholesky(cor).T) * sd
        eta = intercept + (x - x.mean()) * b_x + r[codes, 0] + x * r[codes, 1]
        kg.observe(DATA["b"], kg.bernoulli(logit=eta), name="b")
        return b_x, intercept, sd, z, cor

    assert_same_density(model, kg.model(build))
    assert model["r_g"].shape == (4, 2)
    assert list(model.coords["g"]) == list("abcd")
    assert list(model.coords["g_effect"]) == ["Intercept", "x"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("count ~ (1 | h/g)", {"sd_h": (), "z_h": (2,), "sd_h:g": (), "z_h:g": (8,)}),
        ("count ~ (1 | g) + (1 | h)", {"sd_g": (), "z_g": (4,), "sd_h": (), "z_h": (2,)}),
        ("count ~ (1 | g:h)", {"sd_g:h": (), "z_g:h": (8,)}),
        ("count ~ (1 + x || g)", {"sd_g": (2,), "z_g": (4, 2)}),
        ("count ~ (0 + x | g)", {"sd_g": (), "z_g": (4,)}),
        ("count ~ (0 + h | g)", {"sd_g": (2,), "z_g": (4, 2), "cor_g": (2, 2)}),
        (
            "count ~ (1 | g) + (0 + x | g)",
            {"sd_g_Intercept": (), "z_g_Intercept": (4,), "sd_g_x": (), "z_g_x": (4,)},
        ),
    ],
)
def test_groups_nested_and_crossed(text, names):
    model = kg.formula(text, DATA, family="poisson")
    assert {n: model[n].shape for n in model.names if n != "Intercept"} == names


def test_both_axes_of_correlations_have_labels():
    model = kg.formula("y ~ x + (1 + x | g)", DATA)
    correlations = kg.simulate(model, 2, seed=1)["prior"]["cor_g"]
    assert list(correlations[correlations.dims[-1]].values) == ["Intercept", "x"]


def test_nested_effects_add_up():
    """Compared with sums by hand at fixed values of the unknowns."""
    model = kg.formula("count ~ 0 + x + (1 | h/g)", DATA, family="poisson")
    values = model.transform(np.random.default_rng(5).normal(size=model.free_size))
    rate = computed(model, model.parameter("mu"), values)
    h = (DATA["h"] == "v").to_numpy().astype(int)
    g = DATA["g"].map({"a": 0, "b": 1, "c": 2, "d": 3}).to_numpy()
    eta = DATA["x"] * values["b_x"] + values["sd_h"] * values["z_h"][h]
    eta += values["sd_h:g"] * values["z_h:g"][4 * h + g]
    assert np.allclose(rate, np.exp(eta), rtol=1e-12)


def test_categories_interactions_and_splines_are_formulaics_columns():
    from formulaic import Formula

    text = "x * t + bs(z, df=5) + poly(z, 2)"
    model = kg.formula(f"y ~ {text}", DATA)
    matrix = np.asarray(Formula(text).get_model_matrix(DATA), float)[:, 1:]
    assert np.allclose(model["X"].node.value, matrix - matrix.mean(0), atol=1e-14)
    assert model["b_t"].shape == (3,)
    assert list(model.coords["b_t_column"]) == ["T.low", "T.mid", "T.top"]
    assert model["b_bs(z, df=5)"].shape == (5,)


def test_new_rows_are_encoded_as_the_models_rows():
    """Knots, means and levels come from the model's data."""
    text = "y ~ t + bs(z, df=5) + scale(x) + (1 + x | g)"
    model = kg.formula(text, DATA)
    values = model.transform(np.random.default_rng(2).normal(size=model.free_size))
    whole = computed(model, model.parameter("mu"), values)
    part = computed(model, model.parameter("mu", DATA.iloc[[7, 3]]), values)
    assert np.allclose(part, whole[[7, 3]], rtol=1e-13)


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_predictions_have_the_moments_of_the_posterior_draws():
    model = kg.formula("y ~ x + (1 | g)", DATA)
    results = kg.mcmc(model, draws=100, warmup=100, chains=2, seed=1, progress=False)
    new = {"x": [1.0, 2.0], "g": ["b", "new"]}
    results = model.predict(results, new, kind="mean", new_levels="draw", seed=3)
    posterior, mean = results["posterior"], results["predictions"]["y_mean"].values
    expected = posterior["b_Intercept"] + posterior["b_x"] + posterior["r_g"].sel(g="b")
    assert np.allclose(mean[..., 0], expected, rtol=1e-10)
    base = posterior["b_Intercept"] + 2 * posterior["b_x"]
    drawn = (mean[..., 1] - base.values) / posterior["sd_g"].values
    assert abs(drawn.mean()) < 5.5 / np.sqrt(drawn.size)
    assert abs(drawn.std() - 1) < 5.5 / np.sqrt(2 * drawn.size)
    population = model.predict(results, {"x": [1.0, 2.0]}, kind="mean", group_effects=False, seed=3)
    means = population["predictions"]["y_mean"].values  # without a column of groups
    assert np.allclose(means[..., 1], base, rtol=1e-10)
    again = model.predict(results, group_effects=False, seed=3)["posterior_predictive"]["y"]
    centre = posterior["b_Intercept"].values[..., None] + np.multiply.outer(
        posterior["b_x"].values, DATA["x"].to_numpy()
    )
    z = (again.values - centre) / posterior["sigma"].values[..., None]
    assert abs(z.mean()) < 5.5 / np.sqrt(z.size)
    assert abs(z.std() - 1) < 5.5 / np.sqrt(2 * z.size)
    rows = model.parameter("mu", {"x": [2.0]}, group_effects=False)
    assert rows.shape == (1,)
    with pytest.raises(TypeError, match="give group_effects=False to leave out the effects of gr"):
        model.predict(results, new, re_formula=None)
    unknowns = results["unknowns"].data_vars  # standardised effects are not targets
    assert unknowns
    assert unknowns.keys() <= set(kg.log_prior(model, results)["log_prior"].data_vars)
    replicated = model.predict(results, seed=4)
    assert replicated["posterior_predictive"]["y"].shape == (2, 100, ROWS)
    assert replicated["predictions"]["y_mean"].equals(results["predictions"]["y_mean"])
    assert kg.predict(model, results, seed=1)["posterior_predictive"]["y"].shape == (2, 100, ROWS)


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
@pytest.mark.parametrize("addition", ["", "cens(side)", "weights(w)", "cens(side) + weights(w)"])
def test_replicated_responses_are_in_one_group_whatever_the_additions(addition):
    data = DATA.assign(side=np.where(DATA["x"] > 0.5, "right", "none"), w=2.0)
    model = kg.formula(f"y {'| ' * bool(addition)}{addition} ~ x", data)
    results = kg.mcmc(model, draws=10, warmup=10, chains=1, seed=1, progress=False)
    replicated = model.predict(results, seed=4)
    assert replicated["posterior_predictive"]["y"].shape == (1, 10, ROWS)
    assert "predictions" not in replicated.children
    both = model.predict(replicated, {"x": [1.0]}, seed=5)
    assert both["predictions"]["y"].shape == (1, 10, 1)
    assert both["posterior_predictive"]["y"].equals(replicated["posterior_predictive"]["y"])
    again = model.predict(both, kind="mean")
    assert again["predictions"]["y_mean"].shape == (1, 10, ROWS)


@pytest.mark.parametrize(
    ("index", "labels"),
    [
        (list("abcd"), list("abcd")),
        ([3, 5, 6, 9], [3, 5, 6, 9]),
        (list("abca"), range(4)),
        ([0, "b", 2, "d"], ["0", "b", "2", "d"]),
        (pd.MultiIndex.from_product([[0, 1], ["a", "b"]]), ["0, a", "0, b", "1, a", "1, b"]),
    ],
)
@pytest.mark.parametrize("response", ["y", "y | cens(c)"])
def test_rows_have_the_labels_of_the_index(index, labels, response):
    data = {"y": [1.0, 2.5, 2.9, 4.0], "x": [0.0, 1.0, 2.0, 3.0], "c": ["none"] * 4}
    model = kg.formula(f"{response} ~ x", pd.DataFrame(data, index=index))
    sites = {name: np.zeros((1, 5)) for name in model.names}
    lead = ("chain", "draw")
    draws = {name: (lead, values + 1.0) for name, values in sites.items()}
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset(draws)})
    tree = kg.log_likelihood(model, model.predict(tree, seed=1))
    for group in (
        ("log_likelihood",) if "cens" in response else ("posterior_predictive", "log_likelihood")
    ):
        assert [*tree[group]["y"].coords["obs"].values] == [*labels]


def test_the_level_that_counts_as_one():
    answer = np.where(DATA["b"] == 1, "yes", "no")
    for levels, one in ((None, "yes"), (["yes", "no"], "no")):
        column = answer if levels is None else pd.Categorical(answer, categories=levels)
        model = kg.formula("answer ~ x", DATA.assign(answer=column), family="bernoulli")
        zero = {"yes": "no", "no": "yes"}[one]
        assert f"response  answer is 1 for '{one}', 0 for '{zero}'" in repr(model)
        observed = model.value_of(model["answer"].node)
        np.testing.assert_array_equal(observed, answer == one)
    assert "response" not in repr(kg.formula("b ~ x", DATA, family="bernoulli"))


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_predicted_classes_are_the_levels_of_the_column():
    levels = ["low", "mid", "high", "top"]
    t = pd.Categorical(DATA["t"], categories=levels, ordered=True)
    model = kg.formula("t ~ 1", DATA.assign(t=t), family="cumulative")
    results = kg.mcmc(model, draws=20, warmup=20, chains=1, seed=1, progress=False)
    drawn = model.predict(results, {"x": [0.0] * 200}, seed=2)["predictions"]["t"]
    assert set(np.unique(drawn)) == set(levels)
    share = np.mean(DATA["t"] == "low")  # the levels are in the order of the codes
    assert abs(np.mean(drawn == "low") - share) < 0.25
    mean = model.predict(results, {"x": [0.0, 1.0]}, kind="mean")["predictions"]["t_mean"]
    assert mean.dims[-1] == "t_class"
    assert list(mean["t_class"].values) == levels
    cuts = results["posterior"]["thresholds"].values[:, :, None, :]
    below = np.pad(special.expit(cuts), [*[(0, 0)] * 3, (1, 1)])
    below[..., -1] = 1.0  # P(class <= k), the same for both rows
    expected = np.broadcast_to(np.diff(below, axis=-1), (1, 20, 2, 4))
    np.testing.assert_allclose(mean.values, expected, rtol=1e-9)


def test_priors_are_printed_and_replaced():
    tau = kg.half_normal(1, name="tau")
    prior = {"b": kg.normal(0, tau), "b_z": kg.student(3, 0, 2), "sd": kg.half_cauchy(2)}
    model = kg.formula("y ~ x + z + t + (1 | g)", DATA, prior=prior)
    assert model.priors["b_x"] == "normal(0, tau)"
    assert model.priors["b_t"] == "normal(0, tau)"
    assert model.priors["b_z"] == "student(3, 0, 2)"
    assert model.priors["sd_g"] == "half_cauchy(2)"
    assert "b_z       ~ student(3, 0, 2)" in repr(model)
    assert "tau" in model.names
    assert model["b_t"].shape == (3,)
    function = kg.formula("y ~ x", DATA, prior={"sigma": lambda **place: kg.gamma(2, 1, **place)})
    assert function.priors["sigma"] == "gamma(2, 1)"


def test_rules_of_brms():
    """The median, and the MAD of at least 2.5."""
    y = 10 * DATA["y"]
    model = kg.formula("y10 ~ x + (1 | g)", DATA.assign(y10=y), default_priors="brms")
    mad = round(1.4826 * np.median(np.abs(y - np.median(y))), 1)
    scale = f"{max(2.5, mad):.3g}"
    assert model.priors == {
        "b_x": "flat",
        "Intercept": f"student(3, {round(np.median(y), 1):.3g}, {scale})",
        "sd_g": f"half_student(3, {scale})",
        "sigma": f"half_student(3, {scale})",
    }


def test_the_model_is_pickled_with_its_encoding():
    model = kg.formula("y ~ np.log(positive) + t + (1 | g)", DATA)
    other = pickle.loads(pickle.dumps(model))
    free = np.random.default_rng(1).normal(size=model.free_size)
    assert other.log_prob(free) == model.log_prob(free)
    values = other.transform(free)
    rows = DATA.iloc[:3]
    got, expected = (computed(m, m.parameter("mu", rows), values) for m in (other, model))
    assert np.array_equal(got, expected)
    assert repr(other) == repr(model)


def test_columns_of_other_kinds():
    """A dictionary of lists, and polars, make the same model."""

    models = [kg.formula("y ~ x + t", d) for d in (DATA, DATA.to_dict("list"), _Polars())]
    free = np.random.default_rng(1).normal(size=models[0].free_size)
    assert len({float(m.log_prob(free)) for m in models}) == 1


@pytest.mark.parametrize(
    ("formula", "family"),
    [
        ("y ~ e + (1 | e)", "gaussian"),
        ("y ~ mo(e)", "gaussian"),
        ("e ~ y", "cumulative"),
        ("e ~ y", "categorical"),
        ("y ~ amount", "gaussian"),
    ],
)
def test_columns_of_polars_keep_their_order_and_type(formula, family):
    """An Enum is an ordered categorical of pandas, a Decimal a number."""
    pl = pytest.importorskip("polars")
    levels, rng = ["poor", "fair", "good"], np.random.default_rng(3)
    codes, y = rng.integers(0, 3, 40), rng.normal(size=40).round(2)
    e = pd.Categorical.from_codes(codes, levels, ordered=True)
    frame = pd.DataFrame({"y": y, "e": e, "amount": 2 * y})
    other = pl.DataFrame(
        {"y": y, "e": [levels[c] for c in codes], "amount": [str(v) for v in 2 * y]}
    )
    other = other.with_columns(
        pl.col("e").cast(pl.Enum(levels)), pl.col("amount").cast(pl.Decimal(scale=2))
    )
    models = [kg.formula(formula, d, family=family) for d in (frame, other, other.to_dict())]
    free = np.random.default_rng(1).normal(size=models[0].free_size)
    assert len({float(m.log_prob(free)) for m in models}) == 1
    assert repr(models[1]) == repr(models[0])


def test_texts_whose_missing_value_is_pandas_na():
    """Columns of pandas' type "string" are categories, also in new rows."""
    model = kg.formula("y ~ x * t + (1 | g)", DATA)
    other = kg.formula("y ~ x * t + (1 | g)", DATA.astype({"t": "string", "g": "string"}))
    values = model.transform(np.random.default_rng(1).normal(size=model.free_size))
    assert other.log_prob(values) == model.log_prob(values)
    rows = DATA.iloc[[7, 2]]
    got, expected = (
        computed(model, model.parameter("mu", r), values)
        for r in (rows.astype({"t": "string"}), rows)
    )
    assert np.array_equal(got, expected)
    with pytest.raises(ValueError, match="'t', but 1 value is missing there, first in row 3"):
        kg.formula(
            "y ~ t", DATA.astype({"t": "string"}).assign(t=lambda d: d["t"].where(d.index != 3))
        )


class _Polars:
    columns = tuple(DATA.columns)

    def get_column(self, name):
        return _Series(DATA[name])


class _Series:
    def __init__(self, values):
        self.values = values

    def to_list(self):
        return list(self.values)


def test_categories_keep_their_order():
    levels = ["mid", "top", "high", "low"]
    data = DATA.assign(t=pd.Categorical(DATA["t"], categories=levels))
    model = kg.formula("y ~ t", data)
    assert list(model.coords["b_t_column"]) == ["T.top", "T.high", "T.low"]


def test_an_intercept_alone_and_no_intercept():
    assert kg.formula("y ~ 1", DATA).names == ("Intercept", "sigma")
    assert kg.formula("y ~ 0 + x", DATA).names == ("b_x", "sigma")
    assert kg.formula("y ~ 0 + x", DATA).target_names == ("b_x", "sigma")
    assert kg.formula("y ~ 0 + x", DATA)["X"].node.value[3, 0] == DATA["x"][3]


@pytest.mark.parametrize("text", ["y ~ 1", "y ~ (1 | g)", "y ~ x", "y ~ s(x, k=5)"])
def test_both_intercepts_have_names_in_every_formula(text):
    model = kg.formula([text, "sigma ~ 1"], DATA)
    names = {"Intercept", "b_Intercept", "Intercept_sigma", "b_sigma_Intercept"}
    assert names <= {*model.target_names}
    assert {"Intercept", "Intercept_sigma"} <= {*model.names}
    values = model.transform(np.linspace(-1, 1, model.free_size))
    if text in ("y ~ 1", "y ~ (1 | g)"):
        assert computed(model, model["b_Intercept"], values) == values["Intercept"]
    assert computed(model, model["b_sigma_Intercept"], values) == values["Intercept_sigma"]
    with_prior = kg.formula(text, DATA, prior={"Intercept": kg.normal(7, 0.1)})
    assert with_prior.priors["Intercept"] == "normal(7, 0.1)"


def test_importing_kinetograph_imports_no_formulaic():
    import subprocess

    code = "import sys, kinetograph as kg; kg.normal; sys.exit('formulaic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize(
    ("term", "labels"),
    [
        ("text", ["T.low", "T.middle"]),
        ("ordered", ["T.middle", "T.high"]),
        ("C(text, levels=['low', 'middle', 'high'])", ["T.middle", "T.high"]),
        ("C(text, contr.treatment(base='low'))", ["T.high", "T.middle"]),
    ],
)
def test_the_order_of_levels(term, labels):
    text = ["low", "middle", "high", "low"]
    ordered = pd.Categorical(text, ["low", "middle", "high"])
    model = kg.formula(f"y ~ {term}", {"y": [1.0, 2, 4, 3], "text": text, "ordered": ordered})
    assert model.coords[f"b_{term}_column"].tolist() == labels


@pytest.mark.filterwarnings("ignore:formula. 'c' in 'x . c' is")
@pytest.mark.parametrize(
    ("formula", "name"), [("y ~ x + c", "c"), ("y ~ x + (0 + c | g)", "sd_g"), ("c ~ x", "x")]
)
def test_a_constant_column_has_the_prior_of_any_constant(formula, name):
    """The standard deviation of 60 numbers 0.1 is 1e-16, that of 0.5 is 0."""
    x = np.linspace(-1, 1, 60)
    table = pd.DataFrame({"x": x, "y": 2 * x, "g": list("abc") * 20})
    priors = [
        re.search(rf"{name} +~ .*", str(kg.formula(formula, table.assign(c=value)))).group()
        for value in (0.1, 0.5)
    ]
    assert priors[0] == priors[1]
    assert np.full(60, 0.1).std() > 0
