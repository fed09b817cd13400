"""The examples: each builds a model with a finite density, and samples."""

import importlib.util
import json
import os
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import kinetograph as kg

pytestmark = [
    pytest.mark.docs,
    pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning"),  # short runs
]

FOLDER = Path(__file__).resolve().parents[2] / "examples"
NAMES = ("eight_schools", "radon", "wells", "lkj", "lotka_volterra", "outbreak", "election88")


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.model


def where_to_start(name):
    return {
        "lotka_volterra": {"rate": [1, 0.05, 1, 0.05], "start": [10, 10]},
        "outbreak": {"before": 0.4, "after": 0.2, "first": 5, "rise": 100},
    }.get(name)


# Those that take longest to compile: every day their density, the others' runs.
LONG = ("radon", "lkj", "lotka_volterra", "outbreak", "election88")


def some(everyday):
    return [n if n in everyday else pytest.param(n, marks=pytest.mark.slow) for n in NAMES]


@pytest.mark.parametrize("name", some(LONG))
def test_density_is_finite_at_zero(name):
    model = load(name)
    assert np.isfinite(model.log_prob(np.zeros(model.free_size)))


# Of a differential equation and of an outbreak, pages of the documentation take gradients.
@pytest.mark.parametrize("name", some(("radon", "lkj")))
def test_gradient_is_finite_at_zero(name):
    model = load(name)
    gradient = model.gradient(np.zeros(model.free_size))
    assert np.isfinite(gradient).all()
    assert (gradient != 0).sum() > model.free_size / 3


@pytest.mark.parametrize("name", some(set(NAMES) - set(LONG)))
def test_a_short_run_works(name):
    model = load(name)
    tree = kg.mcmc(
        model,
        draws=200,
        warmup=300 if name != "lotka_volterra" else 1000,
        chains=2,
        seed=1,
        initial=where_to_start(name),
        progress=False,
    )
    table = kg.summary(tree)
    assert np.isfinite(table["mean"]).all()
    assert int(tree["sample_stats"]["diverging"].sum()) < 10
    for quantity, mean, low, high in EXPECTED[name]:
        assert low < table["mean", quantity] < high, f"{quantity} should be about {mean}"


# Eight schools: posteriordb's reference draws. Radon and wells: Gelman and Hill (2006), chapters 13
# and 5, whose priors are flat. Hares and lynxes: posteriordb. Outbreak: what made the counts. Wide
# bands: these runs are short.
EXPECTED = {
    "eight_schools": [("mu", 4.4, 3.4, 5.4), ("tau", 3.6, 2.6, 4.6), ("theta[A]", 6.2, 5.0, 7.4)],
    "radon": [("mu_a", 1.46, 1.35, 1.6), ("mu_b", -0.68, -0.8, -0.5), ("sd_y", 0.75, 0.68, 0.8)],
    "wells": [("intercept", 0.15, 0.05, 0.25), ("slope[distance]", -0.88, -1.0, -0.75)],
    "lotka_volterra": [("rate[alpha]", 0.547, 0.5, 0.6), ("start[hare]", 34.0, 33.0, 35.0)],
    "outbreak": [("before", 0.5, 0.4, 0.6), ("after", 0.15, 0.14, 0.17), ("closed", 13.1, 12, 14)],
    "election88": [("b[1]", -2.09, -2.5, -1.7), ("b[2]", -0.134, -0.3, 0.0)],
    "lkj": [("mean[intercept]", 1.46, 1.35, 1.6), ("mean[slope]", -0.68, -0.8, -0.5)],
}


def test_every_example_is_tested():
    models = {path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("plot_")}
    assert models == set(NAMES)


def test_the_data_are_complete_and_their_origin_is_named():
    text = (FOLDER / "data" / "README.md").read_text(encoding="utf-8")
    files = sorted(path.name for path in (FOLDER / "data").glob("*.json"))
    assert all(name in text for name in files)
    assert "28f8d3d6e975315f42aa274a8399f21e07a43b30" in text
    assert "BSD 3-Clause" in (FOLDER / "data" / "LICENCE.md").read_text(encoding="utf-8")
    sizes = {name: json.loads((FOLDER / "data" / name).read_text()) for name in files}
    assert len(sizes["eight_schools.json"]["y"]) == 8
    assert len(sizes["radon.json"]["log_radon"]) == 919
    assert len(sizes["wells.json"]["switched"]) == 3020
    assert sum(sizes["election88.json"]["asked"]) == 11566
    assert len(sizes["lotka_volterra.json"]["y"]) == 20


def run(*arguments):
    paths = [str(Path(kg.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, env=environment
    )


def test_an_example_is_a_script():
    done = run(FOLDER / "eight_schools.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:2] == ["mean", "sd"]


def test_the_picture(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    script = FOLDER / "plot_posterior.py"

    def plot(source, target):
        monkeypatch.setattr(sys, "argv", [str(script), str(source), str(target)])
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            runpy.run_path(str(script), run_name="__main__")

    model = load("eight_schools")
    tree = kg.mcmc(model, draws=50, warmup=50, chains=2, seed=1, progress=False)
    tree.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    plot(tmp_path / "run.nc", tmp_path / "run.png")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(SystemExit, match=r"^plot_posterior: the file .* does not exist$"):
        plot(tmp_path / "no.nc", tmp_path / "no.png")


def test_the_picture_of_a_positive_unknown_begins_at_0():
    pytest.importorskip("matplotlib")
    drawing = runpy.run_path(str(FOLDER / "plot_posterior.py"))
    rng = np.random.default_rng(1)
    near, far, both = abs(rng.normal(size=(3, 4, 2000))) + np.reshape([0, 20, -1], (3, 1, 1))
    rows = [("near", near), ("far", far), ("both", both)]
    lows = [low for low, _ in drawing["limits"](rows)]
    assert lows[0] == 0
    assert lows[1] > 19
    assert lows[2] < -0.9
    grid = np.linspace(0, 6, 601)
    found = drawing["density"](near.ravel(), grid)
    assert np.trapezoid(found, grid) == pytest.approx(1, abs=0.01)
    assert found[0] == pytest.approx(np.sqrt(2 / np.pi), abs=0.05)  # it does not sink at 0


def test_the_picture_has_a_key_for_the_chains():
    pytest.importorskip("matplotlib")
    drawing = runpy.run_path(str(FOLDER / "plot_posterior.py"))
    draws = np.random.default_rng(1).normal(size=(7, 20))
    figure = drawing["draw"](xr.Dataset({"a": (("chain", "draw"), draws)}))
    labels = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert labels == ["chain 0, 6", "1", "2", "3", "4", "5"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["posterior", "lotka_volterra", "outbreak"])
def test_a_plot_without_a_run_is_refused(name):
    assert run(FOLDER / f"plot_{name}.py").returncode != 0
