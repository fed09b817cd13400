"""Samplers of ensembles: what a transition leaves as it is, and how their runs look."""

import functools

import numpy as np
import pytest
from jax import numpy as jnp
from scipy import special
from scipy.stats import binom
from tests.laws.helpers import assert_mean
from tests.runs.models import check_alike
from tests.samplers.kernels import transitions
from tests.selection import thinned

import kinetograph as kg
from kinetograph import samplers
from kinetograph.samplers.ensemble import Ensemble

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

# Two correlated normals and the logarithm of a gamma number of shape 3.
COVARIANCE = np.array([[1.0, 0.9], [0.9, 4.0]])
PRECISION = np.linalg.inv(COVARIANCE)
WALKERS, ROWS = 6, 4000
MOVES = {
    "stretch": samplers.Stretch(walkers=WALKERS),
    "differential evolution": samplers.DifferentialEvolution(walkers=WALKERS, epsilon=0.0),
    "walk": samplers.Walk(walkers=WALKERS),
    "walk, subset": samplers.Walk(walkers=WALKERS, subset=2),
}


def log_density(q):
    x = q[:2]
    return -0.5 * x @ PRECISION @ x + 3 * q[2] - jnp.exp(q[2])


def from_the_target(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.multivariate_normal(np.zeros(2), COVARIANCE, size=(ROWS, WALKERS))
    return np.concatenate([x, np.log(rng.gamma(3.0, size=(ROWS, WALKERS, 1)))], -1)


START = from_the_target()


def error_of_moments(q):
    """The largest error of moments of walkers and of neighbours, in standard errors.

    Ensembles are independent. There are 10 moments: a limit of 5.5 is passed by chance with
    probability below 4e-7.
    """
    x, y, z = np.moveaxis(q, -1, 0)
    z = z - special.digamma(3.0)
    products = [v * np.roll(v, 1, -1) for v in (x, y, z)]
    values = np.stack([x, y, z, x * x, x * y, y * y, z * z, *products]).mean(-1)
    truth = np.array([0, 0, 0, 1.0, 0.9, 4.0, special.polygamma(1, 3), 0, 0, 0])
    return np.max(np.abs(values.mean(1) - truth) / (values.std(1, ddof=1) / np.sqrt(ROWS)))


@functools.cache
def after_a_transition(name):
    return transitions(MOVES[name], log_density, START, small=True)


@pytest.mark.parametrize("name", thinned(MOVES, 4))
def test_a_transition_keeps_the_target(name):
    """Ensembles drawn from the target are ensembles of the target after it."""
    assert error_of_moments(START) < 5.5
    q, found = after_a_transition(name)
    assert error_of_moments(q) < 5.5
    assert found["accepted"].shape == (ROWS, WALKERS)
    moved = (q != START).any(-1)
    np.testing.assert_array_equal(found["accepted"], moved)
    # Accepted as often as the rate says: a share of n has an sd below 1 / 2 sqrt(n).
    assert abs(moved.mean() - found["acceptance_rate"].mean()) < 5 * 0.5 / np.sqrt(moved.size)
    assert (moved.mean(0) > 0.1).all()


class WithoutTheFactor(samplers.Stretch):
    """Accepts without z^(N - 1)."""

    def propose(self, q, others):
        return super().propose(q, others)[0], 0.0


class AllAtOnce(samplers.Walk):
    """All walkers move at once, by the covariance of all."""

    tunes = ()

    def step(self, at):
        centred = at.q - kg.mean(at.q, axis=0)
        weights = self.noise("walk", shape=(WALKERS, WALKERS))
        new = self.evaluate(at.q + weights @ centred / np.sqrt(WALKERS - 1))
        u = self.noise.uniform(shape=WALKERS, name="accept")
        return new.where(kg.log(u) < at.potential - new.potential, at)


@pytest.mark.parametrize("faulty", thinned([WithoutTheFactor, AllAtOnce], 2))
def test_controls(faulty):
    q, _ = transitions(faulty(walkers=WALKERS), log_density, START, small=True)
    assert error_of_moments(q) > 7


@pytest.mark.parametrize("name", thinned(MOVES, 4))
def test_affine_maps_of_the_target_map_the_draws(name):
    """The scales differ by 1e6; the rest is rounding."""
    shift = np.array([3.0, -1.0, 2.0])
    matrix = np.array([[1e3, 0, 0], [0.5, 1e-3, 0], [200.0, 0.4, 1.0]])
    back = np.linalg.inv(matrix)
    plain, found = after_a_transition(name)
    mapped, _ = transitions(
        MOVES[name],
        lambda q: log_density(back @ (q - shift)),
        START @ matrix.T + shift,
        small=True,
    )
    np.testing.assert_allclose((mapped - shift) @ back.T, plain, rtol=0, atol=1e-7)
    assert found["accepted"].any()


# Proposals on a flat density, which accepts all of them.


def flat(q):
    return 0.0 * jnp.sum(q)


@pytest.mark.parametrize("jumps", [0.0, 1.0])
def test_moves_of_differential_evolution_are_differences(jumps):
    """Of two walkers of the other half, times 1 in a jump and 2.38 / sqrt(2 N) otherwise.

    All pairs are equally likely: counts lie between the 1e-9 quantiles of their binomial law.
    """
    rows, half, size = 1000, 4, 3
    start = np.random.default_rng(2).normal(size=(rows, 2 * half, size))
    sampler = samplers.DifferentialEvolution(walkers=2 * half)
    after, found = transitions(sampler, flat, start, small=True, jumps=jumps, epsilon=0.0)
    assert found["accepted"].all()
    factor = 1.0 if jumps else 2.38 / np.sqrt(2 * size)
    counts = np.zeros((half, half), int)
    for mine, others in ((slice(half), start[:, half:]), (slice(half, None), after[:, :half])):
        moved = (after - start)[:, mine]
        pairs = factor * (others[:, :, None] - others[:, None])
        error = np.abs(moved[:, :, None, None] - pairs[:, None]).max(-1)
        at = error.reshape(rows, half, half**2).argmin(-1)
        assert error.min((-2, -1)).max() < 1e-12
        counts += np.bincount(at.ravel(), minlength=half**2).reshape(half, half)
    apart = ~np.eye(half, dtype=bool)
    assert (np.diag(counts) == 0).all()
    law = binom(counts.sum(), 1 / apart.sum())
    assert np.all((counts[apart] >= law.ppf(1e-9)) & (counts[apart] <= law.ppf(1 - 1e-9)))


@pytest.mark.parametrize("subset", [None, 2])
def test_moves_of_walk_have_the_covariance_of_the_other_half(subset):
    """Times the square of the step size; moments in standard errors, of independent moves.

    There are 9 moments: a limit of 6.5 is passed by chance with probability below 1e-9.
    """
    rows, half = 4000, 4
    start = np.random.default_rng(2).normal(size=(2 * half, 3)) + 5.0
    sampler = samplers.Walk(walkers=2 * half, subset=subset)
    after, _ = transitions(sampler, flat, start, repeat=rows, small=True, step_size=0.6)
    moved = (after - start)[:, :half].reshape(-1, 3)
    upper = np.triu_indices(3)
    values = np.concatenate([moved, moved[:, upper[0]] * moved[:, upper[1]]], 1)
    exact = np.concatenate([np.zeros(3), 0.6**2 * np.cov(start[half:].T)[upper]])
    error = values.std(0) / np.sqrt(len(values))
    assert (np.abs(values.mean(0) - exact) / error).max() < 6.5


# Runs.


class Neighbours(kg.Sampler):
    """A user's ensemble: each half takes steps of the length between two of the other's walkers."""

    walkers = kg.hyper(6, lower=4, static=True)
    width = kg.hyper(1.0, positive=True)

    def init(self, at):
        return {"moves": 0 * at.potential}

    def step(self, at, moves):
        half = self.walkers // 2
        for _ in range(2):
            mine, others = at.split(half)
            apart = kg.sqrt(kg.sum((others.q[0] - others.q[1]) ** 2))
            step = self.width * apart * self.noise("step", like=mine.q)
            new = self.evaluate(mine.q + step)
            u = self.noise.uniform(shape=half, name="accept")
            accepted = kg.log(u) < mine.potential - new.potential
            at = others.join(new.where(accepted, mine))
            moves = kg.concatenate([moves[half:], moves[:half] + accepted])
        self.record("moves", moves)
        self.record("apart", apart)
        return at, {"moves": moves}


def pair():
    x = kg.normal(np.array([1.0, -2.0]), np.array([1.0, 2.0]), name="x")
    s = kg.gamma(3.0, 2.0, name="s")
    return kg.model(x, s)


PAIR = pair()


def test_each_walker_is_a_chain():
    settings = {"draws": 20, "warmup": 5, "seed": 1, "progress": False}
    tree = kg.mcmc(PAIR, Neighbours(), chains=3, **settings)
    assert tree["posterior"]["x"].shape == (18, 20, 2)
    assert tree["posterior"]["s"].shape == (18, 20)
    assert (tree["posterior"]["s"] > 0).all()
    assert tree.attrs["walkers"] == 6
    stats, state = tree["sample_stats"], tree["sampler_state"]
    assert stats["lp"].shape == stats["moves"].shape == (18, 20)
    # What is the ensemble's is each of its walkers'.
    apart = stats["apart"].values.reshape(3, 6, 20)
    assert np.array_equal(apart, np.broadcast_to(apart[:, :1], apart.shape))
    assert state["position_q"].shape == (3, 6, 3)
    # A gradient for each point that a walker tried; a step has no use for one.
    spent = state["start_gradients"].values
    assert spent.shape == (3, 6)
    np.testing.assert_array_equal(state["gradients"], spent.sum(1))
    np.testing.assert_array_equal(spent, state["start_attempts"])
    # Starts differ, lp belongs to the place, and the walkers' numbers are counted up.
    first = tree["posterior"]["x"].values[:, 0]
    assert len(np.unique(first, axis=0)) == 18
    values = {name: tree["posterior"][name].values[7, 3] for name in ("x", "s")}
    assert float(PAIR.log_prob(PAIR.untransform(values))) == pytest.approx(float(stats["lp"][7, 3]))
    assert (np.diff(stats["moves"], axis=1) >= 0).all()
    # Ensembles do not depend on how many there are, and a chain stepped by hand is one.
    chain = kg.chain(PAIR, Neighbours(), seed=1, index=1, warmup=5)
    rows = chain.step(20)
    assert np.array_equal(rows.posterior["x"].swapaxes(0, 1), tree["posterior"]["x"].values[6:12])
    assert np.array_equal(rows.sample_stats["moves"].T, stats["moves"].values[6:12])
    assert chain.log_density.shape == (6,)
    assert chain.values["x"].shape == (6, 2)
    assert chain.slots["moves"].shape == (6,)


@pytest.mark.slow
def test_a_run_of_an_ensemble():
    """The walkers' mean at each draw, a series of each ensemble, tells the error."""
    tree = kg.mcmc(PAIR, samplers.Stretch(walkers=8), draws=8000, chains=6, seed=1, progress=False)
    draws = {
        "x": tree["posterior"]["x"].values[..., 0],
        "y": tree["posterior"]["x"].values[..., 1],
        "s": tree["posterior"]["s"].values,
    }
    for name, mean, second in (("x", 1, 2), ("y", -2, 8), ("s", 1.5, 3)):
        each = draws[name].reshape(6, 8, -1)
        assert_mean(each.mean(1), mean, what=name)
        assert_mean((each**2).mean(1), second, what=f"{name}^2")


@pytest.mark.slow
def test_observables_are_of_each_walker():
    sampler, wanted = Neighbours(), ["virial", "gradient_norm", "temperature_config"]
    watched = [getattr(kg.observables, name) for name in wanted]
    tree = kg.mcmc(PAIR, sampler, draws=3, warmup=0, seed=1, progress=False, observables=watched)
    q = tree["sampler_state"]["position_q"].values.reshape(24, 3)
    slope = -tree["sampler_state"]["position_gradient"].values.reshape(24, 3)
    found = [tree["sample_stats"][name].values[:, -1] for name in wanted]
    virial = (q * slope).sum(1)
    expected = [virial / 2, np.linalg.norm(slope, axis=1), virial / 3]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "sampler", [samplers.Walk(walkers=6), samplers.EQN(samplers.BAOAB(0.2), walkers=6)]
)
def test_a_batch_of_ensembles_makes_the_same_draws(sampler):
    options = {"draws": 15, "warmup": 10, "chains": 3, "seed": 1, "progress": False}
    trees = [kg.mcmc(PAIR, sampler, chain_method=m, **options) for m in ("threads", "batch")]
    check_alike(*trees)


def test_ensembles_are_chains_to_diagnostics():
    """Walkers that do not mix are no trouble where ensembles agree; ensembles that differ are."""
    from kinetograph.results import diagnostics

    rng = np.random.default_rng(0)
    places = rng.normal(size=(40, 1))
    draws = {"x": np.tile(places, (4, 1)) + 0.01 * rng.normal(size=(160, 100))}
    assert diagnostics.rhat(draws["x"]) > 2
    assert diagnostics.rhat(diagnostics.together(draws["x"], 40)) < 1.01
    apart = draws["x"] + np.repeat([0, 0, 0, 3.0], 40)[:, None]
    assert diagnostics.rhat(diagnostics.together(apart, 40)) > 1.2
    one = diagnostics.together(np.arange(12.0).reshape(4, 3), 2)
    assert one.tolist() == [[0, 3, 1, 4, 2, 5], [6, 9, 7, 10, 8, 11]]


# What makes no sense.


def test_starts_of_walkers():
    rng = np.random.default_rng(1)
    states = rng.normal(size=(6, 3))
    chain = kg.chain(PAIR, Neighbours(), seed=1, initial=states)
    np.testing.assert_array_equal(chain.q, states)
    values = PAIR.transform(states)
    chain.move(values)
    np.testing.assert_allclose(chain.q, states)
    chain.move([{"s": float(s)} for s in values["s"]])  # the rest is drawn, for each walker
    assert len(np.unique(chain.q[:, 0])) == 6
    for bad, error, text in (
        (states[:4], kg.ShapeError, r"of 6 walkers need shape \(6, 3\) or \(1, 6, 3\), got"),
        ({"x": [1.0, 2.0], "s": 1.0}, kg.ShapeError, "values of x need a leading axis of 6"),
        ([{"s": 1.0}] * 5, kg.ModelError, "initial has 5 points for 6 walkers"),
        ("here", ValueError, "a list with one dictionary for each walker"),
    ):
        with pytest.raises(error, match=text):
            chain.move(bad)
    with pytest.raises(ValueError, match="8 starting points do not span the 3 free numbers"):
        kg.chain(PAIR, samplers.Stretch(walkers=8), seed=1, initial=np.tile(states[0], (8, 1)))
    flat = rng.normal(size=(8, 3)) * [1.0, 1.0, 0.0] + 1e6
    with pytest.raises(ValueError, match="do not span"):
        kg.chain(PAIR, samplers.Walk(walkers=8), seed=1, initial=flat)


def test_a_walker_without_a_start_is_named():
    states = np.ones((6, 3))
    states[2, 1] = np.inf
    with pytest.raises(kg.StartError, match="walker 2"):
        kg.chain(PAIR, Neighbours(), seed=1, initial=states)
    samplers.Stretch(walkers=6).check_start(states)  # leaves it to the run


@pytest.mark.parametrize("kind", [samplers.Stretch, samplers.DifferentialEvolution, samplers.Walk])
def test_too_few_walkers(kind):
    title = kind.__name__
    with pytest.raises(ValueError, match=f"{title}: walkers must be an even number.*got 7"):
        kind(walkers=7)
    with pytest.raises(ValueError, match=f"{title}: walkers must be at least 4, got 2"):
        kind(walkers=2)
    with pytest.raises(ValueError, match=f"too few for 3 free numbers.*{title}\\(walkers=6\\)"):
        kg.chain(PAIR, kind(walkers=4), seed=1)
    later = kind(walkers=8)
    later.walkers = 9
    with pytest.raises(ValueError, match="must be an even number"):
        kg.chain(PAIR, later, seed=1)


def test_settings_are_checked():
    with pytest.raises(ValueError, match=r"subset must be a whole number from 2 to .*3; got 4"):
        samplers.Walk(walkers=6, subset=4)
    with pytest.raises(ValueError, match="stretch must be above 1, got 1"):
        samplers.Stretch(stretch=1.0)
    with pytest.raises(TypeError, match="declare it as walkers = "):

        class Loose(kg.Sampler):
            walkers = kg.hyper(10)

    with pytest.raises(TypeError, match="leave 'scale' out of tunes"):

        class Tuned(Ensemble):
            tunes = ("scale",)


def test_walkers_that_get_lost():
    class Half(kg.Sampler):
        walkers = kg.hyper(6, lower=2, static=True)

        def step(self, at):
            return at.split(3)[0]

    class Narrow(Half):
        def step(self, at):
            return self.evaluate(at.q[:, :2])

    with pytest.raises(kg.ShapeError, match=r"positions of shape \(3, 3\) .* all 6 walkers"):
        kg.chain(PAIR, Half(), seed=1)
    with pytest.raises(kg.ShapeError, match=r"walkers have positions of shape \(any number, 3\)"):
        kg.chain(PAIR, Narrow(), seed=1)
