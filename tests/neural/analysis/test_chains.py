"""Convergence across chains, compared with ArviZ."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.neural import analysis


def test_diagnostics_are_those_of_arviz():
    stats = pytest.importorskip("arviz_stats")
    base = pytest.importorskip("arviz_base")
    x = np.stack(
        [kg.laws.autoregression(phi, chains=4, draws=500, seed=1) for phi in (0, 0.5, 0.9)], -1
    )
    x[0, :, 2] += 1.0
    table = analysis.convergence(x, names=["a", "b", "c"])
    tree = base.from_dict({"posterior": {"w": x}})
    assert table["r_hat"] == pytest.approx(stats.rhat(tree)["w"].values)
    bulk = stats.ess(tree, method="bulk")["w"].values
    tail = stats.ess(tree, method="tail", prob=(0.05, 0.95))["w"].values
    assert table["ess_bulk"] == pytest.approx(bulk)
    assert table["ess_tail"] == pytest.approx(tail)
    assert table["mcse_mean"] == pytest.approx(stats.mcse(tree)["w"].values)
    assert table["mean"] == pytest.approx(x.mean((0, 1)))
    assert table["sd"] == pytest.approx(x.std((0, 1), ddof=1))


def test_a_diverged_parameter_has_nan_in_its_row():
    x = np.random.default_rng(2).standard_normal((2, 100, 2))
    x[0, 3, 0] = np.inf
    table = analysis.convergence(x)
    assert np.isnan(table["r_hat"]).tolist() == [True, False]
    with pytest.raises(ValueError, match="four draws or more, got 2"):
        analysis.convergence(x[:, :2])
