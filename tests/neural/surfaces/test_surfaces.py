"""Surfaces of a regression with a known loss, and of nets."""

import itertools

import jax
import numpy as np
import pytest
import xarray as xr

import kinetograph as kg
from kinetograph.graph.errors import ShapeError
from kinetograph.neural import landscape as landscapes
from kinetograph.neural import surfaces
from kinetograph.neural.analysis import read_table, write_table
from kinetograph.neural.surfaces import evaluation, inputs

RNG = np.random.default_rng(1)
X = RNG.normal(size=(30, 2))
Y = X @ [[1.0], [-0.5]] + 0.3 + 0.1 * RNG.normal(size=(30, 1))
WIDE = np.column_stack([X, np.ones(30)])
HESSIAN = 2 * WIDE.T @ WIDE / 30
BEST = np.linalg.lstsq(WIDE, Y, rcond=None)[0].ravel()
LOWEST = np.mean((WIDE @ BEST - Y.ravel()) ** 2)


def landscape(network, width=1, **settings):
    layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), X[0], width))
    return kg.neural.Landscape(network, layout, "mean_squared", X, Y, **settings)


@pytest.fixture(scope="module")
def linear():
    return landscape(kg.neural.mlp([]))


@pytest.fixture(scope="module")
def tanh():
    return landscape(kg.neural.mlp([2], "tanh"))


def exact(points):
    """The loss of the regression, a quadratic form."""
    d = np.asarray(points) - BEST
    return LOWEST + 0.5 * np.einsum("...i,ij,...j->...", d, HESSIAN, d)


def test_a_grid_of_weights_and_biases(linear):
    """The number of evaluations is announced before the first one."""
    calls = []
    table = surfaces.grid(
        linear,
        BEST,
        weights=(-1, 2, 3),
        biases=(0, 1, 1),
        progress=lambda *done: calls.append(done),
    )
    assert calls[0] == (0, 32)
    assert (
        calls[-1]
        == (32, 32)
        == (
            surfaces.grid_size(linear.layout, weights=(-1, 2, 3), biases=(0, 1, 1)),
            table.attrs["evaluations"],
        )
    )
    weights, biases = np.array([-1.0, 0, 1, 2]), np.array([0.0, 1])
    np.testing.assert_allclose(table.weight1, BEST[1] + weights)
    for i, j, k in itertools.product(range(4), range(4), range(2)):
        place = BEST + np.array([weights[i], weights[j], biases[k]])
        value = table.loss[{"weight0": i, "weight1": j, "bias0": k}]
        np.testing.assert_allclose(value, exact(place), rtol=1e-12)


def test_excluded_parameters_stay(linear, tmp_path):
    centre = BEST + 0.5
    table = surfaces.grid(
        linear, centre, weights=(-1, 1, 2), exclude=["weight1", "layer0/bias"], progress=False
    )
    assert table.loss.dims == ("weight0",)
    np.testing.assert_allclose(table.loss, exact(centre + np.outer([-1, 0, 1], [1, 0, 0])))
    surfaces.write_surface(tmp_path / "grid.csv", table)
    columns = read_table(tmp_path / "grid.csv")
    assert list(columns) == ["loss", "accuracy", "weight0", "weight1", "bias0"]
    np.testing.assert_allclose(columns["weight0"], centre[0] + np.array([-1, 0, 1]), rtol=1e-8)
    np.testing.assert_allclose(columns["bias0"], centre[2], rtol=1e-8)
    np.testing.assert_allclose(columns["loss"], table.loss, rtol=1e-8)


def test_no_samples_are_the_centre(linear, tmp_path):
    table = surfaces.grid(linear, BEST, weights=(-1, 1, 0), progress=False)
    np.testing.assert_allclose(table.loss, LOWEST)
    surfaces.write_surface(tmp_path / "centre.csv", table)
    assert len(read_table(tmp_path / "centre.csv")["loss"]) == 1


def test_a_grid_along_directions(linear, tmp_path):
    """Two slices of different intervals and offsets."""
    d = RNG.normal(size=(2, 3))
    table = surfaces.subgrid(
        linear, BEST, 3 * d, intervals=[(-1, 1, 4), (0, 1, 2)], offsets=[0, -0.5], progress=False
    )
    unit = d / np.linalg.norm(d, axis=1)[:, None]
    c = np.stack(np.meshgrid([-1, -0.5, 0, 0.5, 1], [-0.5, 0, 0.5], indexing="ij"), -1)
    np.testing.assert_allclose(table.loss, exact(BEST + c @ unit), rtol=1e-11)
    curvature = np.diff(table.loss.sel(c1=0), 2) / 0.25
    np.testing.assert_allclose(curvature, unit[0] @ HESSIAN @ unit[0], rtol=1e-8)
    surfaces.write_surface(tmp_path / "subgrid.csv", table)
    columns = read_table(tmp_path / "subgrid.csv")
    assert list(columns) == ["loss", "accuracy", "c0", "c1"]
    points = BEST + np.column_stack([columns["c0"], columns["c1"]]) @ unit
    np.testing.assert_allclose(columns["loss"], exact(points), rtol=1e-7)


def test_directions(linear, tmp_path):
    vectors = np.linalg.eigh(HESSIAN)[1]
    found = surfaces.hessian_directions(linear, BEST, 2)
    np.testing.assert_allclose(np.abs(found @ vectors[:, :0:-1]), np.eye(2), atol=1e-8)
    slopes = HESSIAN @ [1.0, 2.0, -1.0]
    direction = surfaces.gradient_direction(linear, BEST + np.array([1.0, 2.0, -1.0]))
    np.testing.assert_allclose(direction[0], slopes / np.linalg.norm(slopes), rtol=1e-10)
    random = surfaces.random_directions(linear, 3, seed=4)
    np.testing.assert_allclose(random @ random.T, np.eye(3), atol=1e-12)
    assert not np.allclose(random, surfaces.random_directions(linear, 3, seed=5))
    draws = RNG.multivariate_normal(np.zeros(3), np.diag([9.0, 1, 0.1]), (2, 500))
    leading = np.linalg.eigh(np.cov(draws.reshape(-1, 3).T))[1][:, ::-1]
    found = surfaces.covariance_directions(draws, 2)
    np.testing.assert_allclose(np.abs(found @ leading[:, :2]), np.eye(2), atol=1e-8)
    path = tmp_path / "directions.csv"
    write_table(path, {"bias0": [0.0, 4], "weight0": [2.0, 3], "weight1": [0.0, 0]})
    np.testing.assert_allclose(surfaces.read_directions(linear, path), [[1, 0, 0], [0.6, 0, 0.8]])


def test_rows_of_a_trajectory(linear, tmp_path):
    """Arrays, files and results; some steps; other data."""
    draws = RNG.normal(size=(2, 5, 3))
    table = surfaces.trajectory(linear, draws, progress=False)
    np.testing.assert_allclose(table.loss, exact(draws).reshape(-1), rtol=1e-11)
    assert table.id.values.tolist() == [0] * 5 + [1] * 5
    some = surfaces.trajectory(linear, draws, steps=[1, 4], progress=False)
    np.testing.assert_allclose(some.loss, exact(draws[:, [1, 4]]).reshape(-1), rtol=1e-11)
    columns = {n: draws[..., i].reshape(-1) for i, n in enumerate(linear.names)}
    steps = np.tile(10 * np.arange(5), 2)
    write_table(tmp_path / "rows.csv", {"id": np.repeat([0, 1], 5), "step": steps} | columns)
    file = surfaces.trajectory(linear, tmp_path / "rows.csv", steps=[20], progress=False)
    np.testing.assert_allclose(file.loss, exact(draws[:, 2]), rtol=1e-7)
    tree = xr.DataTree.from_dict(
        {"posterior": xr.Dataset({"parameters": (("chain", "draw", "i"), draws)})}
    )
    results = surfaces.trajectory(linear, tree, progress=False)
    np.testing.assert_array_equal(results.loss, table.loss)
    other = surfaces.trajectory(linear.on(X, Y + 1), draws, progress=False)
    np.testing.assert_allclose(
        other.loss, np.mean((draws.reshape(-1, 3) @ WIDE.T - Y.T - 1) ** 2, axis=1)
    )


def test_projections(linear, tmp_path):
    draws, d = RNG.normal(size=(2, 5, 3)), np.array([[0.0, 3, 4], [2, 0, 0]])
    table = surfaces.projections(linear, draws, d, centre=BEST, progress=False)
    expected = (draws.reshape(-1, 3) - BEST) @ np.array([[0.0, 0.6, 0.8], [1, 0, 0]]).T
    np.testing.assert_allclose(np.column_stack([table.c0, table.c1]), expected, rtol=1e-12)
    np.testing.assert_allclose(table.loss, exact(draws).reshape(-1), rtol=1e-11)
    surfaces.write_surface(tmp_path / "rows.csv", table)
    columns = read_table(tmp_path / "rows.csv")
    assert list(columns) == ["id", "step", "c0", "c1", "loss", "accuracy"]
    np.testing.assert_allclose(columns["c1"], expected[:, 1], rtol=1e-8)


def test_straight_and_piecewise_paths(linear):
    """A quadratic along a line has its largest value at an end."""
    ends = BEST + RNG.normal(size=(2, 3))
    line = surfaces.path(linear, ends, 8)
    t = np.linspace(0, 1, 9)[:, None]
    np.testing.assert_allclose(line.loss, exact((1 - t) * ends[0] + t * ends[1]), rtol=1e-11)
    high = exact(ends)
    assert line.attrs["barrier_from_first"] == pytest.approx(max(0, high[1] - high[0]), abs=1e-9)
    corner = np.stack([BEST, ends[0], BEST])
    bent = surfaces.path(linear, corner, 5)
    assert bent.attrs["barrier_from_last"] == pytest.approx(high[0] - LOWEST)
    assert bent.attrs["highest_t"] == 1
    np.testing.assert_allclose(bent.distance[-1], 2 * np.linalg.norm(ends[0] - BEST))
    np.testing.assert_allclose(bent.points[7], 0.6 * ends[0] + 0.4 * BEST)


def test_a_relaxed_path_crosses_the_saddle():
    """The saddle is at (0, -1), of height 1."""

    def height(w, row):
        return ((w["w"][0] ** 2 - 1) ** 2 + 4 * (w["w"][1] - w["w"][0] ** 2 + 1) ** 2)[None]

    layout = kg.neural.ParameterLayout({"w": np.zeros(2)})
    loss = kg.neural.Loss("value", lambda z, y: z[0])
    surface = kg.neural.Landscape(
        (height, layout.like), layout, loss, np.zeros((1, 1)), np.zeros(1)
    )
    ends = np.array([[-1.0, 0], [1, 0]])
    assert surfaces.path(surface, ends).attrs["barrier_from_first"] == pytest.approx(5)
    images = surfaces.relaxed_path(surface, ends, 21, steps=400)
    np.testing.assert_allclose(images[10], [0, -1], atol=0.02)
    np.testing.assert_allclose(images[[0, -1]], ends)
    assert surfaces.path(surface, images, 5).attrs["barrier_from_first"] == pytest.approx(1, 0.02)


@pytest.mark.parametrize("middle", [[], [[0.3, 1.7]]])
def test_a_relaxed_path_passes_points_without_curvature(middle):
    """Both eigenvalues vanish on the straight line; the saddles have the height 1."""

    def height(w, row):
        return ((w["w"][0] ** 2 - 1) ** 2 + (w["w"][1] ** 2 - 4) ** 2 / 16)[None]

    layout = kg.neural.ParameterLayout({"w": np.zeros(2)})
    loss = kg.neural.Loss("value", lambda z, y: z[0])
    surface = kg.neural.Landscape(
        (height, layout.like), layout, loss, np.zeros((1, 1)), np.zeros(1)
    )
    nodes = np.array([[1.0, 2], *middle, [-1, -2]])
    images = surfaces.relaxed_path(surface, nodes, 20, steps=2000)
    line = surfaces.path(surface, images, 5)
    assert line.attrs["barrier_from_first"] == pytest.approx(1, abs=1e-3)
    with pytest.raises(
        ValueError, match=r"the gradient at image 1 is not finite after \d+ steps of"
    ):
        surfaces.relaxed_path(surface, nodes, 20, steps=2000, step_size=5.0)
    far = surfaces.relaxed_path(surface, nodes * 1e3, 20, steps=100)  # curvatures of 1e7
    assert np.isfinite(far).all()


def test_outputs_on_a_grid_of_inputs(tanh):
    w = RNG.normal(size=(7, 9))
    table = surfaces.input_space(tanh, w[0], [(-1, 1, 2), (0, 3, 3)], progress=False)
    grid = np.stack(np.meshgrid([-1.0, 0, 1], [0.0, 1, 2, 3], indexing="ij"), -1)

    def outputs(w):
        return np.tanh(grid @ w[:4].reshape(2, 2) + w[6:8]) @ w[4:6] + w[8]

    np.testing.assert_allclose(table.output0, outputs(w[0]), rtol=1e-11)
    assert table.output0.dims == ("x1", "x2")
    many = surfaces.input_space(tanh, w, [(-1, 1, 2), (0, 3, 3)], progress=False)
    values = np.stack([outputs(row) for row in w])
    np.testing.assert_allclose(many.mean0, values.mean(0), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(many.sd0, values.std(0), rtol=1e-10)


@pytest.mark.parametrize("dense", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_spectra_and_slices_along_a_trajectory(tanh, dense, monkeypatch):
    """By all eigenpairs, and by Lanczos."""
    monkeypatch.setattr(landscapes, "DENSE", 500 if dense else 0)
    w = RNG.normal(size=(3, 9))
    table = surfaces.spectra(tanh, w, 4, progress=False)
    hessians = tanh.hessian(w)
    expected = np.linalg.eigvalsh(hessians)[:, ::-1][:, :4]
    np.testing.assert_allclose(table.eigenvalue, expected, atol=1e-10)
    low = surfaces.spectra(tanh, w, 2, which="smallest", steps=[2], progress=False)
    np.testing.assert_allclose(low.eigenvalue[0], np.linalg.eigvalsh(hessians[2])[1::-1], atol=1e-9)
    d = np.linalg.qr(RNG.normal(size=(9, 2)))[0].T
    slices = surfaces.hessian_slices(tanh, w, 2 * d)
    np.testing.assert_allclose(slices, d @ hessians @ d.T, atol=1e-11)


ROWS = RNG.normal(size=(12, 9))
STORED = {
    "grid": {"centre": ROWS[0], "weights": (-1, 1, 1), "biases": (0, 0, 0)},
    "subgrid": {"centre": ROWS[0], "directions": ROWS[1:3], "intervals": (-1, 1, 4)},
    "trajectory": {"rows": ROWS},
    "projections": {"rows": ROWS, "directions": ROWS[1:3]},
    "spectra": {"rows": ROWS, "count": 2},
    "input_space": {"parameters": ROWS, "intervals": (-1, 1, 4)},
}


@pytest.mark.parametrize("mode", STORED)
def test_a_killed_computation_continues_from_its_store(mode, tanh, tmp_path, monkeypatch):
    """Parts that are finished are not computed again; parts of other data are refused."""
    function, given = getattr(surfaces, mode), STORED[mode] | {"progress": False}
    expected, store, kills = function(tanh, **given), tmp_path / "store", []
    monkeypatch.setattr(evaluation, "part_size", lambda landscape: 5)
    monkeypatch.setattr(inputs, "OUTPUTS", 5 * len(ROWS))
    names = {"spectra": "hessian_eigenpairs", "input_space": "outputs"}
    name, calls = names.get(mode, "loss_and_accuracy"), []
    right = getattr(kg.neural.Landscape, name)

    def killed_once(self, *values, **named):
        calls.append(values)
        if not kills and list(store.glob("part-*")):
            kills.append(len(calls))
            raise KeyboardInterrupt
        return right(self, *values, **named)

    monkeypatch.setattr(kg.neural.Landscape, name, killed_once)
    with pytest.raises(KeyboardInterrupt):
        function(tanh, **given, store=store)
    found = function(tanh, **given, store=store)
    xr.testing.assert_allclose(found, expected, rtol=1e-12)
    made = len(calls)
    xr.testing.assert_identical(function(tanh, **given, store=store), found)
    assert len(calls) == made
    with pytest.raises(ValueError, match=r"another computation, which differs in the data"):
        function(tanh.on(X, Y + 1), **given, store=store)


def test_wrong_arguments(linear, tmp_path):
    with pytest.raises(ShapeError, match="expected the 3 free parameters"):
        surfaces.grid(linear, np.zeros(2), progress=False)
    with pytest.raises(ValueError, match=r"must be \(low, high, samples\)"):
        surfaces.grid(linear, BEST, weights=(1, -1, 3), progress=False)
    with pytest.raises(ValueError, match="unknown parameter 'weigth0'"):
        surfaces.grid(linear, BEST, exclude=["weigth0"], progress=False)
    with pytest.raises(ValueError, match="direction 1 has the length 0"):
        surfaces.subgrid(linear, BEST, [[1, 0, 0], [0, 0, 0]], progress=False)
    with pytest.raises(ValueError, match="got 1 intervals"):
        surfaces.subgrid(linear, BEST, np.eye(3), intervals=[(0, 1, 2)], progress=False)
    with pytest.raises(ValueError, match="no row has step 9"):
        surfaces.trajectory(linear, np.zeros((4, 3)), steps=[9], progress=False)
    with pytest.raises(TypeError, match="progress must be True, False or a function"):
        surfaces.grid(linear, BEST, progress="yes")
    big = landscape(kg.neural.mlp([20], "tanh"))
    with pytest.raises(ValueError, match=r"grid: a grid of 81 axes has 2\.25e\+84 points"):
        surfaces.grid(big, np.zeros(81), progress=False)


def test_spectra_have_at_most_all_eigenpairs():
    x, network = np.array([[2.0], [-2.0]]), kg.neural.mlp([])
    layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    land = kg.neural.Landscape(network, layout, "mean_squared", x, 2 * x)
    table = kg.neural.surfaces.spectra(land, np.zeros((1, 2)), progress=False)
    np.testing.assert_allclose(table.eigenvalue, [[8.0, 2.0]], rtol=1e-5)
