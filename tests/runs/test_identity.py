"""Draws depend on model, sampler, seed and the chain's number alone: compared to the last bit."""

import io
import threading
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.runs.models import check_alike, gaussian, run, same_draws, schools

import kinetograph as kg
from kinetograph.programs import memory_cache
from kinetograph.programs.program import ROWS
from kinetograph.runs.progress.display import PlainProgress

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
ALL = ("posterior", "sample_stats", "sampler_state")


@pytest.fixture(scope="module")
def plain():
    return run(schools(), chains=4)


def test_the_same_seed_gives_the_same_draws(plain):
    assert same_draws(run(schools(), chains=4), plain, ALL)


def test_another_seed_gives_other_draws(plain):
    assert not same_draws(run(schools(), chains=4, seed=6), plain)


def test_chains_differ(plain):
    mu = plain["posterior"]["mu"].values
    assert len(np.unique(mu[:, -1])) == 4


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_number_of_threads_changes_nothing(plain, threads):
    assert same_draws(run(schools(), chains=4, threads=threads), plain, ALL)


def test_progress_changes_nothing(plain):
    stream = io.StringIO()
    assert same_draws(run(schools(), chains=4, progress=PlainProgress(stream)), plain, ALL)
    assert "draws of 4 chains" in stream.getvalue()


@pytest.mark.parametrize("chains", [1, 3, 8])
def test_a_chain_does_not_know_how_many_others_there_are(chains):
    tree, plain = (run(schools(), chains=n, chain_method="threads") for n in (chains, 4))
    common = min(chains, 4)
    for group in ALL:
        for name, values in tree[group].dataset.data_vars.items():
            expected = plain[group].dataset[name].values[:common]
            equal = np.array_equal(
                values.values[:common], expected, equal_nan=values.dtype.kind == "f"
            )
            assert equal, name


@pytest.mark.parametrize("gradients", [1, 7, 10**9])
def test_blocks_of_any_length_give_the_same_draws(plain, monkeypatch, gradients):
    """One transition a block, a few, or all from one stop of the host to the next."""
    blocks = []

    class Pace:
        def __init__(self):
            self.gradients = gradients

        def adjust(self, spent, seconds):
            blocks.append(seconds)

    kept = memory_cache.PROGRAMS[schools()]
    for identity, compiled in kept.items():
        monkeypatch.setitem(kept, identity, replace(compiled, pace=Pace()))
    assert same_draws(run(schools(), chains=4), plain, ALL)
    # At least the warm-up and the rest of each; the host looks at warm-up up to three times.
    assert 4 * 2 <= len(blocks) <= 4 * 5 if gradients > 1000 else len(blocks) > 200


@pytest.mark.parametrize("draws", [1, ROWS - 1, ROWS, ROWS + 1, 2 * ROWS + 17])
def test_any_number_of_draws_is_the_beginning_of_more(draws):
    tree = run(gaussian(), draws=draws)
    longer = run(gaussian(), draws=3 * ROWS)
    assert tree["posterior"]["x"].shape == (2, draws)
    assert np.array_equal(tree["posterior"]["x"], longer["posterior"]["x"][:, :draws])


@pytest.mark.parametrize("thin", [2, 3, 7])
def test_thinning_keeps_each_thin_th_row(thin):
    tree = run(schools(), draws=40, thin=thin)
    full = run(schools(), draws=40 * thin)
    for group in ("posterior", "sample_stats"):
        for name, values in tree[group].dataset.data_vars.items():
            assert np.array_equal(
                values.values, full[group].dataset[name].values[:, thin - 1 :: thin]
            )
    # Of one transition too many for each row they are others.
    late = run(schools(), draws=40, thin=thin + 1)["posterior"]["tau"].values
    kept = full["posterior"]["tau"].values[:, thin - 1 :: thin]
    assert not np.any(late == kept)


def test_a_seed_taken_from_the_system_is_recorded_and_runs_again():
    tree, other = run(schools(), seed=None), run(schools(), seed=None)
    assert tree.attrs["seed"] != other.attrs["seed"]
    assert same_draws(run(schools(), seed=int(tree.attrs["seed"])), tree, ALL)


@pytest.mark.parametrize("seed", [0, np.int64(3), 2**64, 2**200])
def test_seeds_of_any_size(seed):
    tree = run(gaussian(), seed=seed)
    assert same_draws(run(gaussian(), seed=int(tree.attrs["seed"])), tree)


def test_targets_do_not_change_the_draws():
    """What is recorded besides does not move the unknowns."""
    x = kg.normal(0, 1)
    y = kg.data([0.4, 1.1])
    kg.observe(y, kg.normal(x, 1))
    twice = 2 * x
    sampler = kg.samplers.RandomWalk()
    alone, both = (run(m, sampler=sampler) for m in (kg.model(x), kg.model(x, twice)))
    assert np.array_equal(alone["posterior"]["x"], both["posterior"]["x"])
    assert np.array_equal(2 * both["posterior"]["x"], both["posterior"]["twice"])


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["leapfrog", "bcss3"])
def test_a_batch_of_chains_makes_the_same_draws(integrator):
    """Equal up to the rounding of reordered sums.

    Of a sampler without branches the tests of batches say so every day. Rounding grows along a
    chain, so the run is short; the numbers of steps are equal.
    """
    sampler = kg.samplers.NUTS(integrator=integrator)
    options = {"chains": 3, "warmup": 20, "draws": 10, "sampler": sampler}
    threads, batch = (
        run(gaussian(), chain_method=method, **options) for method in ("threads", "batch")
    )
    check_alike(threads, batch)
    steps = (tree["sample_stats"]["n_steps"] for tree in (threads, batch))
    np.testing.assert_array_equal(*steps)


def test_jax_is_left_as_it_was():
    """The process-wide precision flag, and what other threads compute meanwhile."""
    assert not jax.config.jax_enable_x64
    seen, stop = set(), threading.Event()

    def elsewhere():
        while not stop.is_set():
            seen.add(jnp.asarray(1.5).dtype.name)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    try:
        run(schools(), draws=500)
    finally:
        stop.set()
        thread.join()
    assert seen == {"float32"}
    assert not jax.config.jax_enable_x64
    assert jnp.asarray(1.5).dtype == jnp.float32


def test_draws_do_not_depend_on_numpys_global_generator(plain):
    np.random.seed(1)
    state = np.random.get_state()[1].copy()
    assert same_draws(run(schools(), chains=4), plain)
    assert np.array_equal(np.random.get_state()[1], state)
