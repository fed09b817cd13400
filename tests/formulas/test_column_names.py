"""Columns with names that a model has already."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.formulas.cases import assert_same_density

import kinetograph as kg

ROWS = 30
RNG = np.random.default_rng(3)
DATA = pd.DataFrame(
    {
        "x": RNG.normal(size=ROWS),
        "z": RNG.normal(size=ROWS),
        "y": RNG.normal(size=ROWS),
        "g": np.tile(list("abc"), 10),
        "k": np.tile([1, 2, 3, 4, 2], 6),
    }
)


def drawn(model):
    results = kg.mcmc(model, draws=4, warmup=8, chains=1, seed=1, progress=False)
    return model.predict(kg.predict(model, results, seed=2), DATA.assign(**OWN), seed=3)


NAMES = ["obs", "new_obs", "chain", "draw", "sigma", "Intercept", "threshold", "thresholds"]
OWN = {name: np.tile(["u", "v"], 15) for name in NAMES}


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
@pytest.mark.parametrize("name", NAMES)
def test_groups_with_names_that_the_model_has(name):
    data, family = DATA.assign(**OWN), "cumulative" if "thre" in name else "gaussian"
    response = "k" if family == "cumulative" else "y"
    results = drawn(kg.formula(f"{response} ~ s(x, k=5, by={name}) + (1 | {name})", data, family))
    assert results["posterior"][f"r_{name}"].dims == ("chain", "draw", f"{name}_level")
    assert list(results["posterior"][f"{name}_level"].values) == ["u", "v"]
    observed = results["observed_data"][response]
    assert observed.dims == ("obs",)
    np.testing.assert_array_equal(observed.values.astype(float) + (response == "k"), data[response])


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_an_effect_of_each_row_does_not_label_the_rows():
    ids = RNG.permutation(ROWS) + 1
    data = DATA.assign(obs=ids)
    model = kg.formula("k ~ x + (1 | obs)", data, family="poisson")
    results = kg.mcmc(model, draws=4, warmup=8, chains=1, seed=1, progress=False)
    assert list(results["observed_data"].coords["obs"].values) == [*range(ROWS)]
    effects = results["posterior"]["r_obs"]
    assert list(effects["obs_level"].values) == sorted(ids.astype(str), key=int)
    named = kg.formula("k ~ x + (1 | person)", data.assign(person=ids), family="poisson")
    again = kg.mcmc(named, draws=4, warmup=8, chains=1, seed=1, progress=False)
    np.testing.assert_allclose(effects.values, again["posterior"]["r_person"].values, rtol=1e-6)


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize(
    ("formulas", "name", "family"),
    [
        ("{} ~ x", "sigma", "gaussian"),
        ("{} ~ x", "Intercept", "gaussian"),
        ("{} ~ x", "b_x", "gaussian"),
        ("{} ~ x", "X", "gaussian"),
        ("{} ~ x", "draw", "gaussian"),
        ("{} ~ x", "obs", "gaussian"),
        ("{} ~ x + offset(z)", "offset", "gaussian"),
        ("{} | weights(x**2) ~ z", "weights", "gaussian"),
        (["y ~ x + {}", "sigma ~ x"], "sigma_x", "gaussian"),
        (["y ~ x + (1 | {})", "sigma ~ x + (1 | g)"], "sigma_g", "gaussian"),
    ],
)
def test_other_columns_are_renamed_as_the_message_says(library, formulas, name, family):
    values = DATA["g"] if name == "sigma_g" else DATA["k"] * 1.0
    data = library.DataFrame({**DATA.to_dict("list"), name: list(values)})

    def formulas_with(column):
        texts = [formulas] if isinstance(formulas, str) else formulas
        return [text.format(column) for text in texts]

    with pytest.raises(kg.DataError, match=f"rename the column '{name}': data.rename") as error:
        kg.formula(formulas_with(name), data, family)
    renamed = eval(re.search(r"data\.rename.*", str(error.value))[0], {"data": data})
    assert kg.formula(formulas_with(f"my_{name}"), renamed, family).names


def test_columns_with_such_names_are_terms():
    data = DATA.assign(draw=DATA["k"], chain=DATA["g"], obs=DATA["k"] ** 2)
    names = kg.formula("y ~ draw + chain + obs", data).names
    assert {"b_draw", "b_chain", "b_obs"} <= {*names}


@pytest.mark.parametrize("name", ["yield", "my y", "k"])
def test_a_response_in_backticks_is_a_column(name):
    data = DATA.assign(**{name: DATA["k"]})
    model = kg.formula(f"`{name}` | weights(x**2) ~ x", data, family="poisson")
    assert model[name].shape == (len(data),)
    assert_same_density(model, kg.formula("k | weights(x**2) ~ x", DATA, family="poisson"))


@pytest.mark.parametrize(
    ("text", "name"), [("y ~ I(x**2)", "I"), ("y ~ log(k + 1)", "log"), ("y ~ (C(k) | g)", "C")]
)
def test_a_column_that_hides_a_function_is_renamed_as_the_message_says(text, name):
    data = DATA.assign(**{name: DATA["k"]})
    message = f"the column '{name}' hides the function {name}; rename it: data.rename"
    with pytest.raises(kg.DataError, match=message) as error:
        kg.formula(text, data)
    renamed = eval(re.search(r"data\.rename.*", str(error.value))[0], {"data": data})
    assert kg.formula(text, renamed).names


def test_predictions_without_results():
    model = kg.formula("y ~ x", DATA)
    with pytest.raises(TypeError, match="predict: the parameter results is missing"):
        model.predict()
