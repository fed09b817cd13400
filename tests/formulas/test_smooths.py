"""Monotonic effects and Gaussian processes against sums by hand."""

import numpy as np
import pandas as pd
import pytest
from tests.formulas.cases import computed, frame

import kinetograph as kg

DATA = frame()


def values_of(model):
    return model.transform(np.random.default_rng(11).normal(0, 0.5, model.free_size))


def test_a_monotonic_effect_is_a_sum_of_shares():
    levels = ["low", "mid", "high", "top"]
    data = DATA.assign(t=pd.Categorical(DATA["t"], categories=levels, ordered=True))
    model = kg.formula("y ~ mo(t) + x", data)
    assert model["simo_mo(t)"].shape == (3,)
    assert list(model.coords["simo_mo(t)_level"]) == levels[1:]
    values = values_of(model)
    parts = np.concatenate([[0], np.cumsum(values["simo_mo(t)"])])
    effect = 3 * values["b_mo(t)"] * parts[data["t"].cat.codes]
    x = DATA["x"].to_numpy()
    expected = values["Intercept"] + values["b_x"] * (x - x.mean()) + effect
    np.testing.assert_allclose(computed(model, model.parameter("mu"), values), expected, rtol=1e-12)
    part = model.parameter("mu", data.iloc[[5, 1]])
    np.testing.assert_allclose(computed(model, part, values), expected[[5, 1]], rtol=1e-12)
    numbers = kg.formula("y ~ mo(grade)", DATA)
    assert numbers["simo_mo(grade)"].shape == (3,)


def test_a_gaussian_process_is_a_sum_of_sines():
    """The sum of Solin and Särkkä for a squared exponential."""
    model = kg.formula("y ~ gp(x, k=12, c=1.4)", DATA)
    values = values_of(model)
    x = DATA["x"].to_numpy()
    scaled = x / np.ptp(x)
    half, j = 1.4 * np.ptp(scaled) / 2, np.arange(1, 13)
    w = np.pi * j / (2 * half)
    centre = (scaled.min() + scaled.max()) / 2
    waves = np.sin(w * (scaled[:, None] - centre + half)) / np.sqrt(half)
    sd, length = values["sd_gp(x)"], values["lscale_gp(x)"]
    spectrum = sd**2 * np.sqrt(2 * np.pi) * length * np.exp(-0.5 * (length * w) ** 2)
    expected = values["Intercept"] + waves @ (np.sqrt(spectrum) * values["z_gp(x)"])
    np.testing.assert_allclose(computed(model, model.parameter("mu"), values), expected, rtol=1e-9)
    part = computed(model, model.parameter("mu", {"x": x[[4, 9]]}), values)
    np.testing.assert_allclose(part, expected[[4, 9]], rtol=1e-9)


def test_processes_of_two_columns_and_other_kernels():
    model = kg.formula("y ~ gp(x, z, k=3, cov='matern52')", DATA, default_priors="brms")
    assert model["z_gp(x, z)"].shape == (9,)
    assert model.priors["lscale_gp(x, z)"].startswith("inverse_gamma(")
    assert np.isfinite(model.log_prob(np.zeros(model.free_size)))


LEVELS = ["low", "mid", "high", "top"]
ORDERED = DATA.assign(t=pd.Categorical(DATA["t"], categories=LEVELS, ordered=True))


def monotonic(values, name, codes):
    """The effects of codes without the coefficient."""
    shares = values[name]
    zeros = np.zeros((*shares.shape[:-1], 1))
    return shares.shape[-1] * np.concatenate([zeros, np.cumsum(shares, -1)], -1)[..., codes]


@pytest.mark.parametrize("text", ["y ~ mo(t) * z", "y ~ z + mo(t) + z:mo(t)"])
def test_an_interaction_with_numbers_has_its_own_shares(text):
    model = kg.formula(text, ORDERED)
    assert model["simo_mo(t):z"].shape == (3,)
    assert list(model.coords["simo_mo(t):z_level"]) == LEVELS[1:]
    values, codes = values_of(model), ORDERED["t"].cat.codes.to_numpy()
    z = DATA["z"].to_numpy()
    expected = values["Intercept"] + values["b_z"] * (z - z.mean())
    expected += values["b_mo(t)"] * monotonic(values, "simo_mo(t)", codes)
    expected += values["b_mo(t):z"] * z * monotonic(values, "simo_mo(t):z", codes)
    np.testing.assert_allclose(computed(model, model.parameter("mu"), values), expected, rtol=1e-12)
    part = model.parameter("mu", ORDERED.iloc[[5, 1]])
    np.testing.assert_allclose(computed(model, part, values), expected[[5, 1]], rtol=1e-12)
    scale = 2.5 * DATA["y"].std(ddof=0) / (z * codes).std()
    assert model.priors["b_mo(t):z"] == f"normal(0, {scale:.3g})"


@pytest.mark.parametrize(
    ("text", "labels"), [("mo(t) * g", ["T.b", "T.c", "T.d"]), ("g:mo(t)", list("abcd"))]
)
def test_an_interaction_with_categories_has_shares_for_each_column(text, labels):
    """Without the effect of mo(t) alone, each level has an effect."""
    model = kg.formula(f"y ~ {text}", ORDERED)
    assert list(model.coords["b_mo(t):g_column"]) == labels
    assert model["simo_mo(t):g"].shape == (len(labels), 3)
    values, codes = values_of(model), ORDERED["t"].cat.codes.to_numpy()
    g = DATA["g"].to_numpy()
    isin = np.array([g == label[-1] for label in labels])
    expected = (values["b_mo(t):g"][:, None] * monotonic(values, "simo_mo(t):g", codes) * isin).sum(
        0
    )
    if "*" in text:
        expected += values["b_mo(t)"] * monotonic(values, "simo_mo(t)", codes)
        expected += values["Intercept"] + values["b_g"] @ (isin - isin.mean(1, keepdims=True))
    else:
        expected += values["Intercept"]
    np.testing.assert_allclose(computed(model, model.parameter("mu"), values), expected, rtol=1e-12)
    part = model.parameter("mu", ORDERED.iloc[[6, 2, 1]])
    np.testing.assert_allclose(computed(model, part, values), expected[[6, 2, 1]], rtol=1e-12)


def test_two_monotonic_columns_interact():
    model = kg.formula(["y ~ x", "sigma ~ mo(t):mo(grade)"], ORDERED)
    name = "mo(t):mo(grade)"
    values, t = values_of(model), ORDERED["t"].cat.codes.to_numpy()
    eta = values["Intercept_sigma"] + values[f"b_sigma_{name}"] * (
        monotonic(values, f"simo_sigma_{name}_t", t)
        * monotonic(values, f"simo_sigma_{name}_grade", DATA["grade"].to_numpy() - 1)
    )
    got = computed(model, model.parameter("sigma"), values)
    np.testing.assert_allclose(got, np.exp(eta), rtol=1e-12)


@pytest.mark.parametrize("by", ["g", "w"])
def test_processes_of_levels_and_of_slopes(by):
    """Each level has the process of all rows; numbers multiply it."""
    model = kg.formula(f"y ~ gp(x, by={by}, k=6)", DATA)
    one = kg.formula("y ~ gp(x, k=6)", DATA)
    values, name = values_of(model), f"gp(x, by={by})"

    def process(level):
        given = {f"{n}_gp(x)": values[f"{n}_{name}"][level] for n in ("sd", "lscale", "z")}
        return computed(one, one.parameter("mu"), {**given, "Intercept": values["Intercept"]})

    if by == "w":
        function = process(...) - values["Intercept"]
        expected = values["Intercept"] + DATA["w"].to_numpy() * function
    else:
        assert model["lscale_gp(x, by=g)"].shape == (4,)
        assert list(model.coords["g"]) == list("abcd")
        expected = np.choose(
            DATA["g"].map(dict(zip("abcd", range(4)))), list(map(process, range(4)))
        )
    np.testing.assert_allclose(computed(model, model.parameter("mu"), values), expected, rtol=1e-9)
    part = model.parameter("mu", DATA.iloc[[7, 3, 5, 11]])
    np.testing.assert_allclose(computed(model, part, values), expected[[7, 3, 5, 11]], rtol=1e-9)


@pytest.mark.parametrize("scale", [True, False])
def test_new_rows_outside_of_the_box_are_named(scale):
    data = {"y": np.arange(5.0), "x": [0.0, 2.0, 5.0, 7.0, 10.0], "z": [1.0, 0.0, 2.0, 1.0, 4.0]}
    model = kg.formula(f"y ~ gp(x, z, k=4, scale={scale})", data)
    assert model.response({"x": [-2.49, 12.49], "z": [4.99, -0.99]}).shape == (2,)
    message = r"formula: x is 15 in row 1.*is defined from -2.5 to 12.5; make the model with c=2$"
    with pytest.raises(ValueError, match=message):
        model.response({"x": [1.0, 15.0], "z": [1.0, 1.0]})
    with pytest.raises(ValueError, match=r"z is -1.3 in row 0.*from -1 to 5; .* with c=1.7$"):
        model.response({"x": [1.0], "z": [-1.3]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "y ~ mo(grade) + x:mo(z)",
            r"mo\(z\) needs whole numbers or .* row 0 of 'z' has -?[0-9.]+ ",
        ),
        ("y ~ gp(x, by=gg)", "unknown column 'gg'.*mean 'g'"),
        ("y ~ gp(x, k=size)", "k=size.*write the value itself, as in k=20"),
        ("y ~ gp(x) + gp(x, k=3)", r"has two terms gp\(x\)"),
        ("y ~ gp(x, m=3)", "gp.x, m=3. has m=.*write gp.x, by=g, k=20, c=1.5"),
        ("y ~ gp(x, cov='mattern32')", "did you mean 'matern32'"),
        ("y ~ mo(x)", "needs whole numbers or ordered categories"),
        ("y ~ mo(t)", "pandas.Categorical"),
        ("y ~ mo(one)", "has one level"),
        ("y ~ gp(x, lscale=2)", r"the length is an unknown, and prior=\{'lscale': ...\} replaces"),
        ("y ~ gp(t)", "takes numbers, but 't' is a column of text"),
        ("y ~ gp(one)", "has one value in all rows"),
        ("y ~ offset(x, z)", "must have one argument"),
    ],
)
def test_terms_that_cannot_be_made(text, message):
    with pytest.raises(ValueError, match=message):
        kg.formula(text, DATA.assign(one=1))
