"""How many draws bring R-hat below its limit: against chains of known autocorrelation."""

import numpy as np
import pytest
import xarray as xr
from scipy.signal import lfilter

import kinetograph as kg
from kinetograph.results import diagnostics
from kinetograph.results.more_draws import draws_needed


def chains(rng, correlation, draws, quantities=5):
    steps = rng.normal(size=(4, draws + 500, quantities)) * np.sqrt(1 - correlation**2)
    return lfilter([1.0], [1.0, -correlation], steps, axis=1)[:, 500:]


def results_of(values, **groups):
    posterior = xr.Dataset({"x": (("chain", "draw", "k"), values)})
    stats = xr.Dataset({"lp": (("chain", "draw"), np.zeros(values.shape[:2]))})
    return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats} | groups)


def advice_of(values, **groups):
    tree = results_of(values, **groups)
    return {each.kind: each.message for each in kg.diagnose(tree)}


@pytest.mark.parametrize("correlation", [0.8, 0.85, 0.9])
def test_the_number_suffices(correlation):
    rng = np.random.default_rng(17)
    held = []
    for _ in range(30):
        values = chains(rng, correlation, 1000)
        largest = float(diagnostics.rhat(values).max())
        least = float(diagnostics.ess_bulk(values).min())
        needed = draws_needed(1000, 4, largest, least, 1.01)
        if largest > 1.01 and needed is not None:
            held.append(diagnostics.rhat(chains(rng, correlation, needed)).max() <= 1.01)
    assert len(held) >= 10
    assert np.mean(held) >= 0.85


@pytest.mark.parametrize(
    ("draws", "largest", "least", "needed"),
    [
        (1000, 1.012, 387, 3000),
        (1000, 1.0101, 1000, 2500),
        (1000, 1.05, 300, 10000),
        (5000, 1.02, 90, 60000),
        (1000, 1.051, 300, None),
        (1000, 1.02, 39, None),
        (1000, 1.02, np.nan, None),
        (99, 1.02, 90, None),
    ],
)
def test_numbers(draws, largest, least, needed):
    assert draws_needed(draws, 4, largest, least, 1.01) == needed


def test_the_message_says_how_many_draws():
    rng = np.random.default_rng(18)
    values = chains(rng, 0.9, 1000, 40)
    message = advice_of(values)["rhat"]
    assert "which the effective sample size of" in message
    assert "have not mixed" not in message
    assert "extra_samples" not in message  # which continues runs of kg.mcmc
    number = int(message.partition("draws=")[2].partition(".")[0])
    assert f"About {number} draws per chain should bring it below 1.01" in message
    assert 4000 <= number <= 10000
    message = advice_of(values, sampler_state=xr.Dataset())["rhat"]
    assert f"draws={number}, or {number - 1000} more by kg.extra_samples. If it stays" in message
    # Nobody has the results of a refit to continue them.
    tree = results_of(values, sampler_state=xr.Dataset())
    tree.attrs["refit"] = 1
    (message,) = (each.message for each in kg.diagnose(tree) if each.kind == "rhat")
    assert "extra_samples" not in message
    # Control: chains that differ.
    message = advice_of(values + 0.7 * np.arange(4)[:, None, None])["rhat"]
    assert "have not mixed" in message
    assert "About" not in message
