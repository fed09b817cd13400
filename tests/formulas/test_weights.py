"""Weights of rows: densities of single rows, leaving rows out, and replicated data."""

import pickle

import numpy as np
import pytest
from scipy import stats
from tests.formulas.cases import ROWS, assert_same_density, frame

import kinetograph as kg
from kinetograph.distributions.derived import family_of
from kinetograph.distributions.weighting import weighted

DATA = frame().assign(one=1.0, side=np.tile(["none", "right"], ROWS // 2))
DATA["some"] = np.arange(ROWS) % 3 * 0.5


def run(model):
    return kg.mcmc(model, draws=50, warmup=100, chains=2, seed=1, progress=False)


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_densities_of_rows_are_multiplied_by_their_weights():
    model = kg.formula("y | weights(some) ~ x", DATA)
    results = kg.log_likelihood(model, run(model))
    draws = results["posterior"]
    centred = DATA["x"].to_numpy() - DATA["x"].mean()
    mean = draws["Intercept"].values[..., None] + draws["b_x"].values[..., None] * centred
    expected = stats.norm.logpdf(DATA["y"], mean, draws["sigma"].values[..., None])
    found = results["log_likelihood"]["y"].values
    np.testing.assert_allclose(found, DATA["some"].to_numpy() * expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(results["observed_data"]["y"], DATA["y"])


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_weights_of_one_change_nothing():
    with_weights, without = (kg.formula(f"y {a}~ x", DATA) for a in ("| weights(one) ", ""))
    assert_same_density(with_weights, without)
    results = run(with_weights)
    bare = results.copy()
    bare["constant_data"] = bare["constant_data"].to_dataset().drop_vars("weights")
    pairs = (with_weights, results), (without, bare)
    for compute in (
        lambda model, draws: kg.loo(model, draws, refits=0).elpd,
        lambda model, draws: kg.predict(model, draws, seed=3)["posterior_predictive"]["y"].values,
        lambda model, draws: model.predict(draws, seed=3)["posterior_predictive"]["y"].values,
    ):
        found = [compute(*pair) for pair in pairs]
        np.testing.assert_allclose(*found, rtol=1e-6)
    folds = [kg.kfold(*pair, k=3, draws=100, seed=2, progress=False).elpd for pair in pairs]
    assert abs(folds[0] - folds[1]) < 3.0  # other rounding, other chains
    assert len(kg.compare({"a": pairs[0], "b": pairs[1]}).elpd) == 2
    with pytest.raises(kg.DataError, match="weights is not among the data of this model"):
        kg.loo(without, results)


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_weights_of_two_are_rows_given_twice():
    """The densities of a fold are sums of the densities of its rows."""
    twice = DATA.loc[DATA.index.repeat(2)].reset_index(drop=True)
    pair = kg.formula("count | weights(one) ~ x", DATA.assign(one=2), family="poisson")
    rows = kg.formula("count ~ x", twice, family="poisson")
    results = kg.mcmc(pair, draws=400, seed=1, progress=False)
    found = kg.loo(pair, results, refits=0)
    draws = results.drop_nodes([g for g in results.children if g.endswith("_data")])
    expected = kg.loo(rows, draws, by=np.repeat(np.arange(ROWS), 2), refits=0)
    np.testing.assert_allclose(found.elpd, expected.elpd, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("y | cens(side) + weights(some)", "gaussian"),
        ("positive | trunc(lb=0.05) + weights(some)", "gamma"),
        ("count | trials(n) + weights(some)", "zero_inflated_binomial"),
        ("grade | weights(some)", "cumulative"),
        ("kind | weights(some)", "categorical"),
        ("b | weights(some)", "bernoulli"),
    ],
)
def test_the_density_has_each_row_as_often_as_its_weight(text, family):
    """The difference from weights of 1 is sum_i (w_i - 1) log p(y_i)."""
    model = kg.formula(f"{text} ~ 1", DATA, family=family)
    plain = kg.formula(f"{text.replace('some', 'one')} ~ 1", DATA, family=family)
    results = kg.mcmc(plain, draws=3, warmup=20, chains=1, seed=1, progress=False)
    name = text.split()[0]
    rows = kg.log_likelihood(plain, results)["log_likelihood"][name].values[0]
    for draw, each in enumerate(rows):
        values = {name: results["posterior"][name].values[0, draw] for name in model.names}
        found = model.log_prob(values) - plain.log_prob(values)
        expected = np.sum((DATA["some"].to_numpy() - 1.0) * each)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_weighted_families_are_found_by_their_keys():
    for base in ("normal", "censored(normal, interval)", "truncated(gamma, lower)"):
        family = weighted(family_of(base))
        assert family_of(family.key) is family
    model = kg.formula("y | cens(side) + weights(some) ~ x", DATA)
    assert_same_density(pickle.loads(pickle.dumps(model)), model)
