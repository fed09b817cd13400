"""Compiled programs: kept by the model, and on disk, and used only when they are safe to use."""

import contextlib
import json
import logging
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from tests.runs import models
from tests.runs.models import same_draws
from tests.selection import thinned

import kinetograph as kg
from kinetograph.programs.disk_cache import _surroundings, cache_folder, compile_cached
from kinetograph.programs.fingerprint import fingerprint
from kinetograph.programs.program import Program
from kinetograph.programs.sealed_files import seal

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


def run(model: kg.Model, **options):
    """By a sampler that is quick to compile."""
    return models.run(model, **({"sampler": kg.samplers.RandomWalk()} | options))


def model(slope: float = 1.0, values: tuple[float, ...] = (0.2, 0.4, 0.9)) -> kg.Model:
    """A model made anew each time."""
    a = kg.normal(0, 1)
    y = kg.data(values)
    kg.observe(y, kg.student(3, slope * a, 1.0))
    return kg.model(a)


@contextlib.contextmanager
def count_compilations():
    """The names of all programs that XLA compiles meanwhile."""
    seen: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record):
            if "Finished XLA compilation of" in record.getMessage():
                seen.append(record.getMessage())

    logger, listener = logging.getLogger("jax"), Listener()
    jax.config.update("jax_log_compiles", True)  # on all threads, which the context is not
    logger.addHandler(listener)
    try:
        yield seen
    finally:
        logger.removeHandler(listener)
        jax.config.update("jax_log_compiles", False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "programs"
    monkeypatch.setenv("KINETOGRAPH_CACHE", str(place))
    return place


def programs(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.xla"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the program of `model()`, what was compiled for it, and its draws."""
    place = tmp_path_factory.mktemp("made") / "programs"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KINETOGRAPH_CACHE", str(place))
        with count_compilations() as seen:
            draws = run(model())
    return place, seen, draws


@pytest.fixture
def filled(folder, made):
    """The folder when `model()` has been run, and its draws."""
    shutil.copytree(made[0], folder)
    return folder, made[2]


def test_compilations_are_counted(made):
    """Else the tests below would pass whatever happens."""
    assert made[1]


def test_a_second_run_of_a_model_compiles_nothing(filled):
    folder, _ = filled
    schools = model()
    run(schools)
    shutil.rmtree(folder)
    with count_compilations() as seen:
        run(schools, draws=500, warmup=20, chains=7, seed=1, thin=3)
        run(schools, draws=5, chains=1, initial=np.zeros((1, 1)))
    assert seen == []


def test_an_equal_model_comes_from_the_disk(filled):
    folder, first = filled
    assert len(programs(folder)) == 2  # the search for a start, and the chain
    with count_compilations() as seen:
        second = run(model())
    assert seen == []
    assert same_draws(first, second)
    assert len(programs(folder)) == 2


@pytest.mark.slow
def test_another_model_is_another_program(filled):
    folder, first = filled
    second = run(model(slope=2.0))
    assert len(programs(folder)) == 4
    assert not same_draws(first, second)


def test_other_data_of_the_same_shape_gives_other_draws(filled):
    _, first = filled
    second = run(model(values=(5.0, 6.0, 7.0)))
    assert first["posterior"]["a"].mean() < 1 < second["posterior"]["a"].mean()


@pytest.mark.slow
def test_a_sampler_with_other_settings_is_another_program(filled):
    folder, _ = filled
    run(model(), sampler=kg.samplers.RandomWalk(proposal="uniform"))
    assert len(programs(folder)) == 4


def biased(factor: float):
    """A class of one name whose code differs by a number it closes over."""

    class Biased(kg.Sampler):
        def step(self, at):
            self.record("biased", factor * at.potential)
            return self.evaluate(at.q + self.noise("move", like=at.q))

    return Biased()


def test_a_changed_class_of_the_same_name_is_not_taken_for_the_old_one(filled):
    """A sampler's author edits and runs again: the old program must not come back."""
    once = run(model(), sampler=biased(1.0))["sample_stats"]["biased"].values
    twice = run(model(), sampler=biased(2.0))["sample_stats"]["biased"].values
    np.testing.assert_allclose(twice, 2 * once, rtol=1e-12)


def lifted(factor: float) -> kg.Model:
    @kg.lift
    def penalty(v):
        return -factor * v * v

    a = kg.normal(0, 1)
    return kg.model(a, factors=[penalty(a)])


@pytest.mark.slow
def test_a_lifted_function_that_closes_over_another_value_is_another_program(folder):
    settings = {"draws": 2000, "warmup": 500}
    narrow, wide = run(lifted(50.0), **settings), run(lifted(0.5), **settings)
    assert float(narrow["posterior"]["a"].std()) < 0.2 < float(wide["posterior"]["a"].std())


def compiled() -> float:
    """What a small program, compiled or from the cache, gives."""
    program, _ = compile_cached(None, lambda: jax.jit(lambda x: x + 1.0).lower(1.0))
    return float(program(1.0))


def test_the_cache_can_be_switched_off(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("KINETOGRAPH_CACHE", "off")
    assert cache_folder() is None
    with count_compilations() as seen:
        assert compiled() == compiled() == 2.0
    assert len(seen) == 2
    assert list(tmp_path.rglob("*.xla")) == []


def test_it_is_on_by_default_in_the_users_cache_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("KINETOGRAPH_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert compiled() == 2.0
    assert len(list(tmp_path.rglob("*.xla"))) == 1
    assert tmp_path in cache_folder().parents


@pytest.mark.parametrize("content", thinned([None, b"no pickle", b""], 3))
def test_a_damaged_entry_is_replaced(filled, content):
    folder, first = filled
    entry, other = programs(folder)
    whole = entry.read_bytes()
    entry.write_bytes(whole[: len(whole) // 2] if content is None else content)
    assert same_draws(run(model()), first)
    assert programs(folder) == [entry, other]
    assert len(entry.read_bytes()) > len(whole) // 2
    with count_compilations() as seen:
        run(model())
    assert seen == []


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
@pytest.mark.parametrize("mode", thinned([0o770, 0o777, 0o702], 3))
def test_a_folder_that_others_may_write_to_is_not_used(folder, mode):
    folder.mkdir()
    folder.chmod(mode)
    with pytest.warns(
        kg.KinetographWarning, match=r"programs is not used, .* can change .*programs;"
    ):
        assert compiled() == 2.0
    assert programs(folder) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
@pytest.mark.parametrize("linked", [False, True])
def test_a_folder_below_one_that_others_may_write_to_is_not_used(tmp_path, monkeypatch, linked):
    shared = tmp_path / "shared"
    (shared / "mine").mkdir(parents=True, mode=0o700)
    shared.chmod(0o777)
    place = shared / "mine" / "programs"
    if linked:
        (tmp_path / "link").symlink_to(shared / "mine")
        place = tmp_path / "link" / "programs"
    monkeypatch.setenv("KINETOGRAPH_CACHE", str(place))
    with pytest.warns(kg.KinetographWarning, match=r"change .*/shared; .*chmod go-w .*"):
        assert compiled() == 2.0
    assert programs(place) == []
    shared.chmod(0o1777)  # nobody can replace the entries of others, as in /tmp
    assert compiled() == 2.0
    assert len(programs(place)) == 1


def test_an_entry_that_was_not_made_with_the_key_is_not_unpickled(filled, tmp_path):
    """Even where its checksum is right."""
    folder, first = filled

    class Harm:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "harm"),)

    for key in (b"", bytes(32)):
        for entry in programs(folder):
            entry.write_bytes(seal(pickle.dumps(Harm()), key))
        assert same_draws(run(model()), first)
        assert not (tmp_path / "harm").exists()


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_a_key_that_others_can_read_is_not_used(folder):
    assert compiled() == 2.0
    key = folder / ".key"
    assert key.stat().st_mode & 0o777 == 0o600
    key.chmod(0o644)
    with pytest.warns(kg.KinetographWarning, match=r"\.key; .*remove .*\.key"):
        assert compiled() == 2.0
    key.unlink()
    assert compiled() == 2.0
    assert key.read_bytes() != bytes(32)


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("KINETOGRAPH_CACHE", str(blocked / "programs"))
    assert compiled() == 2.0


def test_nothing_is_left_beside_the_entries(made):
    folder, _, _ = made
    assert sorted(p.suffix or p.name for p in folder.iterdir()) == [".key", ".xla", ".xla"]
    assert folder.stat().st_mode & 0o077 == 0


SCRIPT = """
import json, logging, sys
import jax
import kinetograph as kg
seen = []
class Listener(logging.Handler):
    def emit(self, record):
        if "Finished XLA compilation of" in record.getMessage():
            seen.append(record.getMessage())
logging.getLogger("jax").addHandler(Listener())
logging.getLogger("jax").propagate = False
a = kg.normal(0, 1)
y = kg.data([0.2, 0.4, 0.9])
kg.observe(y, kg.student(3, 1.0 * a, 1.0))
settings = {"draws": 60, "warmup": 80, "chains": 2, "seed": 5}
model, sampler = kg.model(a), kg.samplers.RandomWalk()
with jax.log_compiles():
    tree = kg.mcmc(model, sampler, progress=False, **settings)
print(len(seen), tree["posterior"]["a"].values.tobytes().hex())
from kinetograph.programs.disk_cache import _surroundings
from kinetograph.programs.fingerprint import fingerprint
from kinetograph.programs.program import Program
text = fingerprint(Program(model, sampler, model.targets), None)
print(json.dumps([*_surroundings(), *text.split("\\n")]))
"""


def test_another_process_compiles_nothing(filled, tmp_path):
    """The same model and run in a script: not one compilation, and the same draws."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    source = str(Path(kg.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": source}
    kept = programs(filled[0])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)],
        env=environment, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    numbers, told = done.stdout.splitlines()
    count, draws = numbers.split()
    here = model()
    program = Program(here, kg.samplers.RandomWalk(), here.targets)
    assert json.loads(told) == [*_surroundings(), *fingerprint(program, None).split("\n")]
    assert programs(filled[0]) == kept  # else it was another program
    assert int(count) == 0
    assert draws == filled[1]["posterior"]["a"].values.tobytes().hex()


FACTOR = """
import jax
import numpy as np
from kinetograph.programs.disk_cache import compile_cached
matrix = np.eye(12, dtype=np.float32)
lowered = lambda: jax.jit(jax.numpy.linalg.cholesky).lower(matrix)
factorise, kept = compile_cached("a factor", lowered)
print(kept, float(factorise(4 * matrix)[0, 0]))
"""


@pytest.mark.slow
def test_another_process_factorises_matrices(folder, tmp_path):
    """A kept program calls LAPACK in a process that has lowered no call of it."""
    script = tmp_path / "factor.py"
    script.write_text(FACTOR)
    environment = os.environ | {"PYTHONPATH": str(Path(kg.__file__).parents[1])}
    found = [
        subprocess.run(
            [sys.executable, "-W", "ignore", str(script)],
            env=environment, capture_output=True, text=True, timeout=120, check=True,
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert found == ["False 2.0\n", "True 2.0\n"]


@pytest.mark.slow
def test_nothing_is_kept_of_what_comes_out_of_jaxs_own_cache(folder, tmp_path):
    """Its programs run, but what is written of them does not."""
    code = (
        "import jax\n"
        "from kinetograph.programs.disk_cache import compile_cached\n"
        "for _ in range(2):\n"
        "    lowered = lambda: jax.jit(lambda x: jax.numpy.exp(x) + 1.0).lower(1.0)\n"
        "    print(float(compile_cached(None, lowered)[0](1.0)))\n"
        "    jax.clear_caches()\n"
    )
    settings = {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.split()
    assert first == second
    assert list((tmp_path / "jax").iterdir())
    assert programs(folder) == []


def test_programs_of_one_text_and_other_structures_are_told_apart(folder):
    """An empty part of a result leaves no trace in what is lowered, but it is returned."""
    plain = jax.jit(lambda x: {"a": x + 1.0})
    more = jax.jit(lambda x: {"a": x + 1.0, "b": {}})
    x = np.float32(1.0)
    assert plain.lower(x).as_text() == more.lower(x).as_text()
    for function, expected in ((plain, {"a"}), (more, {"a", "b"})):
        for _ in range(2):
            executable, _ = compile_cached(None, lambda f=function: f.lower(x))
            assert set(executable(x)) == expected


TWO_DEVICES = """
import jax
import numpy as np
import kinetograph as kg
from kinetograph.programs.disk_cache import compile_cached
lowered = lambda: jax.jit(lambda x: 2 * x).lower(np.ones(3))
kept = [compile_cached("a program", lowered, devices=[d]) for d in jax.devices() for _ in range(2)]
with jax.default_device(jax.devices()[1]):
    kept[2:] = [compile_cached("another program", lowered) for _ in range(2)]
print([from_cache for _, from_cache in kept], [float(f(np.ones(3)).sum()) for f, _ in kept])
"""


def test_programs_of_a_process_with_several_devices(folder):
    """A program is loaded for its own device alone."""
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TWO_DEVICES],
        env=os.environ | flags, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout == f"{[False, True] * 2} {[6.0] * 4}\n", done.stderr


def rows(count: int = 70, effects: bool = False) -> kg.Model:
    """A model whose rows devices share."""
    random = np.random.default_rng(1)
    a, sd = kg.normal(0, 1, name="a"), kg.half_normal(1.0, name="sd")
    z = kg.normal(0, sd, shape=count if effects else 3, name="z")
    groups = kg.data(random.integers(0, 3, count), "group")
    effect = z if effects else z[groups]
    kg.observe(kg.data(random.poisson(2.0, count), "y"), kg.poisson(kg.exp(a + effect)))
    return kg.model(a, sd)


def function_names(seen: list[str]) -> list[str]:
    """The names of compiled functions."""
    return [text.split("jit(")[1].split(")")[0] for text in seen]


def test_programs_of_shared_rows_come_from_the_disk(folder):
    settings = {"shard": "rows", "draws": 20, "warmup": 5}
    with count_compilations() as seen:
        first = run(rows(), **settings)
    assert {"batch_block", "search"} <= {*function_names(seen)}
    assert len(programs(folder)) == 2
    with count_compilations() as seen:
        again = run(rows(), **settings)
    # the comparison of rows, and the values of data alone
    assert {*function_names(seen)} <= {"<lambda>", "jaxpr_as_fun"}
    assert same_draws(first, again)
    for count, (other, more) in enumerate(
        [(rows(effects=True), {}), (rows(), {"reduction": "fast"})]
    ):
        run(other, **settings | more)
        assert len(programs(folder)) > 2 + count
