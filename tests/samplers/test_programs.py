"""The lowered programs of samplers: how often they hold the model, and what compiles anew."""

import jax
import numpy as np
import pytest
from tests.selection import thinned

import kinetograph as kg
from kinetograph import samplers
from kinetograph.graph.precision import x64
from kinetograph.programs.memory_cache import PROGRAMS
from kinetograph.programs.program import Plan, Program

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

ONCE = {
    "HMC": samplers.HMC(integrator="bcss3"),
    "NUTS": samplers.NUTS(),
    "NUTS with a mass matrix": samplers.NUTS(scale=np.eye(2), tune="step_size"),
    "HMC, leapfrog": samplers.HMC(),
    "GHMC": samplers.GHMC(integrator="bcss2"),
    "MALA": samplers.MALA(),
    "MAMS": samplers.MAMS(),
    "MCLMC": samplers.MCLMC(),
    "SGLD": samplers.SGLD(),
    "LM": samplers.LM(),
    "GLA1": samplers.GLA1(),
    "BAOAB": samplers.BAOAB(),
    "OBABO": samplers.Splitting("OBABO"),
    "SGHMC": samplers.SGHMC(),
    "SGNHT": samplers.SGNHT(),
    "EQN": samplers.EQN(samplers.BAOAB(), walkers=4, steps=1),
    "NUTS, bcss3": samplers.NUTS(integrator="bcss3"),
    "MAMS, bcss2": samplers.MAMS(integrator="bcss2"),
    "MCLMC, minimum_norm": samplers.MCLMC(integrator="minimum_norm"),
}


def primitives(jaxpr):
    """The names of all primitives, those of a function as often as it is called."""
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for value in jax.tree.leaves(equation.params, is_leaf=lambda x: hasattr(x, "eqns")):
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                yield from primitives(inner)


def traced(sampler):
    """The primitives of the program, with a density that takes an arctangent and little else."""
    x = kg.variable(name="x", shape=2)
    model = kg.model(x, factors=[-kg.sum(kg.arctan(x) * x)])
    program = Program(model, sampler, model.targets)
    plan = Plan(np.int32(1), np.int64(0))
    with x64():
        made = jax.make_jaxpr(program.block)(program.shapes(), model.argument_values, plan)
    return list(primitives(made.jaxpr))


@pytest.mark.parametrize("name", thinned(ONCE, 4))
def test_the_model_is_in_the_program_once(name):
    found = traced(ONCE[name])
    assert found.count("atan") == 1
    assert not [primitive for primitive in found if "callback" in primitive]


@pytest.mark.parametrize("count", thinned([6, 50], 2))
def test_no_value_of_a_hyper_parameter_compiles_anew(count):
    """Many of each are one program; another shape is another, once."""
    model = kg.model(kg.normal(0.0, [1.0, 2.0], shape=2, name="x"))
    rng = np.random.default_rng(1)

    def made(step_size):
        beta, steps = rng.uniform(0.5, 2), int(rng.integers(1, 20))
        sampler = samplers.GHMC(step_size, rng.uniform(0, 2), steps, inverse_temperature=beta)
        return kg.chain(model, sampler, seed=1).step(2).posterior["x"][-1, 0]

    found = [made(rng.uniform(0.1, 0.5)) for _ in range(count)]
    assert len(PROGRAMS[model]) == 1
    assert len(set(found)) == count
    made([0.1, 0.2])
    made([0.2, 0.3])
    assert len(PROGRAMS[model]) == 2


class Recorded(samplers.GLA2):
    """Records the noise that is added."""

    @property
    def noise(self):
        whole = super().noise

        def kept(name, like):
            found = whole(name, like=like)
            if name == "O":
                self.record("R", found)
            return found

        return kept


def test_gla2_is_a_loop_in_numpy_given_its_noise():
    k, h, gamma, beta = np.array([1.0, 0.25, 4.0]), 0.3, 0.7, 1.3
    model = kg.model(kg.normal(0.0, 1 / np.sqrt(k), shape=3, name="x"))
    chain = kg.chain(model, Recorded(h, gamma, beta), seed=1)
    q, p, a = chain.q, chain.slots["p"], np.exp(-gamma * h)
    rows = chain.step(200)
    for i in range(200):
        p = p - 0.5 * h * k * q
        q = q + h * p
        p = p - 0.5 * h * k * q
        p = a * p + np.sqrt((1 - a * a) / beta) * rows.sample_stats["R"][i]
        np.testing.assert_allclose(rows.posterior["x"][i], q, rtol=0, atol=1e-10)
        kinetic = rows.sample_stats["kinetic_energy"][i]
        np.testing.assert_allclose(kinetic, 0.5 * p @ p, rtol=1e-9)


@pytest.mark.slow
def test_hmc_is_a_loop_in_numpy_given_its_noise():
    class Shown(samplers.HMC):
        @property
        def noise(self):
            return Keeping(self, super().noise)

    class Keeping:
        def __init__(self, sampler, whole):
            self.sampler, self.whole = sampler, whole

        def __call__(self, name, like):
            found = self.whole(name, like=like)
            self.sampler.record(name, found)
            return found

        def uniform(self, *bounds, name, **options):
            found = self.whole.uniform(*bounds, name=name, **options)
            self.sampler.record("uniform_" + name, found)
            return found

    model = kg.model(kg.normal(0.0, 1.0, name="x"))
    h = 0.9  # often refused
    sampler = Shown(h, 5, step_jitter=0.0, path_jitter=0.0, tune=())
    chain = kg.chain(model, sampler, seed=1)
    q, refused = chain.q[0], 0
    rows = chain.step(50)
    for i in range(50):
        end, p = q, rows.sample_stats["momentum"][i, 0]
        before = 0.5 * (q * q + p * p)
        for _ in range(5):
            p = p - 0.5 * h * end
            end = end + h * p
            p = p - 0.5 * h * end
        after = 0.5 * (end * end + p * p)
        error = after - before
        if np.log1p(-rows.sample_stats["uniform_accept"][i]) < -error:
            q, energy = end, after
        else:
            refused, energy = refused + 1, before
        assert abs(rows.posterior["x"][i] - q) < 1e-10
        constant = 0.5 * np.log(2 * np.pi)  # of the density
        assert abs(rows.sample_stats["energy"][i] - constant - energy) < 1e-9
    assert refused > 0


@pytest.mark.slow
def test_kinetic_energies_at_two_points_of_a_step():
    """BAOAB: 1 after the noise, 1 - h^2 / 4 at the end of the step."""
    h = 0.8
    model = kg.model(kg.normal(0.0, 1.0, shape=50, name="x"))
    sampler = samplers.Splitting("BAOAB", h, friction=1.5)
    run = {"draws": 2000, "warmup": 50, "seed": 1, "progress": False}
    found = kg.mcmc(model, sampler, **run)["sample_stats"]
    for name, exact in (("kinetic_energy_O", 1.0), ("kinetic_energy", 1 - h * h / 4)):
        assert kg.laws.mean_test(found[name].values / 25, exact).passed()


@pytest.mark.slow
def test_a_step_that_searches_for_ever_where_there_is_no_density():
    """`while` on a value that is NaN outside of the support: a chain begins inside."""

    class Downhill(kg.Sampler):
        def step(self, at):
            new = self.evaluate(at.q + self.noise("move", like=at.q))
            while ~(new.potential <= at.potential + 1.0):
                new = self.evaluate(at.q + self.noise("move", like=at.q))
            return new

    x = kg.variable(name="x")
    model = kg.model(x, factors=[kg.log(x) - x])
    rows = kg.chain(model, Downhill(), seed=1).step(50).posterior["x"]
    assert np.all(rows > 0)
