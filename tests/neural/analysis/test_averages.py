"""Averages at cut points and their re-weighting."""

import numpy as np
import pytest

from kinetograph.neural import analysis
from kinetograph.neural.analysis.averages import cut_points


def test_running_averages_are_those_of_numpy():
    loss = np.random.default_rng(1).normal(1e6, 1, (3, 107))
    columns = analysis.running_averages({"loss": loss, "kinetic_energy": loss**2}, steps=5)
    assert list(columns) == [
        *("id", "end", "average_loss", "variance_loss"),
        *("average_kinetic_energy", "variance_kinetic_energy"),
    ]
    assert columns["id"].tolist() == [0] * 5 + [1] * 5 + [2] * 5
    assert columns["end"].tolist() == [21, 42, 64, 85, 107] * 3
    for chain, end, mean, variance in zip(*list(columns.values())[:4], strict=True):
        part = loss[chain, :end]
        assert mean == pytest.approx(part.mean(), rel=1e-12)
        assert variance == pytest.approx(part.var(ddof=1), rel=1e-9)


def test_cut_points_are_equidistant_and_end_at_the_end():
    assert cut_points(100, 4).tolist() == [25, 50, 75, 100]
    assert cut_points(3, 3).tolist() == [1, 2, 3]
    first = analysis.running_averages({"loss": [1.0, 2.0, 3.0]}, steps=3)
    assert np.isnan(first["variance_loss"][0])
    assert first["variance_loss"][1] == 0.5


def test_parameter_averages():
    x = np.random.default_rng(2).standard_normal((2, 50, 3))
    rows = x.reshape(-1, 3)
    columns = analysis.parameter_averages(x, names=["weight0", "weight1", "bias0"])
    assert columns["parameter"].tolist() == ["weight0", "weight1", "bias0"]
    assert columns["average"] == pytest.approx(rows.mean(0))
    assert columns["variance"] == pytest.approx(rows.var(0, ddof=1))
    equal = analysis.parameter_averages(x, weights=np.full((2, 50), 0.3))
    assert equal["variance"] == pytest.approx(columns["variance"])


def test_weights_are_equal_at_the_sampled_temperature():
    moved = analysis.boltzmann_weights(np.array([[0.0, 1e5], [3.0, -2e9]]), 2.0, 2.0)
    assert (moved.weights == 0.25).all()
    assert moved.ess == pytest.approx(4.0)


def test_reweighting_gives_the_mean_loss_of_a_linear_net_at_another_temperature():
    """A quadratic U has the mean minimum + N / (2 beta)."""
    count, beta, size = 4, 1.5, 200_000
    w = np.random.default_rng(3).standard_normal((2, size // 2, count))  # at beta_0 = 1
    loss = 0.7 + 0.5 * np.sum(w * w, -1)
    moved = analysis.boltzmann_weights(loss, 1.0, beta)
    exact = 0.7 + count / (2 * beta)
    # The variance of U at beta is N / (2 beta^2).
    error = np.sqrt(count / 2) / beta / np.sqrt(moved.ess)
    assert abs(moved.average(loss) - exact) < 5.5 * error
    # E w^2 / (E w)^2 = (beta^2 / (2 beta - 1))^(N / 2)
    share = ((2 * beta - 1) / beta**2) ** (count / 2)
    assert moved.ess / size == pytest.approx(share, rel=0.02)
    assert moved.average(w).shape == (count,)


def test_weights_of_large_energies_do_not_overflow():
    moved = analysis.boltzmann_weights([1e6, 1e6 + np.log(3) / 1e3], 1.0, 1001.0)
    assert moved.weights == pytest.approx([0.75, 0.25], rel=1e-5)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: analysis.running_averages({}), "got no record.*; give a mapping"),
        (lambda: analysis.running_averages({"loss": [1.0, 2.0]}), "at most the number of rows"),
        (lambda: analysis.running_averages({"loss": [1.0]}, 0), "whole number from 1 on, got 0"),
        (
            lambda: analysis.running_averages({"loss": [1.0, np.nan]}, 1),
            r"1 of the 2 values of loss are not finite, the first at index \(0, 1\)",
        ),
        (
            lambda: analysis.running_averages({"loss": [1.0, 2], "x": [1.0]}, 1),
            r"'loss': \(1, 2\), 'x': \(1, 1\)",
        ),
        (lambda: analysis.boltzmann_weights([1.0], 0, 1), "sampled must be a positive number"),
        (lambda: analysis.boltzmann_weights([], 1, 1), "potential has no values"),
        (lambda: analysis.parameter_averages([1.0, 2.0]), r"write draws\[None, :, None\]"),
        (
            lambda: analysis.parameter_averages(np.zeros((1, 3, 2)), weights=[1.0, 2.0]),
            r"expected weights of shape \(1, 3\)",
        ),
        (
            lambda: analysis.parameter_averages(np.zeros((1, 3, 2)), names=["a"]),
            "expected 2 names of parameters, got 1",
        ),
        (
            lambda: analysis.boltzmann_weights([1.0, 2.0], 1, 1).average([1.0]),
            r"expected values of shape",
        ),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()
