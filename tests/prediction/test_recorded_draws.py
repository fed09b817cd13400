"""Draws of unknowns inside recorded targets: the missing values of data."""

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg
from kinetograph.graph.errors import ModelError

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
NAN = np.nan
WEIGHT = np.array([0.3, 1.1, -0.4, 0.9])


@pytest.fixture(scope="module")
def fitted():
    # Seen and missing elements together are a cyclic permutation, which is not its own inverse.
    height = kg.data([NAN, 0.5, -0.3, NAN], missing="impute", name="height")
    kg.observe(height, kg.normal(0, 1))
    slope = kg.normal(0, 1, name="slope")
    kg.observe(kg.data(WEIGHT, name="weight"), kg.normal(slope * height, 0.5))
    model = kg.model(slope, height)
    return model, kg.mcmc(model, seed=1, draws=50, warmup=100, chains=2, progress=False), height


def test_densities_given_missing_covariates(fitted):
    model, results, _ = fitted
    slope, height = (results["posterior"][name].values for name in ("slope", "height"))
    found = kg.log_likelihood(model, results)["log_likelihood"]["weight"]
    want = stats.norm(slope[..., None] * height, 0.5).logpdf(WEIGHT)
    np.testing.assert_allclose(found, want, rtol=1e-10)
    prior = kg.log_prior(model, results)["log_prior"]["height_missing"]
    np.testing.assert_allclose(prior, stats.norm.logpdf(height[..., [0, 3]]), rtol=1e-10)


def test_predictions_and_quantities_of_missing_covariates(fitted):
    model, results, height = fitted
    drawn = results["posterior"]["height"].values
    twice = kg.calculate(values=results, twice=2 * height)["posterior"]["twice"]
    np.testing.assert_array_equal(twice, 2 * drawn)
    again = kg.predict(model, results, seed=1)["posterior_predictive"]["weight"]
    apart = again - results["posterior"]["slope"].values[..., None] * drawn
    assert abs(float(apart.mean())) < 6 * 0.5 / np.sqrt(apart.size)
    assert abs(float((apart**2).mean()) / 0.25 - 1) < 6 * np.sqrt(2 / apart.size)


@pytest.mark.slow
def test_vectors_seen_in_part():
    rows = kg.data([[NAN, 1.0], [0.5, NAN], [NAN, NAN]], missing="impute", name="rows")
    kg.observe(rows, kg.multivariate_normal([0.0, 0.0], cov=np.eye(2)))
    results = kg.mcmc(kg.model(rows), seed=1, draws=20, warmup=50, chains=1, progress=False)
    total = kg.calculate(values=results, total=rows.sum(1))["posterior"]["total"]
    np.testing.assert_allclose(total, results["posterior"]["rows"].values.sum(-1), rtol=1e-12)


@pytest.mark.slow
def test_discrete_ones_are_those_of_the_posterior():
    count = kg.data([1, NAN, 0], missing="impute", name="count")
    kg.observe(count, kg.binomial(1, 0.5))
    kg.observe(kg.data([0.0, 5.0, 0.0], name="y"), kg.normal(5.0 * count, 0.1))
    shift = kg.normal(0, 0.1, name="shift")
    kg.observe([0.0], kg.normal(shift, 0.1), name="z")
    model = kg.model(shift, count)
    results = kg.mcmc(model, seed=1, draws=50, warmup=100, chains=1, progress=False)
    again = kg.predict(model, results, seed=1)["posterior_predictive"]["y"]
    assert float(again[..., 1].min()) > 4  # the count 1 has all posterior mass


def test_advice_names_the_data(fitted):
    model, results, height = fitted
    del model
    left = results.copy()
    left["posterior"] = left["posterior"].to_dataset().drop_vars("height")
    with pytest.raises(ModelError, match=r"make height a target .* kg\.model\(\.\.\., height\)"):
        kg.calculate(values=left, twice=2 * height)
