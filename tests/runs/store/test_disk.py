"""Disks that are full or may only be read, and files that are gone."""

import os
import resource
import shutil
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr
from tests.runs.models import gaussian, run, same_draws, schools

import kinetograph as kg
from kinetograph.runs.checkpoints import opened
from kinetograph.runs.store import blocks
from kinetograph.runs.store.store import Store

pytestmark = [
    pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning"),
    pytest.mark.usefixtures("small_blocks"),
]
DRAWS = 400


class Limited:
    """While no file may be longer than so many bytes, as if the disk were full."""

    def __init__(self, size):
        self.size = size

    def __enter__(self):
        self.usual = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, self.usual[1]))

    def __exit__(self, *error):
        resource.setrlimit(resource.RLIMIT_FSIZE, self.usual)


@pytest.mark.parametrize("size", [3, 2_000])
def test_no_room_for_a_store_leaves_nothing(path, size):
    with pytest.raises(OSError, match=rf"{path} cannot be written: File too large; a run needs"):
        with Limited(size):
            run(schools(), store=path)
    assert os.listdir(path.parent) == []


def test_no_room_for_draws(path, whole, monkeypatch):
    """What was there stays, and the run goes on later."""
    monkeypatch.setattr(blocks, "MOST", 10_000)

    def look(so_far):
        if so_far.draws > 100 and resource.getrlimit(resource.RLIMIT_FSIZE)[0] == -1:
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, -1))

    try:
        with pytest.raises(OSError, match=rf"{path} could not be written: File too") as raised:
            run(schools(), draws=20_000, store=path, checkpoint_every=0.0, callback=look)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
    said = raised.value.strerror
    assert f"({path}/" in said
    assert f"; make room on the disk, then kg.resume('{path}') continues from the last" in said
    assert "continues the run" in raised.value.__notes__[0]
    assert not list(path.rglob("*.part"))
    tree = xr.open_datatree(path, engine="zarr")
    seen = tree["posterior"].sizes["draw"]
    kept = slice(min(seen, DRAWS))
    part = tree.isel(draw=kept, missing_dims="ignore").load()
    # A chain that is far behind the others is not seen.
    chains = part["posterior"]["chain"].values
    assert same_draws(part, whole.isel(chain=chains, draw=kept, missing_dims="ignore"))
    more = kg.resume(path, draws=DRAWS, progress=False).isel(
        draw=slice(DRAWS), missing_dims="ignore"
    )
    assert same_draws(more, whole)


def test_no_room_for_the_rest(path, monkeypatch):
    """All draws are there, and what else results hold they hold in memory."""

    def full(store, tree):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Store, "dress", full)
    with pytest.raises(OSError, match="No space left") as raised:
        run(gaussian(), store=path)
    assert "kept: 60 draws of each chain" in raised.value.__notes__[0]
    held = kg.stashed_samples()
    assert held.attrs["store"] == str(path)
    assert held["sampler_state"]["position_q"].shape == (2, 1)
    monkeypatch.undo()
    assert same_draws(kg.resume(path, progress=False), run(gaussian()))


def test_a_folder_that_is_moved_during_a_run(path, whole):
    """Nothing is written at its old place; the run goes on where it is."""
    elsewhere = path.with_name("elsewhere.zarr")

    def move(so_far):
        if so_far.draws > 100 and path.exists():
            path.rename(elsewhere)

    with pytest.raises(FileNotFoundError, match="moved or removed during the run; put it back"):
        run(schools(), draws=20_000, store=path, checkpoint_every=0.0, callback=move)
    assert os.listdir(path.parent) == [elsewhere.name]
    more = kg.resume(elsewhere, draws=DRAWS, progress=False)
    assert same_draws(more.isel(draw=slice(DRAWS), missing_dims="ignore"), whole)


FULL = """
import sys
import kinetograph as kg
from tests.runs.store.kills import model
try:
    kg.mcmc(model(), draws=3000, seed=1, store=sys.argv[1], checkpoint_every=0.05, progress=False)
except OSError as error:
    assert error.errno == 28, error
    print("full")
"""


def mounted(folder, *options):
    """Whether something is mounted at a folder."""
    if shutil.which("mount") is None or os.geteuid() != 0:
        return False
    return subprocess.run(["mount", *options, folder], capture_output=True).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("room", [200, 400, 700, 1000, 1500, 2000])
def test_a_small_disk(tmp_path, room):
    """At any moment that it is full, the store goes on once there is room."""
    from tests.runs.store.kills import model

    if not mounted(tmp_path, "-t", "tmpfs", "-o", f"size={room}k", "tmpfs"):
        pytest.skip("nothing can be mounted here")
    try:
        path = tmp_path / "run.zarr"
        made = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", FULL, str(path)], capture_output=True, text=True
        )
        assert (made.returncode, made.stdout) == (0, "full\n"), made.stderr
        mounted(tmp_path, "-o", "remount,size=64m")
        whole = kg.mcmc(model(), draws=3000, seed=1, progress=False)
        if path.exists():
            tree = kg.resume(path, progress=False).load()
        else:
            assert os.listdir(tmp_path) == []
            tree = kg.mcmc(model(), draws=3000, seed=1, store=path, progress=False).load()
        assert same_draws(tree, whole)
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_a_store_that_may_only_be_read(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    path = folder / "run.zarr"
    if os.geteuid() and os.name == "posix":
        run(gaussian(), store=path)
        for each in (path, path / ".kinetograph", *(path / ".kinetograph").glob("*"), folder):
            each.chmod(0o500)
    elif mounted(folder, "-t", "tmpfs", "tmpfs"):
        run(gaussian(), store=path)
        assert mounted(folder, "-o", "remount,ro")
    else:
        pytest.skip("nothing can be mounted here, and root may write everywhere")
    try:
        refused = "cannot be written: (Read-only file system|Permission denied); a run needs"
        for call in (
            lambda: kg.resume(path, draws=90, progress=False),
            lambda: run(gaussian(), store=path, chains=range(2, 4)),
            lambda: run(gaussian(), store=folder / "other.zarr"),
        ):
            with pytest.raises(OSError, match=refused):
                call()
        assert same_draws(opened(path).load(), run(gaussian()))
    finally:
        if os.geteuid():
            for each in (folder, path, path / ".kinetograph"):
                each.chmod(0o700)
        else:
            subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("name", ["posterior/x/c/1/0", "sample_stats/n_steps/c/0/0"])
def test_a_block_that_is_gone_is_no_block_of_zeros(path, name):
    run(gaussian(), store=path)
    name = name.replace(
        "posterior/x", f"posterior/{next(iter(opened(path)['posterior'].data_vars))}"
    )
    (path / name).unlink()
    tree = opened(path)
    with pytest.raises(Exception, match=r"(?i)not found"):
        tree.load()
    with pytest.warns(kg.KinetographWarning, match="block 0: No such file"):
        assert same_draws(kg.resume(path, progress=False), run(gaussian()))
    assert np.isfinite(opened(path)["sample_stats"]["n_steps"]).all()
