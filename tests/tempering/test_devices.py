"""`kg.temper(devices=)`: the results are those of one device, to the last bit.

    python -m tests.tempering.test_devices METHOD ...

compares runs in a process with several host devices, and prints a digest of the draws of each
method.
"""

import hashlib
import os
import subprocess
import sys
import warnings

import jax
import pytest
from tests.tempering.stored import assert_same, model, temper

import kinetograph as kg
from kinetograph.programs import engine
from kinetograph.tempering.points import TemperedPoints

SIZES = {  # several batches of points
    "smc": {"particles": 300},
    "nested": {"particles": 300},
    "parallel": {"chains": 24, "draws": 8, "warmup": 10},
}


def on_devices(count: int, *methods: str) -> list[str]:
    """The lines of a process with so many host devices."""
    flags = f"--xla_force_host_platform_device_count={count}"
    done = subprocess.run(
        [sys.executable, "-m", "tests.tempering.test_devices", *methods],
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-len(methods) :]


def test_two_devices():
    (line,) = on_devices(2, "smc")
    assert line.startswith("smc 2 devices ")


@pytest.mark.slow
def test_any_number_of_devices():
    one, two, three = (on_devices(count, *SIZES) for count in (1, 2, 3))
    digests = [[line.split()[-1] for line in lines] for lines in (one, two, three)]
    assert digests[0] == digests[1] == digests[2]
    assert [line.split()[1] for lines in (one, two, three) for line in lines] == [*"111222333"]


def test_wrong_devices_are_told_before_compiling(monkeypatch):
    monkeypatch.setattr(engine, "make_executable", lambda *_: pytest.fail("compiled"))
    with pytest.raises(ValueError, match="temper: devices=64, but JAX has 1 device"):
        temper(model(), "smc", devices=64)


def compared(method: str) -> str:
    """A line about runs on one device, and on all devices."""
    one, sizes, used = model(), SIZES[method], set()
    usual = TemperedPoints.sweep

    def noting(points: TemperedPoints) -> object:
        swept = usual(points)
        used.update(*(state.position.q.devices() for state, _ in points._states))
        return swept

    TemperedPoints.sweep = noting
    tree = temper(one, method, devices="all", **sizes)
    assert used == {*jax.devices()}
    TemperedPoints.sweep = usual
    assert_same(temper(one, method, threads=1, **sizes), tree)
    assert_same(temper(one, method, devices=jax.devices()[-1:], **sizes), tree)
    digest = hashlib.sha256(tree["posterior"]["mu"].values.tobytes()).hexdigest()
    return f"{method} {len(used)} devices {digest}"


if __name__ == "__main__":
    warnings.simplefilter("ignore", kg.SamplingWarning)
    for name in sys.argv[1:]:
        print(compared(name), flush=True)
