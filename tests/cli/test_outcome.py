"""What the command prints and keeps, and the options beyond numbers."""

import importlib
import json
import signal
from pathlib import Path

import click
import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner
from tests.cli.test_commands import MODEL, SHORT, call, fails

import kinetograph as kg
from kinetograph import samplers
from kinetograph.cli.errors import RunError
from kinetograph.cli.outcome import carry_out, print_summary
from kinetograph.cli.settings import SAMPLERS, make_sampler, make_until, parsed

__all__ = ["call"]


def model() -> kg.Model:
    namespace: dict = {}
    exec(MODEL, namespace)
    return namespace["model"]


def test_all_samplers_can_be_named():
    found = [getattr(samplers, name) for name in samplers.__all__]
    kinds = [k.__name__ for k in found if isinstance(k, type) and issubclass(k, kg.Sampler)]
    assert sorted(SAMPLERS) == sorted(kinds)


def test_settings_are_literals_and_words():
    texts = ["a=1", "b = 0.5", "c='x y'", "d=dense", "e=(1, 2)", "f=True", "g=-1e-3"]
    assert parsed(texts) == {
        "a": 1, "b": 0.5, "c": "x y", "d": "dense", "e": (1, 2), "f": True, "g": -1e-3,
    }  # fmt: skip
    for wrong in (["a"], ["=3"], ["a=1", "a=2"], ["a=1 +"], ["a b=1"], ["a=__import__('os')"]):
        with pytest.raises(click.ClickException, match="--set"):
            parsed(wrong)


def test_the_sampler_is_made_with_its_settings():
    assert make_sampler(None, ()) is None
    made = make_sampler("HMC", ["step_size=0.25"])
    assert isinstance(made, samplers.HMC)
    assert made.step_size == 0.25
    assert make_sampler(None, ["max_depth=4"]).max_depth == 4
    assert make_until(None, None) is None
    assert make_until(100.0, None) == kg.until(ess=100)
    assert make_until(None, 1.1) == kg.until(r_hat=1.1)


def test_the_formats_have_the_numbers_of_the_summary(call):
    call("sample", "one.py", *SHORT, "--out", "run.nc")
    with xr.open_datatree("run.nc", engine="h5netcdf") as tree:
        table = kg.summary(tree.load())
    rows = json.loads(call("summary", "run.nc", "--format", "json").stdout)
    assert [row.pop("name") for row in rows] == ["mu"]
    assert rows == [{c: float(v[0]) for c, v in table.columns.items()}]
    head, line, *rest = call("summary", "run.nc", "--format", "plain").stdout.split("\n")
    assert head.split("\t") == ["name", *table.columns]
    assert line.split("\t") == ["mu", *(repr(float(v[0])) for v in table.columns.values())]
    assert rest == [""]


def test_what_is_no_number_is_null_in_json(call):
    result = call("sample", "one.py", "--draws", "3", *SHORT[2:], "--format", "json")
    (row,) = json.loads(result.stdout)
    assert row["r_hat"] is None
    assert isinstance(row["mean"], float)


def test_options_are_those_of_mcmc(call):
    options = ("--sampler", "randomwalk", "--set", "step_size=0.7", "--initial", "prior")
    options += ("--threads", "1", "--chain-method", "threads", "--chains", "2:4")
    Path("two.py").write_text(f"{MODEL}nu = kg.normal(mu, 1)\nmodel = kg.model(mu, nu)\n")
    result = call("sample", "two.py", *SHORT, *options, "--keep", "mu", "--out", "run.nc")
    assert result.exit_code == 0, result.stderr
    namespace: dict = {}
    exec(Path("two.py").read_text(), namespace)
    tree = kg.mcmc(
        namespace["model"], samplers.RandomWalk(step_size=0.7), draws=1000, warmup=200, seed=1,
        chains=range(2, 4), initial="prior", threads=1, keep=["mu"], progress=False,
    )  # fmt: skip
    with xr.open_datatree("run.nc", engine="h5netcdf") as stored:
        assert list(stored["posterior"].data_vars) == ["mu"]
        np.testing.assert_array_equal(stored["posterior"]["mu"], tree["posterior"]["mu"])


@pytest.mark.parametrize(
    ("options", "groups"),
    [
        ((), {"unknowns"}),
        (("--no-keep-unknowns",), set()),
        (("--keep", "mu"), set()),
        (("--keep", "mu", "--keep-unknowns"), {"unknowns"}),
    ],
)
def test_draws_of_unknowns_that_are_not_targets(call, options, groups):
    Path("two.py").write_text(f"{MODEL}z = kg.normal(mu, 1)\nmodel = kg.model(mu, kg.exp(z))\n")
    result = call("sample", "two.py", "--draws", "20", *SHORT[2:], *options, "--out", "run.nc")
    assert result.exit_code == 0, result.stderr
    with xr.open_datatree("run.nc", engine="h5netcdf") as stored:
        assert set(stored.children) & {"unknowns"} == groups
        for name in groups:
            assert list(stored[name].data_vars) == ["z"]


def test_it_stops_when_there_is_enough(call):
    options = ("--draws", "none", "--until-ess", "100", "--until-rhat", "1.1")
    result = call("sample", "one.py", *SHORT[2:], *options, "--format", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)[0]["ess_bulk"] >= 100


def test_a_store_grows_and_is_summarised(call):
    result = call("sample", "one.py", *SHORT, "--store", "run.zarr", "--out", "run.nc")
    assert result.exit_code == 0, result.stderr
    assert call("summary", "run.zarr").stdout == result.stdout
    again = call("sample", "one.py", *SHORT, "--store", "run.zarr")
    fails(again, 2, "run.zarr has chains 0, 1 of a run already; kg.resume('run.zarr')")
    result = call("sample", "one.py", *SHORT, "--store", "run.zarr", "--chains", "2:3")
    assert result.exit_code == 0, result.stderr
    result = call("resume", "run.zarr", "--draws", "1100", "--quiet", "--out", "more.nc")
    assert result.exit_code == 0, result.stderr
    with xr.open_datatree("more.nc", engine="h5netcdf") as tree:
        assert tree["posterior"]["mu"].shape == (3, 1100)
        with xr.open_datatree("run.nc", engine="h5netcdf") as first:
            mu = first["posterior"]["mu"].values
        np.testing.assert_array_equal(tree["posterior"]["mu"].values[:2, :1000], mu)


def test_a_store_without_its_model_asks_for_the_file(call):
    text = MODEL.replace("kg.normal(mu, 1)", "kg.normal(kg.lift(lambda v: 1.0 * v)(mu), 1)")
    Path("lifted.py").write_text(text)
    result = call("sample", "lifted.py", *SHORT, "--store", "run.zarr")
    assert result.exit_code == 0, result.stderr
    more = ("--draws", "1010", "--quiet")
    fails(call("resume", "run.zarr", *more), 2, "give its file: kinetograph resume run.zarr FILE")
    result = call("resume", "run.zarr", "lifted.py", *more)
    assert result.exit_code == 0, result.stderr
    fails(call("resume", "run.zarr", "one.py", *more), 1, "the model or the sampler is another")


def power_cut(so_far):
    raise RuntimeError("power cut")


@pytest.mark.parametrize("store", [None, Path("run.zarr")])
def test_a_run_that_fails_keeps_its_draws(call, store):
    target = Path("run.nc").resolve()

    def run():
        options = {"draws": 100_000, "chains": 2, "seed": 1, "progress": False}
        return kg.mcmc(model(), callback=power_cut, store=store, **options)

    with pytest.raises(RunError) as caught:
        carry_out(run, Path("run.nc"), target, store, "table", False, False)
    with xr.open_datatree("run.nc", engine="h5netcdf") as tree:
        drawn = tree["posterior"].sizes["draw"]
        assert tree.attrs["stopped_by"] == "error"
    on = "kg.extra_samples continues the run from run.nc"
    if store is not None:
        on = "`kinetograph resume run.zarr` continues the run"
    told = f"{drawn} of 100000 draws of each chain are in run.nc"
    assert caught.value.format_message() == f"RuntimeError: power cut; {told}; {on}"


def test_another_runs_draws_are_not_taken_for_those_of_one_that_failed(call):
    with pytest.raises(RuntimeError):
        kg.mcmc(model(), callback=power_cut, seed=1, progress=False)
    result = call("sample", "one.py", *SHORT, "--keep", "nothing", "--out", "run.nc")
    assert result.exit_code == 2
    assert not Path("run.nc").exists()


def test_the_file_is_there_before_anything_is_printed(call, monkeypatch):
    seen = []
    usual = click.echo

    def echo(*arguments, **options):
        seen.append(Path("run.nc").exists())
        usual(*arguments, **options)

    monkeypatch.setattr(click, "echo", echo)
    call("sample", "one.py", *SHORT, "--out", "run.nc")
    assert seen
    assert all(seen)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("moment", ["runs.run.findings", "results.summary.summary"])
def test_a_signal_after_the_last_draw_leaves_the_file(call, monkeypatch, number, code, moment):
    """While R-hat and the like are computed for advice, and for the summary."""
    usual = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}

    def stopped(*arguments):
        assert Path("run.nc").exists()
        signal.raise_signal(number)

    module, _, name = moment.rpartition(".")
    monkeypatch.setattr(importlib.import_module(f"kinetograph.{module}"), name, stopped)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = call("sample", "one.py", *SHORT, "--out", "run.nc")
    finally:
        for each, handler in usual.items():
            signal.signal(each, handler)
    assert result.exit_code == code
    by = "Ctrl-C" if number == signal.SIGINT else "SIGTERM"
    told = f"stopped by {by} after 1000 of 1000 draws of each chain; kg.extra_samples continues"
    assert told in result.stderr
    with xr.open_datatree("run.nc", engine="h5netcdf") as tree:
        assert tree["posterior"].sizes["draw"] == 1000


def test_without_a_standard_output_it_says_where_the_results_are(monkeypatch):
    tree = kg.mcmc(model(), draws=20, warmup=50, chains=2, seed=1, progress=False)
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(RunError, match=r"standard output is closed; the results are in run\.nc"):
        print_summary(tree, "plain", Path("run.nc"))


def test_a_store_that_is_damaged_says_how_it_is_mended(call):
    call("sample", "one.py", *SHORT, "--store", "run.zarr")
    block = Path("run.zarr/posterior/mu/c/0/0")
    data = bytearray(block.read_bytes())
    block.unlink()
    mends = "`kinetograph resume run.zarr` repairs it, and makes lost draws again"
    for command in (("summary", "run.zarr"), ("report", "run.zarr", "-o", "run.html")):
        fails(call(*command), 1, "run.zarr is damaged and cannot be read: ")
        data[len(data) // 2] ^= 1
        block.write_bytes(data)
        fails(call(*command), 1, mends)
        data[len(data) // 2] ^= 1
        block.unlink()
    assert not Path("run.html").exists()
    Path("run.zarr/zarr.json").write_text("{")
    fails(call("summary", "run.zarr"), 1, mends)
    assert call("resume", "run.zarr", "--quiet").exit_code == 0
    assert call("summary", "run.zarr").exit_code == 0


def test_functions_that_a_stored_model_calls_may_be_trusted(call, monkeypatch):
    Path("doubling.py").write_text("def twice(x):\n    return 2 * x\n")
    twice = MODEL.replace("kg.model(mu)", "kg.model(mu, y2=kg.lift(doubling.twice)(mu))")
    Path("one.py").write_text(f"import doubling\n{twice}")
    monkeypatch.syspath_prepend(".")
    call("sample", "one.py", *SHORT, "--store", "run.zarr")
    fails(call("resume", "run.zarr"), 1, "doubling")
    trusted = ("--trust", "doubling.twice")
    result = call("resume", "run.zarr", *trusted, "--quiet", "--format", "json")
    assert result.exit_code == 0, result.stderr
    assert [row["name"] for row in json.loads(result.stdout)] == ["mu", "y2"]


def test_help_tells_the_exit_codes():
    from kinetograph.cli import main

    for command in ((), ("sample",), ("resume",)):
        text = CliRunner().invoke(main, [*command, "--help"]).stdout
        assert "130" in text
        assert "143" in text
