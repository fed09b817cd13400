"""Results of another model whose unknowns have the same names."""

import warnings

import numpy as np
import pytest
import xarray as xr

import kinetograph as kg
from kinetograph.graph.errors import ModelError

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
DATA = np.random.default_rng(1).normal(0, 1, (10, 3))
CLASSES = kg.dim("class", ["A", "B", "C"])


def model(prior=lambda: kg.normal(0, 1), noise=lambda a, sd: kg.normal(a, sd), dims=CLASSES):
    def build():
        a = prior()
        b = kg.normal(0, 1, dims=dims) if dims else kg.normal(0, 1, shape=3)
        sd = kg.half_normal(1)
        kg.observe(DATA, noise(a + b, sd), name="y")
        return {"a": a, "b": b, "sd": sd}

    return kg.model(build)


@pytest.fixture(scope="module")
def results():
    return kg.mcmc(model(), draws=40, warmup=100, chains=2, seed=1, progress=False)


def test_approximations_record_the_same_distributions(results):
    tree = kg.laplace_approximation(model(), draws=40, seed=1)
    assert tree.attrs["distributions"] == results.attrs["distributions"]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"prior": lambda: kg.half_normal(1)}, r"a is -0\.\d+ in a draw, and at least 0 in"),
        ({"prior": lambda: kg.uniform(0, [2.0])}, r"a has shape \(\) in the results, and \(1,\)"),
        ({"dims": kg.dim("year", 3)}, "an axis of b is 'class' in the results, and 'year' in"),
        (
            {"dims": kg.dim("class", ["A", "C", "B"])},
            "element 1 of 'class' is B in the results, and C in the model",
        ),
    ],
)
def test_other_ranges_and_axes_are_refused(results, other, message):
    with pytest.raises(kg.KinetographError, match=message):
        kg.predict(model(**other), results, seed=1)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"prior": lambda: kg.normal(0, 10)}, "the sd of a ~ normal is 1 there, and 10 in this"),
        ({"prior": lambda: kg.laplace(0, 1)}, "a ~ normal there, and a ~ laplace in this model"),
        ({"noise": lambda a, sd: kg.student(4, a, sd)}, "y ~ normal there, and y ~ student in"),
    ],
)
def test_other_distributions_are_warned_of(results, other, message):
    with pytest.warns(kg.KinetographWarning, match=rf"predict: .* another model \(.*{message}"):
        kg.predict(model(**other), results, seed=1)


def test_the_same_model_in_another_form_is_not_warned_of(results):
    forms = [
        {"prior": lambda: kg.normal(0.0, np.ones(()))},
        {"noise": lambda a, sd: kg.normal(1 * a, sd + 0.0)},
        {"dims": None},
        {"dims": kg.dim("class", 3)},
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for other in forms:
            kg.predict(model(**other), results, seed=1)


def test_draws_in_single_precision_may_lie_beyond_a_bound():
    edge = kg.uniform(0, 0.1, name="edge")
    kg.observe([0.3], kg.normal(edge, 1), name="y")
    draws = np.array([[np.float32(0.1), np.nan, 0.05]])
    assert draws[0, 0] > 0.1
    tree = xr.DataTree.from_dict({"/posterior": xr.Dataset({"edge": (("chain", "draw"), draws)})})
    assert kg.predict(kg.model(edge), tree, seed=1)["posterior_predictive"]["y"].shape == (1, 3, 1)
    tree["posterior"]["edge"][0, 2] = 0.11
    with pytest.raises(ModelError, match=r"edge is 0\.11 in a draw, and between 0 and 0\.1 in"):
        kg.predict(kg.model(edge), tree, seed=1)


X = np.linspace(-1, 1, 20)
Y = 1 + 2 * X + np.random.default_rng(0).normal(0, 0.3, 20)


def line(power=1, written=lambda a, b, x: a + b * x, y=Y):
    a, b, sd = kg.normal(0, 2, name="a"), kg.normal(0, 2, name="b"), kg.half_normal(1, name="sd")
    group = kg.normal(0, sd, shape=4, name="group")
    k = kg.bernoulli(0.3, name="k")
    kg.observe(y, kg.normal(written(a, b, X**power) + group[np.arange(20) % 4] + k, 0.3), name="y")
    return kg.model(a, b, sd, group)


@pytest.fixture(scope="module")
def line_results():
    return kg.mcmc(line(), draws=20, warmup=200, chains=2, seed=1, progress=False)


OTHER = r"the results are of another model \(.*\): the log density of a draw is .* there, and "
CALLS = {
    "predict": lambda model, results: kg.predict(model, results, seed=1),
    "loo": kg.loo,
    "compare": lambda model, results: kg.compare({"a": (model, results), "b": (model, results)}),
}


@pytest.mark.parametrize("call", CALLS)
def test_other_likelihoods_of_the_same_family_are_warned_of(line_results, call):
    with pytest.warns(kg.KinetographWarning, match=OTHER):
        CALLS[call](line(2), line_results)


def test_runs_of_other_likelihoods_are_not_continued(line_results):
    with pytest.raises(ModelError, match=f"extra_samples: {OTHER}"):
        kg.extra_samples(line_results, line(2), draws=5, progress=False)


def test_the_same_likelihood_in_another_form(line_results):
    same = line(written=lambda a, b, x: 0.5 * (2 * b * x + a) + 0.5 * a)
    with warnings.catch_warnings():
        warnings.simplefilter("error", kg.KinetographWarning)
        kg.predict(same, line_results, seed=1)
        kg.predict(line(2, y=Y + 1), line_results, seed=1)  # other data: nothing can be said
    longer = kg.extra_samples(line_results, same, draws=5, progress=False)
    assert longer["posterior"].sizes["draw"] == 25


def test_results_with_further_unknowns_are_told(results):
    def build():
        a, sd = kg.normal(0, 1), kg.half_normal(1)
        kg.observe(DATA, kg.normal(a, sd), name="y")
        return {"a": a, "sd": sd}

    with pytest.warns(kg.KinetographWarning, match="another model.*: b ~ normal there, and no b"):
        kg.predict(kg.model(build), results, seed=1)


def test_an_unknown_that_is_set_is_known(results):
    made = model()
    with warnings.catch_warnings():
        warnings.simplefilter("error", kg.KinetographWarning)
        kg.predict(kg.do(made, {made["b"]: np.zeros(3)}), results, seed=1)
