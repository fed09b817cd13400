"""Which samplers take gradients: of others none is computed, unless something else asks for it."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph import samplers
from kinetograph.programs.program import Program

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
X = kg.normal(1.0, [1.0, 2.0], shape=2, name="x")
MODEL = kg.model(X)


class Walk(kg.Sampler):
    """Metropolis, with a use for the gradient."""

    use = kg.hyper("none", choices=("none", "record", "slot", "branch", "loop"))

    def init(self, at):
        return {"before": kg.data(0.0)}

    def step(self, at, before):
        new = self.evaluate(at.q + self.noise("walk", like=at.q))
        for _ in kg.range(2):
            new = self.evaluate(new.q + 0.1 * self.noise("more", like=at.q))
        steep = kg.sum(new.gradient * new.gradient)
        if self.use == "record":
            self.record("steep", steep)
        if self.use == "slot":
            before = steep
        bound = kg.log(self.noise.uniform(name="accept"))
        if self.use == "branch":
            if steep > 1.0:
                bound = bound + 1.0
        if self.use == "loop":
            while bound < 0.01 * steep - 5.0:
                bound = bound + 1.0
        if bound < at.potential - new.potential:
            at = new
        self.record("accepted", bound)
        return at, {"before": before}


def takes(sampler, *observables, model=MODEL):
    return Program(model, sampler, model.targets, observables).takes_gradient


def test_what_takes_a_gradient():
    for sampler in (
        *(samplers.Stretch(), samplers.Walk(), samplers.DifferentialEvolution()),
        *(samplers.RandomWalk(tune="step_size"), samplers.Slice(tune=()), Walk()),
    ):
        assert not takes(sampler), sampler
        assert not takes(sampler, kg.observables.potential)
        assert takes(sampler, kg.observables.virial)
    for sampler in (
        *(samplers.NUTS(), samplers.HMC(), samplers.MALA(), samplers.SGLD(), samplers.BAOAB()),
        *(samplers.EQN(samplers.SGLD(0.1), walkers=8), samplers.MAMS(), samplers.GHMC()),
        samplers.MEADS(),
        *(samplers.RandomWalk(), samplers.Slice()),  # whose scales are tuned by it
        *(Walk(use=use) for use in ("record", "slot", "branch", "loop")),
    ):
        assert takes(sampler), sampler


@pytest.mark.slow
def test_a_run_without_gradients():
    settings = {"draws": 60, "warmup": 10, "chains": 2, "seed": 1, "progress": False}
    without = kg.mcmc(MODEL, Walk(), **settings)
    state = without["sampler_state"]
    np.testing.assert_array_equal(state["gradients"], state["start_gradients"])
    # Where a run ends it is known, for whatever goes on from there.
    q, found = state["position_q"].values, state["position_gradient"].values
    np.testing.assert_allclose(found, MODEL.gradient(q), rtol=1e-12)
    asked = kg.mcmc(MODEL, Walk(), observables=kg.observables.virial, **settings)
    np.testing.assert_array_equal(asked["posterior"]["x"], without["posterior"]["x"])
    x, found = asked["posterior"]["x"].values, asked["sample_stats"]["virial"]
    expected = -0.5 * (x * MODEL.gradient(x)).sum(-1)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    state = asked["sampler_state"]
    np.testing.assert_array_equal(state["gradients"], state["start_gradients"] + 3 * 70)
