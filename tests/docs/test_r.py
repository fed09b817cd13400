"""R reads results as the page says."""

import re
import shutil
import subprocess

import h5py
import pytest
from tests.docs.pages import ROOT, run_page

PAGE = ROOT / "docs" / "results-in-r.md"
PACKAGES = 'stopifnot(requireNamespace("ncdf4"), requireNamespace("posterior"))'


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results of the page, and the file that it writes, in a folder of the test."""
    namespace = {}
    for _ in run_page(PAGE, namespace):
        pass
    folder = tmp_path_factory.mktemp("r")
    namespace["results"].to_netcdf(folder / "run.nc", engine="h5netcdf")
    return namespace["results"], folder


def script():
    """The code for R on the page."""
    (code,) = re.findall(r"^```r\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return code


@pytest.mark.docs
def test_the_variables_of_the_script_are_in_the_file(results):
    tree, folder = results
    names = re.findall(r'ncvar_get\(nc, "([^"]+)"\)', script())
    assert len(names) == 5
    with h5py.File(folder / "run.nc") as file:
        for name in names:
            group, variable = name.split("/")
            assert file[name].shape == tree[group][variable].shape
            assert file[name].dtype.kind in "fiuO", name  # R reads no other types


@pytest.mark.docs
def test_r_has_the_same_numbers(results):
    tree, folder = results
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed")
    if subprocess.run(["Rscript", "-e", PACKAGES], capture_output=True).returncode:
        pytest.skip("ncdf4 and posterior are not installed in R")
    run = subprocess.run(
        ["Rscript", "-e", script()], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    posterior = tree["posterior"].dataset
    for name, values in {
        "mu": posterior["mu"],
        "theta[a]": posterior["theta"].sel(site="a"),
        "theta[b]": posterior["theta"].sel(site="b"),
    }.items():
        (line,) = re.findall(rf"^\d+ {re.escape(name)} +(.*)$", run.stdout, re.MULTILINE)
        mean, sd, r_hat, _ = map(float, line.split())
        assert abs(mean - float(values.mean())) < 0.006 * max(1, abs(mean))
        assert abs(sd - float(values.std(ddof=1))) < 0.006 * max(1, sd)
        assert r_hat < 1.05
    assert "log-likelihood 500 4 4" in run.stdout


def test_the_page_has_one_script():
    assert script().startswith("library(ncdf4)")
