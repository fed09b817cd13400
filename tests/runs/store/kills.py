"""A stored run that is killed again and again, by SIGKILL, and goes on in new processes.

    python -m tests.runs.store.kills 100

kills 100 times, a third of them while a file is being written, and prints what came of it: after
each kill what readers see, and at the end of each run its draws, have to be those of a run that was
never killed, to the last bit. The clock of the processes jumps, too: back by a day, and forth.
"""

import collections
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import kinetograph as kg

DRAWS = 200_000


def model() -> kg.Model:
    """A small one, with data and labels."""
    mu = kg.normal(0, 1, name="mu")
    theta = kg.normal(mu, 1, shape=3, name="theta", dims="group")
    kg.observe(kg.data([1.0, 2.0, 0.5], name="y"), kg.normal(theta, 1))
    return kg.model(mu, theta, coords={"group": ["a", "b", "c"]})


def child(path: str, jump: float) -> None:
    """What the processes do: begin the run, or go on with it."""
    usual = time.time
    time.time = lambda: usual() + jump
    options = {"progress": False, "checkpoint_every": 0.05}
    if Path(path).exists():
        kg.resume(path, **options)
    else:
        kg.mcmc(model(), draws=DRAWS, seed=1, store=path, **options)


def latest(path: Path) -> int:
    """When the state of a chain was last written."""
    found = [0]
    for file in (path / ".kinetograph").glob("chain-*.[12]"):
        try:
            found.append(file.stat().st_mtime_ns)
        except OSError:
            continue
    return max(found)


def writing(path: Path) -> set[Path]:
    """The files that are being written, and those that were when a process was killed."""
    for _ in range(100):
        try:
            return {*path.rglob(".*.part"), *path.parent.glob(".*.part")}
        except OSError:  # what was listed has gone
            continue
    return set()


def kill_one(path: Path, chance: random.Random) -> str:
    """Run a process, and kill it; how it ended: "written", "anywhere" or "done"."""
    left = writing(path)
    jump = chance.choice([0.0, -86_400.0, 86_400.0])
    code = f"from tests.runs.store.kills import child; child({str(path)!r}, {jump})"
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], stderr=subprocess.PIPE)
    at_write = chance.random() < 0.4
    if chance.random() < 0.9:  # the others are killed as they start
        before = latest(path)
        while process.poll() is None and latest(path) == before:
            time.sleep(0.002)
        time.sleep(chance.random() * 1.5)
    else:
        time.sleep(chance.random() * 2)
    while at_write and process.poll() is None and not writing(path) - left:
        pass
    process.send_signal(signal.SIGKILL)
    _, errors = process.communicate()
    if process.returncode != -signal.SIGKILL:
        assert process.returncode == 0, errors.decode()
        return "done"
    return "written" if writing(path) - left else "anywhere"


def check(path: Path, whole: Any) -> int:
    """That all which readers see is what was to be drawn; gives how much."""
    if not path.exists():
        return 0
    tree = xr.open_datatree(path, engine="zarr", consolidated=True)
    chains, draws = tree["posterior"]["mu"].shape
    for group in ("posterior", "sample_stats"):
        for name, values in whole[group].dataset.data_vars.items():
            found = tree[group].dataset[name].values
            assert np.array_equal(found, values.values[:chains, :draws]), name
    return chains * draws


def study(kills: int, seed: int = 1) -> dict[str, int]:
    """How often something was killed where, and how many runs came to their end."""
    chance, counts = random.Random(seed), collections.Counter[str]()
    whole = kg.mcmc(model(), draws=DRAWS, seed=1, progress=False)
    folder = Path(tempfile.mkdtemp())
    path = folder / "run.zarr"
    try:
        drawn = 0
        while counts["anywhere"] + counts["written"] < kills or path.exists():
            enough = counts["anywhere"] + counts["written"] >= kills
            if enough or (drawn == 4 * DRAWS and chance.random() < 0.7):
                child(str(path), 0.0)
                end = "done"
            else:
                end = kill_one(path, chance)
            counts[end] += 1
            drawn = check(path, whole)
            if end == "done":
                assert drawn == 4 * DRAWS
                shutil.rmtree(path)
                drawn = 0
            print(f"{end}: {drawn} draws are seen", flush=True)  # 0 of a new run
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return dict(counts)


if __name__ == "__main__":
    print(study(int(sys.argv[1])))
