"""The cache on disks that flip bits, tear files and fill up, and used by many processes at once."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.programs import disk_cache, sealed_files
from kinetograph.programs.disk_cache import compile_cached
from kinetograph.programs.private_key import KEY
from kinetograph.programs.sealed_files import read_sealed

X = np.linspace(0.1, 1.0, 7)


def contents(folder: Path) -> list[Path]:
    """What is in the folder of the cache beside its key."""
    return [path for path in folder.iterdir() if path.name != KEY]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "programs"
    monkeypatch.setenv("KINETOGRAPH_CACHE", str(place))
    return place


def lowered():
    return jax.jit(lambda x: jax.numpy.cumsum(jax.numpy.sin(x) * 3.0)).lower(X)


def drawn(name: str = "a program") -> tuple[bytes, bool]:
    """What the program gives, to the last bit, and whether it came from the disk."""
    program, kept = compile_cached(name, lowered)
    return np.asarray(program(X)).tobytes(), kept


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.xla"))


@pytest.mark.parametrize("places", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_a_flipped_bit_is_seen_wherever_it_is(folder, places):
    expected, _ = drawn()
    (entry,) = entries(folder)
    chance = np.random.default_rng(1)
    for i in range(places):
        data = bytearray(entry.read_bytes())
        place = (i * len(data)) // places + int(chance.integers(len(data) // places))
        data[place] ^= 1 << int(chance.integers(8))
        entry.write_bytes(data)
        assert drawn() == (expected, False), place
        assert entries(folder) == [entry]
        read_sealed(entry, (folder / KEY).read_bytes())
        assert drawn() == (expected, True), place


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
def test_a_torn_file_is_made_anew(folder, share):
    expected, _ = drawn()
    (entry,) = entries(folder)
    data = entry.read_bytes()
    entry.write_bytes(data[: int(share * len(data))])
    assert drawn() == (expected, False)
    assert drawn() == (expected, True)


def test_what_is_damaged_goes_even_if_it_cannot_be_made_anew(folder, monkeypatch):
    drawn()
    (entry,) = entries(folder)
    entry.write_bytes(entry.read_bytes()[:-1])
    monkeypatch.setattr(disk_cache, "_store", lambda path, key, executable: None)
    drawn()
    assert entries(folder) == []


class FullDisk:
    """A file of which half is written."""

    def __init__(self, path, mode):
        self.file = open(path, mode)

    def __enter__(self):
        return self

    def __exit__(self, *rest):
        self.file.close()

    def write(self, data):
        self.file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_no_error_and_leaves_nothing_behind(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(sealed_files, "open", FullDisk, raising=False)
        expected, kept = drawn()
    assert not kept
    assert contents(folder) == []
    assert drawn() == (expected, False)
    assert drawn() == (expected, True)


def test_files_that_nobody_is_writing_any_more_are_removed(folder):
    folder.mkdir(mode=0o700)
    old, new = folder / ".x.xla.0123.part", folder / ".y.xla.4567.part"
    older = folder / "tmp01234567"
    for path in (old, new, older):
        path.write_text("half")
    for path in (old, older):
        os.utime(path, (time.time() - 4000, time.time() - 4000))
    drawn()
    assert sorted(p.name for p in contents(folder) if p.suffix != ".xla") == [new.name]


def test_there_is_a_bound_of_entries(folder, monkeypatch):
    monkeypatch.setattr(disk_cache, "_MOST_ENTRIES", 3)
    for i in range(5):
        drawn(f"program {i}")
        for path in entries(folder):  # as if they had been made long ago, in order
            if path.stat().st_mtime > 1e6:
                os.utime(path, (i, i))
        assert len(entries(folder)) == min(i + 1, 3)
    assert [drawn(f"program {i}")[1] for i in (4, 3, 2)] == [True] * 3
    assert not drawn("program 0")[1]


def test_there_is_a_bound_of_bytes(folder, monkeypatch):
    drawn("first")
    (first,) = entries(folder)
    size = first.stat().st_size
    os.utime(first, (1, 1))
    monkeypatch.setattr(disk_cache, "_MOST_BYTES", int(1.5 * size))
    drawn("second")
    assert len(entries(folder)) == 1
    assert not first.exists()
    monkeypatch.setattr(disk_cache, "_MOST_BYTES", size // 2)
    drawn("third")  # is larger than all may be
    assert len(entries(folder)) == 1


MANY = """
import random, sys
import jax
import numpy as np
from kinetograph.programs.disk_cache import cache_folder, compile_cached
me = int(sys.argv[1])
chance, kept = random.Random(me), 0
x = np.linspace(0.1, 1.0, 7)
for turn in range(40):
    k = chance.choice([0, 1, 2, 10 + me])
    lower = lambda: jax.jit(lambda x: jax.numpy.sin(x) * k).lower(x)
    program, found = compile_cached(f"program {k}", lower)
    np.testing.assert_allclose(program(x), np.sin(x) * k, rtol=1e-5)
    kept += found
    entries = sorted(cache_folder().glob("*.xla"))
    if turn % 5 == me and entries:
        entry = chance.choice(entries)
        try:
            entry.write_bytes(entry.read_bytes()[:-7]) if me % 2 else entry.unlink()
        except OSError:
            pass
print(kept)
"""


def test_many_processes_store_load_and_damage_the_same_programs(folder, tmp_path):
    script = tmp_path / "many.py"
    script.write_text(MANY)
    environment = os.environ | {"PYTHONPATH": str(Path(kg.__file__).parents[1])}
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", str(script), str(i)],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for i in range(4)
    ]  # fmt: skip
    for process in processes:
        out, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        assert int(out) > 10
    assert {p.suffix for p in contents(folder)} == {".xla"}
