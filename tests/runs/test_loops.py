"""Runs of models whose loops need more room than any before: replayed, and nobody notices."""

import numpy as np
import pytest
from tests.models.test_control_flow import reference, stopping

import kinetograph as kg
from kinetograph.runs.progress.display import SilentProgress


def draws(model, **options):
    settings = {"draws": 300, "warmup": 200, "chains": 2, "seed": 4, "progress": False}
    settings["sampler"] = kg.samplers.GLA2(0.1)
    return kg.mcmc(model, **(settings | options))["posterior"]["a"].values


class Lines(SilentProgress):
    """The lines that a run says."""

    def __init__(self):
        self.said = []

    def say(self, text):
        self.said.append(text)


@pytest.fixture(scope="module")
def grown():
    model, lines = stopping(), Lines()
    return draws(model, progress=lines), model, lines.said


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_draws_are_those_of_a_run_that_had_the_room(grown):
    values, model, said = grown
    (loop,) = model.density.loops
    assert model.capacity.of(loop) > 64  # it did grow
    assert said.count("compiling again, for longer loops ...") >= 1
    assert any(line.startswith("for longer loops: traced in ") for line in said)
    roomy = stopping()
    enough = model.capacity.of(loop)
    roomy.functions.capacity = roomy.capacity.grown({roomy.density.loops[0]: enough})
    np.testing.assert_array_equal(draws(roomy), values)
    assert roomy.capacity.of(roomy.density.loops[0]) == enough


POINTS = [1.5, 0.3, -6.0, -2.0]  # from 2 to 115 trips


class Placed(kg.Sampler):
    """Walkers that go to given points, with records of their gradients."""

    walkers = kg.hyper(4, static=True)

    def step(self, at):
        at = self.evaluate(0.0 * at.q + np.array(POINTS)[:, None])
        self.record("slope", kg.sum(at.gradient, axis=1))
        return at


@pytest.mark.slow
def test_the_walker_with_the_longest_loop_gets_its_room():
    """Whichever walker it is; gradients are those of a loop in plain Python."""
    start = np.linspace(1.0, 1.5, 4)[:, None]
    chain = kg.chain(stopping(), Placed(), seed=1, initial=start)
    (slopes,) = chain.step(1).sample_stats["slope"]
    np.testing.assert_allclose(slopes, [-reference(u)[1] for u in POINTS], rtol=1e-10)


@pytest.mark.timeout(120)
@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
@pytest.mark.slow
def test_a_gradient_among_the_targets_gets_its_room_too(tmp_path, monkeypatch):
    """Programs of other room are other entries of the cache: else the replay would never end."""
    monkeypatch.setenv("KINETOGRAPH_CACHE", str(tmp_path))
    a = kg.half_normal(1.0, name="a")
    start = kg.data(1.0, name="start")
    (level,) = kg.while_loop(lambda y: y < 10, lambda y: y * (1.005 + 0.001 * a), [start])
    slope = kg.gradients(level, a)
    model = kg.model(a, slope, level)
    settings = {"draws": 200, "warmup": 50, "chains": 1, "seed": 1, "progress": False}
    tree = kg.mcmc(model, kg.samplers.RandomWalk(), **settings)["posterior"]
    rates = 1.005 + 0.001 * tree["a"].values
    trips = np.ceil(np.log(10) / np.log(rates))
    expected = trips * tree["level"].values / rates * 0.001
    np.testing.assert_allclose(tree["slope"].values, expected, rtol=1e-10)
    assert trips.max() > 256


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_a_bound_that_is_an_error_ends_the_run():
    with pytest.raises(kg.LoopError, match="reached maximum_iterations = 5"):
        draws(stopping(maximum_iterations=5, on_limit="error"))
