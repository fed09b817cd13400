"""Free energies of coordinates and level sets."""

import numpy as np
import pytest

from kinetograph.neural import analysis


@pytest.mark.parametrize("estimator", ["histogram", "kde"])
@pytest.mark.parametrize("beta", [1.0, 5.0])
def test_a_gaussian_has_a_parabola(beta, estimator):
    variance = 2.0
    size = 200_000 if estimator == "histogram" else 20_000
    x = np.random.default_rng(1).normal(0, np.sqrt(variance), size)
    result = analysis.free_energy(x, beta, bins=np.linspace(-3, 3, 31), estimator=estimator)
    exact = result.values**2 / (2 * variance * beta)
    core = np.abs(result.values) < 2.5
    assert np.abs(result.energies - exact)[core].max() < 0.1 / beta
    assert result.energies.min() == 0
    assert result.inverse_temperature == beta


def test_the_barrier_of_a_double_well():
    """Points are quantiles of exp(-3 (q^2 - 1)^2)."""
    grid = np.linspace(-2.5, 2.5, 50_001)
    weight = np.exp(-3 * (grid**2 - 1) ** 2)
    q = np.interp((np.arange(100_000) + 0.5) / 100_000, np.cumsum(weight) / weight.sum(), grid)
    result = analysis.free_energy(q, 3.0, bins=np.linspace(-1.525, 1.525, 62))
    centre = result.energies[np.abs(result.values).argmin()]
    assert centre == pytest.approx(1, abs=0.02)


def test_empty_bins_are_infinite_and_widths_are_recorded():
    result = analysis.free_energy([0.5, 0.6, 3.5], 2.0, bins=[0, 1, 3, 4])
    assert result.energies.tolist() == [0, np.inf, np.log(2) / 2]
    assert result.widths.tolist() == [1, 2, 1]
    assert result.density == pytest.approx([2 / 3, 0, 1 / 3])
    columns = result.columns()
    assert list(columns) == [
        *("value", "width", "density", "free_energy", "inverse_temperature"),
    ]
    assert columns["inverse_temperature"].tolist() == [2.0] * 3


def test_weights_move_the_density():
    x = np.array([0.5, 1.5])
    result = analysis.free_energy(x, 1.0, bins=[0, 1, 2], weights=[0.25, 0.75])
    assert result.energies == pytest.approx([np.log(3), 0])


def test_nan_is_left_out():
    with_nan = analysis.free_energy([0.5, np.nan, 1.5, 1.6], 1.0, bins=2)
    without = analysis.free_energy([0.5, 1.5, 1.6], 1.0, bins=2)
    assert with_nan.energies.tolist() == without.energies.tolist()


def test_level_sets_of_a_gaussian():
    x = np.random.default_rng(2).standard_normal(100_000)
    levels = analysis.level_sets(x, [int(np.abs(x - v).argmin()) for v in np.arange(-2, 2.5, 0.5)])
    result = analysis.level_free_energy(levels, 2.0)
    counts, edges = np.histogram(x, levels.edges)
    exact = -np.log(counts / (len(x) * np.diff(edges))) / 2
    assert result.energies == pytest.approx(exact - exact.min())
    inner = result.values[1:-1] ** 2 / 4
    assert result.energies[1:-1] == pytest.approx(inner, abs=0.05)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: analysis.free_energy([1.0, 2.0], 0.0), "inverse_temperature must be a positive"),
        (lambda: analysis.free_energy([np.nan], 1.0), "none of the 1 rows is finite"),
        (lambda: analysis.free_energy([1.0, 1.0], 1.0), "all 2 rows have the coordinate 1"),
        (lambda: analysis.free_energy([1.0, 2.0], 1.0, estimator="box"), "got 'box'"),
        (lambda: analysis.free_energy([1.0, 2.0], 1.0, bins=[5, 6]), "inside of the bins"),
        (
            lambda: analysis.free_energy([1.0, 2.0], 1.0, weights=[1.0]),
            r"weights of shape \(2,\).*got shape \(1,\)",
        ),
        (
            lambda: analysis.level_free_energy(analysis.level_sets([1.0, 1.0], [0]), 1.0),
            "an interval has no width",
        ),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_a_coordinate_is_not_level_sets():
    with pytest.raises(TypeError, match=r"write free_energy\(coordinate, inverse_temperature\)"):
        analysis.level_free_energy([1.0, 2.0], 1.0)
