"""`kg.condition` and `kg.do`, against normal distributions in closed form."""

import copy

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


@pytest.fixture
def chain():
    """A chain mu -> x -> y.

    z observes mu, and w observes x.
    """
    mu = kg.normal(1, 2, name="mu")
    x = kg.normal(mu, 0.5, name="x")
    y = kg.normal(3 * x, 1.5, name="y")
    kg.observe([2.0, 2.5], kg.normal(mu, 1), name="z")
    kg.observe(4.0, kg.normal(x, 1), name="w")
    return kg.model(mu, x, y, total=x + y, square=x**2)


def prior_and_z(mu):
    return stats.norm.logpdf(mu, 1, 2) + stats.norm.logpdf([2.0, 2.5], mu, 1).sum()


def test_densities(chain):
    given, set_to = kg.condition(chain, x=1.5), kg.do(chain, {"x": 1.5})
    after = stats.norm.logpdf(0.7, 4.5, 1.5) + stats.norm.logpdf(4.0, 1.5, 1)
    expected = prior_and_z(0.3) + after
    assert given.names == set_to.names == ("mu", "y")
    assert set_to.log_prob([0.3, 0.7]) == pytest.approx(expected)
    expected += stats.norm.logpdf(1.5, 0.3, 0.5)
    assert given.log_prob([0.3, 0.7]) == pytest.approx(expected)
    slopes = -(0.3 - 1) / 4 + (4.5 - 0.6) + (1.5 - 0.3) / 0.25, -(0.7 - 4.5) / 1.5**2
    np.testing.assert_allclose(given.gradient([0.3, 0.7]), slopes)
    assert chain.log_prob([0.3, 1.5, 0.7]) == pytest.approx(expected)
    assert given.target_names == ("mu", "y", "total")
    assert "fixed: x" in repr(given)


def test_posteriors(chain):
    given, set_to = kg.condition(chain, x=1.5), kg.do(chain, x=1.5)
    for model, fixed_by, precision, mean in (
        (given, "condition", 1 / 4 + 2 + 4, 1 / 4 + 4.5 + 4 * 1.5),
        (set_to, "do", 1 / 4 + 2, 1 / 4 + 4.5),
    ):
        results = kg.mcmc(model, seed=1, draws=500, warmup=300, progress=False)
        draws = results["posterior"]["mu"].values
        error = 6 * draws.std() / np.sqrt(draws.size / 10)
        assert draws.mean() == pytest.approx(mean / precision, abs=error)
        assert draws.std() == pytest.approx(precision**-0.5, rel=0.15)
        assert results["constant_data"]["x"] == 1.5
        assert results["constant_data"]["x"].attrs["fixed_by"] == fixed_by


def test_results_of_it(chain):
    model = kg.condition(chain, x=1.5)
    results = kg.mcmc(model, seed=1, draws=500, chains=2, progress=False)
    posterior = results["posterior"]
    x, y = chain.component.unknowns[1:]
    assert x.called == {"x"}
    x, y = kg.Array(x), kg.Array(y)
    found = kg.calculate(sum=x + y, values=results)["posterior"]["sum"]
    np.testing.assert_allclose(found, posterior["y"] + 1.5)
    np.testing.assert_allclose(posterior["total"], posterior["y"] + 1.5)
    results = kg.predict(model, results, seed=1)
    w = results["posterior_predictive"]["w"]
    assert stats.kstest(w.values.ravel() - 1.5, "norm").pvalue > 1e-6
    z = kg.log_likelihood(model, results)["log_likelihood"]
    np.testing.assert_allclose(z["w"], stats.norm.logpdf(4.0, 1.5, 1), rtol=1e-6)
    twin = copy.deepcopy(model)
    assert twin.log_prob([0.1, 0.2]) == model.log_prob([0.1, 0.2])
    again = kg.mcmc(model, seed=1, draws=10, chains=2, initial="prior", progress=False)
    assert again["posterior"].sizes["draw"] == 10


def test_what_is_simulated(chain):
    drawn = kg.simulate(kg.do(chain, x=1.5), 4000, seed=1)
    assert set(drawn["prior"]) == {"mu", "y", "total"}
    y = drawn["prior"]["y"].values.ravel()
    assert stats.kstest((y - 4.5) / 1.5, "norm").pvalue > 1e-6
    with pytest.warns(kg.KinetographWarning, match="conditioned"):
        given = kg.simulate(kg.condition(chain, x=1.5), 4000, seed=1)
    mu = given["prior"]["mu"].values.ravel()
    assert stats.kstest((mu - 1) / 2, "norm").pvalue > 1e-6


def test_other_values_without_a_new_model(chain):
    model = kg.condition(chain, x=1.5)
    model.log_prob([0.3, 0.7])
    version = model.version
    model.set_data(x=-1.0)
    wanted = kg.condition(chain, x=-1.0).log_prob([0.3, 0.7])
    assert model.log_prob([0.3, 0.7]) == wanted
    assert model.version == version


def test_several_times(chain):
    both = kg.do(kg.condition(chain, y=2.0), x=1.5)
    expected = prior_and_z(0.3) + stats.norm.logpdf(2.0, 4.5, 1.5) + stats.norm.logpdf(4.0, 1.5, 1)
    assert both.names == ("mu",)
    assert both.log_prob([0.3]) == pytest.approx(expected)
    at_once = kg.condition(kg.do(chain, x=1.5), y=2.0)
    assert at_once.log_prob([0.3]) == pytest.approx(expected)


def test_what_only_it_followed_from_goes():
    a = kg.normal(0, 1, name="a", dims="k", shape=2)
    x = kg.normal(a.sum(), 1, name="x")
    b = kg.normal(x, 1, name="b")
    model = kg.model(x, b, coords={"k": ["p", "q"]})
    assert kg.do(model, x=1.0).names == ("b",)
    assert kg.condition(model, x=1.0).names == ("a", "b")
    assert kg.condition(model, x=1.0).target_names == ("b",)


def test_constrained_unknowns_and_their_forms():
    """Arrays computed from an unknown's free numbers use its fixed value."""
    rate = kg.gamma(2, 1, name="rate")
    p = kg.beta(2, 2, shape=2, name="p")
    other = kg.normal(kg.log(rate), p.sum(), name="other")
    kg.observe([3, 5], kg.poisson(rate), name="n")
    kg.observe([1, 0], kg.bernoulli(p), name="k")
    model = kg.model(rate, p, other)
    at = {"rate": 4.0, "p": [0.3, 0.6], "other": 1.0}
    whole = model.log_prob(model.untransform(at), adjusted=False)
    given = kg.condition(model, rate=4.0, p=[0.3, 0.6])
    assert given.log_prob([1.0]) == pytest.approx(float(whole), rel=1e-12)
    prior = stats.gamma.logpdf(4.0, 2) + stats.beta.logpdf([0.3, 0.6], 2, 2).sum()
    assert kg.do(model, rate=4.0, p=[0.3, 0.6]).log_prob([1.0]) == pytest.approx(whole - prior)


@pytest.mark.parametrize("change", [kg.condition, kg.do])
def test_what_is_left_is_discrete(change):
    mu, z = kg.normal(0, 1, name="mu"), kg.bernoulli(0.5, name="z")
    kg.observe([1.0], kg.normal(mu + z, 1), name="y")
    text = f"{change.__name__}: the remaining unknowns, z, are discrete and would be marginalised"
    with pytest.raises(kg.ModelError, match=text):
        change(kg.model(mu), mu=0.0)


@pytest.mark.parametrize("change", [kg.condition, kg.do])
def test_errors(change):
    scale = kg.gamma(2, 1, shape=3, name="scale")
    m = kg.normal(0, 1, name="m")
    model = kg.model(scale, m)
    name = change.__name__
    cases = [
        (
            {"tau": 1.0},
            kg.ModelError,
            f"{name}: 'tau' is not an unknown of this model; its unknowns",
        ),
        ({"scale": 1.0}, kg.ShapeError, rf"{name}: scale: expected shape \(3,\), got \(\)"),
        ({"scale": [1.0, -1, 1]}, ValueError, f"{name}: scale: must be positive"),
        ({"m": "a"}, TypeError, f"{name}: m: expected a number"),
        ({"m": 1.0, "scale": np.ones(3)}, kg.ModelError, "nothing is left to sample: scale, m"),
        ({}, TypeError, "no values are given"),
        ({kg.data(1.0, "d"): 2.0}, kg.ModelError, "d is not an unknown"),
    ]
    for values, error, text in cases:
        with pytest.raises(error, match=text):
            change(model, values)
    with pytest.raises(TypeError, match=r"the number 1.0, not a model"):
        change(1.0, m=2.0)
