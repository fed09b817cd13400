"""Boolean outcomes in results, as ArviZ needs them."""

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
