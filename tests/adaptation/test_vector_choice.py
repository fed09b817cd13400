"""Warm-up chooses the coordinates of vectors that are normal given other unknowns."""

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.adaptation.vector_choice import ROWS, VectorChoice, VectorMoments
from kinetograph.adaptation.windows import is_judged
from kinetograph.graph.precision import x64

LATE = 1000
PARTS = [slice(0, 3), slice(3, 5)]


def evidence(rng, h, r, spread=(1.0, 1.0)):
    """Evidence of exactly normal data; `spread` has sd(y) sd(slope) as written and in use."""
    f = rng.normal(size=len(h))
    rows = np.stack([f, r - h * f, *rng.normal(size=(ROWS - 2, len(h)))])
    rows[2:4] *= np.sqrt(spread[0])
    rows[4:6] *= np.sqrt(spread[1])
    return rows


def updated(state, information, transitions, h, r, spread, rng, alone=True):
    found = []
    with x64():
        for done in transitions:
            state = state.add(evidence(rng, h, r, spread), done)
            if not is_judged(done + 1, LATE):
                continue
            stacked = jax.tree.map(lambda x: np.asarray(x)[None], state)
            stacked, new, scale, changes = stacked.judged(
                information[None], PARTS, np.array([done + 1]), alone
            )
            state, information = jax.tree.map(lambda x: x[0], stacked), new[0]
            if np.any(changes):
                found.append((done + 1, changes[0], scale[0]))
    return state, information, found


def test_normal_data_are_found_by_regression():
    rng = np.random.default_rng(1)
    h, r = np.array([0.5, 0.5, 0.5, 3.0, 3.0]), rng.normal(size=5)
    moments = VectorMoments.start(5, float)
    with x64():
        for _ in range(30):
            moments = moments.add(evidence(rng, h, r))
        found = np.asarray(moments.information(PARTS))
    np.testing.assert_allclose(found[0], h, rtol=1e-10)
    # Elements of one vector are pooled, so that their values at the mean are those of the line.
    np.testing.assert_allclose(found[1], r, rtol=1e-9, atol=1e-9)


def test_elements_approach_their_own_values_with_many_draws():
    rng = np.random.default_rng(2)
    h = np.array([0.1, 1.0, 5.0, 0.0, 2.0])
    moments = VectorMoments.start(5, float)
    with x64():
        for _ in range(4000):
            moments = moments.add(evidence(rng, h, np.ones(5)))
        found = np.asarray(moments.information(PARTS))
    np.testing.assert_allclose(found[0], h, atol=0.03)


def test_evidence_without_movement_or_with_a_rising_slope_is_no_data():
    moments = VectorMoments.start(5, float)
    with x64():
        for k in range(20):
            rows = np.ones((ROWS, 5))
            rows[:2, 3:] = k  # the likelihood rises without bound
            moments = moments.add(rows)
        found = np.asarray(moments.information(PARTS))
    np.testing.assert_array_equal(found, 0.0)


def test_coordinates_are_tried_where_the_posterior_is_not_normal():
    start, rng = VectorChoice.start(5, float), np.random.default_rng(3)
    written = np.stack([-np.ones(5), np.zeros(5)])
    h, r = np.full(5, 2.0), np.ones(5)
    _, information, found = updated(start, written, range(200), h, r, (0.7, 1.0), rng)
    assert not found
    np.testing.assert_array_equal(information, written)
    _, information, found = updated(start, written, range(60), h, r, (9.0, 1.0), rng)
    ((done, changes, scale),) = found
    assert done == 50
    assert changes.all()
    np.testing.assert_array_equal(scale, 1.0)
    np.testing.assert_allclose(information, [h, r], rtol=1e-9)


@pytest.mark.parametrize(("size", "changes"), [(5, False), (500, True)])
def test_many_elements_are_tried_from_a_smaller_mean(size, changes):
    """D as written is 0.035; its mean over 500 elements is known well enough."""
    spread = np.exp(0.035 / 2)
    rows = np.ones((ROWS, size)) * np.array([1, -1, spread, spread, 1, 1])[:, None]
    moments = VectorMoments.start(size, float)
    moments = moments._replace(each=moments.each._replace(count=50.0, squares=49.0 * rows**2))
    none = jax.tree.map(np.asarray, VectorChoice.start(size, float))
    stacked = jax.tree.map(lambda x: np.asarray(x)[None], none._replace(window=moments))
    written = np.stack([-np.ones(size), np.zeros(size)])[None]
    with x64():
        found = stacked.judged(written, [slice(0, size)], np.array([50]))[-1]
    assert found.all() == found.any() == changes


def test_worse_coordinates_are_left_for_good():
    state, rng = VectorChoice.start(5, float), np.random.default_rng(4)
    information = np.stack([-np.ones(5), np.zeros(5)])
    h, r = np.full(5, 2.0), np.ones(5)
    state, information, _ = updated(state, information, range(50), h, r, (3.0, 3.0), rng)
    assert (information[0] > 0).all()
    state, information, found = updated(state, information, range(50, 400), h, r, (3.0, 30.0), rng)
    assert [done for done, *_ in found] == [100]
    assert (information[0] < 0).all()
    assert int(state.changed) == 100


def test_draws_in_the_coordinates_of_before_do_not_count():
    state, rng = VectorChoice.start(5, float), np.random.default_rng(6)
    information = np.stack([-np.ones(5), np.zeros(5)])
    h, r = np.full(5, 2.0), np.ones(5)
    state, information, _ = updated(state, information, range(50), h, r, (30.0, 30.0), rng)
    assert (information[0] > 0).all()
    _, _, found = updated(state, information, range(50, 400), h, r, (30.0, 0.5), rng)
    assert not found


def test_elements_that_move_in_a_joint_block_keep_their_coordinates():
    rng, h, r = np.random.default_rng(7), np.full(5, 2.0), np.ones(5)
    state, written = VectorChoice.start(5, float), np.stack([-np.ones(5), np.zeros(5)])
    alone = np.array([False, False, False, True, True])
    _, new, ((_, changes, _),) = updated(state, written, range(50), h, r, (9.0, 9.0), rng, alone)
    np.testing.assert_array_equal(changes, alone)
    np.testing.assert_array_equal(new[:, :3], written[:, :3])


SIZE, NOISE = 12, 0.7


def walk():
    """A walk with an unknown scale, observed with known noise."""
    sd = kg.half_normal(1, name="sd")
    x = kg.random_walk(sd, SIZE, name="x")
    kg.observe(values(), kg.normal(x, NOISE), name="y")
    return {"sd": sd, "x": x}


def numbers():
    """The same walk as a running sum of standard normal numbers."""
    sd, z = kg.half_normal(1, name="sd"), kg.normal(0, 1, shape=SIZE, name="z")
    x = sd * kg.cumsum(z)
    kg.observe(values(), kg.normal(x, NOISE), name="y")
    return {"sd": sd, "x": x}


def steps():
    """The same walk as a running sum of a first value and of steps by value."""
    sd = kg.half_normal(1, name="sd")
    first, later = kg.normal(0, sd, name="first"), kg.normal(0, sd, shape=SIZE - 1, name="later")
    x = kg.cumsum(kg.concatenate([[first], later]))
    kg.observe(values(), kg.normal(x, NOISE), name="y")
    return {"sd": sd, "x": x}


def loop():
    """The same walk by unknown numbers of a loop, with the density of the data as a factor."""
    sd = kg.half_normal(1, name="sd")
    x = [kg.normal(0, sd, name="first")]
    for _ in range(1, SIZE):
        x.append(kg.normal(x[-1], sd))
    kg.factor(-0.5 * kg.sum((values() - kg.stack(x)) ** 2) / NOISE**2)
    return {"sd": sd, "x": kg.stack(x)}


def values():
    return np.cumsum(np.random.default_rng(5).normal(size=SIZE))


def exact():
    """Means and standard deviations of sd and x: normal given sd, and a sum over sd."""
    grid = np.linspace(1e-3, 6, 4000)
    sums = np.tril(np.ones((SIZE, SIZE)))
    weights, means, seconds = [], [], []
    for sd in grid:
        prior = sd**2 * sums @ sums.T
        both = prior + NOISE**2 * np.eye(SIZE)
        gain = np.linalg.solve(both, prior).T
        mean = gain @ values()
        fit = -0.5 * (np.linalg.slogdet(both)[1] + values() @ np.linalg.solve(both, values()))
        weights.append(fit - sd**2 / 2)
        means.append(mean)
        seconds.append(mean**2 + np.diag(prior - gain @ prior))
    weights = np.exp(np.array(weights) - max(weights))
    weights /= weights.sum()
    all_means = np.column_stack([grid, means])
    mean = weights @ all_means
    second = weights @ np.column_stack([grid**2, seconds])
    return mean, np.sqrt(second - mean**2)


@pytest.mark.parametrize(
    ("build", "method"),
    [
        (walk, "threads"),
        (walk, "batch"),
        (numbers, "threads"),
        (steps, "threads"),
        (loop, "threads"),
    ],
)
def test_the_posterior_of_a_walk_is_exact(build, method):
    tree = kg.mcmc(kg.model(build), seed=2, chain_method=method, progress=False)
    precision = tree["sampler_state"]["hyper_information"].values[:, 0]
    assert (precision > 0).any()
    posterior = tree["posterior"]
    draws = np.concatenate([posterior["sd"].values[..., None], posterior["x"].values], -1)
    summary = kg.summary(tree)
    ess = np.array([summary["ess_bulk", n] for n in ("sd", *(f"x[{i}]" for i in range(SIZE)))])
    mean, sd = exact()
    z = (draws.mean((0, 1)) - mean) / (sd / np.sqrt(ess))
    assert np.abs(z).max() < 6  # false alarms: 3e-8
    np.testing.assert_allclose(draws.std((0, 1)), sd, rtol=0.12)


def test_draws_statistics_and_state_are_those_of_the_free_state():
    model = kg.model(walk)
    tree = kg.mcmc(model, draws=60, warmup=150, chains=2, seed=1, progress=False)
    assert (tree["sampler_state"]["hyper_information"].values[:, 0] >= 0).any()
    posterior, lp = tree["posterior"], tree["sample_stats"]["lp"].values
    for chain in range(2):
        at = {n: posterior[n].values[chain, 59] for n in ("sd", "x")}
        np.testing.assert_allclose(lp[chain, 59], model.log_prob(at), rtol=1e-9)
    q = tree["sampler_state"]["position_q"].values
    np.testing.assert_allclose(q[:, 1:], posterior["x"].values[:, -1], rtol=1e-9)
    np.testing.assert_allclose(
        tree["sampler_state"]["position_gradient"].values, model.gradient(q), rtol=1e-6, atol=1e-8
    )
    more = kg.mcmc(model, draws=60, warmup=0, chains=2, seed=2, progress=False, tuned=tree)
    np.testing.assert_array_equal(
        more["sampler_state"]["hyper_information"], tree["sampler_state"]["hyper_information"]
    )
