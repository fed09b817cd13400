"""Results of other rows, and responses that are not a column."""

import numpy as np
import pandas as pd
import pytest

import kinetograph as kg

RNG = np.random.default_rng(5)
X = RNG.normal(2.0, 1.0, 30)
FRAME = pd.DataFrame({"x": X, "y": 1 + X + RNG.normal(size=30), "won": RNG.integers(0, 2, 30)})
SHORT = {"draws": 60, "warmup": 60, "chains": 2, "seed": 1, "progress": False}
pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


@pytest.fixture(scope="module")
def trained():
    model = kg.formula("y ~ x", FRAME[:20])
    return model, kg.mcmc(model, **SHORT)


def test_predictions_by_a_model_of_other_rows(trained):
    model, results = trained
    new = FRAME[["x"]][20:]
    right = model.predict(results, new, kind="mean")["predictions"]["y_mean"].values
    posterior = results["posterior"]
    intercept, slope = (posterior[name].values[..., None] for name in ("b_Intercept", "b_x"))
    np.testing.assert_allclose(right, intercept + slope * new["x"].to_numpy(), rtol=1e-6)
    for rows in (FRAME[20:], FRAME[10:], FRAME):
        with pytest.raises(kg.DataError, match=r"other values of y than this model has.*sampled"):
            kg.formula("y ~ x", rows).predict(results, new, kind="mean")


@pytest.mark.parametrize(
    "use",
    [
        lambda model, results: kg.predict(model, results),
        lambda model, results: kg.predict(model, results, mu=model.parameter("mu")),
        lambda model, results: kg.log_likelihood(model, results),
        lambda model, results: model.predict(results),
    ],
)
def test_quantities_by_a_model_of_other_rows(trained, use):
    model, results = trained
    use(model, results)
    for rows, what in ((FRAME, "y"), (FRAME[:20].assign(x=3.0 * FRAME["x"]), "X")):
        with pytest.raises(kg.DataError, match=f"other values of {what} than this model has"):
            use(kg.formula("y ~ x", rows), results)


def test_replaced_data(trained):
    """The encoding stays that of the rows the model was made of."""
    _, results = trained
    model = kg.formula("y ~ x", FRAME[:20])
    model.set_data(X=model["X"].node.value + 1.0)
    drawn = kg.predict(model, results, seed=1)["posterior_predictive"]["y"].values
    own = model.predict(results, seed=1)["posterior_predictive"]["y"].values
    np.testing.assert_array_equal(drawn, own)
    before = kg.predict(kg.formula("y ~ x", FRAME[:20]), results, seed=1)["posterior_predictive"]
    shift = results["posterior"]["b_x"].values[..., None]
    np.testing.assert_allclose(drawn - before["y"].values, shift + 0 * drawn, rtol=1e-6)
    own_results = kg.mcmc(model, **SHORT)  # hold the replaced data
    assert np.isfinite(kg.predict(model, own_results)["posterior_predictive"]["y"]).all()
    for use in (
        lambda: model.parameter("mu"),
        lambda: model.predict(results, kind="mean"),
        lambda: model.predict(results, group_effects=False),
    ):
        with pytest.raises(kg.ModelError, match="X was replaced by set_data"):
            use()


@pytest.mark.parametrize(("of_results", "of_model"), [("", "offset(z)"), ("offset(z)", "")])
def test_results_of_a_model_with_other_data(of_results, of_model):
    frame = FRAME.assign(z=FRAME["x"] ** 2)
    made, other = (
        kg.formula(" + ".join(filter(None, ["y ~ x", part])), frame)
        for part in (of_results, of_model)
    )
    results = kg.mcmc(made, **SHORT)
    for use in (kg.loo, kg.predict, lambda model, results: model.predict(results, frame)):
        use(made, results)
        with pytest.raises(kg.DataError, match=r"of another model .*offset is not among the data"):
            use(other, results)


def test_results_of_a_model_with_effects_of_groups():
    frame = FRAME.assign(g=list("abc") * 10)
    results = kg.mcmc(kg.formula("y ~ x + (1 | g)", frame), **SHORT)
    with pytest.raises(kg.DataError, match=r"another model.*g_index is not among the data of this"):
        kg.loo(kg.formula("y ~ x", frame), results)


def test_effects_in_another_order():
    """Draws are read by position."""
    model = kg.formula("y ~ x + (1 | g)", FRAME.assign(g=list("abc") * 10))
    results = kg.mcmc(model, **SHORT)
    posterior = results["posterior"].to_dataset()
    results["posterior"] = posterior.sel(g=["b", "a", "c"])
    with pytest.raises(kg.ModelError, match="element 0 of 'g' is b in the results, and a in the"):
        model.predict(results, {"x": [1.0], "g": ["a"]}, kind="mean")


def test_results_of_single_precision(trained):
    model, results = trained
    rounded = results.map_over_datasets(lambda group: group.astype("float32"))
    mean = model.predict(rounded, FRAME[["x"]], kind="mean")["predictions"]["y_mean"]
    whole = model.predict(results, FRAME[["x"]], kind="mean")["predictions"]["y_mean"]
    np.testing.assert_allclose(mean, whole, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("of_group", ["rows", "predictors"])
def test_loo_of_other_data(trained, of_group):
    model, results = trained
    assert np.isfinite(float(kg.loo(model, results).elpd))
    other = FRAME[:20].assign(x=FRAME["x"][:20] + 1.0) if of_group == "predictors" else FRAME
    with pytest.raises(kg.DataError, match=r"results are of other values of"):
        kg.loo(kg.formula("y ~ x", other), results)


@pytest.mark.parametrize("response", ["won[1]", "y[0]", "y.mean()", "won.max()"])
def test_a_response_of_one_number(response):
    family = "bernoulli" if "won" in response else "gaussian"
    with pytest.raises(kg.DataError, match=r"is the number .*, not a column"):
        kg.formula(f"{response} ~ x", FRAME, family=family)
