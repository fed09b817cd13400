"""Boolean and whole-number data in results, as ArviZ needs them."""

import warnings

import numpy as np
import pytest

import kinetograph as kg

OUTCOMES = np.arange(12) % 3 == 0


@pytest.fixture(scope="module")
def results():
    prob = kg.beta(1, 1)
    kg.observe(OUTCOMES, kg.bernoulli(prob), name="y")
    model = kg.model(prob, likely=prob > 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kg.SamplingWarning)
        drawn = kg.mcmc(model, draws=30, warmup=50, chains=1, seed=1, progress=False)
    return model, kg.predict(model, drawn, seed=1)


def test_outcomes_are_integers(results):
    model, drawn = results
    simulated = kg.simulate(model, draws=5, seed=1)
    for tree, group in (
        (drawn, "posterior_predictive"),
        (simulated, "prior_predictive"),
        (simulated, "observed_data"),
    ):
        assert tree[group]["y"].dtype == np.int64, group
        assert set(np.unique(tree[group]["y"])) <= {0, 1}
    assert np.array_equal(simulated["observed_data"]["y"], OUTCOMES)
    assert simulated["prior"]["likely"].dtype == np.bool_  # not an outcome


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("plot", ["plot_ppc_interval", "plot_ppc_rootogram", "plot_ppc_dist"])
def test_plots_of_arviz(results, plot, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    plots = pytest.importorskip("arviz_plots")
    getattr(plots, plot)(results[1])


def whole(data):
    """A model of whole numbers with a continuous distribution."""
    level = kg.normal(0, 5, name="level")
    kg.observe(data, kg.normal(level, 1), name="y")
    return kg.model(level)


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
@pytest.mark.parametrize("make", [np.array, lambda x: kg.data(x, name="y")], ids=["array", "data"])
def test_draws_of_a_continuous_distribution_are_not_whole(make):
    model = whole(make([1, 5, 3, 8]))
    drawn = kg.mcmc(model, draws=500, chains=2, seed=1, progress=False)
    simulated = kg.simulate(model, draws=50, seed=1)["prior_predictive"]["y"]
    again = kg.predict(model, drawn, seed=1)["posterior_predictive"]["y"]
    for draws in (again, simulated):
        assert draws.dtype == np.float64
        assert (draws % 1 != 0).all()
    # Truncated draws would have a mean that is 0.5 below the level.
    assert abs(float(again.mean() - drawn["posterior"]["level"].mean())) < 0.15


def test_whole_numbers_can_be_calibrated_if_simulated_values_fit():
    tree = kg.calibration(
        whole([1, 5]), 2, ranks=4, draws=20, warmup=20, chains=1, seed=1, threads=1
    )
    assert tree["ranks"]["level"].shape == (2,)
    with pytest.raises(kg.DataError, match=r"(?s)y.* holds whole numbers, but simulated .*normal"):
        kg.calibration(whole(kg.data([1, 5], name="y")), 2, seed=1)
