"""Results of predictions hold the data that the predictions belong to."""

import numpy as np
import pytest

import kinetograph as kg


def predict(model, results):
    return kg.predict(model, results, seed=1)


@pytest.fixture(scope="module")
def fitted():
    a, b = kg.normal(0, 1, name="a"), kg.normal(0, 1, name="b")
    x = kg.data([1.0, 2.0, 3.0], name="x", dims=kg.dim("row", list("abc")))
    y = kg.data([1.0, 2.0, 2.5], name="y")
    other = kg.data([7.0, 8.0], name="other")
    mu = a + b * x
    kg.observe(y, kg.normal(mu, 0.1 + 0 * other.sum()))
    model = kg.model(a, b, mu=mu)
    return model, kg.mcmc(model, draws=20, warmup=50, chains=2, seed=1, progress=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [predict, kg.log_likelihood, kg.log_prior])
@pytest.mark.parametrize("length", [3, 5])
def test_data_are_those_of_the_predictions(fitted, function, length):
    model, results = fitted
    before = function(model, results)
    assert set(before.children) >= set(results.children)
    model.set_data(x=np.full(length, 10.0), y=np.zeros(length))
    try:
        found = function(model, before)
        np.testing.assert_array_equal(found["observed_data"]["y"], np.zeros(length))
        np.testing.assert_array_equal(found["constant_data"]["x"], np.full(length, 10.0))
        np.testing.assert_array_equal(found["constant_data"]["other"], [7.0, 8.0])
        assert set(found["posterior"].data_vars) == {"a", "b"}  # mu was computed from the old x
        again = function(model, found)
        group = (set(again.children) - set(results.children)).pop()
        for name, values in again[group].data_vars.items():
            np.testing.assert_array_equal(values, found[group][name])
        # The given results have not changed.
        assert "mu" in before["posterior"]
        np.testing.assert_array_equal(before["observed_data"]["y"], [1.0, 2.0, 2.5])
    finally:
        model.set_data(x=[1.0, 2.0, 3.0], y=[1.0, 2.0, 2.5])
    np.testing.assert_array_equal(function(model, found)["observed_data"]["y"], [1.0, 2.0, 2.5])


@pytest.mark.filterwarnings("ignore")
def test_log_likelihoods_of_other_data_are_left_out(fitted):
    model, results = fitted
    before = kg.log_likelihood(model, results)
    model.set_data(y=np.zeros(3))
    try:
        assert "log_likelihood" not in kg.predict(model, before)
    finally:
        model.set_data(y=[1.0, 2.0, 2.5])
    assert "log_likelihood" in kg.predict(model, before)


@pytest.mark.filterwarnings("ignore")
def test_what_a_model_fixes_is_not_taken_for_data(fitted):
    """A prediction of `kg.do` does not affect predictions of other models."""
    model, results = fitted
    found = kg.predict(kg.do(model, b=100.0), results, seed=1)
    assert found["posterior_predictive"]["y"].mean() > 50
    plain = kg.predict(model, found, seed=1)["posterior_predictive"]["y"]
    np.testing.assert_array_equal(
        plain, kg.predict(model, results, seed=1)["posterior_predictive"]["y"]
    )
