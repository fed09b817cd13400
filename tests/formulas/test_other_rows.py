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
