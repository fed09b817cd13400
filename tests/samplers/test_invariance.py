"""Every exact sampler keeps the law of its target at any step size, tiny or absurd.

Points are drawn from the target itself. After a transition they have to have its law still: the
mean change of each function is 0 within its standard error. The functions are bounded, so that
few moves to far places cannot hide in a large standard error.
"""

import numpy as np
import pytest
from jax import numpy as jnp
from tests.samplers.kernels import transitions
from tests.selection import thinned

from kinetograph import samplers

STEPS = [1e-3, 0.1, 1.0, 5.0, 30.0, 1e3, 1e6]
FIXED = {"tune": ()}
EVERY = {
    "HMC": (samplers.HMC(n_steps=3, **FIXED), "step_size"),
    "HMC, bcss3": (samplers.HMC(n_steps=2, integrator="bcss3", **FIXED), "step_size"),
    "GHMC": (samplers.GHMC(n_steps=2, **FIXED), "step_size"),
    "MALA": (samplers.MALA(**FIXED), "step_size"),
    "MAMS": (samplers.MAMS(most_steps=4, **FIXED), "step_size"),
    "MAMS, bcss3": (samplers.MAMS(most_steps=2, integrator="bcss3", **FIXED), "step_size"),
    "NUTS": (samplers.NUTS(max_depth=3, max_halvings=4, **FIXED), "step_size"),
    "NUTS, halved": (
        samplers.NUTS(max_depth=3, halving_threshold=0.2, max_halvings=5, **FIXED),
        "step_size",
    ),
    "NUTS, bcss2": (
        samplers.NUTS(
            max_depth=3, halving_threshold=0.1, max_halvings=4, integrator="bcss2", **FIXED
        ),
        "step_size",
    ),
    "RandomWalk": (samplers.RandomWalk(**FIXED), "step_size"),
    "RandomWalk, uniform": (samplers.RandomWalk(proposal="uniform", **FIXED), "step_size"),
    "Slice": (samplers.Slice(max_steps=4, **FIXED), "width"),
    "Slice, doubling": (samplers.Slice(doubling=True, **FIXED), "width"),
    "Stretch": (samplers.Stretch(walkers=8), "stretch"),
    "MEADS": (samplers.MEADS(walkers=8), "step_size"),
    "DifferentialEvolution": (samplers.DifferentialEvolution(walkers=8), "epsilon"),
    "Walk": (samplers.Walk(walkers=8, **FIXED), "step_size"),
}


def normal(q):
    return -0.5 * jnp.sum(q * q)


def skewed(q):
    """Logarithms of exponential numbers: flat on one side, a wall on the other."""
    return jnp.sum(q - jnp.exp(q))


TARGETS = {
    "normal": (normal, lambda rng, shape: rng.normal(size=shape)),
    "skewed": (skewed, lambda rng, shape: np.log(rng.exponential(size=shape))),
}


def features(q):
    """Bounded functions of positions (rows, 2) or of ensembles (rows, walkers, 2)."""
    x, y = q[..., 0], q[..., 1]
    values = [np.tanh(x), np.tanh(y), np.cos(x), np.cos(x + y), x * x / (1 + x * x)]
    values += [np.tanh(x * y), np.tanh(x * x + y * y)]
    rows = np.stack(values, axis=-1)
    return rows if q.ndim == 2 else rows.mean(1)


def largest_score(sampler, name, h, target, count):
    """The largest |z| of the mean changes, and the share of the points that moved."""
    density, draw = TARGETS[target]
    walkers = sampler.walkers
    shape = (count, 2) if walkers is None else (count // walkers, walkers, 2)
    start = draw(np.random.default_rng(1), shape)
    value = 1 + h if name == "stretch" else h
    after, _ = transitions(sampler, density, start, small=True, **{name: value})
    assert np.isfinite(after).all()
    moved = (after != start).any(-1)
    change = features(after) - features(start)
    if moved.sum() < 30:  # too few for a score: they change no mean that could be seen
        return 0.0, moved.mean()
    return np.abs(change.mean(0) / (change.std(0) / np.sqrt(len(change)))).max(), moved.mean()


@pytest.mark.parametrize("target", thinned(TARGETS, 2))
@pytest.mark.parametrize("name", EVERY)
def test_the_target_is_kept_at_any_step(name, target):
    """A score above 8 has a probability of 1e-8 even where thirty points move."""
    for h in STEPS:
        score, moved = largest_score(*EVERY[name], h, target, 4000)
        assert score < 8, (h, score, moved)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", EVERY)
def test_the_target_is_kept_at_any_step_by_many_points(name, target):
    for h in np.geomspace(1e-3, 1e6, 28):
        score, moved = largest_score(*EVERY[name], h, target, 40_000)
        assert score < 8, (h, score, moved)


def test_every_exact_sampler_is_here():
    """All but those whose target is reached in the limit of small steps."""
    inexact = {"BAOAB", "GLA1", "GLA2", "LM", "MCLMC", "SGHMC", "SGLD", "Splitting", "UBU"}
    inexact |= {"CCAdL", "EQN", "SGNHT", "Integrator"}
    known = {type(sampler).__name__ for sampler, _ in EVERY.values()}
    assert known == set(samplers.__all__) - inexact


@pytest.mark.parametrize("name", thinned(["MAMS", "HMC", "NUTS", "GHMC", "RandomWalk", "MALA"], 2))
def test_an_energy_of_minus_infinity_is_refused_and_diverges(name):
    """Where a density overflows, all samplers with a Metropolis test stay."""
    sampler, setting = EVERY[name]
    start = np.random.default_rng(2).uniform(-1, 1, size=(500, 2))
    after, found = transitions(sampler, overflowing, start, small=True, **{setting: 1.0})
    assert after[:, 0].max() <= 1.0
    assert np.all((found["acceptance_rate"] >= 0) & (found["acceptance_rate"] <= 1))
    if name in ("HMC", "GHMC", "MALA", "MAMS"):
        lost = ~np.isfinite(found["energy_error"])
        assert lost.sum() > 20
        assert found["diverging"][lost].all()
        assert not found["accepted"][lost].any()
    elif name == "RandomWalk":
        assert (found["acceptance_rate"] == 0).sum() > 20


def overflowing(q):
    return jnp.where(q[0] > 1.0, jnp.inf, -0.5 * jnp.sum(q * q))
