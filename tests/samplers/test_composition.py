"""Samplers made of samplers: mixtures, blocks, other arrangements of one scheme."""

import numpy as np
import pytest
from jax import numpy as jnp
from tests.laws.helpers import assert_moments
from tests.samplers.kernels import series
from tests.selection import thinned

import kinetograph as kg
from kinetograph import samplers
from kinetograph.programs.memory_cache import PROGRAMS

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
QUIET = {"warmup": 50, "chains": 4, "seed": 1, "progress": False}


class Derived(samplers.HMC, samplers.RandomWalk):
    """In each step a trajectory or a random walk, by chance; of one step size."""

    def step(self, at):
        if self.noise.uniform(name="which") < 0.5:
            at = samplers.HMC.step(self, at)
        else:
            at = samplers.RandomWalk.step(self, at)
        return at


class Mixture(kg.Sampler):
    """The same of samplers within, each of a step size of its own."""

    long = kg.hyper(samplers.HMC(0.7, n_steps=3))
    short = kg.hyper(samplers.RandomWalk(1.5))

    def step(self, at):
        if self.noise.uniform(name="which") < 0.5:
            at = self.long.step(at)
        else:
            at = self.short.step(at)
        return at


MIXTURES = [
    (Mixture(long=samplers.HMC(0.8, n_steps=3)), "long_n_steps"),
    (Derived(0.7, n_steps=3, tune=()), "n_steps"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("sampler", "record"), thinned(MIXTURES, 2))
def test_a_mixture_of_two_samplers(sampler, record):
    x = kg.multivariate_normal([1.0, -2.0], [[1.0, 0.6], [0.6, 4.0]], name="x")
    tree = kg.mcmc(kg.model(x), sampler, draws=8000, **QUIET)
    assert_moments(tree["posterior"]["x"].values, [1.0, -2.0], [1.0, 2.0])
    steps = tree["sample_stats"][record].values  # 0 where there was no trajectory
    assert abs((steps > 0).mean() - 0.5) < 5 * 0.5 / np.sqrt(steps.size)


class Gibbs(kg.Sampler):
    """Momenta that last in a, a random walk in b: each block given the other."""

    of_a = kg.hyper(samplers.GHMC(0.9, n_steps=3))
    of_b = kg.hyper(samplers.RandomWalk(2.0))

    def init(self, at):
        return self.of_a.block("a").init(at)

    def step(self, at, p):
        at, slots = self.of_a.block("a").step(at, p=p)
        return self.of_b.block("b").step(at), slots


def blocks():
    """a ~ N(0, 1) twice, b ~ N(a_0, 1)."""
    a = kg.normal(0.0, 1.0, shape=2, name="a")
    b = kg.normal(a[0], 1.0, name="b")
    return kg.model(b, a)


def test_samplers_within_move_blocks_with_values_of_their_own():
    model = blocks()
    tree = kg.mcmc(model, Gibbs(), draws=10_000, **QUIET)
    assert_moments(tree["posterior"]["a"].values, 0.0, 1.0)
    assert_moments(tree["posterior"]["b"].values, 0.0, np.sqrt(2.0))
    assert list(tree["sample_stats"])[:2] == ["lp", "of_a_acceptance_rate"]
    # Other values are no other program, and take effect wherever they are set.
    chain = kg.chain(model, Gibbs(), seed=2)
    assert chain.slots["p"].shape == (2,)
    assert {"of_a.step_size", "of_a.n_steps", "of_b.step_size"} < set(chain.hyper)
    before = chain.step(5).posterior
    chain.hyper["of_b.step_size"] = 1e-3
    after = chain.step(5).posterior
    assert np.ptp(after["b"]) < 0.02 < np.ptp(before["b"])
    assert np.ptp(after["a"]) > 0.1
    small = Gibbs(of_b=samplers.RandomWalk(1e-3))
    moved = kg.chain(model, small, seed=2).step(5).posterior
    assert np.ptp(moved["b"]) < 0.02
    np.testing.assert_array_equal(moved["a"][0], before["a"][0])
    assert len(PROGRAMS[model]) == 1


def test_samplers_within_are_values():
    one, other = Mixture(), Mixture(long=samplers.HMC(0.8, n_steps=3))
    assert one == Mixture()
    assert one != other
    assert one.structure() == other.structure()
    assert one.structure() != Mixture(long=samplers.HMC(integrator="bcss2")).structure()
    assert repr(other) == "Mixture(long=HMC(step_size=0.8, n_steps=3))"
    assert other.settings()["long"]["step_size"] == 0.8
    one.long.step_size = 0.1  # its own, not that of the class
    assert Mixture().long.step_size == 0.7


class Nowhere(Gibbs):
    def step(self, at, p):
        return self.of_b.block("c").step(at), {"p": p}


def test_what_cannot_be_within_is_refused():
    with pytest.raises(TypeError, match=r"Mixture: long must be a sampler, got 0\.3"):
        Mixture(long=0.3)
    with pytest.raises(TypeError, match="Mixture: long: NUTS has no step that another sampler"):
        Mixture(long=samplers.NUTS())
    with pytest.raises(kg.ModelError, match=r"block: 'c' is not an unknown.*has b, a|has a, b"):
        kg.chain(blocks(), Nowhere())
    chain = kg.chain(blocks(), Gibbs(), seed=1)
    with pytest.raises(ValueError, match=r"Gibbs\.of_b: step_size must be positive"):
        chain.hyper["of_b.step_size"] = -1.0


class Nobody(Gibbs):
    def step(self, at, p):
        return self.of_b.block().step(at), {"p": p}


class Listed(Gibbs):
    def step(self, at, p):
        return self.of_b.block(["b"]).step(at), {"p": p}


class Part(Gibbs):
    def step(self, at, p):
        return self.of_b.block("b").step(at.q), {"p": p}


class Stranger(Gibbs):
    def step(self, at, p):
        return samplers.HMC(0.3).step(at), {"p": p}


@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        (Nobody, kg.ModelError, "block: name the unknowns that move, out of"),
        (Listed, TypeError, r"as in block\('a', 'b'\); got list"),
        (Part, TypeError, r"block\('b'\): give a point of all unknowns, .* got an array"),
        (Stranger, kg.ModelError, r"HMC.* not a hyper-parameter of Stranger, .*kg\.hyper\(kg"),
    ],
)
def test_wrong_uses_of_what_is_within_are_told(kind, error, text):
    with pytest.raises(error, match=text):
        kg.chain(blocks(), kind())


def test_settings_of_the_wrong_kind():
    with pytest.raises(ValueError, match="integrator must be 'leapfrog'"):
        samplers.NUTS(integrator=["leapfrog"])
    with pytest.raises(kg.ShapeError, match=r"target_acceptance must be one number, got .*\(2,\)"):
        kg.mcmc(blocks(), samplers.NUTS(target_acceptance=[0.8, 0.9]), progress=False)


class Rearranged(kg.Sampler):
    """GLA2 as B O B A: the half kick and the friction of a step at the start of the next one."""

    step_size = kg.hyper(0.3, positive=True)
    friction = kg.hyper(0.7, lower=0)

    def init(self, at):
        return {"p": self.noise("momentum", like=at.q)}

    def step(self, at, p):
        h, a = self.step_size, kg.exp(-self.friction * self.step_size)
        noise = self.noise("O", like=p)
        self.record("R", noise)
        if self.iteration > 0:
            p = p - 0.5 * h * at.gradient
            p = a * p + kg.sqrt(1 - a * a) * noise
        self.record("p", p)
        p = p - 0.5 * h * at.gradient
        return self.evaluate(at.q + h * p), {"p": p}


@pytest.mark.slow
def test_a_cyclic_arrangement_is_the_scheme():
    """Its records are of the row before: p of a time is known when the next step begins."""
    h, gamma = 0.3, 0.7
    model = kg.model(kg.normal(0.0, 1.0, shape=2, name="x"))
    chain = kg.chain(model, Rearranged(h, gamma), seed=1)
    q, p, a = chain.q, chain.slots["p"], np.exp(-gamma * h)
    rows = chain.step(100)
    for i in range(99):
        np.testing.assert_allclose(rows.sample_stats["p"][i], p, rtol=0, atol=1e-10)
        p = p - 0.5 * h * q
        q = q + h * p
        p = a * (p - 0.5 * h * q) + np.sqrt(1 - a * a) * rows.sample_stats["R"][i + 1]
        np.testing.assert_allclose(rows.posterior["x"][i], q, rtol=0, atol=1e-10)


class Delayed(kg.Sampler):
    """BAOAB as B B A O A: its last half kick is made when the next step begins."""

    step_size = kg.hyper(0.3, positive=True)
    friction = kg.hyper(0.7, lower=0)

    def init(self, at):
        return {"p": self.noise("momentum", like=at.q) + 0.5 * self.step_size * at.gradient}

    def step(self, at, p):
        h, a = self.step_size, kg.exp(-self.friction * self.step_size)
        p = p - 0.5 * h * at.gradient
        self.record("kinetic_energy_before", 0.5 * kg.sum(p * p))  # of the row before
        p = p - 0.5 * h * at.gradient
        q = at.q + 0.5 * h * p
        p = a * p + kg.sqrt(1 - a * a) * self.noise("O", like=p)
        return self.evaluate(q + 0.5 * h * p), {"p": p}


@pytest.mark.slow
def test_a_kick_that_is_delayed_is_the_scheme():
    """From momenta that are prepared: p_0 + h / 2 grad U(q_0)."""
    model = kg.model(kg.normal(0.0, [1.0, 0.5], shape=2, name="x"))
    one, other = (
        kg.chain(model, kind(0.3, 0.7), seed=1).step(100) for kind in (samplers.BAOAB, Delayed)
    )
    np.testing.assert_allclose(one.posterior["x"], other.posterior["x"], rtol=0, atol=1e-12)
    energy = one.sample_stats["kinetic_energy"][:-1]
    np.testing.assert_allclose(
        other.sample_stats["kinetic_energy_before"][1:], energy, rtol=0, atol=1e-12
    )


# A sampler of single points within one of an ensemble runs once for each walker. ------------------

WALKERS = 4


class Alone(kg.Sampler):
    """The sampler within, and nothing else."""

    inner = kg.hyper(samplers.HMC(0.3))

    def init(self, at):
        return self.inner.init(at)

    def step(self, at, **slots):
        return self.inner.step(at, **slots)


class Each(Alone):
    """The same, of an ensemble."""

    walkers = kg.hyper(WALKERS, lower=2, static=True)


def bent(q):
    return -0.5 * jnp.sum(q * q) - 0.1 * q[0] ** 4 * (1 + q[1] ** 2)


POINTWISE = {
    "HMC": samplers.HMC(0.6, n_steps=3),
    "Slice": samplers.Slice(),
    "SGNHT": samplers.SGNHT(0.2),
    "RandomWalk": samplers.RandomWalk(1.0),
    "MCLMC": samplers.MCLMC(0.3),
    "BAOAB": samplers.BAOAB(0.3),
    "GHMC": samplers.GHMC(0.6),
    "MALA": samplers.MALA(0.3),
    "MAMS": samplers.MAMS(0.6),
    "Slice, doubling": samplers.Slice(width=0.3, doubling=True),
    "CCAdL": samplers.CCAdL(0.2),
    "SGLD": samplers.SGLD(0.1),
    "LM": samplers.LM(0.1),
    "GLA1": samplers.GLA1(0.3),
    "GLA2": samplers.GLA2(0.3),
    "UBU": samplers.UBU(0.3),
    "SGHMC": samplers.SGHMC(0.2),
    "Splitting": samplers.Splitting("ABOBA", step_size=0.3),
}


def test_every_sampler_of_single_points_is_here():
    rest = {"NUTS", "EQN", "MEADS", "Stretch", "Walk", "DifferentialEvolution", "Integrator"}
    assert {type(s).__name__ for s in POINTWISE.values()} == set(samplers.__all__) - rest


@pytest.mark.parametrize("name", thinned(POINTWISE, 6))
def test_each_walker_makes_a_step_of_its_own(name):
    """The first walker is the chain of the sampler alone; none depends on where others begin."""
    start = 0.3 * np.random.default_rng(3).normal(size=(WALKERS, 3))
    each, alone = Each(inner=POINTWISE[name]), Alone(inner=POINTWISE[name])
    found = series(each, bent, start[None], 5)[0]
    np.testing.assert_allclose(found[:, 0], series(alone, bent, start[:1], 5)[0], rtol=1e-10)
    moved = start.copy()
    moved[0] += 0.1
    other = series(each, bent, moved[None], 5)[0]
    np.testing.assert_allclose(other[:, 1:], found[:, 1:], rtol=1e-10)
    assert np.abs(other[:, 0] - found[:, 0]).min() > 0
    together = series(each, bent, np.broadcast_to(start[0], (1, WALKERS, 3)), 5)[0]
    apart = np.abs(np.diff(together, axis=1)).max(axis=(0, 2))
    assert np.all(apart > 1e-3)


class Swapping(kg.Sampler):
    """Each walker makes a step of HMC, then a random walk in b; then they stretch."""

    walkers = kg.hyper(6, lower=2, static=True)
    near = kg.hyper(samplers.HMC(0.6, n_steps=4))
    of_b = kg.hyper(samplers.RandomWalk(2.0))
    far = kg.hyper(samplers.Stretch(walkers=6))

    def step(self, at):
        at = self.near.step(at)
        at = self.of_b.block("b").step(at)
        return self.far.step(at)


def test_steps_of_walkers_and_moves_of_the_ensemble():
    tree = kg.mcmc(blocks(), Swapping(), draws=3000, **QUIET | {"chains": 2})
    assert_moments(tree["posterior"]["a"].values, 0.0, 1.0)
    assert_moments(tree["posterior"]["b"].values, 0.0, np.sqrt(2.0))
    stats = tree["sample_stats"]
    for name in ("near_n_steps", "near_energy", "of_b_accepted", "far_accepted"):
        assert stats[name].shape == (12, 3000), name
    # Each walker has an energy of three unknowns: U + p^2 / 2, 3 / 2 and 3 / 2.
    assert abs(stats["near_energy"].values.mean() - (3.0 + 1.5 * np.log(2 * np.pi))) < 0.1
    steps = stats["near_n_steps"].values
    assert np.any(steps[0] != steps[1])  # drawn for each walker


class Halves(kg.Sampler):
    """Only the first three walkers move, with momenta that last."""

    walkers = kg.hyper(6, lower=2, static=True)
    near = kg.hyper(samplers.GHMC(0.9))

    def init(self, at):
        return self.near.init(at.split(3)[0])

    def step(self, at, p):
        first, rest = at.split(3)
        first, slots = self.near.step(first, p=p)
        return first.join(rest), slots


def test_a_part_of_the_walkers_and_a_scale():
    model = kg.model(kg.normal(0.0, [1.0, 100.0], shape=2, name="x"))
    wanted = [kg.observables.n_grad]
    chain = kg.chain(model, Halves(scale=[1.0, 100.0]), seed=1, observables=wanted)
    assert chain.slots["p"].shape == (3, 2)
    before = chain.q.copy()
    stats = chain.step(50).sample_stats
    np.testing.assert_array_equal(chain.q[3:], before[3:])
    assert np.all(np.abs(chain.q[:3] - before[:3]).max(0) > [0.01, 1.0])
    assert stats["near_energy"].shape == (50, 3)
    assert stats["n_grad"].tolist() == [3] * 50


class Flock(kg.Sampler):
    inner = kg.hyper(samplers.Stretch(walkers=8))

    def step(self, at):
        return self.inner.step(at)


class Six(Flock):
    walkers = kg.hyper(6, lower=2, static=True)


class Elsewhere(Each):
    def step(self, at, **slots):
        return self.inner.step(at.q)


def test_walkers_that_do_not_fit_are_refused():
    with pytest.raises(kg.ModelError, match=r"Flock: inner is Stretch, .* walkers = kg\.hyper\(8"):
        kg.chain(blocks(), Flock(), seed=1)
    with pytest.raises(kg.ModelError, match=r"Six: inner is Stretch with 8 walkers, and Six has 6"):
        kg.chain(blocks(), Six(), seed=1)
    with pytest.raises(TypeError, match=r"give a point, which is `at` .*got an array"):
        kg.chain(blocks(), Elsewhere(), seed=1)
    with pytest.raises(TypeError, match=r"NUTS has no step .*use HMC, as in"):
        Each(inner=samplers.NUTS())


class Uneven(kg.Sampler):
    """A random walk in the two numbers of a, with a step for each; Gibbs in b."""

    of_a = kg.hyper(samplers.RandomWalk([1e-3, 2.0]))
    of_b = kg.hyper(samplers.RandomWalk(1.0))

    def step(self, at):
        at = self.of_a.block("a").step(at)
        return self.of_b.block("b").step(at)


class Whole(Uneven):
    def step(self, at):
        return self.of_a.step(at)


def test_values_for_each_coordinate_of_a_block():
    """By the block's size, or by that of all unknowns, where those of the block are taken."""
    model, start = blocks(), {"a": [0.0, 0.0], "b": 0.0}
    moved = []
    by_all = samplers.RandomWalk(np.array([1e-3, 2.0, 7.0]))
    for sampler in (Uneven(), Uneven(of_a=by_all)):
        chain = kg.chain(model, sampler, seed=1, initial=start)
        moved.append(chain.step(30).posterior["a"])
        assert np.ptp(moved[-1][:, 0]) < 0.05 < 0.5 < np.ptp(moved[-1][:, 1])
    np.testing.assert_array_equal(*moved)
    for wrong in (Whole(), Uneven(of_a=samplers.RandomWalk([1.0, 2.0, 3.0, 4.0]))):
        with pytest.raises(
            kg.ShapeError, match=r"of_a: step_size has shape .* coordinates that it"
        ):
            kg.chain(model, wrong, seed=1)
