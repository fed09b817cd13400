"""Observables: equal to what the recorded positions and momenta give."""

import random

import numpy as np
import pytest

import kinetograph as kg
from kinetograph import observables as named
from kinetograph.programs.fingerprint import identity
from kinetograph.programs.program import Program

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
H = 0.3


class Leap(kg.samplers.GLA2):
    """Also records its momenta, and its noise: what was added to the momenta before it, damped."""

    def step(self, at, p):
        h, before = self.step_size, p - 0.5 * self.step_size * at.gradient
        at, slots = super().step(at, p)
        before = before - 0.5 * h * at.gradient
        self.record("p", slots["p"])
        self.record("noise", slots["p"] - kg.exp(-self.friction * h) * before)
        return at, slots


def model() -> kg.Model:
    x = kg.normal(0.5, [1.0, 2.0, 0.5], shape=3, name="x")
    return kg.model(x)


MODEL = model()
EVERY = [getattr(named, name) for name in named.__all__ if isinstance(getattr(named, name), tuple)]
for other in (named.rejection, named.bad, named.max_energy_error):  # of those that accept or reject
    EVERY.remove(other)


def run(sampler, **options):
    return kg.mcmc(MODEL, sampler, draws=40, warmup=5, chains=2, seed=1, progress=False, **options)


@pytest.fixture(scope="module")
def tree():
    return run(Leap(H), observables=EVERY)


def test_each_is_its_formula(tree):
    found, q = tree["sample_stats"], tree["posterior"]["x"].values
    p, potential = found["p"].values, -MODEL.log_prob(q)
    gradient = -MODEL.gradient(q)
    kinetic = 0.5 * (p * p).sum(-1)
    virial = 0.5 * (q * gradient).sum(-1)
    expected = {
        "potential": potential,
        "kinetic_energy": kinetic,
        "total_energy": potential + kinetic,
        "virial": virial,
        "temperature_kinetic": 2 * kinetic / 3,
        "temperature_config": 2 * virial / 3,
        "gradient_norm": np.linalg.norm(gradient, axis=-1),
        "scaled_gradient": H * np.linalg.norm(gradient, axis=-1),
        "momentum_norm": np.linalg.norm(p, axis=-1),
        "scaled_momentum": H * np.linalg.norm(p, axis=-1),
        "inertia": (p * q).sum(-1),
        "noise_norm": np.linalg.norm(found["noise"].values, axis=-1),
        "n_grad": np.ones((2, 40)),
        "n_value": np.zeros((2, 40)),
    }
    assert set(expected) == {o.name for o in EVERY}
    for name, values in expected.items():
        np.testing.assert_allclose(found[name].values, values, rtol=1e-9, atol=1e-12, err_msg=name)
        assert found[name].attrs["description"]


class Walkers(kg.Sampler):
    """Walkers with momenta; the recorded kinetic energy is that in the middle of the step."""

    walkers = kg.hyper(6, lower=2, static=True)

    def init(self, at):
        return {"p": self.noise("momentum", like=at.q)}

    def step(self, at, p):
        p = p - 0.5 * H * at.gradient
        self.record("kinetic_energy", 0.5 * kg.sum(p * p, axis=1))
        at = self.evaluate(at.q + H * p)
        return at, {"p": p - 0.5 * H * at.gradient}


def test_each_walker_has_observables_by_its_recorded_kinetic_energy():
    wanted = [o for o in EVERY if o.name not in ("noise_norm", "n_grad", "n_value")]
    wanted = [o for o in wanted if not o.name.startswith("scaled")]
    chain = kg.chain(MODEL, Walkers(), seed=1, observables=wanted)
    before, slope = chain.slots["p"], -MODEL.gradient(chain.q)
    found = {name: rows[0] for name, rows in chain.step(1).sample_stats.items()}
    q, p, potential = chain.q, chain.slots["p"], -MODEL.log_prob(chain.q)
    gradient = -MODEL.gradient(q)
    kinetic = 0.5 * ((before - 0.5 * H * slope) ** 2).sum(1)
    virial = 0.5 * (q * gradient).sum(1)
    expected = {
        "potential": potential,
        "kinetic_energy": kinetic,
        "total_energy": potential + kinetic,
        "virial": virial,
        "temperature_kinetic": 2 * kinetic / 3,
        "temperature_config": 2 * virial / 3,
        "gradient_norm": np.linalg.norm(gradient, axis=1),
        "momentum_norm": np.linalg.norm(p, axis=1),
        "inertia": (p * q).sum(1),
    }
    assert set(expected) == {o.name for o in wanted}
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-12, err_msg=name)


def largest(step):
    """The largest part."""
    return kg.maximum(kg.max(step.parts["x"]), -1.0)


def test_rejection_is_what_was_not_accepted():
    sampler = kg.samplers.RandomWalk(step_size=1.0, tune=())
    counted = [named.n_grad, named.n_value, named.bad]
    tree = run(sampler, observables=[named.rejection, largest, *counted])
    of_ones_own(tree)
    found = tree["sample_stats"]
    np.testing.assert_array_equal(found["rejection"], 1.0 - found["accepted"])
    assert 0 < found["rejection"].mean() < 1
    assert not found["bad"].any()
    # It has no use for a gradient, and evaluates its points without one.
    assert (found["n_grad"] == 0).all()
    assert (found["n_value"] == 1).all()


def test_they_do_not_change_the_draws(tree):
    np.testing.assert_array_equal(run(Leap(H))["posterior"]["x"], tree["posterior"]["x"])


def of_ones_own(tree):
    x, found = tree["posterior"]["x"].values, tree["sample_stats"]
    np.testing.assert_array_equal(found["largest"], np.maximum(x.max(-1), -1.0))
    assert found["largest"].attrs["description"] == "The largest part."


@pytest.mark.slow
def test_of_nuts():
    tree = run(None, observables=[largest, named.potential])
    of_ones_own(tree)
    found = tree["sample_stats"]
    np.testing.assert_allclose(found["potential"], -found["lp"], rtol=1e-12)


def test_what_is_refused():
    with pytest.raises(kg.ModelError, match="observable kinetic_energy: this sampler has no slot"):
        run(None, observables=[named.kinetic_energy])
    with pytest.raises(kg.ModelError, match="noise_norm: this sampler has no record 'noise_norm'"):
        run(None, observables=[named.noise_norm])
    with pytest.raises(ValueError, match="'virial' is given twice"):
        run(None, observables=[named.virial, named.virial])
    with pytest.raises(ValueError, match="a function without a name needs one"):
        run(None, observables=[lambda step: step.q])
    with pytest.raises(TypeError, match="expected a function"):
        kg.observables.observable(3)
    with pytest.raises(kg.ModelError, match="cannot draw or change a state"):
        run(None, observables=[kg.observables.observable(lambda s: kg.random.normal(), "noise")])
    with pytest.raises(TypeError, match=r"'virial' is a string .*; give .*kg\.observables\.virial"):
        run(None, observables="virial")
    with pytest.raises(ValueError, match="'tree_depth' is a record of NUTS"):
        run(None, observables=[kg.observables.observable(lambda s: s.q, "tree_depth")])
    unknown = kg.normal(0, 1)
    with pytest.raises(kg.ModelError, match=r"observable u .*test_observables.* an unknown"):
        run(None, observables=[kg.observables.observable(lambda s: s.q * unknown, "u")])
    with pytest.raises(kg.ModelError, match="calls random of Python"):
        run(None, observables=[kg.observables.observable(lambda s: s.q * random.random(), "u")])
    with pytest.raises(TypeError, match="returns NoneType, not a number"):
        run(None, observables=[kg.observables.observable(lambda s: None, "u")])


def test_of_a_schedule_each_draw_has_the_value_of_its_own_step():
    def falls(t):
        return 0.2 * (10.0 + t) ** -0.6

    @kg.observables.observable
    def beta(step):
        return step.hyper["inverse_temperature"]

    sampler = kg.samplers.SGLD(falls, inverse_temperature=lambda t: 1.0 + t)
    # More draws than a block holds, of which every third is kept, and a warm-up.
    tree = kg.mcmc(
        MODEL, sampler, draws=1100, warmup=7, thin=3, chains=2, seed=1, progress=False,
        observables=[named.scaled_gradient, named.gradient_norm, beta],
    )  # fmt: skip
    found, step = tree["sample_stats"], 7 + 3 * np.arange(1100) + 2
    np.testing.assert_array_equal(found["beta"], np.broadcast_to(1.0 + step, (2, 1100)))
    expected = falls(step) * found["gradient_norm"].values
    np.testing.assert_allclose(found["scaled_gradient"], expected, rtol=1e-12)


def test_what_a_step_has_not_is_said():
    def of(what, name):
        return kg.observables.observable(lambda step: getattr(step, what)[name], "mine")

    for observable, said in {
        named.scaled_gradient: "scaled_gradient: this sampler has no hyper-parameter 'step_size'",
        of("slots", "p"): r"mine: this sampler has no slot 'p' \(it has none\)",
        of("recorded", "z"): r"mine: this sampler has no record 'z' \(it has lp, accept",
        of("parts", "y"): r"mine: this model has no unknown 'y' \(it has x\)",
    }.items():
        with pytest.raises(kg.ModelError, match=said):
            run(kg.samplers.Stretch(walkers=8), observables=[observable])


class Searching(kg.Sampler):
    """Takes one or two potentials a step by chance, a gradient, and the potential of the row."""

    def step(self, at):
        q = at.q + self.noise("move", like=at.q)
        u, twice = self.potential(q), self.noise.uniform(name="twice") < 0.5
        if twice:
            u = u + self.potential(q + 1.0)
        self.record("twice", twice)
        at = self.evaluate(kg.where(u < 1e9, q, at.q))
        return self.evaluate(at.q - 0.1 * at.gradient)


def test_evaluations_are_counted_from_row_to_row():
    """Of a run with a warm-up, thinned, in blocks; and step by step."""
    counters = {"observables": [named.n_grad, named.n_value], "averages": named.n_value}
    chain = kg.chain(MODEL, Searching(), seed=1, **counters)
    rows = [chain.step(n).sample_stats for n in (7, 1, 2, 2098)]
    twice = np.concatenate([row["twice"] for row in rows])
    one = np.concatenate([row["n_value"] for row in rows])
    assert one.dtype == np.int64
    np.testing.assert_array_equal(one, 2 + twice)
    tree = kg.mcmc(
        MODEL, Searching(), draws=1050, warmup=8, thin=2, chains=1, seed=1, progress=False,
        **counters,
    )  # fmt: skip
    found = tree["sample_stats"]
    np.testing.assert_array_equal(found["n_value"].values[0], one[8:].reshape(-1, 2).sum(1))
    np.testing.assert_array_equal(found["n_grad"], 2)
    np.testing.assert_allclose(tree["averages/mean/n_value"], found["n_value"].mean("draw"))
    state = tree["sampler_state"].isel(chain=0)
    assert int(state["gradients"] - state["start_gradients"]) == int(found["n_grad"].sum()) + 8


def test_what_nobody_asks_for_is_not_in_the_program():
    """Nor do records that are asked for change the draws."""

    def program(*names):
        return Program(MODEL, Searching(), MODEL.targets, tuple(getattr(named, n) for n in names))

    plain = program()
    assert [s.name for s in plain.statistics] == ["lp", "twice"]
    assert plain.shapes().counts == {}
    for kernel, counts in ((plain.kernel, False), (program("n_value").kernel, True)):
        assert (kernel.session.values in kernel.graphs[1].latest) is counts
    texts = {identity(program(*names))[0] for names in ((), ("n_grad",), ("n_value",))}
    assert len(texts) == 3
    texts = {
        identity(Program(MODEL, kg.samplers.NUTS(), MODEL.targets, asked))[0]
        for asked in ((), (named.bad,), (named.max_energy_error,))
    }
    assert len(texts) == 3


def test_a_quantity_and_its_covariance_are_one_average():
    x = kg.normal(0.0, [1.0, 2.0], shape=2, name="x")
    run = {"draws": 50, "warmup": 20, "chains": 1, "seed": 1, "progress": False}
    both = [x, kg.observables.covariance(x)]
    for wanted in (both, both[::-1]):
        tree = kg.mcmc(kg.model(x), kg.samplers.HMC(), averages=wanted, **run)
        draws = tree["posterior"]["x"].values[0]
        np.testing.assert_allclose(tree["averages/mean/x"][0], draws.mean(0), rtol=1e-12)
        np.testing.assert_allclose(tree["averages/covariance/x"][0], np.cov(draws.T), rtol=1e-10)
    with pytest.raises(ValueError, match="averages: 'x' is given twice"):
        kg.mcmc(kg.model(x), averages=[x, x], **run)
