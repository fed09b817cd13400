"""The command as a process: signals, pipes that nobody reads, full disks, and how it goes on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from tests.cli.test_commands import MODEL, SHORT

import kinetograph as kg

ENDLESS = ("--draws", "none", "--thin", "500", "--chains", "2", "--seed", "1")


@pytest.fixture
def call(tmp_path, monkeypatch):
    """A folder with a model, `one.py`."""
    monkeypatch.chdir(tmp_path)
    Path("one.py").write_text(MODEL)


def start_process(*arguments, stdout=subprocess.PIPE):
    command = (
        "from kinetograph.cli import main; from kinetograph.runs import progress; "
        "progress.PLAIN_SECONDS = 0.2; main(prog_name='kinetograph')"  # the first report comes soon
    )
    return subprocess.Popen(
        [sys.executable, "-c", command, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(kg.__file__).parents[1])},
        # A test run in the background ignores Ctrl-C, and its children would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.slow
def test_a_real_process(call):
    process = start_process("sample", "one.py", *SHORT, "--out", "run.nc")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0
    assert out.split()[:2] == ["mean", "sd"]
    assert err == "wrote run.nc\n"


def test_ctrl_c_keeps_what_was_drawn(call):
    process = start_process(
        "sample", "one.py", "--draws", "50000", "--thin", "500", *ENDLESS[4:], "--out", "run.nc"
    )
    lines = []
    while not any("(sampling)" in line for line in lines):  # a report of a run under way
        lines.append(process.stderr.readline())
        assert lines[-1], "".join(lines)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "wrote run.nc" in err
    assert err.rstrip().endswith(
        "of 50000 draws of each chain; kg.extra_samples continues the run from run.nc"
    )
    assert out.split()[:2] == ["mean", "sd"]
    with xr.open_datatree("run.nc", engine="h5netcdf") as tree:
        assert 0 < tree["posterior"].sizes["draw"] < 50000
        assert tree.attrs["interrupted"] == 1


def read_until(stream, text):
    lines = []
    while not any(text in line for line in lines):
        lines.append(stream.readline())
        assert lines[-1], "".join(lines)


def test_sigterm_leaves_a_store_that_goes_on(call):
    process = start_process("sample", "one.py", *ENDLESS, "--store", "run.zarr")
    read_until(process.stderr, "(sampling)")
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 143
    assert "Traceback" not in err
    assert out.split()[:2] == ["mean", "sd"]
    last = err.splitlines()[-1]
    assert last.startswith("kinetograph: stopped by SIGTERM after ")
    assert last.endswith(" draws of each chain; `kinetograph resume run.zarr` continues the run")
    drawn = int(last.split()[5])
    more = ("--draws", str(drawn + 20), "--quiet", "--format", "json", "--out", "run.nc")
    process = start_process("resume", "run.zarr", *more)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    namespace: dict = {}
    exec(MODEL, namespace)
    options = {"draws": drawn + 20, "thin": 500, "chains": 2, "seed": 1, "progress": False}
    whole = kg.mcmc(namespace["model"], **options)
    with xr.open_datatree("run.nc", engine="h5netcdf") as tree:
        np.testing.assert_array_equal(tree["posterior"]["mu"], whole["posterior"]["mu"])
        assert "stopped_by" not in tree.attrs


SLOW = """
import sys, time
from kinetograph.programs.background import thread
thread(lambda: time.sleep(60)).start()  # as if XLA were compiling
print("here", file=sys.stderr)
time.sleep(60)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_while_the_file_runs_are_one_line(call, number, code):
    Path("slow.py").write_text(SLOW)
    process = start_process("sample", "slow.py", "--out", "run.nc")
    read_until(process.stderr, "here")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    by = "Ctrl-C" if number == signal.SIGINT else "SIGTERM"
    assert (process.returncode, out, err) == (code, "", f"kinetograph: stopped by {by}\n")


SLOW_IMPORT = """
import sys, time
print("here", file=sys.stderr, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_while_the_command_is_imported(call, number):
    """Ctrl-C is one line, SIGTERM none, as nothing has begun."""
    Path("click.py").write_text(SLOW_IMPORT)  # found before that of packages
    process = subprocess.Popen(
        [sys.executable, "-m", "kinetograph", "sample", "one.py"],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(kg.__file__).parents[1])},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    read_until(process.stderr, "here")
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    if number == signal.SIGINT:
        assert (process.returncode, err) == (130, "kinetograph: stopped by Ctrl-C\n")
    else:
        assert (process.returncode, err) == (-signal.SIGTERM, "")


SWALLOWED = """
import os, signal
try:
    exec("os.kill(os.getpid(), signal.SIGINT)\\nwhile True: pass")
except KeyboardInterrupt:
    raise ImportError("no module named so")
"""


def test_ctrl_c_that_an_import_takes_for_an_error_of_its_own(call):
    Path("two.py").write_text(SWALLOWED)
    process = start_process("sample", "two.py")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "kinetograph: stopped by Ctrl-C\n")


@pytest.mark.slow
def test_standard_streams_that_are_closed(call):
    """The files that are opened instead of them would have in them what libraries tell of."""
    command = f"{sys.executable} -m kinetograph sample one.py {' '.join(SHORT[:-1])} --out run.nc"
    environment = os.environ | {"PYTHONPATH": str(Path(kg.__file__).parents[1])}
    options = {"shell": True, "env": environment, "capture_output": True}
    closed = subprocess.run(f"{command} <&- 2>&-", **options)
    assert closed.returncode == 0
    assert closed.stdout.split()[:2] == [b"mean", b"sd"]
    full = subprocess.run(
        f"{command} 2>/dev/full", shell=True, env=environment, capture_output=True
    )
    assert (full.returncode, full.stdout) == (0, closed.stdout)
    last = subprocess.run(f"{command} >&-", **options)
    assert last.returncode == 1
    assert b"standard output is closed; the results are in run.nc" in last.stderr
    with xr.open_datatree("run.nc", engine="h5netcdf") as tree:
        assert tree["posterior"].sizes["draw"] == 1000


LONG = """
import kinetograph as kg
a = kg.normal(0, 1, shape=60, name="a")
mu = 0.0
for i in range(60):
    mu = mu + kg.sin(a[i] * kg.cos(a[(i * 7) % 60]) + i)
kg.observe(kg.data(1.0), kg.normal(mu, 1))
model = kg.model(a)
"""


def test_ctrl_c_while_compiling_is_one_line(call, monkeypatch):
    """XLA still compiles then, and the process does not wait for it."""
    monkeypatch.setenv("KINETOGRAPH_CACHE", "off")
    Path("long.py").write_text(LONG)
    process = start_process("sample", "long.py", "--store", "run.zarr")
    read_until(process.stderr, "compiling")
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 130
    assert out == ""
    assert err == (
        "kinetograph: stopped by Ctrl-C before every chain had a draw; "
        "`kinetograph resume run.zarr` continues the run\n"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
def test_a_full_standard_output_leaves_the_file(call):
    with open("/dev/full", "w") as full:
        process = start_process("sample", "one.py", *SHORT, "--out", "run.nc", stdout=full)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    told = "the summary could not be printed: No space left on device; the results are in run.nc"
    assert err == f"kinetograph: {told}\n"
    with xr.open_datatree("run.nc", engine="h5netcdf") as tree:
        assert tree["posterior"].sizes["draw"] == 1000


def test_a_pipe_that_nobody_reads_leaves_the_file(call):
    read, write = os.pipe()
    os.close(read)
    process = start_process("sample", "one.py", *SHORT, "--out", "run.nc", stdout=write)
    os.close(write)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert err.startswith("kinetograph: the summary could not be printed: Broken pipe; the results")
    assert err.count("\n") == 1
    assert Path("run.nc").exists()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("kinetograph sample --sampler n", {"plain,NUTS"}),
        ("kinetograph sample --until", {"plain,--until-ess", "plain,--until-rhat"}),
        ("kinetograph sample o", {"file,o"}),
        ("kinetograph re", {"plain,report", "plain,resume"}),
        ("kinetograph sample --format ", {"plain,table", "plain,json", "plain,plain"}),
    ],
)
def test_shells_complete(call, monkeypatch, words, found):
    monkeypatch.setenv("_KINETOGRAPH_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    out, err = start_process().communicate(timeout=60)
    assert (set(out.splitlines()), err) == (found, "")
