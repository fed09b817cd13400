"""Programs that bring their process down the first time they run are not loaded again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.programs.disk_cache import compile_cached
from kinetograph.programs.private_key import KEY
from kinetograph.programs.trials import Loaded, drop_crashed, on_trial

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no locks to mark programs by")

HEAD = """
import os, sys
import jax
from pathlib import Path
from kinetograph.programs.disk_cache import compile_cached
from kinetograph.programs.trials import on_trial
lower = lambda: jax.jit(lambda x: x + 1.0).lower(1.0)
"""
CRASH = "program, kept = compile_cached('p', lower); assert kept; "
CRASH += "program._executable = lambda x: os.abort(); program(1.0)"
HOLD = "with on_trial(Path(sys.argv[1])): print('held', flush=True); sys.stdin.readline()"
END = "marker = on_trial(Path(sys.argv[1])); marker.__enter__()"


def contents(folder: Path) -> list[Path]:
    """What is in the folder of the cache beside its key."""
    return [path for path in folder.iterdir() if path.name != KEY]


@pytest.fixture
def entry(tmp_path, monkeypatch):
    """A kept program."""
    monkeypatch.setenv("KINETOGRAPH_CACHE", str(tmp_path / "programs"))
    assert compiled() == (2.0, False)
    (found,) = contents(tmp_path / "programs")
    return found


def compiled() -> tuple[float, bool]:
    program, kept = compile_cached("p", lambda: jax.jit(lambda x: x + 1.0).lower(1.0))
    return float(program(1.0)), kept


def started(code: str, entry: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", HEAD + code, str(entry)],
        env=os.environ | {"PYTHONPATH": str(Path(kg.__file__).parents[1])},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_a_program_that_crashed_is_compiled_anew(entry):
    process = started(CRASH, entry)
    _, errors = process.communicate(timeout=100)
    assert process.returncode == -signal.SIGABRT, errors
    assert len(contents(entry.parent)) == 2  # it and its marker
    assert compiled() == (2.0, False)
    assert contents(entry.parent) == [entry]
    assert compiled() == (2.0, True)


def test_a_program_is_loaded_while_another_process_tries_it(entry):
    process = started(HOLD, entry)
    assert process.stdout.readline() == "held\n"
    assert compiled() == (2.0, True)
    process.kill()
    process.communicate()
    assert compiled() == (2.0, False)


def test_a_process_that_ends_as_it_should_leaves_no_marker(entry):
    process = started(END, entry)
    _, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors
    assert contents(entry.parent) == [entry]


def test_what_crashed_and_is_not_asked_for_again_goes_when_another_is_stored(entry):
    process = started(HOLD, entry)
    process.stdout.readline()
    process.kill()
    process.communicate()
    compile_cached("other", lambda: jax.jit(lambda x: x + 2.0).lower(1.0))
    (left,) = contents(entry.parent)
    assert left != entry


def test_an_error_is_no_crash(entry):
    def wrong(x):
        raise ValueError

    program = Loaded(wrong, entry)
    with pytest.raises(ValueError):
        program(1.0)
    assert contents(entry.parent) == [entry]
    assert not drop_crashed(entry)


def test_only_the_first_run_is_marked(entry):
    seen = []
    program = Loaded(lambda x: seen.append(len(contents(entry.parent))), entry)
    for _ in range(3):
        program(1.0)
    assert seen == [2, 1, 1]


def test_a_folder_that_cannot_be_written_has_no_markers(tmp_path):
    with on_trial(tmp_path / "none" / "p.xla"):
        pass
    assert contents(tmp_path) == []


@pytest.mark.slow
def test_a_run_costs_microseconds_more(entry):
    bare = jax.jit(lambda x: x + 1.0).lower(1.0).compile()
    program, x = Loaded(bare, entry), np.float64(1.0)
    program(x)

    def seconds(function):
        begun = time.perf_counter()
        for _ in range(2000):
            function(x)
        return (time.perf_counter() - begun) / 2000

    extra = min(seconds(program) - seconds(bare) for _ in range(10))
    assert extra < 5e-6
