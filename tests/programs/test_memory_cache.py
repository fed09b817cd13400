"""Few compiled programs stay in memory, and `kg.clear_cache` leaves none."""

import gc
import weakref

import pytest
from tests.runs.models import run, same_draws

import kinetograph as kg
from kinetograph.models.ancestral import rows
from kinetograph.programs import engine, memory_cache
from kinetograph.programs.memory_cache import MOST, PROGRAMS, CompiledProgram, find, hold
from kinetograph.programs.pace import Pace

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

OPTIONS = {"draws": 10, "warmup": 10, "chains": 1, "sampler": kg.samplers.RandomWalk()}


@pytest.fixture(autouse=True)
def none_yet():
    """No program of another test, which would be removed."""
    before = [(model, dict(held)) for model, held in PROGRAMS.items()]
    PROGRAMS.clear()
    yield
    PROGRAMS.clear()
    PROGRAMS.update(before)


def program() -> CompiledProgram:
    return CompiledProgram(None, None, None, 0.0, 0.0, False, Pace())


def model(size: int = 2) -> kg.Model:
    return kg.model(kg.normal(0, 1, shape=size, name="x"))


def count() -> int:
    return sum(map(len, PROGRAMS.values()))


def test_the_programs_used_last_of_all_models_are_kept():
    models = [model() for _ in range(MOST + 5)]
    for made in models[:MOST]:
        hold(made, "block", program())
    assert find(models[0], "block") is not None  # which makes it the one used last
    for made in models[MOST:]:
        hold(made, "block", program())
    assert count() == MOST
    held = [find(made, "block") is not None for made in models]
    assert held == [True, *(False for _ in range(5)), *(True for _ in models[6:])]


def test_the_bound_holds_within_a_model_too():
    made = model()
    for key in range(MOST + 5):
        hold(made, key, program())
    assert [*PROGRAMS[made]] == [*range(5, MOST + 5)]


def test_runs_keep_no_more_programs_than_the_bound(monkeypatch):
    monkeypatch.setattr(memory_cache, "MOST", 1)
    models = [model(size) for size in (1, 2)]
    first, _ = (run(made, **OPTIONS) for made in models)
    assert [len(PROGRAMS.get(made, {})) for made in models] == [0, 1]
    assert same_draws(run(models[0], **OPTIONS), first)
    assert [len(PROGRAMS.get(made, {})) for made in models] == [1, 0]


def test_a_program_goes_with_its_model():
    made = model()
    hold(made, "block", program())
    gone = weakref.ref(made)
    del made
    gc.collect()
    assert gone() is None
    assert count() == 0


def test_clear_cache_forgets_all_programs_and_a_run_after_it_draws_the_same():
    made = model()
    first, simulated = run(made, **OPTIONS), kg.simulate(made, draws=3, seed=1)
    executable = weakref.ref(next(iter(PROGRAMS[made].values())))
    point = made.log_prob([0.5, 1.0])
    assert count() == 1
    assert rows._compiled.cache_info().currsize > 0
    kg.clear_cache()
    gc.collect()
    assert count() == rows._compiled.cache_info().currsize == 0
    assert executable() is None
    assert same_draws(run(made, **OPTIONS), first)
    assert same_draws(kg.simulate(made, draws=3, seed=1), simulated, ("prior",))
    assert made.log_prob([0.5, 1.0]) == point


def test_what_the_compiler_leaves_is_given_back(monkeypatch, tmp_path):
    """After a program was compiled, and not after one was loaded, which leaves little."""
    monkeypatch.setenv("KINETOGRAPH_CACHE", str(tmp_path))
    trimmed = []
    monkeypatch.setattr(engine, "trim", lambda: trimmed.append(True))
    run(model(), **OPTIONS)
    assert trimmed == [True]
    run(model(), **OPTIONS)
    assert trimmed == [True]
