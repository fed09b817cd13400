"""Autocorrelation times by three estimators."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.neural import analysis


@pytest.mark.parametrize("estimator", ["sokal", "monotone", "acor"])
@pytest.mark.parametrize("walkers", ["pooled", "averaged", "separate"])
def test_autoregression_has_its_closed_form(estimator, walkers):
    """The exact time, within 5.5 errors sqrt(20 tau / n)."""
    chains, length = 4, 40_000
    for phi in (0.0, 0.5, 0.9):
        x = kg.laws.autoregression(phi, chains=chains, draws=length, seed=1)[:, :, None]
        times = analysis.autocorrelation_times(x, estimator=estimator, walkers=walkers)
        exact = (1 + phi) / (1 - phi)
        rows = chains * length if walkers == "pooled" else length
        assert times["tau"] == pytest.approx(exact, rel=5.5 * np.sqrt(20 * exact / rows))
        n = {"pooled": chains * length, "averaged": length, "separate": length}[walkers]
        variance = {
            "pooled": x.var(ddof=1),
            "averaged": x.mean(0).var(ddof=1),
            "separate": x.var((1, 2), ddof=1),
        }[walkers]
        assert times["sigma"] == pytest.approx(np.sqrt(variance * times["tau"] / n), rel=1e-6)


def test_alternating_draws_have_a_time_below_one():
    x = kg.laws.autoregression(-0.5, chains=4, draws=40_000, seed=2)[:, :, None]
    assert analysis.autocorrelation_times(x)["tau"] == pytest.approx(1 / 3, rel=0.06)
    assert analysis.autocorrelation_times(x)["tau"] == pytest.approx(
        kg.laws.autocorrelation_time(x), rel=1e-9
    )


def test_the_ensemble_mean_has_the_error_of_coupled_walkers():
    """Walkers share one series, so the pooled error is too small."""
    one = kg.laws.autoregression(0.5, chains=1, draws=20_000, seed=3)
    x = np.repeat(one, 4, axis=0)[:, :, None]
    pooled = analysis.autocorrelation_times(x)
    averaged = analysis.autocorrelation_times(x, walkers="averaged")
    assert averaged["tau"] == pytest.approx(pooled["tau"])
    assert averaged["sigma"] == pytest.approx(2 * pooled["sigma"], rel=1e-3)


def test_a_failing_component_has_nan_in_its_row():
    x = np.stack([kg.laws.autoregression(0.5, chains=2, draws=5000, seed=4)] * 4, -1)
    x[1, 7, 1] = np.nan
    x[:, :, 2] = 3.0
    names = ["weight0", "weight1", "weight2", "bias0"]
    times = analysis.autocorrelation_times(x, names=names)
    assert list(times) == ["component", "tau", "mean", "sigma"]
    assert times["component"].tolist() == names
    assert np.isnan(times["tau"]).tolist() == [False, True, True, False]
    assert np.isnan(times["sigma"]).tolist() == [False, True, True, False]
    assert times["tau"][0] == times["tau"][3]
    assert times["mean"][2] == 3.0
    short = analysis.autocorrelation_times(x[:, :20], estimator="acor", names=names)
    assert np.isnan(short["tau"]).all()


def test_separate_walkers_have_their_rows():
    x = np.stack(
        [kg.laws.autoregression(phi, chains=2, draws=20_000, seed=5) for phi in (0.0, 0.8)], -1
    )
    times = analysis.autocorrelation_times(x, walkers="separate")
    assert list(times) == ["id", "component", "tau", "mean", "sigma"]
    assert times["id"].tolist() == [0, 0, 1, 1]
    assert times["component"].tolist() == ["c0", "c1", "c0", "c1"]
    assert times["tau"] == pytest.approx([1, 9, 1, 9], rel=0.5)
    assert times["mean"] == pytest.approx(x.mean(1).ravel())


def test_projections_on_eigenvectors():
    fast, slow = (kg.laws.autoregression(phi, chains=2, draws=20_000, seed=6) for phi in (0, 0.8))
    rotation = np.array([[0.8, -0.6], [0.6, 0.8]])
    x = np.stack([fast, 3 * slow], -1) @ rotation
    vectors = analysis.eigenpairs(analysis.covariance(x)).vectors
    times = analysis.autocorrelation_times(x, directions=vectors)
    assert times["tau"] == pytest.approx([9, 1], rel=0.3)


def test_the_oscillator_has_the_time_of_its_scheme():
    step, friction = 0.5, 1.0
    law = kg.laws.oscillator("BAOAB", step, friction=friction)
    random = np.random.default_rng(7)
    q, p = random.standard_normal((2, 64))
    c, path = np.exp(-friction * step), []
    for _ in range(4000):
        p = p - step / 2 * q
        q = q + step / 2 * p
        p = c * p + np.sqrt(1 - c * c) * random.standard_normal(64)
        q = q + step / 2 * p
        p = p - step / 2 * q
        path.append(q)
    times = analysis.autocorrelation_times(np.array(path).T[:, :, None])
    exact = law.autocorrelation_time("q")
    assert times["tau"][0] == pytest.approx(exact, rel=5.5 * np.sqrt(20 * exact / (64 * 4000)))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"estimator": "sokall"}, "unknown name 'sokall'.*; did you mean 'sokal'?"),
        ({"walkers": "each"}, "unknown name 'each'.*; the names are averaged, pooled, separate"),
        ({"directions": np.zeros((1, 2))}, r"shape \(2, component\).*write directions.T"),
        ({"names": ["a"]}, "expected 2 names of parameters, got 1"),
    ],
)
def test_bad_input_is_named(options, text):
    with pytest.raises(ValueError, match=text):
        analysis.autocorrelation_times(np.zeros((1, 10, 2)), **options)


def test_too_few_draws_are_refused():
    with pytest.raises(ValueError, match="four draws or more of each chain, got 3"):
        analysis.autocorrelation_times(np.zeros((1, 3, 2)))
