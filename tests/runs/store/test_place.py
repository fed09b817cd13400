"""Where a store is: paths of all kinds, and what can be no folder."""

import os
from pathlib import Path

import pytest
from tests.runs.models import run, same_draws, schools

import kinetograph as kg
from kinetograph.runs.store.place import folder

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


@pytest.mark.parametrize("given", [3, True, None, b"run.zarr", ["run.zarr"]])
def test_what_is_no_path(given):
    with pytest.raises(TypeError, match=r"resume: a store is a folder, given by its path, .* got "):
        folder("resume", given)
    with pytest.raises(TypeError, match="resume: a store is a folder"):
        kg.resume(given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "'' cannot be a folder"),
        ("run\0.zarr", "cannot be a folder"),
        ("s3://bucket/run.zarr", "s3://bucket/run.zarr is an address"),
        (Path("s3://bucket/run.zarr"), "s3:/bucket/run.zarr is an address"),
    ],
)
def test_what_can_be_no_folder(given, said):
    for call in (lambda: folder("mcmc", given), lambda: run(schools(), store=given)):
        with pytest.raises(ValueError, match=f"mcmc: .*{said}" if said[0] == "s" else said):
            call()


def test_a_folder_in_a_file(tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(
        ValueError, match=r"/notes/run.zarr cannot be a folder, because .*/notes is a file"
    ):
        folder("mcmc", tmp_path / "notes" / "run.zarr")


def test_it_is_the_full_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("later.zarr")
    here = Path(os.path.realpath(tmp_path))
    assert folder("mcmc", "run.zarr") == here / "run.zarr"
    assert folder("mcmc", "~/run.zarr") == here / "home" / "run.zarr"
    assert folder("mcmc", "link/run.zarr/") == here / "real" / "run.zarr"
    assert folder("mcmc", Path("dangling")) == here / "later.zarr"


def test_a_process_may_change_its_folder_and_names_may_be_any(tmp_path, monkeypatch):
    """zarr takes `#` and `?` for parts of an address, and fills what it does not find."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    name = "mé 漢 %20#1?.zarr"
    tree = run(schools(), store=name, callback=lambda so_far: os.chdir(tmp_path / "elsewhere"))
    assert same_draws(tree, run(schools()))
    assert os.listdir(tmp_path / "elsewhere") == []
    os.chdir(tmp_path)
    assert sorted(os.listdir()) == ["elsewhere", name]
    more = kg.resume(name, draws=80, progress=False)
    assert same_draws(more, run(schools(), draws=80))


def test_a_refused_call_leaves_nothing(tmp_path):
    path = tmp_path / "run.zarr"
    with pytest.raises(TypeError, match="mcmc: callback must be a function"):
        run(schools(), store=path, callback=3)
    with pytest.raises(ValueError, match="checkpoint_every must be a number of seconds"):
        run(schools(), store=path, checkpoint_every=float("nan"))
    with pytest.raises(TypeError, match="progress must be True, False or a Progress"):
        run(schools(), store=path, progress="no")
    assert os.listdir(tmp_path) == []
