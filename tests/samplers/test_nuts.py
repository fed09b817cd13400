"""NUTS: one transition against a recursive implementation and against laws; runs on Gaussians."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from tests.laws.helpers import assert_moments
from tests.samplers import recursive_nuts
from tests.samplers.kernels import transitions
from tests.selection import thinned

import kinetograph as kg
from kinetograph.samplers import NUTS

OMEGA = 1.3
WIDTHS = np.linspace(0.8, 1.3, 4)  # reciprocal


def harmonic(q):
    return -0.5 * OMEGA**2 * jnp.sum(q * q)


def unequal(q):
    return -0.5 * jnp.sum((WIDTHS * q) ** 2)


def banana(q):
    """Curved, skewed, with tails lighter than a Gaussian's."""
    return -0.5 * q[0] ** 2 - 2.0 * (q[1] - 0.5 * q[0] ** 2) ** 2 - 0.05 * q[0] ** 4


def banana_gradient(q):
    slope = 4.0 * (q[1] - 0.5 * q[0] ** 2)
    return np.array([-q[0] + slope * q[0] - 0.2 * q[0] ** 3, -slope])


# A step of the integrator -----------------------------------------------------------------------

LEAPFROG = (0.5, 1.0, 0.5)
BCSS3 = np.array([0.11888010966548, 0.29619504261126, 0.5 - 0.11888010966548, 0, 0, 0, 0])
BCSS3[3], BCSS3[4:] = 1 - 2 * BCSS3[1], BCSS3[2::-1]


def trajectory(coefficients, q, p, h, count):
    """The trajectory of the harmonic well, start included."""
    path = [(q, p)]
    for _ in range(count):
        for i, share in enumerate(coefficients):
            if i % 2:
                q = q + share * h * p
            else:
                p = p - share * h * OMEGA**2 * q
        path.append((q, p))
    return np.array(path)


def starting_momentum(q0, lp, energy, energy_error):
    """|p| at the start, from the recorded energies."""
    return np.sqrt(2 * (energy - energy_error - 0.5 * OMEGA**2 * q0**2))


INTEGRATORS = [("bcss3", BCSS3), ("leapfrog", LEAPFROG)]


@pytest.mark.parametrize(("integrator", "coefficients"), thinned(INTEGRATORS, 2))
def test_new_positions_lie_on_the_trajectory(integrator, coefficients):
    """From the recorded energies one knows |p|, and so all 15 points that a tree can reach.

    A tree has 8 of them that follow one another, and the largest of their energy errors.
    """
    q0, h, depth = 0.7, 0.05, 3
    sampler = NUTS(max_depth=depth, integrator=integrator)
    wanted = {"wanted": ["max_energy_error"], "small": True}
    q, info = transitions(sampler, harmonic, [q0], step_size=h, repeat=2000, **wanted)
    full = np.flatnonzero(info["n_steps"] == 7)  # the others started slowly, near a turning point
    assert len(full) > 1500
    places = []
    for i in full:
        p = starting_momentum(q0, *(info[k][i] for k in ("lp", "energy", "energy_error")))
        forward, backward = (trajectory(coefficients, q0, s * p, h, 7) for s in (1, -1))
        points = np.concatenate([backward[:0:-1], forward])
        nearest = np.argmin(np.abs(points[:, 0] - q[i, 0]))
        assert points[nearest, 0] == pytest.approx(q[i, 0], abs=1e-12)
        energy = 0.5 * points[nearest, 1] ** 2 + 0.5 * OMEGA**2 * points[nearest, 0] ** 2
        assert energy == pytest.approx(info["energy"][i], abs=1e-12)
        places.append(nearest - 7)
        errors = 0.5 * points[:, 1] ** 2 + 0.5 * OMEGA**2 * points[:, 0] ** 2
        errors = np.array([errors[k : k + 8] - errors[7] for k in range(8)])
        worst = errors[np.arange(8), np.abs(errors).argmax(1)]
        assert np.abs(worst - info["max_energy_error"][i]).min() < 1e-12
        assert abs(info["max_energy_error"][i]) >= abs(info["energy_error"][i])
    assert set(places) >= set(range(-7, 8)) - {0}


def test_the_energy_is_that_of_the_new_position_whatever_was_refused():
    """Also where trees turn, and what was found last is left."""
    q0, h = 0.7, 0.9 / OMEGA
    q, info = transitions(NUTS(), harmonic, [q0], step_size=h, repeat=400)
    assert len(set(info["n_steps"])) > 1
    for i in range(400):
        p = starting_momentum(q0, *(info[k][i] for k in ("lp", "energy", "energy_error")))
        points = np.concatenate([trajectory(LEAPFROG, q0, s * p, h, 15) for s in (1, -1)])
        place = np.argmin(np.abs(points[:, 0] - q[i, 0]))
        energy = 0.5 * points[place, 1] ** 2 + 0.5 * OMEGA**2 * points[place, 0] ** 2
        assert energy == pytest.approx(info["energy"][i], rel=1e-9)


def test_energy_error_is_of_second_order():
    """Rejection falls by 4 as the step is halved, for trajectories of the same length in time."""
    rejected = []
    for h in (0.2, 0.1, 0.05):
        _, info = transitions(NUTS(), harmonic, [0.9, -0.3], step_size=h, repeat=20_000)
        rejected.append(1 - info["acceptance_rate"].mean())
    assert rejected[0] / rejected[1] == pytest.approx(4, rel=0.15)
    assert rejected[1] / rejected[2] == pytest.approx(4, rel=0.15)


def test_recorded_quantities_agree_with_each_other():
    start = np.random.default_rng(1).normal(size=(500, 2)) / OMEGA
    q, info = transitions(NUTS(), harmonic, start, step_size=0.6)
    lp = -0.5 * OMEGA**2 * (q * q).sum(1)
    np.testing.assert_allclose(info["lp"], lp, rtol=1e-12)
    assert np.all(info["energy"] >= -lp)
    first = info["energy"] - info["energy_error"]
    assert np.all(first >= 0.5 * OMEGA**2 * (start * start).sum(1) - 1e-12)
    assert np.all((info["acceptance_rate"] > 0) & (info["acceptance_rate"] <= 1))
    assert not info["diverging"].any()


# The tree ---------------------------------------------------------------------------------------


def test_number_of_steps_and_depth_belong_together():
    start = np.random.default_rng(2).normal(size=(5000, 2)) / OMEGA
    _, info = transitions(NUTS(), harmonic, start, step_size=0.1)
    steps, depth = info["n_steps"], info["tree_depth"]
    assert np.all(steps >= 2 ** (depth - 1))
    assert np.all(steps <= 2**depth - 1)
    assert len(set(depth)) >= 3


@pytest.mark.parametrize("max_depth", thinned([10, 1, 2, 5], 2))
def test_a_tree_that_never_turns_is_full(max_depth):
    _, info = transitions(
        NUTS(max_depth=max_depth), harmonic, [0.5, 0.1], step_size=1e-5, repeat=20
    )
    assert np.all(info["n_steps"] == 2**max_depth - 1)
    assert np.all(info["tree_depth"] == max_depth)


def test_a_trajectory_ends_near_half_a_period():
    """In one dimension the momentum turns after half a period, whatever the step size."""
    half_period = np.pi / OMEGA
    for h in (0.02, 0.05, 0.1):
        _, info = transitions(NUTS(), harmonic, [0.0], step_size=h, repeat=2000)
        time = info["n_steps"].mean() * h
        assert 0.5 * half_period < time < 2.0 * half_period


def histogram_test(ours, theirs) -> float:
    """The p-value of a chi-square test that two samples of whole numbers have one law."""
    values, codes = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    counts = np.stack(
        [np.bincount(part, minlength=len(values)) for part in np.split(codes, [len(ours)])]
    )
    # Rare values are put together: the test wants expected counts of five and more.
    order = np.argsort(-counts.sum(0))
    counts = counts[:, order]
    rare = counts.sum(0) < 40
    counts = np.column_stack([counts[:, ~rare], counts[:, rare].sum(1)])
    counts = counts[:, counts.sum(0) > 0]
    return stats.chi2_contingency(counts).pvalue if counts.shape[1] > 1 else 1.0


TARGETS = {
    "banana": (banana, lambda q: float(banana(q)), banana_gradient, np.array([1.2, 0.3]), 0.35),
    "harmonic": (
        harmonic,
        lambda q: -0.5 * OMEGA**2 * float(q @ q),
        lambda q: -(OMEGA**2) * q,
        np.array([0.4, -1.0, 0.2]),
        0.25,
    ),
    "coarse": (  # large energy errors: the weights of the leaves differ much
        harmonic,
        lambda q: -0.5 * OMEGA**2 * float(q @ q),
        lambda q: -(OMEGA**2) * q,
        np.array([1.4, -0.5]),
        1.35,
    ),
    "resonant": (  # four steps are half a period: without the checks across halves trees go on
        harmonic,
        lambda q: -0.5 * OMEGA**2 * float(q @ q),
        lambda q: -(OMEGA**2) * q,
        np.linspace(-1.5, 1.5, 20),
        0.85 / OMEGA,
    ),
    "unequal": (  # long steps on several frequencies: each of the two checks decides at times
        unequal,
        lambda q: -0.5 * float((WIDTHS * q) @ (WIDTHS * q)),
        lambda q: -(WIDTHS**2) * q,
        np.array([0.5, -1.0, 0.3, 1.0]) / WIDTHS,
        1.4,
    ),
}


@cache
def recursive_sample(name: str, count: int, max_depth: int = 10):
    _, log_density, gradient, q0, h = TARGETS[name]
    if name == "banana":
        log_density = lambda q: (
            -0.5 * q[0] ** 2 - 2.0 * (q[1] - 0.5 * q[0] ** 2) ** 2 - 0.05 * q[0] ** 4
        )
    rng = np.random.default_rng(3)
    rows = [
        recursive_nuts.transition(log_density, gradient, q0, h, max_depth, rng)
        for _ in range(count)
    ]
    return tuple(np.array(column) for column in zip(*rows))


@pytest.mark.parametrize("name", thinned(TARGETS, 4))
def test_a_transition_has_the_law_of_the_recursive_sampler(name):
    """Steps, depth and new position from one starting point, over all momenta.

    Fixed seeds; a limit of 1e-4 for each of four p-values.
    """
    q, steps, depth = recursive_sample(name, 6000)
    target, _, _, q0, h = TARGETS[name]
    sampler = NUTS(max_halvings=0)
    ours, info = transitions(sampler, target, q0, step_size=h, repeat=30_000)
    assert histogram_test(info["n_steps"], steps) > 1e-4
    assert histogram_test(info["tree_depth"], depth) > 1e-4
    for i in range(2):
        assert stats.ks_2samp(ours[:, i], q[:, i]).pvalue > 1e-4


@pytest.mark.slow
def test_the_comparison_can_fail():
    """Another step size, and a tree of another depth limit, have another law."""
    q, steps, _ = recursive_sample("banana", 6000)
    target, _, _, q0, h = TARGETS["banana"]
    _, info = transitions(NUTS(), target, q0, step_size=1.05 * h, repeat=30_000)
    assert histogram_test(info["n_steps"], steps) < 1e-4
    shallow = NUTS(max_depth=2)
    ours, _ = transitions(shallow, target, q0, step_size=h, repeat=30_000, small=True)
    assert stats.ks_2samp(ours[:, 0], q[:, 0]).pvalue < 1e-4


# What it leaves invariant ------------------------------------------------------------------------


def exponential_on_the_log_scale(q):
    """x = exp(q) is exponential: skewed, one tail light, one heavy."""
    return jnp.sum(q - jnp.exp(q))


@pytest.mark.parametrize("step_size", [0.3, 1.0, 1.9])
def test_one_transition_keeps_an_exact_sample_exact(step_size):
    """No step size is too long for the target to be kept: the weights correct for it."""
    rng = np.random.default_rng(4)
    start = np.log(rng.exponential(size=(40_000, 1)))
    q, _ = transitions(NUTS(), exponential_on_the_log_scale, start, step_size=step_size)
    assert stats.kstest(np.exp(q[:, 0]), "expon").pvalue > 1e-4
    assert np.mean(q != start) > 0.3
    assert stats.kstest(1.1 * np.exp(q[:, 0]), "expon").pvalue < 1e-4  # the test can fail


def test_the_metric_keeps_the_target_too():
    rng = np.random.default_rng(5)
    start = rng.normal(size=(40_000, 2)) / OMEGA
    scale = np.array([0.3, 2.0])
    q, _ = transitions(NUTS(), harmonic, start, step_size=0.7, scale=scale)
    for i in range(2):
        assert stats.kstest(OMEGA * q[:, i], "norm").pvalue > 1e-4


def test_a_metric_is_a_change_of_coordinates():
    """Scale s on a target that is s times as wide is scale 1 on the target."""
    wide = lambda q: harmonic(q / 100.0)
    q, info = transitions(NUTS(), wide, [50.0], step_size=0.4, scale=100.0, repeat=1000, small=True)
    same, info_1 = transitions(NUTS(), harmonic, [0.5], step_size=0.4, repeat=1000)
    np.testing.assert_allclose(q, 100.0 * same, rtol=1e-9)
    assert np.array_equal(info["n_steps"], info_1["n_steps"])


# Where the density fails ------------------------------------------------------------------------


def test_a_point_without_a_density_is_never_accepted():
    """Three boxes, around 0, 100 and 200; outside of each is something else."""

    def boxes(q):
        outside = jnp.where(q[0] < 50.0, jnp.nan, jnp.where(q[0] < 150.0, -jnp.inf, jnp.inf))
        return jnp.where(jnp.abs(q[0] - 100.0 * jnp.round(q[0] / 100.0)) < 1.0, 0.0, outside)

    centres = np.array([[0.0], [100.0], [200.0]])
    starts = centres + np.random.default_rng(6).uniform(-1, 1, (3, 13_000))
    found, info = transitions(NUTS(), boxes, starts.reshape(-1, 1), step_size=0.2, small=True)
    assert np.isfinite(info["lp"]).all()
    assert np.isfinite(info["energy"]).all()
    diverging = info["diverging"].reshape(starts.shape)
    for i, (start, q) in enumerate(zip(starts, found.reshape(starts.shape), strict=True)):
        assert np.all(np.abs(q - 100 * i) < 1)
        assert diverging[i].mean() > 0.5  # straight lines end at a wall
        assert stats.kstest(q, stats.uniform(100 * i - 1, 2).cdf).pvalue > 1e-4
        assert np.mean(q != start) > 0.5


def test_a_gradient_that_is_not_finite_is_never_accepted():
    """The value is finite everywhere, its gradient is NaN beyond 1: momenta become NaN there."""

    @jax.custom_jvp
    def target(q):
        return -0.5 * q[0] ** 2

    @target.defjvp
    def _(primals, tangents):
        (q,), (dq,) = primals, tangents
        return target(q), jnp.where(q[0] > 1.0, jnp.nan, -q[0]) * dq[0]

    q, info = transitions(NUTS(), target, [0.5], step_size=0.3, repeat=5000, small=True)
    assert np.all(q <= 1)
    assert info["diverging"].any()
    assert np.isfinite(info["acceptance_rate"]).all()
    assert np.isfinite(info["energy"]).all()


def test_divergence_threshold():
    """A wall of finite height counts as a divergence if it is higher than the threshold."""

    def walls(q):
        low, high = jnp.where(q[0] > 1.0, -50.0, 0.0), jnp.where(q[0] > 1001.0, -52.0, 0.0)
        return jnp.where(q[0] > 500.0, high, low)

    start = np.repeat([[0.5], [1000.5]], 500, 0)
    sampler = NUTS(divergence_threshold=51.0, max_depth=6)
    _, info = transitions(sampler, walls, start, step_size=0.3, small=True)
    low, high = np.split(info["diverging"], 2)
    assert not low.any()
    assert high.any()


def test_divergence_threshold_is_1000_by_default():
    assert NUTS().divergence_threshold == 1000
    assert NUTS().max_depth == 10
    assert NUTS().target_acceptance == 0.8


# Types and settings -----------------------------------------------------------------------------


def test_single_precision_is_kept():
    q, _ = transitions(
        NUTS(), harmonic, [0.3, 0.2], step_size=0.5, repeat=10, dtype=np.float32, small=True
    )
    assert q.dtype == np.float32
    double, _ = transitions(NUTS(), harmonic, [0.3, 0.2], step_size=0.5, repeat=10, small=True)
    assert double.dtype == np.float64
    np.testing.assert_allclose(q, double, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("target_acceptance", 0.0),
        ("target_acceptance", 1.0),
        ("target_acceptance", np.nan),
        ("max_depth", 0),
        ("max_depth", 2.5),
        ("max_depth", 21),
        ("divergence_threshold", 0),
        ("divergence_threshold", np.nan),
        ("step_size", 0.0),
        ("step_size", -1.0),
        ("step_size", np.inf),
    ],
)
def test_settings_out_of_range_are_refused(setting, value):
    with pytest.raises((ValueError, TypeError), match=setting):
        NUTS(**{setting: value})


def test_settings_are_values():
    """Equal settings are one sampler: what a compiled program is kept by."""
    assert NUTS() == NUTS()
    assert hash(NUTS()) == hash(NUTS())
    assert NUTS(max_depth=8) != NUTS()
    assert NUTS().settings()["max_depth"] == 10


# Whole runs -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("error::kinetograph.SamplingWarning")
def test_widely_different_scales_skewed_and_correlated_unknowns():
    """The metric brings a condition number of 1e12 down to 1; the gamma and beta unknowns are
    sampled on transformed scales, Jacobians and all.
    """
    sd = np.logspace(-3, 3, 13)
    mean = 10 * sd
    factor = np.array([[1.0, 0.0], [0.5, 1.2]])
    model = kg.model(
        x=kg.normal(mean, sd, shape=13),
        g=kg.gamma(3.0, 2.0),
        b=kg.beta(2.0, 5.0),
        y=kg.multivariate_normal([1.0, -2.0], factor @ factor.T),
    )
    tree = kg.mcmc(model, seed=30, progress=False, draws=2500)
    posterior = {name: values.values for name, values in tree["posterior"].items()}
    assert_moments(posterior["x"], mean, sd)
    assert tree["sample_stats"]["n_steps"].mean() < 20
    assert_moments(posterior["g"], 1.5, np.sqrt(3) / 2)
    law = stats.beta(2, 5)
    assert_moments(posterior["b"], law.mean(), law.std())
    # Uncorrelated after the true factor is taken out, so that correlations are tested as well.
    white = np.linalg.solve(factor, (posterior["y"] - [1.0, -2.0])[..., None])[..., 0]
    assert_moments(white, 0.0, 1.0)
    assert_moments(white[..., 0] * white[..., 1], 0.0, 1.0)


@pytest.mark.slow
@pytest.mark.filterwarnings("error::kinetograph.SamplingWarning")
def test_correlated_gaussian():
    rng = np.random.default_rng(7)
    factor = np.tril(rng.normal(size=(5, 5))) + 2 * np.eye(5)
    cov = factor @ factor.T
    mean = np.arange(5.0)
    x = kg.multivariate_normal(mean, cov)
    tree = kg.mcmc(kg.model(x), seed=31, progress=False, draws=2500)
    draws = tree["posterior"]["x"].values
    assert_moments(draws, mean, np.sqrt(np.diag(cov)))
    # Uncorrelated after the true factor is taken out, so that correlations are tested as well.
    white = np.linalg.solve(factor, (draws - mean)[..., None])[..., 0]
    assert_moments(white, 0.0, 1.0)
    pairs = np.stack([white[..., i] * white[..., j] for i in range(5) for j in range(i)], -1)
    assert_moments(pairs, 0.0, 1.0)
