"""The rows of predictions have the dimension and the labels of the rows of a data frame."""

import numpy as np
import pandas as pd
import pytest

import kinetograph as kg

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "x": RNG.normal(size=12),
        "y": RNG.normal(size=12),
        "g": list("abc") * 4,
        "n": 5,
        "c": [0, 1, 0, 3] * 3,
        "k": pd.Categorical(list("lmh") * 4, ["l", "m", "h"], ordered=True),
    },
    index=[f"r{i}" for i in range(12)],
)
NEW = pd.DataFrame({"x": [0.0, 1.0], "g": ["a", "b"], "n": [7, 8]}, index=["u", "v"])

CASES = {
    "y ~ x": "gaussian",
    "y ~ 1": "gaussian",
    "y ~ 0 + (1 | g)": "gaussian",
    "c | trials(n) ~ x": "binomial",
    "c ~ x": "hurdle_poisson",
    "k ~ x": "cumulative",
    "k ~ 1": "acat",
    "k ~ 1 + x": "categorical",
}


@pytest.mark.parametrize(("text", "family"), CASES.items())
def test_rows_of_predictions(text, family):
    model = kg.formula(text, TABLE, family=family)
    results = kg.mcmc(model, seed=1, draws=2, warmup=20, chains=1, progress=False)
    name = model._encoding.response.name
    of_classes = (f"{name}_class",) if name == "k" else ()
    rows = results["observed_data"][name]["obs"].values
    for new, dim, labels in ((None, "obs", rows), (NEW, "new_obs", ["u", "v"])):
        means = model.predict(results, new, kind="mean", seed=1)["predictions"][f"{name}_mean"]
        assert means.dims == ("chain", "draw", dim, *of_classes)
        assert list(means[dim].values) == list(labels)
        tree = model.predict(results, new, seed=1)
        drawn = tree["posterior_predictive" if new is None else "predictions"][name]
        assert drawn.dims == ("chain", "draw", dim)
        assert list(drawn[dim].values) == list(labels)
        wanted = {"response": model.response(new)}
        if "mu" in model.links and text != "k ~ 1":  # without effects it is 0
            wanted["mu"] = model.parameter("mu", new)
        predicted = kg.predict(model, results, **wanted, seed=1)["predictions"]
        for quantity in wanted:
            assert predicted[quantity].dims == ("chain", "draw", dim)
            assert list(predicted[quantity][dim].values) == list(labels)


def test_new_rows_without_labels():
    model = kg.formula("y ~ x", TABLE)
    results = kg.mcmc(model, seed=1, draws=2, warmup=20, chains=1, progress=False)
    rows = {"x": np.zeros(12)}  # as many as the model has: they do not get the model's labels
    means = model.predict(results, rows, kind="mean", seed=1)["predictions"]["y_mean"]
    assert list(means["new_obs"].values) == list(range(12))


@pytest.mark.parametrize(
    "index",
    [
        pd.MultiIndex.from_tuples([("Oslo", 2001), ("Oslo", 2002)]),
        pd.period_range("2020-01", periods=2, freq="M"),
        pd.IntervalIndex.from_breaks([0, 1, 3]),
        pd.date_range("2020-01-01", periods=2, tz="UTC"),
        pd.CategoricalIndex(["b", "a"]),
    ],
    ids=lambda index: type(index).__name__,
)
def test_labels_of_new_rows_are_the_labels_of_data(index):
    model = kg.formula("y ~ x", TABLE)
    results = kg.mcmc(model, seed=1, draws=2, warmup=20, chains=1, progress=False)
    column = pd.Series([0.0, 1.0], index)
    drawn = model.predict(results, column.to_frame("x"), seed=1)["predictions"]
    expected = kg.data(column, dims="row").node.coords["row"]
    assert (drawn["new_obs"].values == expected).all()
    assert (expected != np.arange(2)).all()
