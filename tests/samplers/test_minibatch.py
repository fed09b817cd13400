"""Samplers on mini-batches: what a step sees, which samplers are refused, and CCAdL."""

import warnings

import jax
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.stats import binom, norm
from tests.laws.helpers import assert_mean
from tests.selection import thinned

import kinetograph as kg
from kinetograph import samplers
from kinetograph.bits.draws import chain_key
from kinetograph.graph.precision import x64
from kinetograph.models.batch_order import batch_order
from kinetograph.programs.program import Program

N, B = 40, 8
RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(N, 2)) * [1.0, 3.0]
Y = X @ [0.5, -0.2] + RANDOM.normal(size=N)


def regression() -> kg.Model:
    x, y = kg.data(X, "x"), kg.data(Y, "y")
    w = kg.normal(0.0, 1.0, shape=2, name="w")
    kg.observe(y, kg.normal(x @ w, 1.0))
    return kg.model(w)


MODEL = regression()
NOISY = kg.minibatch(MODEL, B)


class Probe(kg.Sampler):
    """Stays where it is, and records what it sees there."""

    full = kg.hyper(1, static=True)

    def step(self, at):
        seen, covariance = self.evaluate_with_covariance(at.q, full=bool(self.full))
        again = self.evaluate(at.q)
        self.record("gradient", seen.gradient)
        self.record("covariance", covariance)
        self.record("same", kg.sum((again.gradient - seen.gradient) ** 2))
        self.record("value", self.potential(at.q) - again.potential)
        return seen


@pytest.mark.parametrize("replace", thinned([False, True], 2))
@pytest.mark.slow
def test_covariance_is_unbiased(replace):
    """Over 10^4 batches: the mean is NumPy's covariance of the population, as is that of gradients.

    The relative error of a mean of 10^4 estimates, each from 8 rows and so of relative sd about
    0.7, is below 0.01: 3 % of the largest entry is 4 standard errors or more.
    """
    noisy = kg.minibatch(MODEL, B, replace=replace)
    w = np.array([0.3, 0.1])
    chain = kg.chain(noisy, Probe(full=int(not replace)), seed=2, initial=w)
    rows = chain.step(10_000).sample_stats
    slopes = -(Y - X @ w)[:, None] * X  # of each row's potential
    share = 1.0 if replace else 1 - B / N
    exact = N**2 / B * share * np.cov(slopes.T, ddof=0 if replace else 1)
    found = rows["covariance"].mean(0)
    room = 0.03 * np.abs(exact).max()
    np.testing.assert_allclose(found, np.diag(exact) if replace else exact, atol=room)
    np.testing.assert_allclose(np.cov(rows["gradient"].T), exact, atol=2 * room)
    error = np.sqrt(np.diag(exact) / 10_000)
    assert np.all(abs(rows["gradient"].mean(0) + MODEL.gradient(w)) < 5 * error)
    # All that a transition evaluates sees the same rows; the next one sees others.
    assert np.abs(rows["same"]).max() < 1e-18
    assert np.abs(rows["value"]).max() < 1e-10
    assert np.abs(np.diff(rows["gradient"], axis=0)).min() > 0


def test_rows_are_equally_likely():
    """Each row, and each pair, as often as others: between the 1e-9 quantiles of their counts."""
    draws, count, size = 4000, 7, 5  # two are drawn, to be left out
    with x64():
        key, order = np.asarray(chain_key(1, 0)), batch_order(count, size)
        one = jax.vmap(lambda event: order.rows(key, event))
        rows = np.sort(np.asarray(jax.jit(one)(np.arange(draws, dtype=np.uint32))), 1)
    assert np.all(np.diff(rows, axis=1) > 0)
    assert set(rows.ravel()) == set(range(count))
    inside = (rows[:, :, None] == np.arange(count)).any(1)
    pairs = inside.T.astype(int) @ inside
    chance = np.full((count, count), size * (size - 1) / count / (count - 1))
    np.fill_diagonal(chance, size / count)
    assert np.all(pairs >= binom(draws, chance).ppf(1e-9))
    assert np.all(pairs <= binom(draws, chance).ppf(1 - 1e-9))


def test_a_large_batch_leaves_out_the_rows_of_a_small_one():
    """So the rows of a large batch cost as few random numbers as the rows of a small one."""
    count = 20
    with x64():
        key = np.asarray(chain_key(1, 0))
        rows = [batch_order(count, n).rows(key, np.uint32(3)) for n in (2, count - 2)]
        assert sorted(np.concatenate(rows)) == list(range(count))


def test_a_run_is_its_chains():
    """Draws are functions of seed, chain and transition, in steps of any number, on any machine."""
    sampler = samplers.SGLD(step_size=0.002)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kg.SamplingWarning)
        tree = kg.mcmc(NOISY, sampler, draws=40, warmup=5, chains=2, seed=3, progress=False)
    draws = tree["posterior"]["w"].values
    chain = kg.chain(NOISY, sampler, seed=3, index=1, warmup=5)
    first = chain.step(7)
    state = chain.state
    chain.step(4)
    chain.state = state
    rows = np.concatenate([first.posterior["w"], chain.step(33).posterior["w"]])
    np.testing.assert_array_equal(rows, draws[1])
    assert tree.attrs["batch_size"] == B
    assert list(tree["sample_stats"].data_vars) == ["batch_lp"]


def test_what_a_batch_tells_is_called_so():
    named = kg.observables
    observables = (named.potential, named.virial, named.gradient_norm, named.kinetic_energy)
    for model, prefix in ((NOISY, "batch_"), (MODEL, "")):
        program = Program(model, samplers.LM(), model.targets, (*observables[:3],))
        names = [statistic.name for statistic in program.statistics]
        assert names == [prefix + n for n in ("lp", "potential", "virial", "gradient_norm")]
        averages = kg.observables.average.as_averages([named.virial, named.kinetic_energy])
        program = Program(model, samplers.BAOAB(), model.targets, (), averages)
        assert set(program.running.sources) == {f"{prefix}virial", "kinetic_energy"}
    energies = Program(NOISY, samplers.SGNHT(), NOISY.targets, (observables[3],)).statistics
    assert [s.name for s in energies] == ["batch_lp", "thermostat", "kinetic_energy"]


def by_values(sampler: kg.Sampler) -> bool:
    return Program(NOISY, sampler, NOISY.targets).kernel.moves_by_values


@pytest.mark.parametrize(
    "sampler",
    [
        *(samplers.NUTS(), samplers.HMC(), samplers.GHMC(), samplers.MALA(), samplers.MAMS()),
        *(samplers.RandomWalk(), samplers.Slice(), samplers.MEADS()),
        *(samplers.Stretch(), samplers.Walk(), samplers.DifferentialEvolution()),
    ],
    ids=lambda s: type(s).__name__,
)
def test_metropolis_tests_are_refused(sampler):
    name = type(sampler).__name__
    with pytest.raises(kg.ModelError, match=f"chain: {name} compares values.*allow_noisy=True"):
        kg.chain(NOISY, sampler, seed=1)
    if name == "NUTS":
        with pytest.raises(kg.ModelError, match=r"mcmc: NUTS compares values .* 8 of 40 rows"):
            kg.mcmc(NOISY, seed=1)


def test_the_gradient_alone_is_not():
    others = (samplers.SGLD(), samplers.BAOAB(), samplers.MCLMC(), samplers.SGNHT())
    assert not any(map(by_values, (*others, samplers.EQN(walkers=6), samplers.CCAdL())))


def test_samplers_of_users_are_told_apart():
    """By what a step computes, in loops and branches, and from one step to the next."""

    class Inner(kg.Sampler):
        def step(self, at):
            i = 0
            while i < 3:
                at = self.evaluate(at.q - 0.1 * at.gradient)
                self.record("potential", at.potential)
                i = i + 1
            if kg.sum(at.gradient) > 0:
                at = self.evaluate(at.q + 1.0)
            return at

    class Slot(kg.Sampler):
        def init(self, at):
            return {"best": at.potential, "trials": kg.data(0)}

        def step(self, at, best, trials):
            q = at.q + kg.where(best < 1.0, 0.1, 0.2)
            return self.evaluate(q), {"best": kg.minimum(best, at.potential), "trials": trials}

    class Loop(kg.Sampler):
        def step(self, at):
            q = at.q
            while self.potential(q) > 1.0:
                q = 0.9 * q
            return self.evaluate(q)

    class Kept(kg.Sampler):
        def init(self, at):
            return {"mean": at.potential}

        def step(self, at, mean):
            at = self.evaluate(at.q - 0.1 * at.gradient)
            return at, {"mean": 0.9 * mean + 0.1 * at.potential}

    assert not by_values(Inner())
    assert not by_values(Kept())
    assert by_values(Slot())
    assert by_values(Loop())


def test_allowed_noise_is_warned_of():
    noisy = kg.minibatch(MODEL, N, allow_noisy=True)
    with pytest.warns(kg.SamplingWarning, match="chain: MALA compares values"):
        chain = kg.chain(noisy, samplers.MALA(0.01, tune=()), seed=1, initial=[0.4, -0.2])
    # All rows: the exact density.
    rows = chain.step(50)
    exact = MODEL.log_prob(rows.posterior["w"])
    np.testing.assert_allclose(rows.sample_stats["batch_lp"], exact, rtol=1e-9)


def test_one_row_has_no_covariance():
    with pytest.raises(kg.ModelError, match="a size of at least 2"):
        kg.chain(kg.minibatch(MODEL, 1), samplers.CCAdL(), seed=1)


# CCAdL. -------------------------------------------------------------------------------------------


def oscillator(constant: float, growing: float) -> kg.Model:
    """U = q^2 / 2, with gradients whose noise has the sd of `constant`, or of `growing` times |q|.

    The rows' shares add up to 0 in U.
    """
    rows, size = 64, 32
    c = norm.ppf((np.arange(rows) + 0.5) / rows)
    c /= c.std() * rows / np.sqrt(size)
    q = kg.variable(name="q")
    a, b = kg.data(constant * c, "a"), kg.data(growing * c, "b")
    kg.factor(-0.5 * q * q)
    kg.factor(-a * q - 0.5 * b * q * q)
    return kg.minibatch(kg.model(q), size, replace=True)


def sampled(model, sampler):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kg.SamplingWarning)
        tree = kg.mcmc(
            model, sampler, draws=15_000, thin=10, warmup=1000, chains=2, seed=1, progress=False
        )
    return tree["posterior"]["q"].values, tree["sample_stats"]["thermostat"].values


SETTINGS = {"step_size": 0.05, "thermal_mass": 10.0}


@pytest.mark.parametrize(
    ("sampler", "friction"), thinned([(samplers.CCAdL, 1.0), (samplers.SGNHT, 1.225)], 2)
)
def test_constant_noise(sampler, friction):
    """sigma = 3: SGNHT's thermostat settles at A + h sigma^2 / 2, that of CCAdL at A = 1."""
    q, xi = sampled(oscillator(3.0, 0.0), sampler(**SETTINGS))
    assert_mean(xi, friction, truth_error=0.004, what="thermostat")
    assert_mean(q**2, 1.0, truth_error=0.005, what="q^2")
    assert_mean((xi - xi.mean()) ** 2, 0.1, truth_error=0.004, what="variance of xi")


@pytest.mark.slow
def test_noise_heats_what_has_no_thermostat():
    """SGLD on U = q^2 / 2: <q^2> = (1 + h sigma^2 / 2) / (1 - h / 2), exactly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kg.SamplingWarning)
        tree = kg.mcmc(
            oscillator(3.0, 0.0),
            samplers.SGLD(step_size=0.4),
            draws=10_000,
            chains=2,
            warmup=50,
            seed=1,
            progress=False,
        )
    assert_mean(tree["posterior"]["q"].values ** 2, (1 + 0.2 * 9) / (1 - 0.2))


@pytest.mark.slow
def test_noise_that_grows_with_the_distance():
    """sd 4 |q|: with the noise known <q^4> = 3; one friction for all places leaves about 6."""
    model = oscillator(0.0, 4.0)
    q, xi = sampled(model, samplers.CCAdL(forgetting=1.0, **SETTINGS))
    assert_mean(q**2, 1.0, truth_error=0.01, what="q^2")
    assert_mean(q**4, 3.0, truth_error=0.1, what="q^4")
    assert_mean((xi - xi.mean()) ** 2, 0.1, truth_error=0.005, what="variance of xi")
    q, xi = sampled(model, samplers.SGNHT(**SETTINGS))
    assert (q**4).mean() > 4.5
    assert xi.var() > 0.15


def test_friction_against_the_noise():
    """exp(-h^2 beta S / 4) p, of a matrix and of its diagonal."""
    root = np.array([[1.0, 0.2, 0.0], [0.3, 2.0, 0.5], [0.0, 0.1, 3.0]])
    spread, p = root @ root.T, np.array([1.0, -2.0, 0.5])
    for form, noise in (("full", spread), ("diagonal", np.diag(spread))):
        sampler = samplers.CCAdL(step_size=0.7, inverse_temperature=1.3, covariance=form)
        a, b = kg.placeholder(shape=p.shape), kg.placeholder(shape=noise.shape)
        found = kg.compile([a, b], sampler.controlled(a, b))(p, noise)
        matrix = noise if form == "full" else np.diag(noise)
        np.testing.assert_allclose(found, expm(-0.25 * 0.49 * 1.3 * matrix) @ p, rtol=1e-10)


class Anchored(kg.Sampler):
    """Stays, and records the gradients by the batch and by all rows, in `init` and in steps."""

    def init(self, at):
        return {"exact": self.evaluate_full(at.q).gradient}

    def step(self, at, exact):
        full, seen = self.evaluate_full(at.q), self.evaluate(at.q)
        self.record("full", full.gradient)
        self.record("potential", full.potential)
        self.record("seen", seen.gradient)
        self.record("begun", at.gradient)
        self.record("first", exact)
        return seen, {"exact": exact}


@pytest.mark.parametrize("scale", [None, [2.0, 0.5]])
def test_all_rows_may_be_evaluated_and_a_point_is_of_the_batch_before(scale):
    w = np.array([0.3, 0.1])
    chain = kg.chain(NOISY, Anchored(scale=scale), seed=2, initial=w)
    rows = chain.step(6).sample_stats
    exact = (X.T @ (X @ w - Y) + w) * (1.0 if scale is None else np.array(scale))
    np.testing.assert_allclose(rows["full"], np.tile(exact, (6, 1)), rtol=1e-10)
    np.testing.assert_allclose(rows["first"], rows["full"], rtol=1e-10)
    np.testing.assert_allclose(rows["potential"], np.full(6, -MODEL.log_density(w)), rtol=1e-10)
    assert np.abs(rows["seen"] - exact).min() > 1e-6
    np.testing.assert_allclose(rows["begun"][1:], rows["seen"][:-1], rtol=1e-10)
    plain = kg.chain(MODEL, Anchored(), seed=2, initial=w).step(2).sample_stats
    np.testing.assert_allclose(plain["full"], plain["seen"], rtol=1e-12)


COSTS = {
    "SGLD": samplers.SGLD(0.001),
    "BAOAB": samplers.BAOAB(0.01),
    "ABOBA": samplers.Splitting("ABOBA", 0.01),
    "OABAO": samplers.Splitting("OABAO", 0.01),
    "UBU": samplers.UBU(0.01),
}


@pytest.mark.parametrize("name", COSTS)
def test_one_gradient_a_step_by_a_batch_too(name):
    """Where a scheme has one kick: what its row tells of the end is a value alone."""
    wanted = [kg.observables.n_grad, kg.observables.n_value]
    for model in (MODEL, NOISY):
        chain = kg.chain(model, COSTS[name], seed=1, initial=np.zeros(2), observables=wanted)
        stats = chain.step(4).sample_stats
        assert stats["n_grad"].tolist() == [1] * 4
        assert stats["n_value"].tolist() == [int(name in ("ABOBA", "OABAO", "UBU"))] * 4


class Watched(samplers.CCAdL):
    """Records each estimate of the covariance."""

    def evaluate_with_covariance(self, q, *, full=False):
        at, covariance = super().evaluate_with_covariance(q, full=full)
        self.record("newest", covariance)
        return at, covariance


@pytest.mark.parametrize("forgetting", [None, 0.3])
def test_the_weights_of_estimates_of_the_covariance(forgetting):
    """The mean of all so far, from the first on; or each with its weight, the first one too."""
    chain = kg.chain(NOISY, Watched(0.01, forgetting=forgetting), seed=1, initial=np.zeros(2))
    seen, known = [], np.zeros(2)
    for _ in range(4):
        seen.append(chain.step(1).sample_stats["newest"][0])
        known = np.mean(seen, 0) if forgetting is None else 0.7 * known + 0.3 * seen[-1]
        np.testing.assert_allclose(chain.slots["noise"], known, rtol=1e-12)


def test_without_batches_there_is_no_noise():
    q = np.array([0.3, -0.2])
    with x64():
        density = MODEL.bind()
        at, diagonal, _ = density.evaluate_with_covariance(q, (), full=False)
        _, full, _ = density.evaluate_with_covariance(q, (), full=True)
    np.testing.assert_allclose(at.gradient, MODEL.gradient(q), rtol=1e-12)
    np.testing.assert_array_equal(diagonal, np.zeros(2))
    np.testing.assert_array_equal(full, np.zeros((2, 2)))
