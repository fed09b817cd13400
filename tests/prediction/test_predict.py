"""kg.predict: data, and new quantities, from a posterior."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import kinetograph as kg

DATA = np.array([1.2, 0.7, 1.9, 1.4])

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


@pytest.fixture(scope="module")
def fitted():
    """A mean with a normal prior, whose posterior is known exactly."""
    mu = kg.normal(0, 10, name="mu")
    y = kg.observe(DATA, kg.normal(mu, 1), name="y")
    model = kg.model(mu)
    return mu, y, model, kg.mcmc(model, seed=1, draws=2000, progress=False)


def exact(rows, draws=8000):
    """Exact mean and variance of predictions, and tolerances for both."""
    variance = 1 / (len(DATA) + 0.01)
    mean, spread = variance * DATA.sum(), variance + 1
    assert abs(rows.mean() - mean) < 6 * np.sqrt(spread / 1000)  # mu has an ESS of over 1000
    assert abs(rows.var() - spread) < 6 * spread * np.sqrt(2 / 1000)


def test_observed_data_anew(fitted):
    _mu, _y, model, results = fitted
    tree = kg.predict(model, results, seed=3)
    seen = tree["posterior_predictive"]["y"]
    assert seen.dims == ("chain", "draw", "y_dim_0")
    assert seen.shape == (4, 2000, 4)
    for i in range(4):
        exact(seen[..., i].values.ravel())
    # Each is drawn with the mean of its own draw.
    z = (seen - tree["posterior"]["mu"]).values.ravel()
    assert stats.kstest(z, "norm").pvalue > 1e-6
    assert "posterior_predictive" not in results.children
    assert {*tree.children} == {*results.children, "posterior_predictive"}
    assert tree.attrs["seed"] == results.attrs["seed"]
    assert tree["posterior_predictive"].attrs["prediction_seed"] == "3"
    again = kg.predict(model, tree, seed=3)["posterior_predictive"]["y"]
    xr.testing.assert_equal(again, seen)


def test_unnamed_data_have_random_numbers_of_their_own():
    """The correlation of two observations with equal values is below 6 standard errors."""
    mu = kg.normal(0, 1, name="mu")
    kg.observe([1.0, 2.0], kg.normal(mu, 1))
    kg.observe([1.0, 2.0], kg.normal(mu, 1))
    model = kg.model(mu)
    results = kg.simulate(model, 2000, seed=1)
    tree = xr.DataTree.from_dict({"/posterior": results["prior"].dataset})
    found = kg.predict(model, tree, seed=1)["posterior_predictive"]
    first, second = ((found[name] - tree["posterior"]["mu"]).values.ravel() for name in found)
    assert len(first) == 4000
    assert abs(np.corrcoef(first, second)[0, 1]) < 6 / np.sqrt(len(first))


def test_new_rows_and_groups(fitted):
    mu, _, model, results = fitted
    x = kg.data([0.0, 1.0, 2.0])
    effect = kg.normal(mu, 0.5, shape=2, name="effect")
    later = kg.normal(effect[kg.data([0, 1, 1])] + x, 1)
    tree = kg.predict(model, results, later, seed=4, effect=effect, largest=later.max())
    found = tree["predictions"]
    assert {n: v.shape[2:] for n, v in found.data_vars.items()} == {
        "later": (3,),
        "effect": (2,),
        "largest": (),
    }
    drawn, posterior = found["effect"].values, tree["posterior"]["mu"].values[..., None]
    assert stats.kstest(((drawn - posterior) / 0.5).ravel(), "norm").pvalue > 1e-6
    z = found["later"].values - drawn[..., [0, 1, 1]] - [0.0, 1.0, 2.0]
    assert stats.kstest(z.ravel(), "norm").pvalue > 1e-6
    np.testing.assert_array_equal(found["largest"], found["later"].values.max(-1))


def test_a_number_depends_on_name_and_draw_alone(fitted):
    mu, _, model, results = fitted
    a, b = kg.normal(mu, 1, name="a"), kg.normal(mu, 1, name="b")
    both = kg.predict(model, results, a, b, seed=1)["predictions"]
    alone = kg.predict(model, results, b, seed=1)["predictions"]
    np.testing.assert_array_equal(both["b"], alone["b"])
    assert not (both["a"] == both["b"]).any()


def test_fewer_draws_and_loaded_results(fitted, tmp_path):
    _, _, model, results = fitted
    some = results.isel(draw=slice(None, None, 10), missing_dims="ignore")
    tree = kg.predict(model, some, seed=1)
    assert tree["posterior_predictive"]["y"].shape == (4, 200, 4)
    np.testing.assert_array_equal(tree["posterior_predictive"]["draw"], tree["posterior"]["draw"])
    some.to_netcdf(tmp_path / "some.nc")
    with xr.open_datatree(tmp_path / "some.nc") as loaded:
        again = kg.predict(model, loaded, seed=1)["posterior_predictive"]["y"]
        np.testing.assert_array_equal(again, tree["posterior_predictive"]["y"])


def test_every_new_unknown_has_numbers_of_its_own(fitted):
    """New unknowns are independent, with and without names.

    This holds for unnamed unknowns, for equal ones, for several made by one function, and for one
    with the name of another requested quantity.
    """
    mu, _, model, results = fitted

    def effect():
        return kg.normal(mu, 1)

    effects = [effect() for _ in range(3)]
    new = kg.normal(mu, 1, name="first")
    rows = kg.predict(
        model,
        results,
        seed=1,
        first=effects[0] - mu,
        rest=kg.stack([effects[1], effects[2], new, kg.normal(mu, 1)]) - mu,
    )["predictions"]
    z = np.concatenate([rows["first"].values[..., None], rows["rest"].values], -1).reshape(-1, 5)
    correlations = np.corrcoef(z.T)[np.triu_indices(5, 1)]
    assert np.abs(correlations).max() < 6 / np.sqrt(len(z))
    # An unnamed unknown is drawn under the requested name.
    named = kg.predict(model, results, seed=1, first=kg.normal(mu, 1))["predictions"]
    same = kg.predict(model, results, new, seed=1)["predictions"]
    np.testing.assert_array_equal(named["first"], same["first"])


@pytest.mark.slow
def test_some_of_the_data_and_labels():
    mu = kg.normal(0, 1, name="mu")
    a = kg.observe([1.0, 2.0], kg.normal(mu, 1), name="a")
    b = kg.data([1, 0, 3], dims="day", name="b")
    kg.observe(b, kg.poisson(kg.exp(mu)))
    model = kg.model(mu, coords={"day": ["mo", "tu", "we"]})
    results = kg.mcmc(model, seed=1, draws=50, warmup=200, progress=False)
    found = kg.predict(model, results, observed=b, seed=1)["posterior_predictive"]
    assert list(found.data_vars) == ["b"]
    assert found["b"].dtype == np.int64
    assert found["day"].values.tolist() == ["mo", "tu", "we"]
    found = kg.predict(model, results, observed=[b, a], seed=1)["posterior_predictive"]
    assert set(found.data_vars) == {"a", "b"}
    # There are more days than labels.
    week = kg.normal(mu, 1, shape=7, dims="day")
    assert kg.predict(model, results, week)["predictions"]["day"].values.tolist() == list(range(7))
    # The order of the dimensions does not matter.
    turned = results.map_over_datasets(
        lambda group: group.transpose(..., "chain", missing_dims="ignore")
    )
    assert turned["posterior"]["mu"].dims == ("draw", "chain")
    again = kg.predict(model, turned, observed=[b, a], seed=1)["posterior_predictive"]
    xr.testing.assert_equal(again.dataset, found.dataset)


def test_what_is_recorded_is_enough():
    """A recorded quantity that the data depend on replaces its unknowns."""
    x = kg.normal(0, 1, name="x")
    twice = 2 * x
    kg.observe([1.0], kg.normal(twice, 1), name="y")
    model = kg.model(twice=twice)
    results = kg.mcmc(model, seed=1, draws=50, warmup=200, progress=False, keep_unknowns=False)
    tree = kg.predict(model, results, seed=1)
    z = tree["posterior_predictive"]["y"].values[..., 0] - tree["posterior"]["twice"].values
    assert stats.kstest(z.ravel(), "norm").pvalue > 1e-6
    with pytest.raises(kg.ModelError, match=r"predict: x .*was inferred, .*kg.model\(\.\.\., x\)"):
        kg.predict(model, results, third=3 * x)


def test_targets_that_were_computed_of_other_data():
    """They are computed again from unknowns, new data and fixed values."""
    a, b = kg.normal(0, 1, name="a"), kg.normal(0, 1, name="b")
    x = kg.data(np.zeros(3), name="x")
    mean = a + 100 * x + b
    y = kg.data(np.zeros(3), name="y")
    kg.observe(y, kg.normal(mean, 1))
    model = kg.model(a, b, mean)
    results = kg.mcmc(model, seed=1, draws=50, warmup=100, chains=1, progress=False)
    level = (results["posterior"]["a"] + results["posterior"]["b"]).values[..., None]
    # Changed results show whether recorded values are used.
    shifted = results.copy()
    shifted["posterior"] = results["posterior"].dataset.assign(
        mean=results["posterior"]["mean"] + 9
    )

    def centre(model, results, **named):
        found = kg.predict(model, results, seed=1, **named)
        group = found["predictions" if named else "posterior_predictive"]
        return (group["again" if named else "y"].values - level).mean()

    room = 6 / np.sqrt(150)
    assert abs(centre(model, shifted) - 9) < room
    cut = kg.do(model, b=30.0)
    assert abs(centre(cut, shifted) - (30 - results["posterior"]["b"]).values.mean()) < room
    model.set_data(x=np.ones(3))
    assert abs(centre(model, shifted) - 100) < room
    assert centre(model, shifted, again=mean) == pytest.approx(100)
    found = kg.log_likelihood(model, shifted)["log_likelihood"]["y"]
    np.testing.assert_allclose(found, stats.norm.logpdf(level + 100 + np.zeros(3)), rtol=1e-9)
    with pytest.warns(kg.KinetographWarning, match="written again"):
        model.set_data(x=2 * np.ones(5), y=np.zeros(5))
    assert abs(centre(model, shifted) - 200) < room
    assert centre(model, shifted, again=mean) == pytest.approx(200)
    assert kg.predict(model, results, mean)["predictions"]["mean"].shape == (1, 50, 5)
    later = kg.predict(model, results, later=kg.normal(mean, 1), seed=1)["predictions"]["later"]
    assert later.shape == (1, 50, 5)
    assert abs((later.values - level).mean() - 200) < room
    apart = kg.model(mean)
    results = kg.mcmc(
        apart, seed=1, draws=5, warmup=9, chains=1, progress=False, keep_unknowns=False
    )
    apart.set_data(x=np.ones(3))
    with pytest.raises(kg.ModelError, match=r"predict: (a|b) .* was inferred, but"):
        kg.predict(apart, results)


def test_mistakes(fitted):
    mu, y, model, results = fitted
    with pytest.raises(TypeError, match=r"predict: expected results \(a DataTree"):
        kg.predict(model, results["posterior"])
    for word, told in (
        ("random_seed", "here it is called seed"),
        ("num_samples", "one draw for each draw"),
    ):
        with pytest.raises(TypeError, match=f"predict: .*{word}.*; .*{told}"):
            kg.predict(model, results, **{word: 7})
    for call in (
        lambda: kg.predict(results, samples=10),
        lambda: kg.predict(model, results, samples=10),
        lambda: kg.predict(model, results, draws=10),
    ):
        with pytest.raises(TypeError, match=r"(samples|draws) .*; it makes one .*isel\(draw"):
            call()
    with pytest.raises(TypeError, match=r"samples .*; here it is called results"):
        kg.predict(model, samples=results)
    with pytest.raises(TypeError, match=r"wrong way round .*; write kg.predict\(model, results\)"):
        kg.predict(results, model)
    for new in ({"x": [1.0]}, [1.0, 2.0]):
        with pytest.raises(TypeError, match=r"write the expression: kg.normal\(a \+ b \* new, s\)"):
            kg.predict(model, results, new)
    with pytest.raises(TypeError, match=r"observes \(y\)"):
        kg.predict(model, results, observed=mu)
    with pytest.raises(TypeError, match="not both"):
        kg.predict(model, results, kg.normal(mu, 1), observed=y)
    with pytest.raises(TypeError, match=r"target 'new' is the number .*, not a kinetograph array"):
        kg.predict(model, results, new=1.0)
    flat = kg.variable(name="flat")
    with pytest.raises(kg.ModelError, match=r"flat .*without a distribution"):
        kg.predict(model, results, new=mu + flat)
    nu = kg.normal(0, 1, shape=3, name="mu")
    other = kg.model(nu, factors=kg.log_density(kg.normal(0, 1), nu))
    with pytest.raises(kg.ModelError, match="predict: the results hold no draws"):
        kg.predict(model, results.isel(draw=slice(0, 0), missing_dims="ignore"))
    with pytest.raises(kg.ShapeError, match=r"no dimension 'chain'.* results.isel\(chain=\[0\]\)"):
        kg.predict(model, results.isel(chain=0, missing_dims="ignore"))
    with pytest.raises(kg.ModelError, match=r"y is observed data.* observed=y"):
        kg.predict(model, results, y)
    with pytest.raises(kg.ModelError, match="predict: 'draw' is an array and a dimension"):
        kg.predict(model, results, draw=2 * mu)
    written_again = kg.normal(0, 10, name="mu")  # would be drawn from the prior
    with pytest.raises(kg.ModelError, match=r"named 'mu': one of the model.* model\['mu'\]"):
        kg.predict(model, results, new=kg.normal(written_again, 1))
    alike = [kg.normal(mu, 1, name="alike") for _ in range(2)]
    with pytest.raises(kg.ModelError, match="two arrays are named 'alike'"):
        kg.predict(model, results, gap=alike[0] - alike[1])
    lonely = kg.normal(0, 1, name="lonely")
    with pytest.raises(kg.ModelError, match="no observed data"):
        kg.predict(
            kg.model(lonely),
            results.map_over_datasets(lambda d: d.rename(mu="lonely") if "mu" in d else d),
        )
    with pytest.raises(kg.ShapeError, match=r"another model: mu has shape \(\) in the results"):
        kg.predict(other, results, new=nu + 1)
    unrelated = kg.normal(0, 1, name="unrelated")
    kg.observe([1.0], kg.normal(unrelated, 1))
    with pytest.raises(kg.ModelError, match=r"they hold mu.*, and the model has unrelated"):
        kg.predict(kg.model(unrelated), results)


def test_labels_that_were_set_with_new_data():
    """Predictions have the present labels of the model's data."""
    first, second = (
        pd.Series([1.0, 2.0, 3.0], pd.Index(list(s), name="g")) for s in ("abc", "def")
    )
    y, z = kg.data(first, name="y", dims="g"), kg.normal(0, 1, shape=3, dims="g")
    kg.observe(y, kg.normal(z, 1))
    model = kg.model(z)
    model.set_data(y=second)
    results = kg.mcmc(model, draws=5, chains=1, seed=1, progress=False)
    drawn = kg.predict(model, results)["posterior_predictive"]["y"]
    assert drawn.coords["g"].values.tolist() == list("def")
    product = kg.predict(model, results, product=z * y)["predictions"]["product"]
    assert product.coords["g"].values.tolist() == list("def")
    simulated = kg.simulate(model, draws=2, seed=1)["prior_predictive"]["y"]
    assert simulated.coords["g"].values.tolist() == list("def")


def test_new_data_with_labels_in_another_order_are_refused():
    """Elements are combined by position."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(9, 2)), columns=["x", "w"])
    rows = kg.data(frame, dims=("row", "coef"))
    b = kg.normal(0, 2, shape=2, dims="coef")
    kg.observe(kg.data(rng.normal(size=9)), kg.normal(rows @ b, 1))
    model = kg.model(b)
    results = kg.mcmc(model, draws=20, chains=1, seed=1, progress=False)

    def new(labels):
        return kg.data(pd.DataFrame(np.eye(2), columns=labels), dims=("new", "coef"))

    for ask in (
        lambda array: kg.predict(model, results, mean=array),
        lambda array: kg.calculate(mean=array, values=results),
    ):
        with pytest.raises(kg.DimsError, match=r"labels 2 \(w, x\).*'coef'.*b have 2 \(x, w\)"):
            ask(new(["w", "x"]) @ b)
        ask(new(["x", "w"]) @ b)
        ask(kg.data(np.eye(2), dims=("new", "coef")) @ b)


def test_quantities_of_earlier_calls_stay():
    mu = kg.normal(0, 1, name="mu")
    y = kg.observe([0.5, 1.0], kg.normal(mu, 1), name="y")
    z = kg.observe([0.5, 1.0, 2.0], kg.normal(mu, 1), name="z")
    model = kg.model(mu)
    results = kg.mcmc(model, draws=20, warmup=20, chains=1, seed=1, progress=False)
    thinned = results.isel(draw=slice(None, None, 5))
    first = kg.predict(model, thinned, u=kg.normal(mu, 1, shape=2, dims="row"), seed=1)
    both = kg.predict(model, first, v=kg.normal(mu, 1), seed=2)["predictions"]
    assert both["u"].identical(first["predictions"]["u"])
    assert both["v"].shape == (1, 4)
    again = kg.predict(model, first, u=kg.normal(mu, 1, shape=2, dims="row"), seed=2)
    assert not again["predictions"]["u"].equals(first["predictions"]["u"])
    replicated = kg.predict(model, kg.predict(model, results, observed=[y]), observed=[z])
    assert {*replicated["posterior_predictive"].data_vars} == {"y", "z"}


def test_a_quantity_of_an_earlier_call_whose_axis_has_other_labels_is_left_out():
    mu = kg.normal(0, 1, name="mu")
    kg.observe([0.5, 1.0], kg.normal(mu, 1), name="y")
    model = kg.model(mu)
    results = kg.mcmc(model, draws=20, warmup=20, chains=1, seed=1, progress=False)
    results = kg.predict(
        model, results, u=kg.normal(mu, 1, shape=2, dims="row"), t=kg.normal(mu, 1)
    )
    with pytest.warns(kg.KinetographWarning, match="u of an earlier call is .*, because row has"):
        results = kg.predict(model, results, v=kg.normal(mu, 1, shape=3, dims="row"))
    assert {*results["predictions"].data_vars} == {"t", "v"}
    assert np.isfinite(results["predictions"]["v"]).all()


def test_drawn_rows_have_the_labels_of_the_new_table():
    """A distribution without dims has those of its parameters, where these are certain."""
    rng = np.random.default_rng(0)
    a, b = kg.normal(0, 1, name="a"), kg.normal(0, 1, shape=2, dims="coef", name="b")
    frame = pd.DataFrame(rng.normal(size=(9, 2)), columns=["x", "w"])
    kg.observe(rng.normal(size=9), kg.normal(a + kg.data(frame, dims=("row", "coef")) @ b, 1))
    model = kg.model(a, b)
    results = kg.mcmc(model, draws=20, warmup=20, chains=1, seed=1, progress=False)
    frame = pd.DataFrame(np.eye(2), ["Oslo", "Bonn"], ["x", "w"])
    new = a + kg.data(frame, dims=("town", "coef")) @ b
    chances = kg.softmax(kg.stack([new, new + 1], -1))
    drawn = kg.predict(
        model,
        results,
        counts=kg.poisson(kg.exp(new)),
        several=kg.normal(new, 1, shape=(3, 2)),
        classes=kg.categorical(chances),
        vectors=kg.multivariate_normal(new, np.eye(2)),
        named=kg.normal(new, 1, dims="place"),
        limited=kg.normal(new, 1, truncation=(0, None)),
        seed=1,
    )["predictions"]
    for name in ("counts", "classes", "limited"):
        assert drawn[name].dims[2:] == ("town",)
    assert drawn["town"].values.tolist() == ["Oslo", "Bonn"]
    assert drawn["several"].dims[2:] == ("several_dim_0", "town")
    assert drawn["vectors"].dims[2:] == ("vectors_dim_0",)
    assert drawn["named"].dims[2:] == ("place",)
    other = kg.data(pd.DataFrame(np.eye(2), columns=["w", "x"]), dims=("town", "coef"))
    with pytest.raises(kg.DimsError, match=r"labels 2 \(w, x.*'coef'"):
        kg.predict(model, results, y_new=kg.normal(other @ b, 1))
