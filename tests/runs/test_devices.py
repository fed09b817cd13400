"""`devices=`: the draws of each chain are those of one device, to the last bit."""

import os
import subprocess
import sys

import jax
import numpy as np
import pytest
from tests.runs.models import gaussian, run
from tests.runs.on_devices import CASES

import kinetograph as kg
from kinetograph.programs import engine
from kinetograph.runs.devices import devices_of, division

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

EVERY_DAY = ("own", "continued", "batches", "stopped", "cached")


def on_devices(count: int, *cases: str) -> list[str]:
    """The digests that a process with so many host devices prints."""
    flags = {
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={count}",
        "JAX_PLATFORMS": "cpu",
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.runs.on_devices", *cases],
        env=os.environ | flags, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if line.split()[0] in cases]


def test_two_devices():
    assert [line.split()[0] for line in on_devices(2, *EVERY_DAY)] == list(EVERY_DAY)


@pytest.mark.slow
def test_any_number_of_devices_gives_the_same_draws():
    cases = [name for name in CASES if name != "batches"]  # its batches have other sizes
    one, two, eight = (on_devices(count, *cases) for count in (1, 2, 8))
    assert one == two == eight


@pytest.mark.slow
def test_batches_on_three_devices():
    on_devices(3, "batches")


def test_one_device_is_the_run_without_devices(monkeypatch):
    """The same programs and threads, so that it costs nothing."""
    built = []
    monkeypatch.setattr(engine.Engine, "on", lambda self, devices: built.append(devices) or [self])
    plain, *others = (run(gaussian(), devices=d) for d in (None, 1, "all", jax.devices()[:1]))
    assert all(not devices for devices in built)
    for tree in others:
        np.testing.assert_array_equal(tree["posterior/x"], plain["posterior/x"])


JAX_HAS = r"JAX has 1 device \(.*0\)"
WRONG = {
    "more than there are": (64, ValueError, rf"mcmc: devices=64, but {JAX_HAS} \(models.py"),
    "what to do": (64, ValueError, 'give devices="all", or a number up to 1. On a processor'),
    "none": (0, ValueError, "devices must be at least 1, got 0"),
    "an empty list": ([], ValueError, "devices is an empty list .*; give at least one of .*0, or"),
    "a flag": (True, TypeError, 'devices must be a number, "all", or a list of JAX devices'),
    "a platform": ("gpu", TypeError, "got 'gpu'"),
    "a misspelling": ("al", TypeError, "did you mean 'all'"),
    "numbers": ([0, 1], TypeError, r"devices has 0, which is not a JAX device .*jax.devices\(\)"),
    "twice": ([jax.devices()[0]] * 2, ValueError, "has .*0 more than once .*give each device once"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_devices_are_told_before_compiling(case, monkeypatch):
    given, kind, message = WRONG[case]
    monkeypatch.setattr(engine, "make_executable", lambda *_: pytest.fail("compiled"))
    with pytest.raises(kind, match=message):
        run(gaussian(), devices=given)


def test_the_continuing_functions_check_devices_too(tmp_path):
    tree = run(gaussian(), store=tmp_path / "run.zarr")
    with pytest.raises(ValueError, match=r"^extra_samples: devices=64, but"):
        kg.extra_samples(tree, gaussian(), devices=64)
    with pytest.raises(ValueError, match=r"^resume: devices=64, but"):
        kg.resume(tmp_path / "run.zarr", devices=64)


class Device:
    """As much of a JAX device as is looked at."""

    def __init__(self, name, kind="cpu", platform="cpu"):
        self.name, self.device_kind, self.platform = name, kind, platform

    def __str__(self):
        return self.name


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        (("tpu", "v4"), "has other:0, of the platform tpu, .*cpu.*; give devices of cpu, or set"),
        (("cpu", "another"), "are of the kinds cpu, another .*one program runs on devices of one"),
    ],
)
def test_devices_that_cannot_run_one_program(kinds, message, monkeypatch):
    here, other = Device("cpu:0"), Device("other:0", kinds[1], kinds[0])
    monkeypatch.setattr(jax, "Device", Device)
    monkeypatch.setattr(jax, "local_devices", lambda: [here, other][: 1 + (kinds[0] == "cpu")])
    with pytest.raises(ValueError, match=f"mcmc: devices {message}"):
        devices_of("mcmc", [here, other])


def test_threads_and_devices(monkeypatch):
    two = tuple(Device(f"cpu:{i}") for i in range(2))
    with pytest.raises(ValueError, match=r"threads=2 has no effect .*leave out threads= or"):
        division("mcmc", "threads", 4, two, 2)
    assert division("mcmc", "threads", 1, two, None).devices == two[:1]
    assert division("mcmc", "batch", 5, two, None).batch == 3
    assert division("resume", "batch", 5, two, None, {"chains_per_batch": 1}).batch == 1
