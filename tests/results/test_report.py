"""`kg.report`: what is on the page, that it stands alone, and runs that are unlike others."""

import base64
import re
import shutil
import subprocess
import sys
import tracemalloc

import arviz_stats
import numpy as np
import pytest
import xarray as xr
from tests.runs.models import centred_schools, gaussian, run
from tests.runs.pages import Page, check, normal, results

import kinetograph as kg
from kinetograph.results.model_picture import drawn
from kinetograph.results.report import figures, pictures, plots, selection

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
NASTY = "<script>alert('x')</script> & \"$y_1$\""


def axes_of(paint):
    """What is painted, on axes of matplotlib."""
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    paint(axes)
    return axes


@pytest.fixture(scope="module")
def schools_run():
    return run(centred_schools())


def test_the_page_of_a_run(schools_run, tmp_path):
    path = tmp_path / "run.html"
    report = kg.report(schools_run, centred_schools(), path=path)
    page = check(report)
    assert path.read_text(encoding="utf-8") == report.html
    assert list(tmp_path.iterdir()) == [path]
    facts = page.texts["run"]
    for text in ("10 numbers: mu, tau, theta (8)", "NUTS", "max_depth = 10", "60 of each of 2"):
        assert text in facts
    for text in ("seed5", f"kinetograph {kg.__version__}", "compiled in", "80 transitions"):
        assert text in facts.replace("\n", "")
    assert "[]" not in facts
    findings = kg.diagnose(schools_run)
    assert findings
    for finding in findings:
        assert finding.message[1:] in page.texts["findings"]
    head, *lines = kg.summary(schools_run)._cells()
    for line in (head, *lines):
        assert "".join(line) in page.texts["summary"]
    assert page.texts["quantities"].count("trace: value by draw") == 10
    assert "theta[Paul's]" in page.texts["quantities"]
    assert any(link.startswith("data:") for link in page.links)
    assert str(report) == f"<report of {report.title}; {report.findings} findings; " + (
        f"{len(report.html) / 1000:.0f} kB of HTML>"
    )
    assert report.title == "NUTS: 2 chains, 60 draws each"
    frame = Page(report._repr_html_())
    assert frame.tags == ["iframe"]


def test_findings_come_worst_first_and_none_is_said():
    good = results({"x": normal(4, 1000)})
    assert "No problem found" in check(kg.report(good)).texts["findings"]
    apart = normal(4, 200) + np.arange(4)[:, None] * 3
    bad = results({"x": apart}, diverging=normal(4, 200) > 1)
    kinds = re.findall(r'data-kind="(\w+)"', kg.report(bad).html)
    assert kinds == ["rhat", "divergences", "ess"]


def test_lost_chains_have_a_row():
    tree = results({"x": normal(4, 100)})
    tree["sample_stats"]["lp"].values[2] = -3.0
    text = check(kg.report(tree)).texts["lost"]
    assert "chain 2never left" in text or "chain 2hardly moves" in text or "chain 2" in text
    assert "chain 1" not in text


def test_energies_are_arviz_s():
    energy = np.cumsum(normal(3, 400, seed=4), axis=1)
    energy[0] = normal(400)
    tree = results({"x": normal(3, 400)}, energy=energy)
    seen = selection.select_draws(tree)
    expected = arviz_stats.bfmi(tree)
    expected = getattr(expected, "dataset", expected)["energy"].values
    np.testing.assert_allclose(seen.e_bfmi, expected, rtol=0.01)
    [finding] = [f for f in seen.findings if f.kind == "energy"]
    assert "chains 1, 2" in finding.message


def test_divergences_mark_what_they_set_apart():
    """Of many scalars those that differ most where there are divergences, and by how much."""
    from scipy.stats import ks_2samp

    a, b = normal(300), normal(40, seed=2) + 0.7
    assert plots._distance(b, a) == pytest.approx(ks_2samp(a, b).statistic)
    x = normal(2, 400, 30)
    flags = np.zeros((2, 400), bool)
    flags[:, ::20] = True
    x[flags, 7] -= 5
    x[flags, 21] += 3
    text = check(kg.report(results({"x": x}, diverging=flags))).texts["divergences"]
    assert "40 of 800 draws" in text
    assert "x[7] and x[21]" in text
    alone = results({"x": x[..., 7]}, diverging=flags)
    assert "x and lp" in check(kg.report(alone)).texts["divergences"]
    wide = check(kg.report(results({"x": np.exp(3 * x[..., 7])}, diverging=flags)))
    assert "1e-0" in wide.texts["divergences"]  # of a logarithmic axis
    assert "math" not in wide.texts["divergences"]


def test_of_many_the_worst_are_shown(monkeypatch):
    assert plots.SCALARS == 20
    monkeypatch.setattr(plots, "SCALARS", 4)
    x = normal(4, 100, 300)
    x[:2, :, 123] += 4
    x[0, 5, 200] = np.nan
    page = check(kg.report(results({"x": x})))
    text = page.texts["quantities"]
    assert "The worst 4 of 300" in text
    assert text.count("trace: value by draw") == 4
    assert text.index("x[200]") < text.index("x[123]")
    assert "1 of 400 draws are not finite" in text
    assert "x[299]" in page.texts["summary"]


def test_density_and_ranks():
    """The estimate is near the law, to the edge at 0; ranks are flat where chains agree."""
    rng = np.random.default_rng(3)
    draws = rng.exponential(size=(2, 4000))
    axes = axes_of(lambda axes: pictures.density(axes, draws, False))
    grid, found = axes.lines[0].get_data()
    assert grid[0] == 0.0
    np.testing.assert_allclose(found, np.exp(-grid), atol=0.12)  # 0.12 is some 5 of its deviations
    assert (
        axes_of(lambda axes: pictures.density(axes, draws - 3, False)).lines[0].get_xdata()[0] < 0
    )
    counts = rng.poisson(2.0, size=(1, 4000))
    axes = axes_of(lambda axes: pictures.density(axes, counts.astype(float), True))
    share = axes.patches[0].get_data().values
    np.testing.assert_allclose(share[:3], np.exp(-2) * np.array([1, 2, 2]), atol=0.04)
    shifted = np.stack([normal(4000), normal(4000, seed=2) + 1])
    axes = axes_of(lambda axes: pictures.ranks(axes, shifted))
    first, last = (patch.get_data().values for patch in axes.patches[::-1])
    assert first[0] > 1.5 > 0.5 > first[-1]
    np.testing.assert_allclose(first + last, 2.0)


def test_a_long_tail_is_shown_by_logarithms():
    """The estimate is the density of the logarithm; not of short tails and draws about 0."""
    draws = np.exp(2 * normal(2, 4000))
    axes = axes_of(lambda axes: pictures.density(axes, draws, False))
    grid, found = axes.lines[0].get_data()
    assert axes.get_xscale() == "log"
    scaled = np.log(grid) / 2
    expected = np.exp(-(scaled**2) / 2) / np.sqrt(8 * np.pi)
    np.testing.assert_allclose(found, expected, atol=0.025)  # some 5 of its deviations
    assert axes_of(lambda axes: pictures.trace(axes, draws, 1)).get_yscale() == "log"
    for other in (-draws, draws - draws.min(), 10 + normal(2, 400), np.full((2, 9), 3.0)):
        assert not pictures.logarithmic(other)
    rng = np.random.default_rng(1)
    assert not pictures.logarithmic(rng.exponential(size=4000))
    assert "density of the logarithm" in check(kg.report(results({"x": draws}))).texts["quantities"]


def test_divergences_are_marked_on_traces():
    flags = np.zeros((2, 400), bool)
    flags[1, [7, 250]] = True
    page = check(kg.report(results({"x": normal(2, 400)}, diverging=flags)))
    assert "trace: value by draw, divergences below" in page.texts["quantities"]
    axes = axes_of(lambda axes: pictures.trace(axes, normal(2, 400), 1, bad=[7, 250]))
    assert axes.lines[-1].get_xdata().tolist() == [7, 250]
    assert axes.lines[-1].get_color() == figures.BAD
    calm = check(kg.report(results({"x": normal(2, 400)})))
    assert "divergences below" not in calm.texts["quantities"]


def test_draws_that_are_no_numbers_are_a_finding():
    """Where the log density is finite; else it is that which is told."""
    x = normal(2, 100, 3)
    x[1, 40:43, 2] = np.nan
    x[0, 9, 0] = np.inf
    tree = results({"x": x, "y": normal(2, 100)})
    [finding] = [f for f in kg.diagnose(tree) if f.kind == "nan"]
    assert finding.count == 3
    assert finding.message.startswith("NaN in 3 of 200 draws, from draw 40 of chain 1 on, of x[2]")
    assert 'data-kind="nan"' in kg.report(tree).html
    tree["sample_stats"]["lp"][1, 40:43] = np.nan
    assert {"not_finite", "nan"} & {f.kind for f in kg.diagnose(tree)} == {"not_finite"}


def test_running_sizes_end_with_those_of_the_summary(schools_run):
    values = schools_run["posterior"]["mu"].values
    counts, sizes = pictures.sizes_on_the_way(values)
    assert counts[-1] == 60
    assert sizes[-1] == kg.summary(schools_run)["ess_bulk", "mu"]


def test_names_are_escaped():
    tree = results(
        {"x": normal(2, 60, 2), NASTY.replace("/", ""): normal(2, 60)}, diverging=normal(2, 60) > 1
    )
    tree["posterior"] = tree["posterior"].dataset.assign_coords(x_dim_0=[NASTY, "日本"])
    tree.attrs.update(sampler=NASTY, note=NASTY)
    page = check(kg.report(tree))
    assert NASTY in page.texts["summary"]
    assert NASTY in page.texts["run"]
    assert f"x[{NASTY}]" in page.texts["quantities"]


@pytest.mark.parametrize(
    "posterior",
    [
        {"x": normal(1, 50)},
        {"x": normal(1, 1)},
        {"x": normal(3, 3)},
        {"x": np.empty((2, 0)), "y": np.empty((2, 0, 3))},
        {"x": np.full((2, 50), 2.5), "y": np.full((2, 50, 2), np.nan)},
        {"x": np.full((2, 50), np.inf), "y": 1e300 * normal(2, 50), "z": 1e-300 * normal(2, 50)},
        {"x": normal(2, 50) > 0, "y": np.arange(100).reshape(2, 50) * 7, "z": normal(2, 50, 0)},
        {"x": 1e16 + np.round(normal(2, 50)), "y": normal(2, 50) + 1j},
        {"x": np.where(np.arange(50) < 30, 0.0, normal(2, 50))},
        {"x": normal(40, 30)},
    ],
    ids=["chain", "draw", "short", "none", "still", "infinite", "whole", "odd", "stuck", "many"],
)
@pytest.mark.filterwarnings("error::RuntimeWarning:kinetograph.results.report")
def test_strange_draws(posterior):
    check(kg.report(results(posterior)))
    flags = np.zeros(next(iter(posterior.values())).shape[:2], bool)
    flags[..., ::3] = True
    check(kg.report(results(posterior, diverging=flags, energy=np.where(flags, np.nan, 1.0))))


def test_walkers_are_one_chain():
    report = kg.report(results({"x": normal(16, 80)}, walkers=8, sampler="Stretch"))
    page = check(report)
    assert report.title == "Stretch: 2 ensembles of 8 walkers, 80 draws each"
    assert "ensemble 1" in page.texts["quantities"]
    assert "ensemble 2" not in page.texts["quantities"]


def test_a_run_that_was_stopped(schools_run):
    stopped = schools_run.copy()
    stopped.attrs |= {"interrupted": 1, "draws": 1000}
    text = check(kg.report(stopped)).texts["run"]
    assert "60 of each of 2 chains; 1000 were requested: the run was stopped before its end" in text


def test_a_run_of_averages_alone():
    x = gaussian().targets[0]
    tree = run(gaussian(), draws=2000, keep=False, averages=[kg.Array(x)])
    page = check(kg.report(tree, gaussian()))
    assert "only averages of 2000 draws" in page.texts["run"]
    assert "Running averages of 4000 draws" in page.texts["summary"]
    mean = tree["averages/mean"]["x"].values.mean()
    assert f"x{mean:.5g}" in page.texts["summary"]
    assert "No problem found" in page.texts["findings"]


def test_an_approximation_has_a_report():
    assert (
        "log marginal likelihood"
        in check(kg.report(kg.laplace_approximation(gaussian(), seed=1, draws=200))).texts["run"]
    )
    poor = results({"x": normal(1, 1000)}, doubt="Pareto's k is 1.2.", approximation="Laplace")
    page = kg.report(poor).html
    assert 'data-kind="doubt"' in page
    assert "k is 1.2. Sample with kg.mcmc" in page


def test_the_model_of_a_store(tmp_path):
    tree = run(gaussian(), store=tmp_path / "run.zarr")
    assert any(link.startswith("data:") for link in check(kg.report(tree)).links)
    shutil.rmtree(tmp_path / "run.zarr" / ".kinetograph")
    del tree.attrs["model_svg"]
    assert "do not hold their model" in check(kg.report(tree)).texts["model"]


def test_a_file_of_results_has_the_graph_of_the_model(tmp_path):
    tree = run(gaussian())
    tree.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "run.nc", engine="h5netcdf") as opened:
        page = check(kg.report(opened.load()))
    (link,) = (link for link in page.links if link.startswith("data:image/svg"))
    assert base64.b64decode(link.partition(",")[2]).decode() == gaussian().plot().svg()


def test_a_graph_that_cannot_be_drawn_or_is_large_is_left_out(monkeypatch):
    x = kg.normal(0, 1, name="x")
    model = kg.model(x)
    with monkeypatch.context() as patch:
        patch.setattr(kg.Model, "plot", lambda self: 1 / 0)
        assert "model_svg" not in run(model).attrs
    many = [kg.normal(0, 1, name=f"x{i}") for i in range(61)]
    assert drawn(kg.model(*many)) == {}
    y = kg.normal(0, 1, name="z") * 2.0
    for _ in range(1100):
        y = y + 1.0
    assert drawn(kg.model(y)) == {}
    assert list(drawn(kg.model(kg.normal(0, 1)))) == ["model_svg"]


@pytest.mark.slow
def test_a_long_run_is_not_read_whole(tmp_path, monkeypatch):
    """Of a store far larger than what is looked at, little is held at any time."""
    kg.report(results({"x": normal(2, 50)}))  # imports take memory, too
    monkeypatch.setattr(selection, "DRAWS", 1000)
    monkeypatch.setattr(selection, "LAST", 5000)
    monkeypatch.setattr(plots, "SCALARS", 2)
    flags = np.zeros((2, 150_000), bool)
    flags[1, 7] = True
    posterior = {name: normal(2, 150_000) for name in "abcdefghijklmnop"}
    stored = results(posterior, diverging=flags)
    encoding = {
        f"/{group}": {name: {"chunks": (1, 10_000)} for name in stored[group].data_vars}
        for group in ("posterior", "sample_stats")
    }
    stored.to_zarr(tmp_path / "run.zarr", encoding=encoding)
    size = stored["posterior"].nbytes
    del stored, posterior
    tree = xr.open_datatree(tmp_path / "run.zarr", engine="zarr", chunks=None)
    tracemalloc.start()
    try:
        report = kg.report(tree)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < size / 2  # 38 MB; most of the peak is figures that await collection
    assert not any(v.variable._in_memory for v in tree["posterior"].data_vars.values())
    page = check(report)
    assert "From every 150th draw" in page.texts["quantities"]
    assert "1 of 300000 draws" in page.texts["divergences"]  # which none of those looked at is


def test_without_matplotlib_the_page_says_what_brings_pictures(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = check(kg.report(results({"x": normal(4, 100)}, diverging=normal(4, 100) > 2)))
    assert "svg" not in page.tags
    for name in ("quantities", "energy", "divergences", "running"):
        assert "pip install matplotlib" in page.texts[name]
    assert "E-BFMI" in page.texts["energy"]


def test_settings_of_matplotlib_stay(monkeypatch):
    import matplotlib

    with matplotlib.rc_context({"font.size": 33, "axes.facecolor": "red"}):
        html = kg.report(results({"x": normal(2, 50)})).html
        assert matplotlib.rcParams["font.size"] == 33
    assert "33px" not in html
    assert "#ff0000" not in html


def test_what_is_refused(tmp_path):
    tree = results({"x": normal(2, 50)})
    with pytest.raises(TypeError, match=r"report: expected results"):
        kg.report(tree["posterior"])
    with pytest.raises(TypeError, match="not a model"):
        kg.report(tree, model=3)
    with pytest.raises(FileNotFoundError, match=r"report: there is no folder .*none"):
        kg.report(tree, path=tmp_path / "none" / "x.html")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        kg.report(tree, path=tmp_path)


def test_a_write_that_fails_leaves_the_old_page(tmp_path, monkeypatch):
    path = tmp_path / "x.html"
    report = kg.report(results({"x": normal(2, 50)}), path=path)
    old = path.read_bytes()

    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="disk full"):
        report.save(path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here to render pages with")
@pytest.mark.parametrize("width", [600, pytest.param(1200, marks=pytest.mark.slow)])
def test_a_browser_shows_it(tmp_path, schools_run, width):
    """All chains have their colours in the picture that a browser makes of the page."""
    from matplotlib.image import imread

    kg.report(schools_run, centred_schools(), path=tmp_path / "run.html")
    picture = tmp_path / "run.png"
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--window-size={width},3600", f"--screenshot={picture}", f"{tmp_path}/run.html"]
    subprocess.run(command, check=True, timeout=120, capture_output=True)
    pixels = (255 * imread(picture)[..., :3]).round().astype(int).reshape(-1, 3)
    assert pixels.std() > 10
    for colour in ([0x2F, 0x6D, 0xB5], [0xD2, 0x69, 0x1E]):
        assert (np.abs(pixels - colour).max(1) < 4).sum() > 200
