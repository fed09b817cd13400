"""What a block computes of its draws."""

from pathlib import Path

import jax
import numpy as np
import pytest
from tests.runs.models import run

import kinetograph as kg
from kinetograph.programs import block_loops
from kinetograph.programs.program import Program

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


def test_targets_are_computed_of_the_draws_and_few_more():
    """An expensive target must not be computed of a thousand rows that hold no draw."""
    seen = []

    def noted(x):
        seen.append(float(x))
        return 2 * x

    def twice(x):
        like = jax.ShapeDtypeStruct((), x.dtype)
        return jax.pure_callback(noted, like, x, vmap_method="sequential")

    with kg.precision("float32"):
        x = kg.normal(0, 1)
        double = kg.lift(twice)(x)
    tree = run(kg.model(x, double), sampler=kg.samplers.GLA2(0.5), draws=50, warmup=300, chains=1)
    np.testing.assert_array_equal(tree["posterior"]["double"], 2 * tree["posterior"]["x"])
    assert 50 <= len(seen) <= 500


def test_large_targets_are_computed_one_by_one():
    """Of a vector of a million numbers that leaves one number behind, one is held at a time."""
    x = kg.normal(0, 1)
    large = kg.sum(kg.exp(x * np.linspace(-1, 1, 10**6)))
    program = Program(kg.model(x, large), kg.samplers.NUTS(), [large.node])
    assert program.few() == 1
    small = Program(kg.model(x), kg.samplers.NUTS(), [x.node])
    assert small.rows() % small.few() == 0
    assert small.few() > 8


def test_a_run_compiles_its_two_programs_and_nothing_else():
    """Blocks end with any number of rows: nothing may be made for each number."""
    x = kg.normal(0, 1, shape=(3,), name="x")
    y = kg.data([0.5, 1.5, 2.5])
    kg.observe(y, kg.normal(x, 1))
    compiled = []

    def note(name, *_, **__):
        if "backend_compile" in name:
            compiled.append(name)

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        run(kg.model(x), draws=137, warmup=None, chains=2, keep_warmup=True)
    finally:
        jax.monitoring.clear_event_listeners()
    assert len(compiled) <= 2  # none where they come out of the cache


def drawn(
    sampler: kg.Sampler, monkeypatch: pytest.MonkeyPatch, folder: Path, at_once: int
) -> np.ndarray:
    monkeypatch.setenv("KINETOGRAPH_CACHE", str(folder / str(at_once)))
    monkeypatch.setattr(block_loops, "DRAWN", at_once)
    x = kg.normal(0, 1, shape=3)
    tree = run(kg.model(x), sampler=sampler, draws=150, warmup=10, chains=2, seed=1, thin=2)
    return np.asarray(tree["posterior"]["x"])


@pytest.mark.parametrize(
    "sampler", [kg.samplers.BAOAB(0.3), kg.samplers.RandomWalk(0.7), kg.samplers.HMC(0.2, 3)]
)
def test_draws_do_not_depend_on_how_many_arrays_are_drawn_at_once(
    sampler: kg.Sampler, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Arrays for 7 transitions at once end inside of blocks, of warm-up and of thinned draws."""
    one = drawn(sampler, monkeypatch, tmp_path, 1)
    for at_once in (7, 64):
        np.testing.assert_allclose(
            drawn(sampler, monkeypatch, tmp_path, at_once), one, rtol=1e-9, atol=1e-11
        )
    assert np.unique(one).size == one.size or isinstance(
        sampler, kg.samplers.RandomWalk | kg.samplers.HMC
    )


def test_large_arrays_are_drawn_for_one_transition() -> None:
    sampler = kg.samplers.BAOAB(0.3)

    def program(size: int) -> Program:
        model = kg.model(kg.normal(0, 1, shape=size, name="x"))
        return Program(model, sampler, model.targets)

    assert block_loops.transitions_at_once(program(3)) == block_loops.DRAWN
    assert block_loops.transitions_at_once(program(5000)) <= 1
