"""Monotonic effects and Gaussian processes, against sums by hand."""

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
    expected = values["b_Intercept"] + waves @ (np.sqrt(spectrum) * values["z_gp(x)"])
    np.testing.assert_allclose(computed(model, model.parameter("mu"), values), expected, rtol=1e-9)
    part = computed(model, model.parameter("mu", {"x": x[[4, 9]]}), values)
    np.testing.assert_allclose(part, expected[[4, 9]], rtol=1e-9)


def test_processes_of_two_columns_and_other_kernels():
    model = kg.formula("y ~ gp(x, z, k=3, cov='matern52')", DATA, default_priors="brms")
    assert model["z_gp(x, z)"].shape == (9,)
    assert model.priors["lscale_gp(x, z)"].startswith("inverse_gamma(")
    assert np.isfinite(model.log_prob(np.zeros(model.free_size)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y ~ gp(x, m=3)", "gp.x, m=3. has m="),
        ("y ~ gp(x, cov='mattern32')", "did you mean 'matern32'"),
        ("y ~ mo(x)", "needs whole numbers or ordered categories"),
        ("y ~ mo(t)", "pandas.Categorical"),
        ("y ~ mo(one)", "has one level"),
        ("y ~ gp(t)", "must be numbers, but is text"),
        ("y ~ gp(one)", "has one value in all rows"),
        ("y ~ offset(x, z)", "must have one argument"),
    ],
)
def test_terms_that_cannot_be_made(text, message):
    with pytest.raises(ValueError, match=message):
        kg.formula(text, DATA.assign(one=1))
