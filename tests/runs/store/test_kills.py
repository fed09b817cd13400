"""Runs that are killed; the study of 100 is `python -m tests.runs.store.kills 100`."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.runs.store.kills import DRAWS, latest, model, study

import kinetograph as kg

TOGETHER = """
import kinetograph as kg
from tests.runs.store.kills import model
kg.mcmc(
    model(), draws=2000, seed=1, store=PATH, chains=range(FIRST, FIRST + 2), progress=False,
    checkpoint_every=0.0,
)
"""


@pytest.mark.slow
def test_two_processes_fill_one_store_at_once(tmp_path):
    """Whoever comes first makes it."""
    path = tmp_path / "run.zarr"
    both = [
        subprocess.Popen(
            [sys.executable, "-c", f"PATH, FIRST = {str(path)!r}, {first}\n{TOGETHER}"],
            stderr=subprocess.PIPE, text=True,
        )
        for first in (0, 2)
    ]  # fmt: skip
    for process in both:
        _, errors = process.communicate(timeout=200)
        assert process.returncode == 0, errors
    tree = kg.resume(path, progress=False)
    whole = kg.mcmc(model(), draws=2000, seed=1, progress=False)
    assert tree["posterior"]["chain"].values.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(tree["posterior"]["theta"], whole["posterior"]["theta"])
    np.testing.assert_array_equal(tree["sample_stats"]["lp"], whole["sample_stats"]["lp"])
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.slow
@pytest.mark.parametrize("wait", [0.0, 0.5, 2.0])
def test_of_two_processes_one_is_killed(tmp_path, wait):
    """The other one goes on, and so do the chains of the one that is gone, in a third process."""
    path = tmp_path / "run.zarr"
    code = TOGETHER.replace("draws=2000", "draws=60_000").replace("=0.0", "=0.05")
    first, second = (
        subprocess.Popen(
            [sys.executable, "-c", f"PATH, FIRST = {str(path)!r}, {first}\n{code}"],
            stderr=subprocess.PIPE, text=True,
        )
        for first in (0, 2)
    )  # fmt: skip
    while first.poll() is None and not (path / ".kinetograph" / "chain-1.1").exists():
        time.sleep(0.01)
    time.sleep(wait)
    first.kill()
    first.communicate()
    if second.poll() is None and (path / ".kinetograph" / "chain-2.lock").exists():
        with pytest.raises(kg.KinetographError, match=f"another process .process {second.pid}"):
            kg.resume(path, progress=False)
    _, errors = second.communicate(timeout=300)
    assert second.returncode == 0, errors
    tree = kg.resume(path, progress=False)
    whole = kg.mcmc(model(), draws=60_000, seed=1, progress=False)
    assert tree["posterior"]["chain"].values.tolist() == [0, 1, 2, 3]
    for group in ("posterior", "sample_stats"):
        for name, values in whole[group].dataset.data_vars.items():
            np.testing.assert_array_equal(tree[group].dataset[name], values)


@pytest.mark.slow
def test_killed_again_and_again_a_run_comes_to_the_same_bits():
    counts = study(20)
    assert counts["written"] >= 3
    assert counts["done"] >= 1


STOPPED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests are in the back
import kinetograph as kg
from tests.runs.store.kills import model
tree = kg.mcmc(
    model(), draws=None, seed=1, store=PATH, keep=["mu"], checkpoint_every=0.1, progress=False
)
print(tree.attrs["interrupted"])
"""


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM]
)
def test_signals_stop_a_run_which_goes_on(tmp_path, number):
    path = tmp_path / "run.zarr"
    code = f"PATH = {str(path)!r}\n{STOPPED}"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while process.poll() is None and not (path / ".kinetograph" / "chain-0.lock").exists():
        time.sleep(0.05)
    while process.poll() is None and not latest(path):
        time.sleep(0.05)
    time.sleep(1.0)  # for warm-up
    process.send_signal(number)
    out, errors = process.communicate(timeout=100)
    returned = number == signal.SIGINT
    assert (process.returncode, out) == ((0, "1\n") if returned else (143, "")), errors
    assert "Traceback" not in errors
    by = "Ctrl-C" if returned else "SIGTERM"
    on = re.escape(f"kg.resume('{path}') continues the run")
    told = re.search(rf"mcmc: stopped by {by} after (\d+) draws of each chain; {on}", errors)
    assert told, errors
    drawn = int(told[1])
    more = kg.resume(path, draws=drawn + 100, progress=False)
    whole = kg.mcmc(model(), draws=drawn + 100, seed=1, progress=False)
    np.testing.assert_array_equal(
        more["posterior"]["mu"][:, : drawn + 100], whole["posterior"]["mu"]
    )


LONG = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import kinetograph as kg
a = kg.normal(0, 1, shape=60, name="a")
mu = 0.0
for i in range(60):
    mu = mu + kg.sin(a[i] * kg.cos(a[(i * 7) % 60]) + i)
kg.observe(kg.data(1.0), kg.normal(mu, 1))
model = kg.model(a)
print("ready", flush=True)
try:
    kg.mcmc(model, draws=None)
except KeyboardInterrupt:
    print("stopped", flush=True)
print("again")
kg.mcmc(model, draws=None)
print("never")
"""


def test_signals_while_compiling_are_answered_and_the_process_ends_well():
    """By Ctrl-C a run, by SIGTERM the process, with what it has printed, though XLA compiles."""
    environment = os.environ | {"KINETOGRAPH_CACHE": "off"}
    process = subprocess.Popen(
        [sys.executable, "-c", LONG], env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "stopped\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    assert process.stdout.read() == "again\n"
    assert process.stderr is not None
    errors = process.stderr.read()
    assert process.wait(100) == 143
    assert "mcmc: stopped by SIGTERM" in errors
    for word in ("compiled in", "Fatal", "Traceback"):
        assert word not in errors


def test_the_study_tells_when_states_are_written(tmp_path):
    """Else it would kill at no special moment."""
    assert latest(tmp_path) == 0
    kg.mcmc(model(), draws=10, seed=1, store=tmp_path / "run.zarr", progress=False)
    assert latest(tmp_path / "run.zarr") > 0
    assert DRAWS > 10_000
