"""The command as a whole: what it prints, what it writes, and how it fails."""

import os
from pathlib import Path

import pytest
import xarray as xr
from click.testing import CliRunner

import kinetograph as kg
from kinetograph.cli import main
from kinetograph.cli.files import write_whole

MODEL = (
    "import kinetograph as kg\nmu = kg.normal(0, 1)\ny = kg.data([1.0, 2.0])\n"
    "kg.observe(y, kg.normal(mu, 1))\nmodel = kg.model(mu)\n"
)
SHORT = ("--draws", "1000", "--warmup", "200", "--chains", "2", "--seed", "1", "--quiet")


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Runs the command in a folder with a model, `one.py`."""
    monkeypatch.chdir(tmp_path)
    Path("one.py").write_text(MODEL)

    def invoke(*arguments):
        return CliRunner().invoke(main, arguments, prog_name="kinetograph")

    return invoke


def fails(result, code, text):
    assert result.exit_code == code
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert text in result.stderr
    assert result.stderr.startswith("kinetograph")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [(), ("sample",), ("resume",), ("summary",), ("report",), ("graph",)]
)
def test_help(call, arguments):
    for flag in ("-h", "--help"):
        result = call(*arguments, flag)
        assert result.exit_code == 0
        assert result.stdout.startswith(f"Usage: {' '.join(('kinetograph', *arguments))} ")


def test_version(call):
    assert call("--version").stdout == f"kinetograph {kg.__version__}\n"


def test_a_call_without_a_command_shows_the_help(call):
    result = call()
    assert result.exit_code == 2
    assert "Commands:" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("frobnicate",), "no such command 'frobnicate'"),
        (("sample",), "missing argument 'FILE[:NAME]'"),
        (("sample", "one.py", "--draw", "3"), "no such option '--draw'"),
        (("sample", "one.py", "--tune", "3"), "no such option '--tune'; here it is --warmup"),
        (("sample", "one.py", "-n", "3"), "no such option '-n'; here it is --draws"),
        (("summary", "none.nc", "--json"), "'--json'; here it is --format json"),
        (
            ("sample", "one.py", "--sampler", "HMC(1)"),
            "write --sampler HMC, and settings",
        ),
        (("sample", "one.py", "--draws", "-3"), "'--draws': -3 is not in the range"),
        (("sample", "one.py", "--draws", "many"), "'--draws': 'many' is not a valid integer"),
        (("sample", "one.py", "--warmup", "-1"), "'--warmup'"),
        (("sample", "one.py", "--chains", "0"), "'--chains'"),
        (("sample", "one.py", "--thin", "0"), "'--thin'"),
        (("sample", "one.py", "--seed", "-1"), "'--seed'"),
        (("sample", "one.py", "--chains", "4:2"), "'4:2' is not a range of chains, such as 4:8"),
        (("sample", "one.py", "--format", "xml"), "'--format'"),
        (("sample", "one.py", "--initial", "here"), "'--initial'"),
        (("sample", "one.py", "--threads", "0"), "'--threads'"),
        (("sample", "one.py", "--checkpoint-every", "-1"), "'--checkpoint-every'"),
        (("sample", "one.py", "--until-ess", "-1"), "until: ess must be a finite number above 0"),
        (("sample", "one.py", "--until-ess", "9e9"), "mcmc: an effective sample size of 9e+09"),
        (
            ("sample", "one.py", "--sampler", "nut"),
            "'nut'; did you mean NUTS? The samplers are",
        ),
        (("sample", "one.py", "--set", "max_depht=3"), "did you mean max_depth?"),
        (("sample", "one.py", "--set", "max_depth=-1"), "max_depth must be at least 1"),
        (("sample", "one.py", "--set", "max_depth"), "write it as key=value"),
        (("sample", "one.py", "--set", "max_depth=3 +"), "is not a Python literal"),
        (("sample", "one.py", "--keep", "mo"), "mcmc: keep: 'mo' is not a target of the model"),
        (("sample", "one.py", "--store", "."), ". is a folder with other content"),
        (("sample", "one.py", "--store", "one.py"), "'--store'"),
        (("resume", "run.zarr"), "there is no folder run.zarr; `kinetograph sample FILE --store"),
        (("resume", "."), "not the store of a run: ."),
        (("sample", "none.py"), "there is no file none.py"),
        (("sample", "one.py", "--out", "x.txt"), "x.txt: the name must end in .nc"),
        (("sample", "one.py", "--out", "no/x.nc"), "to write x.nc into"),
        (("summary", "none.nc"), "none.nc does not exist"),
        (("summary", "one.py"), "one.py is not a netCDF file"),
        (("summary", "."), "is a folder"),
        (("report", "one.py"), "missing option"),
        (("report", "none.nc", "-o", "x.html"), "none.nc does not exist"),
        (("report", ".", "-o", "x.html"), "is a folder"),
        (("report", "one.py", "-o", "x.pdf"), "must end in .html or .htm"),
        (("report", "one.py", "-o", "no/x.html"), "there is no folder"),
        (("graph", "none.py"), "there is no file none.py"),
        (("graph", "one.py", "-o", "x.png"), "must end in .svg, .mmd, .dot or .txt"),
        (("graph", "one.py", "-o", "no/x.svg"), "there is no folder"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(call, arguments, text):
    fails(call(*arguments), 2, text)


def test_the_target_is_checked_before_the_file_runs(call):
    Path("loud.py").write_text("print('ran')\n")
    fails(call("sample", "loud.py", "--out", "no/x.nc"), 2, "there is no folder")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_folder_that_is_not_ours(call):
    Path("locked").mkdir(mode=0o500)
    fails(call("sample", "one.py", "--out", "locked/x.nc"), 2, "cannot be written")


def test_sample_prints_the_summary_and_writes_the_run(call):
    result = call("sample", "one.py", *SHORT, "--out", "run.nc")
    assert result.exit_code == 0
    assert result.stdout.split()[:2] == ["mean", "sd"]
    assert result.stderr == "wrote run.nc\n"
    with xr.open_datatree("run.nc", engine="h5netcdf") as tree:
        assert tree["posterior"]["mu"].shape == (2, 1000)
        assert tree["posterior"]["mu"].mean().item() == pytest.approx(1.0, abs=0.2)
        assert tree.attrs["seed"] == "1"
        assert tree["sampler_state"].sizes["chain"] == 2
    assert sorted(os.listdir()) == ["one.py", "run.nc"]
    again = call("summary", "run.nc")
    assert again.exit_code == 0
    assert again.stdout == result.stdout
    assert call("summary", "run.nc", "mu").stdout == result.stdout
    fails(call("summary", "run.nc", "nu"), 2, "run.nc holds no nu; it holds mu")


def test_reports_of_files_and_stores(call):
    """Files and stores hold the picture of their model; a wrong model leaves the page alone."""
    call("sample", "one.py", "--draws", "50", "--seed", "1", "--quiet", "--out", "run.nc")
    result = call("report", "run.nc", "-o", "a.html")
    assert (result.exit_code, result.stderr) == (0, "wrote a.html\n")
    assert "do not hold their model" not in Path("a.html").read_text()
    assert call("report", "run.nc", "-o", "a.html", "--model", "one.py").exit_code == 0
    page = Path("a.html").read_text()
    assert "data:image/svg+xml;base64," in page
    fails(call("report", "run.nc", "-o", "a.html", "--model", "two.py"), 2, "no file two.py")
    assert Path("a.html").read_text() == page
    namespace = {}
    exec(MODEL, namespace)
    kg.mcmc(namespace["model"], draws=50, seed=1, progress=False, store="run.zarr")
    assert call("report", "run.zarr", "-o", "b.html").exit_code == 0
    assert "data:image/svg+xml;base64," in Path("b.html").read_text()
    assert call("summary", "run.zarr").stdout == call("summary", "run.nc").stdout


def test_the_command_draws_what_mcmc_draws(call):
    call("sample", "one.py:model", *SHORT, "--thin", "2", "--out", "run.nc")
    namespace = {}
    exec(MODEL, namespace)
    tree = kg.mcmc(
        namespace["model"], draws=1000, warmup=200, chains=2, seed=1, thin=2, progress=False
    )
    with xr.open_datatree("run.nc", engine="h5netcdf") as stored:
        assert (stored["posterior"]["mu"].values == tree["posterior"]["mu"].values).all()


def test_without_a_seed_one_is_shown(call):
    result = call("sample", "one.py", *SHORT[:6], "--quiet")
    assert result.stderr.startswith("seed ")
    assert int(result.stderr.split()[1]) >= 0


def test_progress_goes_to_standard_error(call):
    result = call("sample", "one.py", *SHORT[:-1])
    assert "compil" in result.stderr
    assert "compil" not in result.stdout


def test_warnings_are_plain_lines(call):
    result = call("sample", "one.py", "--draws", "10", "--seed", "1", "--quiet", "--out", "run.nc")
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert lines[-2].startswith("warning: the effective sample size is below 100 per chain")
    assert "SamplingWarning" not in result.stderr
    assert "warning: the effective sample size" in call("summary", "run.nc").stderr


def test_a_run_that_fails_is_exit_code_1_and_writes_nothing(call):
    text = MODEL.replace("normal(mu, 1)", "normal(mu, kg.log(-kg.exp(mu)))")
    Path("bad.py").write_text(text)
    result = call("sample", "bad.py", *SHORT, "--out", "run.nc")
    assert result.exit_code == 1
    assert result.stderr.startswith("kinetograph: StartError: ")
    assert "bad.py:4" in result.stderr
    assert sorted(os.listdir()) == ["bad.py", "one.py"]


def test_a_file_that_is_no_result(call):
    xr.Dataset({"x": ("t", [1.0, 2.0])}).to_netcdf("x.nc", engine="h5netcdf")
    fails(call("summary", "x.nc"), 2, "x.nc holds no posterior")
    tree = xr.DataTree.from_dict({"/posterior": xr.Dataset({"x": ("t", [1.0, 2.0])})})
    tree.to_netcdf("x.nc", engine="h5netcdf")
    fails(call("summary", "x.nc"), 2, "without dimension 'chain'")


def test_a_failed_write_leaves_the_old_file_alone(tmp_path):
    target = tmp_path / "run.nc"
    target.write_text("old")

    def write(path):
        path.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_whole(target, write)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["run.nc"]


@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".svg", "<svg"), (".mmd", "flowchart"), (".dot", "digraph"), (".txt", "mu")],
)
def test_graph_writes_what_the_suffix_says(call, suffix, start):
    result = call("graph", "one.py", "-o", f"dag{suffix}")
    assert result.exit_code == 0
    assert start in Path(f"dag{suffix}").read_text()[:200]


def test_graph_prints_text(call):
    result = call("graph", "one.py")
    assert result.exit_code == 0
    assert "mu" in result.stdout
    assert "normal" in result.stdout
