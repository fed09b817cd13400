"""Runs of `kg.temper` that are stopped, killed, damaged and continued, to the same bits."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest
import xarray as xr
from tests.tempering.stored import assert_same, long_run, model, temper

import kinetograph as kg
from kinetograph.cli.errors import InputError
from kinetograph.cli.results import open_results
from kinetograph.programs.sealed_files import twins
from kinetograph.results.stored_model import HIDDEN
from kinetograph.runs.store.locks import hold
from kinetograph.tempering import checkpoints, replicas, stored_runs
from kinetograph.tempering.annealing import Annealing
from kinetograph.tempering.replicas import Replicas

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
METHODS = ("smc", "nested", "parallel")


class PowerCut(Exception):
    pass


@pytest.fixture(scope="module")
def one():
    return model()


@pytest.fixture(scope="module")
def whole(one):
    """The results of uninterrupted runs."""
    return {method: temper(one, method, threads=1) for method in METHODS}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.zarr"


@pytest.fixture
def often(monkeypatch):
    """Checkpoints after each rung and scan."""
    monkeypatch.setattr(checkpoints, "SHARE", np.inf)
    monkeypatch.setattr(replicas, "EVERY", 0.0)


def stopped(monkeypatch, method, one, path, after, stop=PowerCut, **named):
    """The results, or None if an error ended the run after so many rungs and scans."""
    made = []

    def limited(kind, name):
        usual = getattr(kind, name)

        def call(self, *arguments):
            if len(made) == after:
                raise stop
            made.append(name)
            return usual(self, *arguments)

        return call

    with monkeypatch.context() as patched:
        for kind, name in ((Annealing, "step"), (Replicas, "_scan")):
            patched.setattr(kind, name, limited(kind, name))
        with suppress(PowerCut):
            return temper(one, method, store=path, **named)


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_is_stopped_again_and_again(method, one, whole, path, monkeypatch, often):
    """At begins, ends and the middle of the parts of the warm-up, too."""
    tree, attempts = None, 0
    while tree is None:
        after = (1, 2, 0, 1, 3, 1)[attempts % 6]
        tree = stopped(monkeypatch, method, one, path, after, threads=1 + attempts % 3)
        attempts += 1
    assert attempts > {"smc": 3, "nested": 12, "parallel": 12}[method]
    assert_same(tree, whole[method])


@pytest.mark.parametrize("method", METHODS)
def test_single_precision(method, one, path, monkeypatch, often):
    with kg.precision("float32"):
        single = model()
        stopped(monkeypatch, method, single, path, 2)
        if method == "parallel":
            stopped(monkeypatch, method, single, path, 10)
        assert_same(temper(single, method, store=path), temper(single, method))
    with pytest.raises(kg.KinetographError, match=r"precision: got 'float64', expected 'float32'"):
        temper(one, method, store=path)


LOST = [
    ("smc", 2, ["generator", "placed", "step_size", "noise", "rungs"]),
    ("parallel", 18, ["generator", "placed", "prior_spare", "replica"]),
]


@pytest.mark.parametrize(
    ("method", "after", "lost"), [(*case[:2], lost) for case in LOST for lost in case[2]]
)
def test_each_part_of_a_checkpoint_is_needed(
    method, after, lost, one, whole, path, monkeypatch, often
):
    """Control: without it the results are others."""
    stopped(monkeypatch, method, one, path, after)
    last = checkpoints._last

    def damaged(hidden):
        state = last(hidden)
        changed = {
            "generator": np.random.default_rng(0).bit_generator.state,
            "placed": 0,
            "step_size": 1.0,
            "noise": 0.0,
            "rungs": state.get("rungs", [])[:1],
            "prior_spare": state.get("prior_spare", [])[1:],
        }
        if lost == "replica":
            changed["replica"] = state["replica"][:, ::-1].copy()
        return state | {lost: changed[lost]}

    monkeypatch.setattr(checkpoints, "_last", damaged)
    with pytest.raises(AssertionError):
        assert_same(temper(one, method, store=path), whole[method])


def test_ctrl_c_returns_draws_that_are_continued(one, whole, path, monkeypatch):
    """A signal waits for the end of the scan, and for a checkpoint."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background processes
    usual, calls = Replicas._scan, []

    def interrupted(self, tuning):
        calls.append(tuning)
        if calls.count(False) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return usual(self, tuning)

    monkeypatch.setattr(Replicas, "_scan", interrupted)
    with pytest.warns(kg.SamplingWarning, match=r"after 5 of 8 draws.*; kg.temper\(.*continues"):
        tree = temper(one, "parallel", store=path)
    monkeypatch.setattr(Replicas, "_scan", usual)
    np.testing.assert_array_equal(
        tree["posterior"]["mu"], whole["parallel"]["posterior"]["mu"][:, :5]
    )
    made = []
    monkeypatch.setattr(Replicas, "_scan", lambda *given: made.append(1) or usual(*given))
    assert_same(temper(one, "parallel", store=path), whole["parallel"])
    assert len(made) == 3


@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_says_how_to_continue(method, one, path, monkeypatch):
    with pytest.raises(KeyboardInterrupt, match=r"stopped by Ctrl-C; kg\.temper\(.* continues"):
        stopped(monkeypatch, method, one, path, 1, KeyboardInterrupt)


def test_a_run_that_has_ended(one, whole, path, monkeypatch):
    tree = temper(one, "smc", store=path)
    assert_same(tree, whole["smc"])
    assert tree.attrs["store"] == str(path)
    assert not any(twin.exists() for twin in twins(path / HIDDEN / "state"))
    assert_same(xr.open_datatree(path, engine="zarr"), whole["smc"])
    monkeypatch.setattr(Annealing, "step", None)
    monkeypatch.setattr(stored_runs, "hold", None)  # the folder may be read-only
    assert_same(temper(one, "smc", store=path, threads=2), tree)
    assert_same(temper(one, "smc", store=path, seed=None), tree)
    monkeypatch.setattr(stored_runs, "versions", lambda: {"jax": "0.1"})
    assert_same(temper(one, "smc", store=path), tree)
    assert "do not hold their model" not in kg.report(tree)._repr_html_()


def test_results_are_never_seen_in_part(one, whole, path, monkeypatch):
    """A run that is killed before the last file of the results."""

    def failing(file, *data):
        assert (path / "posterior").is_dir()
        raise PowerCut

    with monkeypatch.context() as patched:
        patched.setattr(stored_runs, "write_whole", failing)
        with pytest.raises(PowerCut):
            temper(one, "smc", store=path)
    with pytest.raises(Exception, match=r"[Nn]o group|not found|unrecognized"):
        xr.open_datatree(path, engine="zarr")
    assert_same(temper(one, "smc", store=path), whole["smc"])


def test_damaged_checkpoints(one, whole, path, monkeypatch, often):
    stopped(monkeypatch, "smc", one, path, 3)
    older, newer = sorted(twins(path / HIDDEN / "state"), key=lambda file: file.stat().st_mtime_ns)
    content = bytearray(newer.read_bytes())
    content[len(content) // 2] ^= 1
    newer.write_bytes(content)
    with pytest.warns(kg.KinetographWarning, match=r"state\.\d is damaged.*the other checkpoint"):
        stopped(monkeypatch, "smc", one, path, 0)
    older.write_bytes(older.read_bytes()[:-5])
    with pytest.raises(
        kg.KinetographError, match=r"the checkpoints are damaged .*state\.1.*state\.2"
    ):
        temper(one, "smc", store=path)
    older.unlink(), newer.unlink()
    assert_same(temper(one, "smc", store=path), whole["smc"])


def test_a_damaged_checkpoint_is_written_again(one, whole, path, monkeypatch, often):
    stopped(monkeypatch, "smc", one, path, 2)
    for twin in twins(path / HIDDEN / "state"):
        intact = twin.read_bytes()
        twin.write_bytes(intact[:-5])
        with pytest.warns(kg.KinetographWarning, match=r"is damaged"):
            stopped(monkeypatch, "smc", one, path, 1)
    assert_same(temper(one, "smc", store=path), whole["smc"])


def test_another_run_is_refused(one, path, monkeypatch):
    stopped(monkeypatch, "smc", one, path, 1)
    hmc = kg.samplers.HMC(path_jitter=0.3)
    for named, text in (
        ({"particles": 70}, "particles: got 70, expected 60"),
        ({"seed": 2}, "seed: got 2, expected 1"),
        ({"ladder": [0.5, 1]}, r"ladder: got \[0.5, 1.0\], expected None"),
        ({"sampler": hmc}, "sampler: got 'HMC', expected 'the default'"),
        ({"particles": 70, "seed": 2}, "particles: got 70, expected 60; seed: got 2, expected 1"),
    ):
        with pytest.raises(kg.KinetographError, match=rf"differs from this call.*: {text}\. Call"):
            temper(one, "smc", store=path, **named)
    with pytest.raises(kg.KinetographError, match=r"method: got 'parallel', expected 'smc'"):
        temper(one, "parallel", store=path)
    with pytest.raises(kg.KinetographError, match=r"the data heights have other values"):
        temper(model((1.2, 0.7, 1.8)), "smc", store=path)
    with pytest.raises(kg.KinetographError, match=r": the model or the sampler differs"):
        temper(model(scale=2.0), "smc", store=path)
    with pytest.raises(kg.KinetographError, match=r"targets: got \['mu', 'sd', 'ratio'\]"):
        temper(model(ratio=lambda mu, sd: mu / sd), "smc", store=path)
    monkeypatch.setattr(stored_runs, "versions", lambda: {"jax": "0.1"})
    with pytest.raises(kg.KinetographError, match=r": jax: got 0.1, expected \d"):
        temper(one, "smc", store=path)


def test_other_targets_of_the_same_name(path, monkeypatch):
    ratio, inverse = (model(it=of) for of in (lambda mu, sd: mu / sd, lambda mu, sd: sd / mu))
    stopped(monkeypatch, "smc", ratio, path, 1)
    with pytest.raises(kg.KinetographError, match=r": the model or the sampler differs"):
        temper(inverse, "smc", store=path)


def test_given_values_of_unknowns(one, path, monkeypatch):
    fixed, other = (kg.condition(one, {"sd": sd}) for sd in (1.0, 2.0))
    stopped(monkeypatch, "smc", fixed, path, 1)
    with pytest.raises(kg.KinetographError, match=r"the data \S+ have other values"):
        temper(other, "smc", store=path)
    assert_same(temper(fixed, "smc", store=path), temper(fixed, "smc"))


def test_settings_of_samplers_and_sizes_of_chains(one, path, monkeypatch):
    options = {"sampler": kg.samplers.RandomWalk(0.5)}
    stopped(monkeypatch, "parallel", one, path, 1, **options)
    with pytest.raises(kg.KinetographError, match=r"draws: got 9, expected 8; .*warmup: got 11"):
        temper(one, "parallel", store=path, draws=9, warmup=11, **options)
    with pytest.raises(kg.KinetographError, match=r"step_size: got 0.25, expected 0.5\. Call"):
        temper(one, "parallel", store=path, sampler=kg.samplers.RandomWalk(0.25))
    scaled = kg.samplers.RandomWalk(0.5, scale=[1.0, 2.0])
    with pytest.raises(kg.KinetographError, match=r"scale: got \[1.0, 2.0\], expected None\. Call"):
        temper(one, "parallel", store=path, sampler=scaled)
    other = path.with_name("other.zarr")
    stopped(monkeypatch, "parallel", one, other, 1, sampler=scaled)
    with pytest.raises(kg.KinetographError, match=r"scale: got None, expected \[1.0, 2.0\]\. Call"):
        temper(one, "parallel", store=other, **options)


def test_a_run_without_a_seed_keeps_its_seed(one, path, monkeypatch):
    stopped(monkeypatch, "smc", one, path, 1, seed=None)
    tree = temper(one, "smc", store=path, seed=None)
    assert_same(tree, temper(one, "smc", seed=int(tree.attrs["seed"])))


def test_a_second_process_is_refused(one, path, monkeypatch):
    stopped(monkeypatch, "smc", one, path, 1)
    handle = hold(path / HIDDEN / "lock", "")
    try:
        with pytest.raises(kg.KinetographError, match=r"run.zarr: this run is being run by this"):
            temper(one, "smc", store=path)
    finally:
        os.close(handle)
    temper(one, "smc", store=path)


def test_folders_of_others(one, path, monkeypatch):
    other = path.with_name("other")
    kg.mcmc(one, draws=10, warmup=10, chains=1, seed=1, store=other, progress=False)
    with pytest.raises(
        kg.KinetographError, match=r"other holds a run of kg\.mcmc \(stored.*; give"
    ):
        temper(one, "smc", store=other)
    stopped(monkeypatch, "smc", one, path, 1)
    for call in (
        lambda: kg.resume(path),
        lambda: kg.mcmc(one, draws=10, warmup=10, store=path, progress=False),
    ):
        with pytest.raises(
            kg.KinetographError, match=r"run of kg\.temper: kg\.temper\(model, \.\.\."
        ):
            call()
    (path.parent / "files").mkdir()
    (path.parent / "files" / "letter").touch()
    with pytest.raises(kg.KinetographError, match=r"is a folder, but not the store of a run"):
        temper(one, "smc", store=path.parent / "files")
    with pytest.raises(kg.KinetographError, match=r"is a file, but not the store of a run"):
        temper(one, "smc", store=path.parent / "files" / "letter")
    with pytest.raises(TypeError, match=r"temper: a store is a folder, given by its path"):
        temper(one, "smc", store=3)


def test_a_full_disk(one, whole, path, monkeypatch, often):
    usual, writes = checkpoints.write_whole, []

    def full(file, *data):
        writes.append(file)
        if len(writes) > 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
        usual(file, *data)

    with monkeypatch.context() as patched:
        patched.setattr(checkpoints, "write_whole", full)
        with pytest.raises(
            OSError, match=r"make room on the disk, then kg\.temper\(model"
        ) as error:
            temper(one, "smc", store=path)
        assert error.value.errno == errno.ENOSPC
    with monkeypatch.context() as patched:
        patched.setattr(stored_runs, "write_tree", lambda *given: full(path))
        with pytest.raises(OSError, match=r"make room on the disk, then kg\.temper\(model"):
            temper(one, "smc", store=path)
    assert_same(temper(one, "smc", store=path), whole["smc"])


def test_no_room_for_a_store_leaves_nothing(one, path):
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3, usual[1]))
    try:
        with pytest.raises(OSError, match=r"run.zarr cannot be written: File too large"):
            temper(one, "smc", store=path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert os.listdir(path.parent) == []


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_process_that_is_killed(method, path):
    """By SIGTERM, and by SIGKILL; and a second process is refused meanwhile."""
    child = [sys.executable, "-m", "tests.tempering.stored", method, str(path)]
    states = twins(path / HIDDEN / "state")
    for end_of_it in (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL):
        process = subprocess.Popen(child, stderr=subprocess.PIPE)
        try:
            before = {file: file.read_bytes() for file in states if file.exists()}
            end = time.monotonic() + 60
            while {file: file.read_bytes() for file in states if file.exists()} == before:
                assert process.poll() is None, process.stderr.read().decode()
                assert time.monotonic() < end
                time.sleep(0.05)
            if end_of_it == signal.SIGTERM:
                process.terminate()
                assert process.wait(30) == 143
            else:
                process.send_signal(signal.SIGSTOP)  # it keeps its lock
                second = subprocess.run(child, capture_output=True, text=True)
                assert f"is being run by another process (process {process.pid})" in second.stderr
        finally:
            process.kill()
            process.wait()
    tree = long_run(method, store=path, threads=1)
    assert_same(tree, long_run(method, threads=2))


def test_the_command_reads_runs_that_have_ended(one, path, monkeypatch):
    stopped(monkeypatch, "smc", one, path, 1)
    with pytest.raises(InputError, match=r"run that has not ended, and no results yet"):
        open_results(path)
    temper(one, "smc", store=path)
    assert open_results(path)["posterior"].sizes["draw"] == 60
